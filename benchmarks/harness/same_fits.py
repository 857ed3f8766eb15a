"""Record the fits of all classifiers before a change, and compare them with those after it.

``python -m benchmarks.harness.same_fits record out.npz`` fits four classifiers, each in five
settings, to twelve data sets (at most 1,000 rows of a class), and writes ``coef_``, ``intercept_``
and ``predict_proba`` of the training rows to a file. Fits that the file has are not made again.

``python -m benchmarks.harness.same_fits compare a.npz b.npz`` prints which fits differ and the
worst relative difference; it fails where one is above ``--tolerance``, or is in one file only.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from benchmarks.harness.data import Rows, load
from directrix import (
    BetaBernoulliClassifier,
    DirectClassifier,
    MomentClassifier,
    SmoothClassifier,
)
from directrix._typing import FloatArray
from directrix.metrics import Cost, RecallAtFPR

SETS = (
    *("heart", "diabetes", "sonar", "breast", "german", "a9a", "mammography", "magic04"),
    *("letter_O", "oil_spill", "spambase", "htru2"),
)
METRICS = {
    "error": "error",
    "auc": "auc",
    "f1": "f1",
    "recall at FPR 5 %": RecallAtFPR(0.05),
    "cost 1:5": Cost(fp=1, fn=5),
}
KERNEL = "kernel"
CLASSIFIERS: dict[str, dict[str, Callable[[], Any]]] = {
    **{
        classifier.__name__: {name: partial(classifier, metric) for name, metric in METRICS.items()}
        for classifier in (MomentClassifier, SmoothClassifier, DirectClassifier)
    },
    "BetaBernoulliClassifier": {
        "default": BetaBernoulliClassifier,
        "learned": partial(BetaBernoulliClassifier, plateaus="learned"),
        "tuned": partial(BetaBernoulliClassifier, alpha="auto"),
        "sparse": partial(BetaBernoulliClassifier, prior="gaussian-laplace"),
        KERNEL: partial(BetaBernoulliClassifier, kernel="rbf"),
    },
}
_ROWS_OF_CLASS, _ROWS_OF_KERNEL = 1000, 300
_SHOWN = 10
Fits = dict[str, FloatArray]


class Difference(NamedTuple):
    """The greatest difference of an array, relative to its greatest entry, and its name."""

    size: float
    name: str


def rows_of(name: str) -> Rows:
    """Return a data set, with a sample of 1,000 rows of each class where there are more."""
    X, y = load(name)
    rng = np.random.default_rng(0)
    sample = [rng.permutation(np.flatnonzero(y == label))[:_ROWS_OF_CLASS] for label in (1, 0)]
    rows = np.sort(np.concatenate(sample))
    return Rows(X[rows], y[rows])


def fit(classifier: str, setting: str, rows: Rows) -> Fits:
    """Fit one classifier; return its arrays by name."""
    if setting == KERNEL:  # all pairs of rows
        step = max(len(rows.y) // _ROWS_OF_KERNEL, 1)
        rows = Rows(rows.X[::step], rows.y[::step])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where nothing beats logistic regression
        model = CLASSIFIERS[classifier][setting]().fit(*rows)
    arrays = {"predict_proba": model.predict_proba(rows.X)[:, 1]}
    if setting == KERNEL:
        return arrays | {"decision_function": model.decision_function(rows.X)}
    return arrays | {"coef_": model.coef_.ravel(), "intercept_": np.ravel(model.intercept_)}


def record(path: Path, sets: tuple[str, ...]) -> None:
    """Make the fits that a file lacks, and add them to it, set by set."""
    fits = read(path) if path.exists() else {}
    settings = [(name, of) for name, options in CLASSIFIERS.items() for of in options]
    for name in tqdm(sets):
        rows = rows_of(name)
        for classifier, setting in settings:
            key = f"{name}, {classifier}, {setting}"
            if f"{key}: predict_proba" not in fits:
                arrays = fit(classifier, setting, rows)
                fits |= {f"{key}: {part}": values for part, values in arrays.items()}
        under_way = path.with_name(f"part-{path.name}")
        np.savez(under_way, **fits)
        under_way.replace(path)


def read(path: Path) -> Fits:
    """Return the arrays of a file."""
    with np.load(path) as arrays:
        return dict(arrays)


def differences(first: Fits, second: Fits) -> Iterator[Difference]:
    """Yield the difference of each array; infinite where only one file has it, or its shape."""
    for name in sorted(first.keys() | second.keys()):
        pair = [fits.get(name, np.empty(0)) for fits in (first, second)]
        if pair[0].shape != pair[1].shape:
            yield Difference(np.inf, name)
            continue
        scale = max(float(np.abs(pair[0]).max()), np.finfo(float).tiny)
        yield Difference(float(np.abs(pair[0] - pair[1]).max()) / scale, name)


def compare(first: Path, second: Path, tolerance: float) -> str:
    """Print how two files differ; return what is wrong, or nothing."""
    ranked = sorted(differences(read(first), read(second)), reverse=True)
    different = [difference for difference in ranked if difference.size > 0]
    for difference in different[:_SHOWN]:
        print(f"{difference.size:.1e}  {difference.name}")
    if len(different) > _SHOWN:
        print(f"and {len(different) - _SHOWN} others")
    above = sum(difference.size > tolerance for difference in ranked)
    print(
        f"{len(ranked)} arrays: {len(ranked) - len(different)} are equal, {above} differ by more "
        f"than {tolerance:g}; the worst relative difference is {ranked[0].size:.1e}"
    )
    return f"{above} arrays are not the same" if above else ""


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="fit, and write the file")
    recording.add_argument("path", type=Path)
    recording.add_argument("--sets", nargs="*", default=SETS, help="names of data sets")
    comparing = commands.add_parser("compare", help="compare two files")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)
    comparing.add_argument("--tolerance", type=float, default=1e-9, help="relative")
    args = parser.parse_args()
    if args.command == "record":
        record(args.path, tuple(args.sets))
    else:
        raise SystemExit(compare(args.first, args.second, args.tolerance) or 0)


if __name__ == "__main__":
    main()
