"""Cards of ten columns with whole points, against FasterRisk and plain rounding.

``python -m benchmarks.studies.cards.integer_cards`` fits five methods to the twelve tables, at most
8,000 rows of each, and appends the quality on held-out rows and the size of the card to
``integer_cards.csv``; it goes on where it stopped, first all tables of one fold, then those of the
next. ``--quick`` measures one fold of the two smallest tables, ``--report`` only writes the report,
``--folds`` says how many of the five folds are measured, ``--only`` which methods.

All cards are additive and have at most ten columns.

* Ours are trained for the recall at 5 % false positives, by their defaults: once with points as
  they come, once with whole points.
* "logistic, rounded": logistic regression on the columns that our card with whole points has, cut
  into at most eight bins, its ridge by the AUC of five inner folds; then scaled so that its widest
  column spans as many points as ours, and rounded.
* FasterRisk gets columns cut by our `Binner` into at most eight bins, as conditions "above a cut",
  "is this level" and "is missing", and chooses at most ten columns by its group sparsity. Once ten
  conditions with its default bounds of five points; once twenty, with bounds of twenty points that
  do not bind. All else is its default. A fit that needs more than 300 CPU seconds is ended, and
  counts for nothing but the list of such fits.
"""

from __future__ import annotations

import os
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path
from statistics import fmean, median, stdev
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.harness.data import Rows
from benchmarks.harness.markdown import bold_if, header, line, listed, write_report
from benchmarks.harness.record import Record, commit
from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.harness.tables import TABLES
from benchmarks.studies.cards import faster_risk
from benchmarks.studies.cards.cell_points import CellPoints, thermometer
from benchmarks.studies.cards.folds import FOLDS, split
from directrix import Binner, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import AUC, RecallAtFPR

RECALL = "recall at FPR 5 %"
METRICS: dict[str, Any] = {RECALL: RecallAtFPR(0.05), "AUC": AUC()}
UNROUNDED, INTEGER, ROUNDED = "ten columns", "ten columns, whole points", "logistic, rounded"
FASTER_RISK = {
    "FasterRisk, 10 conditions": faster_risk.Settings(10),
    "FasterRisk, 20 conditions": faster_risk.Settings(20, bound=20),
}
METHODS = (UNROUNDED, INTEGER, ROUNDED, *FASTER_RISK)
MOST_ROWS, MOST_COLUMNS, MOST_BINS, LIMIT = 8_000, 10, 8, 300
#: What rounding may cost in the mean.
GOAL = 0.003
QUICK = ("german_credit", "hmda_boston")
SIZES = ("columns", "lines", "largest")
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    ("set", "fold", "method", "cpu", *METRICS, *SIZES, "commit"),
    ("fold", "set", "method"),
)
REPORT = Path(__file__).with_suffix(".md")


class Scored(NamedTuple):
    """Scores of test rows, the points that gave them, and CPU seconds."""

    scores: FloatArray
    points: CellPoints
    cpu: float


def measure(fold: int, name: str, missing: list[tuple[str]]) -> list[tuple[object, ...]]:
    """Fit the missing methods to one fold of one table."""
    train, test = split(name, fold, MOST_ROWS)
    methods = [method for (method,) in missing]
    cards = {
        method: fit_ours(train, test, points)
        for method, points in ((UNROUNDED, None), (INTEGER, "integer"))
        if method in methods or (method == INTEGER and ROUNDED in methods)
    }
    rows = []
    for method in methods:
        if method in cards:
            scored: Scored | None = cards[method]
        elif method == ROUNDED:
            scored = fit_rounded(train, test, cards[INTEGER].points)
        else:
            scored = fit_faster_risk(train, test, FASTER_RISK[method])
        rows.append((name, fold, method, *cells(scored, test.y), commit()))
    return rows


def cells(scored: Scored | None, y: AnyArray) -> tuple[object, ...]:
    """Return CPU seconds, both metrics and the size; empty cells if the limit was not kept."""
    if scored is None:
        return (LIMIT, *("" for _ in (*METRICS, *SIZES)))
    values = (f"{metric.score(y, scored.scores):.6g}" for metric in METRICS.values())
    points = scored.points
    size = len(points.used), points.n_lines, f"{max(points.spans(), default=0.0):.4g}"
    return f"{scored.cpu:.3g}", *values, *size


def fit_ours(train: Rows, test: Rows, points: str | None) -> Scored:
    """Fit our card of at most ten columns."""
    classifier = ScorecardClassifier(
        METRICS[RECALL], max_columns=MOST_COLUMNS, max_crosses=0, points=points
    )
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and where a straight line is as good
        classifier.fit(*train)
    spent = process_time() - start
    card = classifier.card_
    scores = np.asarray(classifier.decision_function(test.X), dtype=np.float64)
    return Scored(scores, CellPoints(card.bins, card.columns), spent)


def fit_rounded(train: Rows, test: Rows, ours: CellPoints) -> Scored:
    """Fit logistic regression to the columns of our card, scale to its points, and round."""
    names = [train.X.columns[k] for k in ours.used]
    if not names:
        return Scored(np.zeros(len(test.y)), CellPoints((), ()), 0.0)
    start = process_time()
    binner = Binner(max_bins=MOST_BINS).fit(train.X[names])
    features = conditions(binner, train.X[names])
    search = GridSearchCV(
        LogisticRegression(max_iter=1000),
        {"C": [0.01, 0.1, 1.0, 10.0]},
        scoring="roc_auc",
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    ).fit(features, train.y)
    coefficients = search.best_estimator_.coef_[0]
    points = CellPoints.of_features(binner.bins_, coefficients).rounded(max(ours.spans()))
    spent = process_time() - start
    return Scored(points.scores(binner.cells(test.X[names])), points, spent)


def fit_faster_risk(train: Rows, test: Rows, settings: faster_risk.Settings) -> Scored | None:
    """Fit FasterRisk to conditions on bins; None if it did not keep the limit."""
    binner = Binner(max_bins=MOST_BINS).fit(train.X)
    features = conditions(binner, train.X)
    widths = [thermometer(bins).shape[1] for bins in binner.bins_]
    column = np.repeat(np.arange(len(widths)), widths)
    fitted = faster_risk.fit(features, train.y, column, settings, LIMIT)
    if fitted is None:
        return None
    points = CellPoints.of_features(binner.bins_, fitted.coefficients)
    return Scored(points.scores(binner.cells(test.X)), points, fitted.cpu)


def conditions(binner: Binner, frame: Any) -> FloatArray:
    """Return the thermometers of all columns, one after another."""
    found = binner.cells(frame)
    codes = [thermometer(bins) for bins in binner.bins_]
    return np.hstack([code[found[:, k]] for k, code in enumerate(codes)])


# ── the report ────────────────────────────────────────────────────────────────────────────────────


class Results:
    """What the record has, by column, method and fold of a table."""

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self.values: dict[tuple[str, str], dict[tuple[str, str], float]] = defaultdict(dict)
        self.ended: dict[str, list[str]] = defaultdict(list)
        for row in rows:
            if not row["AUC"]:
                self.ended[row["method"]].append(f"{row['set']} (fold {row['fold']})")
                continue
            for column in ("cpu", *METRICS, *SIZES):
                key = row["set"], row["fold"]
                self.values[row["method"], column][key] = float(row[column])

    def means(self, column: str, methods: tuple[str, ...]) -> dict[str, list[float]]:
        """Return by table the mean of each method, over the folds that all of them have."""
        maps = [self.values[method, column] for method in methods]
        shared = set(maps[0]).intersection(*maps[1:])
        names = [name for name in TABLES if any(key[0] == name for key in shared)]
        return {
            name: [fmean(m[key] for key in sorted(shared) if key[0] == name) for m in maps]
            for name in names
        }

    def of_table(self, column: str, name: str) -> list[float | None]:
        """Return the mean of each method over the folds that those on this table share."""
        folds = [{key for key in self.values[m, column] if key[0] == name} for m in METHODS]
        shared = sorted(set[tuple[str, str]].intersection(*([of for of in folds if of] or [set()])))
        return [
            fmean(self.values[method, column][key] for key in shared) if of and shared else None
            for method, of in zip(METHODS, folds, strict=True)
        ]

    def difference(self, column: str, one: str, other: str) -> tuple[float, float, int]:
        """Return the mean of one less the other over the tables, standard error, and tables."""
        gaps = [first - second for first, second in self.means(column, (one, other)).values()]
        if not gaps:
            return float("nan"), float("nan"), 0
        error = stdev(gaps) / len(gaps) ** 0.5 if len(gaps) > 1 else float("nan")
        return fmean(gaps), error, len(gaps)


def lines() -> list[str]:
    """Return the report."""
    title = ["# Cards of ten columns with whole points", "", "How: see `integer_cards.py`."]
    results = Results(RECORD.rows())
    if not results.values:
        return [*title, "", "Nothing was measured yet."]
    return [*title, *_rounding(results), *_against(results), *_sizes(results), *_values(results)]


def _rounding(results: Results) -> list[str]:
    loss, error, tables = results.difference("AUC", UNROUNDED, INTEGER)
    recall, recall_error, _ = results.difference(RECALL, UNROUNDED, INTEGER)
    goal = "met" if loss <= GOAL else "not met"
    summary = (
        f"Whole points cost {loss:.4f} (standard error {error:.4f}) of AUC and {recall:.4f} "
        f"({recall_error:.4f}) of recall at 5 % false positives in the mean of {tables} tables "
        f"({_folds(results)} folds each). "
        f"The goal of at most {GOAL:g} of AUC is {goal}."
    )
    return ["", summary]


def _folds(results: Results) -> str:
    """Return of how many folds our card was measured on a table, from the least to the most."""
    names = [name for name, _ in results.values[INTEGER, "AUC"]]
    least, most = min(map(names.count, names)), max(map(names.count, names))
    return f"{least}" if least == most else f"{least} to {most}"


def _against(results: Results) -> list[str]:
    text = ["", f"## {INTEGER}, less each other method", ""]
    text += header("method", "tables", *(f"{metric} (standard error)" for metric in METRICS))
    for method in (UNROUNDED, ROUNDED, *FASTER_RISK):
        gaps = [results.difference(metric, INTEGER, method) for metric in METRICS]
        if gaps[0][2]:
            cells = (f"{mean:+.4f} ({error:.4f})" for mean, error, _ in gaps)
            text.append(line(method, str(gaps[0][2]), *cells))
    return text


def _sizes(results: Results) -> list[str]:
    text = ["", "## Size of the card and CPU, medians of folds", ""]
    text += header("method", "columns", "lines", "largest points", "CPU to ours", "ended")
    for method in METHODS:
        if not results.values[method, "cpu"]:
            continue
        sizes = [median(results.values[method, size].values()) for size in SIZES]
        cells = [f"{value:g}" for value in sizes]
        if method == UNROUNDED:
            cells[-1] = ""  # in a unit of its own
        ours, theirs = (results.values[m, "cpu"] for m in (INTEGER, method))
        ratios = [theirs[key] / ours[key] for key in theirs.keys() & ours.keys()]
        cpu = f"{median(ratios):.2g}" if ratios else ""
        text.append(line(method, *cells, cpu, listed(results.ended[method])))
    return text


def _values(results: Results) -> list[str]:
    text = []
    for metric in METRICS:
        text += ["", f"## {metric[0].upper()}{metric[1:]}", "", *header("table", *METHODS)]
        for name in TABLES:
            found = results.of_table(metric, name)
            best = max((value for value in found if value is not None), default=None)
            cells = [
                "" if value is None else bold_if(f"{value:.4f}", value == best) for value in found
            ]
            if best is not None:
                text.append(line(name, *cells))
    return text


def main() -> None:
    """Measure what is missing, and write the report."""
    parser = option_parser(__doc__, quick="one fold of the two smallest tables")
    parser.add_argument("--folds", type=int, default=FOLDS, help="of five")
    parser.add_argument("--only", nargs="*", default=list(METHODS), choices=METHODS)
    options = parser.parse_args()
    if not options.report:
        methods = options.only
        if faster_risk.VARIABLE not in os.environ:
            print(f"not run: FasterRisk; {faster_risk.VARIABLE} does not name its Python")
            methods = [method for method in methods if method not in FASTER_RISK]
        names, folds = (QUICK, 1) if options.quick else (tuple(TABLES), options.folds)
        measure_missing(RECORD, product(range(folds), names, methods), measure, together=2)
    write_report(REPORT, lines())


if __name__ == "__main__":
    main()
