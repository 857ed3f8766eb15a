"""The tables of Ghanbari, Li and Scheinberg 2019: printed, measured again, and beside ours.

``python -m benchmarks.moment_training.tables`` appends one row for each fit to ``measured.csv``,
goes on where an interrupted run stopped, and writes what it prints to ``tables.md``. ``--sets``
names those to measure, ``--minutes`` ends it before the next fold, ``--quick`` measures one fold of
each small set. One thread: set ``OPENBLAS_NUM_THREADS=1``.

* 4.1 and 4.4: the sets themselves; see `sets` for what the paper leaves open.
* 4.2 and 4.3: artificial sets, a fifth of 5000 rows to test on, labels of some training rows
  swapped, λ = 0. Rows are drawn anew for each repeat.
* 4.5 to 4.7: five shuffled folds, four times, features in [-1, 1] beside a column of ones. λ is
  1e-3 for risks of moments, 1/n for the logistic loss, one over the root of the number of pairs for
  the pairwise hinge. Adam: batches of 200, of 20 for vowel and sonar, of 10 for colon.
* "F_n01, no ones" and "F_log, no ones" are without that column: the paper to the letter.
* The paper has 20 runs of each set. Large sets have fewer here, and of sets above 5000 rows slow
  methods have one repeat: `REPEATS` and `SLOW`.
* Times are CPU, in units of the frontier's fit for the same metric to the same rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from time import monotonic
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.moment_training import report
from benchmarks.moment_training.methods import (
    Outcome,
    by_adam,
    by_estimator,
    by_moments,
    by_rows,
    estimator,
    penalty_of_rows,
    quietly,
)
from benchmarks.moment_training.record import BASE, Fit, append, read
from benchmarks.moment_training.sets import (
    ARTIFICIAL,
    REAL,
    Split,
    drawn,
    exact_moments,
    rows_of,
    scaled,
)

FOLDS = 5
_RIVALS = {"accuracy": "F_log", "AUC": "F_hinge"}
_RISKS = {"accuracy": "F_n01", "AUC": "F_nrank"}
OURS = ("frontier", "moments and rows", "logistic, tuned")
ARTIFICIAL_METHODS = ("exact moments", "approximate moments", "rival", "frontier")
REAL_METHODS = {
    "accuracy": ("F_n01", "F_log", "F_n01, no ones", "F_log, no ones", "LDA", "ADAM", *OURS),
    "AUC": ("F_nrank", "F_hinge", *OURS),
}
#: Of sets above 5000 rows measured once only.
SLOW = ("ADAM", "F_hinge", "F_n01, no ones", "F_log, no ones", "logistic, tuned")
#: In the order of the run, cheap sets first.
REPEATS = {
    **dict.fromkeys(("fourclass", "diabetes", "vowel", "svm1", "german", "svm3"), 4),
    **dict.fromkeys(("segment", "sonar", "satimage", "magic", "poker", "letter"), 4),
    **dict.fromkeys(("data_1", "data_2", "data_3"), 20),
    **dict.fromkeys(("ijcnn1", "shuttle", "a9a"), 4),
    **dict.fromkeys(("data_4", "data_5", "data_6"), 20),
    **dict.fromkeys(("colon", "w8a"), 4),
    **dict.fromkeys(("data_7", "data_8", "data_9"), 20),
    "covtype": 4,
}
QUICK_SETS = ("fourclass", "diabetes", "vowel", "svm1", "german", "svm3", "segment", "sonar")
_LARGE = ("magic", "poker", "letter", "ijcnn1", "shuttle", "a9a", "w8a", "covtype")
#: What takes long: many rows, or many features of which each step makes a matrix.
_LEFT_OUT = {
    "covtype": ("ADAM", "F_hinge"),
    "w8a": ("ADAM", "logistic, tuned"),
    "colon": ("moments and rows", "logistic, tuned"),
}
_BATCHES = {"colon": 10, "vowel": 20, "sonar": 20}


class Unit(NamedTuple):
    """What is fitted together, so that times can be compared."""

    name: str
    repeat: int
    fold: int

    def methods(self) -> Iterator[tuple[str, str]]:
        """Yield metric and method of each fit."""
        if self.name in ARTIFICIAL:
            for metric, rival in _RIVALS.items():
                yield from ((metric, rival if m == "rival" else m) for m in ARTIFICIAL_METHODS)
            return
        for metric, methods in REAL_METHODS.items():
            if (self.name, metric) == ("shuttle", "accuracy"):
                continue  # the paper has its AUC only
            for method in methods:
                again = self.repeat > 0 and self.name in _LARGE and method in SLOW
                if not again and method not in _LEFT_OUT.get(self.name, ()):
                    yield metric, method

    def split(self) -> Split:
        """Return its rows."""
        if self.name in ARTIFICIAL:
            return drawn(self.name, self.repeat)
        X, y = rows_of(self.name)
        X = scaled(X)
        folds = KFold(FOLDS, shuffle=True, random_state=self.repeat)
        train, test = list(folds.split(X))[self.fold]
        return Split(X[train], y[train], X[test], y[test])


def planned(sets: list[str], *, quick: bool) -> Iterator[Unit]:
    """Yield all units: the first repeat of each set, then the second, and so on."""
    for repeat in range(1 if quick else max(REPEATS.values())):
        for name in sets:
            if repeat < REPEATS[name]:
                folds = 1 if quick or name in ARTIFICIAL else FOLDS
                yield from (Unit(name, repeat, fold) for fold in range(folds))


def outcome(unit: Unit, split: Split, metric: str, method: str) -> Outcome:
    """Fit one method."""
    rng = np.random.default_rng((unit.repeat, unit.fold))
    artificial = unit.name in ARTIFICIAL
    if method == "exact moments":
        return by_moments(split, metric, 0.0, exact_moments(unit.name))
    if method == "approximate moments":
        return by_moments(split, metric, 0.0)
    if method.endswith(", no ones"):
        split = split._replace(X=split.X[:, :-1], X_test=split.X_test[:, :-1])
        method = method.removesuffix(", no ones")
    if method == _RISKS[metric]:
        return by_moments(split, metric)
    if method == _RIVALS[metric]:
        return by_rows(split, metric, 0.0 if artificial else penalty_of_rows(split.y, metric), rng)
    if method == "ADAM":
        return by_adam(split, _BATCHES.get(unit.name, 200), rng)
    return by_estimator(split, estimator(method, metric))


def measured(unit: Unit, split: Split, pairs: list[tuple[str, str]]) -> list[Fit]:
    """Fit each metric and method, and what times are relative to; take metrics of the test rows."""
    needed = dict.fromkeys((*pairs, *((metric, BASE) for metric, _ in pairs)))
    found = {pair: quietly(partial(outcome, unit, split, *pair)) for pair in needed}
    fits = []
    for metric, method in pairs:
        own, base = found[metric, method], found[metric, BASE].seconds
        value = own.value(metric, split.y_test)
        times = (own.seconds / base, own.moment_seconds / base)
        key = (unit.name, metric, method, unit.repeat, unit.fold)
        fits.append(Fit(*key, value, own.iterations, *times))
    return fits


def described(name: str) -> list[Fit]:
    """Return what Table 4.4 tells of a set: features and rows of the file, share of positives."""
    X, y = rows_of(name)
    values = {"d": X.shape[1], "n": X.shape[0], "P+": float(y.mean())}
    return [Fit(name, metric, "file", 0, 0, float(value)) for metric, value in values.items()]


def run(sets: list[str], *, quick: bool, minutes: float) -> None:
    """Measure what is not in the file yet."""
    end = monotonic() + 60.0 * minutes
    done = {fit.key for fit in read()}
    for unit in planned(sets, quick=quick):
        missing = [pair for pair in unit.methods() if (unit.name, *pair, *unit[1:]) not in done]
        if not missing:
            continue
        if monotonic() > end:
            break
        if unit.name in REAL and (unit.name, "n", "file", 0, 0) not in done:
            about = described(unit.name)
            append(about)
            done |= {fit.key for fit in about}
        split = unit.split()
        append(measured(unit, split, missing))
        print(*unit, flush=True)


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", choices=list(REPEATS))
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--quick", action="store_true", help="one fold of each small set")
    args = parser.parse_args()
    sets = args.sets or list(QUICK_SETS if args.quick else REPEATS)
    run(sets, quick=args.quick, minutes=args.minutes)
    report.main()


if __name__ == "__main__":
    main()
