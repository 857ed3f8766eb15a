"""MomentClassifier and SmoothClassifier against logistic regression, linear SVC and LDA.

``python -m benchmarks.rivals.rivals_table`` appends one row for each set, fold, classifier and
metric to ``rivals_table.csv``, goes on where an interrupted run stopped, and writes what it prints
to ``rivals_table.md``.

Five stratified folds, the same for all; every metric is exact on the fold held out.

* MomentClassifier has its defaults and is fitted once for each metric, to the features as they are.
  So has SmoothClassifier, which makes one sweep for all six metrics; all it chooses, it chooses on
  folds of the training rows.
* The rivals are given features standardised on the training rows. For F1 their threshold is moved
  to where the training rows have the best F1. Error is that of their own threshold, while ours is
  chosen on the rows: some of our wins there come from the threshold alone.
* "tuned": C of {0.01, 0.1, 1, 10, 100} with the best mean of that very metric in three folds of the
  training rows. Of more than 50,000 training rows (covtype) 20,000 choose C, and all are fitted.
  Logistic regression is tuned with a Newton solver, which reaches its optimum; the column without
  tuning is scikit-learn's default.
* Logistic regression is tuned twice, with classes as they are and of equal weight ("balanced").
* Sets of more than 50,000 rows are a fixed sample of 50,000, except covtype; "covtype_12k" is a
  sample of 12,000.

A win or a loss is a mean difference over the folds beyond one standard error of the paired
differences. The best rival is chosen with the test folds in view, so it has an edge.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.data import load
from directrix import MomentClassifier, SmoothClassifier
from directrix.metrics import AUC, Curve, Error, FBeta, Metric, PrecisionAtK, RecallAtFPR

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

RESULTS = Path(__file__).with_suffix(".csv")
REPORT = Path(__file__).with_suffix(".md")
COLUMNS = ("set", "rows", "features", "prior", "fold", "classifier", "metric", "value", "C")
#: From small to large; covtype, the largest, is second as it tells most.
SETS = (
    *(
        "sonar",
        "covtype",
        "covtype_12k",
        "heart",
        "liver-disorders",
        "vowel",
        "breast",
        "diabetes",
        "fourclass",
    ),
    *("german", "splice", "svmguide3", "segment", "svmguide1", "satimage", "spambase", "higgs_7k"),
    *("phishing", "mammography", "htru2", "magic04", "letter", "letter_O", "cod-rna_30k"),
    *("susy_30k", "default_credit", "a9a", "adult", "shuttle", "bank-marketing", "ijcnn1"),
    "skin_nonskin",
)
METRICS: dict[str, Metric] = {
    "error": Error(),
    "AUC": AUC(),
    "recall at FPR 0.01": RecallAtFPR(0.01),
    "recall at FPR 0.05": RecallAtFPR(0.05),
    "precision at 1 %": PrecisionAtK(0.01),
    "F1": FBeta(),
}
OURS, TUNED = ("moment", "smooth"), "logistic, tuned"
FOLDS, INNER_FOLDS = 5, 3
_MOST_ROWS, _WHOLE, _SAMPLES = 50_000, ("covtype",), {"covtype_12k": ("covtype", 12_000)}
_MOST_TUNED, _TUNED_ON = 50_000, 20_000
_PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)


class Part(NamedTuple):
    """Rows and their labels."""

    X: Any
    y: AnyArray


class Rival(NamedTuple):
    """How to make a classifier, and the C to choose from; one, if there is nothing to choose."""

    make: Callable[[float], Any]
    penalties: tuple[float, ...] = (1.0,)


RIVALS = {
    TUNED: Rival(lambda C: LogisticRegression(C=C, solver="newton-cholesky"), _PENALTIES),
    "balanced logistic, tuned": Rival(
        lambda C: LogisticRegression(C=C, solver="newton-cholesky", class_weight="balanced"),
        _PENALTIES,
    ),
    "logistic": Rival(lambda C: LogisticRegression(C=C)),
    "linear SVC, tuned": Rival(lambda C: LinearSVC(C=C, dual="auto"), _PENALTIES),
    "LDA, shrunk": Rival(lambda _: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
}
CLASSIFIERS = (*OURS, *RIVALS)


_EVERY = set(product(range(FOLDS), CLASSIFIERS, METRICS))


def values_of(classifier: str, train: Part, test: Part) -> dict[str, tuple[float, str]]:
    """Return each metric on the test rows, and the C chosen for it."""
    if classifier in OURS:
        if classifier == "smooth":
            fitted = SmoothClassifier().fit_each(list(METRICS.values()), *train)
        else:
            fitted = [MomentClassifier(metric).fit(*train) for metric in METRICS.values()]
        models = dict(zip(METRICS, fitted, strict=True))
        return {
            name: (METRICS[name].score(test.y, model.decision_function(test.X)), "")
            for name, model in models.items()
        }
    rival = RIVALS[classifier]
    scaler = StandardScaler().fit(train.X)
    train, test = (Part(scaler.transform(part.X), part.y) for part in (train, test))
    chosen = _best_penalties(rival, train)
    values = {C: _values(rival.make(C), train, test) for C in set(chosen)}
    return {
        name: (float(values[C][k]), f"{C:g}" if len(rival.penalties) > 1 else "")
        for k, (name, C) in enumerate(zip(METRICS, chosen, strict=True))
    }


def _best_penalties(rival: Rival, train: Part) -> list[float]:
    """Return for each metric the C of best mean in the inner folds; of equals the least."""
    if len(rival.penalties) == 1:
        return [rival.penalties[0]] * len(METRICS)
    if len(train.y) > _MOST_TUNED:
        X, _, y, _ = train_test_split(
            *train, train_size=_TUNED_ON, stratify=train.y, random_state=0
        )
        train = Part(X, y)
    means = np.zeros((len(rival.penalties), len(METRICS)))
    for inner, outer in _folds(train, INNER_FOLDS):
        means += [_values(rival.make(C), inner, outer) for C in rival.penalties]
    return [rival.penalties[k] for k in (_signs() * means.round(12)).argmax(axis=0)]


def _values(model: Any, train: Part, test: Part) -> FloatArray:
    """Return every metric of a rival, fitted to some rows, on others."""
    model.fit(*train)
    scores = model.decision_function(test.X)
    on_train = Curve.of(train.y, model.decision_function(train.X))
    moved = scores - METRICS["F1"].best(on_train).threshold
    return np.array(
        [
            metric.score(test.y, moved if name == "F1" else scores)
            for name, metric in METRICS.items()
        ]
    )


def _signs() -> FloatArray:
    return np.array([1.0 if metric.greater_is_better else -1.0 for metric in METRICS.values()])


def _folds(part: Part, n_folds: int) -> Iterator[tuple[Part, Part]]:
    for own in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(*part):
        train, test = (Part(part.X[index], part.y[index]) for index in own)
        yield train, test


def rows_of(name: str) -> Part:
    """Return the rows of a set, or a fixed sample where there are many."""
    source, most = _SAMPLES.get(name, (name, _MOST_ROWS))
    part = Part(*load(source))
    if len(part.y) <= most or name in _WHOLE:
        return part
    kept = np.sort(np.random.default_rng(0).choice(len(part.y), most, replace=False))
    return Part(part.X[kept], part.y[kept])


def run(sets: tuple[str, ...]) -> None:
    """Measure what is not in the file yet."""
    done = {(row["set"], int(row["fold"]), row["classifier"], row["metric"]) for row in _read()}
    with RESULTS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)
        for name in sets:
            if {key[1:] for key in done if key[0] == name} >= _EVERY:
                continue
            whole, spent = rows_of(name), dict.fromkeys(CLASSIFIERS, 0.0)
            n, d = whole.X.shape
            for fold, (train, test) in enumerate(_folds(whole, FOLDS)):
                for classifier in CLASSIFIERS:
                    missing = [m for m in METRICS if (name, fold, classifier, m) not in done]
                    if not missing:
                        continue
                    start = process_time()
                    values = values_of(classifier, train, test)
                    for metric in missing:
                        about = (name, n, d, f"{whole.y.mean():.4f}", fold, classifier, metric)
                        value, C = values[metric]
                        writer.writerow((*about, f"{value:.6f}", C))
                    file.flush()
                    spent[classifier] += process_time() - start
            parts = ", ".join(f"{key} {value:.1f}" for key, value in spent.items())
            print(f"{name} ({n} x {d}): {sum(spent.values()):.1f} s of CPU: {parts}", flush=True)


def _read() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Verdict(NamedTuple):
    """The mean of paired differences, greater being better for us, and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, differences: FloatArray) -> Verdict:
        """Take the differences of the folds."""
        error = differences.std(ddof=1) / np.sqrt(len(differences))
        return cls(float(differences.mean()), float(error))

    @property
    def word(self) -> str:
        """Win, tie or loss."""
        if abs(self.mean) <= self.error * (1 + 1e-9):  # equal where one fold alone differs
            return "tie"
        return "win" if self.mean > 0 else "loss"

    def __str__(self) -> str:
        return f"{self.word} {self.mean:+.4f} ± {self.error:.4f}"


def report() -> None:
    """Print what the file says, and write it beside the file."""
    text = "\n".join(_report_lines()) + "\n"
    print(text, end="")
    REPORT.write_text(text, encoding="utf-8")


def _report_lines() -> list[str]:
    """Return a table for each metric, then wins, ties and losses."""
    rows = _read()
    shapes = {row["set"]: f"{row['rows']} x {row['features']}" for row in rows}
    values = {
        (row["metric"], row["set"], row["classifier"], int(row["fold"])): float(row["value"])
        for row in rows
    }
    lines = [
        "# Our classifiers against their rivals",
        "",
        "Means over five folds. Differences are ours minus the best rival's, a plus being good",
        "for us, ± one standard error over the folds; within it, a tie. The error of rivals is of",
        "their own threshold, not moved as for F1. What is empty has not been measured. How: see",
        "`rivals_table.py`.",
    ]
    totals = []
    for metric, sign in zip(METRICS, _signs(), strict=True):
        verdicts: dict[str, dict[tuple[str, str], Verdict]] = {}
        direction = "more" if sign > 0 else "less"
        lines += ["", f"## {metric} ({direction} is better)", ""]
        against = [(own, what) for own in OURS for what in ("the best rival", TUNED)]
        lines += _header("set", "n x d", *CLASSIFIERS, *(f"{own} to best" for own in OURS))
        for name in (name for name in SETS if name in shapes):
            table = np.array(
                [
                    [values.get((metric, name, c, k), np.nan) for k in range(FOLDS)]
                    for c in CLASSIFIERS
                ]
            )
            means = table.mean(axis=1)
            rivals = sign * means[len(OURS) :].round(9)
            if np.isnan(means[: len(OURS)]).all() or np.isnan(rivals).all():
                continue  # not measured to its end yet
            best = len(OURS) + int(np.nanargmax(rivals))
            verdicts[name] = {
                (own, what): Verdict.of(sign * (table[CLASSIFIERS.index(own)] - table[other]))
                for own, what in against
                for other in (CLASSIFIERS.index(TUNED) if what == TUNED else best,)
                if not np.isnan(means[CLASSIFIERS.index(own)])
            }
            cells = ["" if np.isnan(mean) else f"{mean:.4f}" for mean in means]
            shown = [str(verdicts[name].get((own, "the best rival"), "")) for own in OURS]
            lines.append(_line(name, shapes[name], *cells, *shown))
        for what in against:
            names = {
                word: [
                    name for name, own in verdicts.items() if what in own and own[what].word == word
                ]
                for word in ("win", "tie", "loss")
            }
            counts = [str(len(own)) for own in names.values()]
            lists = (", ".join(names[word]) for word in ("win", "loss"))
            totals.append((metric, what[0], what[1], *counts, *lists))
    lines += ["", "## Wins, ties and losses", ""]
    lines += _header(
        "metric", "classifier", "against", "wins", "ties", "losses", "won on", "lost on"
    )
    lines += [_line(*row) for row in totals]
    return lines


def _header(*cells: str) -> list[str]:
    return [_line(*cells), _line(*("---" for _ in cells))]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=SETS, help="names of sets; all, if not given")
    sets = tuple(parser.parse_args().sets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and solvers that stop early
        run(sets)
    report()


if __name__ == "__main__":
    main()
