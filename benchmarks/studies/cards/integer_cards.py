"""Cards of ten columns with whole points, against FasterRisk and plain rounding.

``python -m benchmarks.studies.cards.integer_cards`` fits five methods to the twelve tables, at most
8,000 rows of each, first all tables of one fold, then those of the next. ``--quick`` measures one
fold of the two smallest tables; ``--folds`` and ``--only`` say how many folds, and which methods.

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

import argparse
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from statistics import fmean, median, stdev
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.harness.data import TABLES, Rows
from benchmarks.harness.markdown import best_bold, listed, sentence_case, signed_error, table
from benchmarks.harness.record import Record, Row, commit
from benchmarks.harness.runner import Part, Study, timed
from benchmarks.studies.cards import faster_risk
from benchmarks.studies.cards.folds import FOLDS, split
from directrix import Binner, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.metrics import AUC, RecallAtFPR


def thermometer(bins: Any) -> FloatArray:
    """Return the features of each cell of a column: above each cut; each level; missing.

    An ordered bin has a one for each cut below it. Every other cell, missing values among them, has
    a feature of its own.
    """
    ordered = np.zeros((bins.n_cells, max(bins.n_ordered - 1, 0)))
    for cell in range(1, bins.n_ordered + 1):
        ordered[cell, : cell - 1] = 1.0
    free = [cell for cell in range(bins.n_cells) if not 1 <= cell <= bins.n_ordered]
    return np.hstack([ordered, np.eye(bins.n_cells)[:, free]])


class CellPoints(NamedTuple):
    """Points of every cell of every column."""

    bins: Any
    points: Any

    @classmethod
    def of_features(cls, bins: Any, coefficients: FloatArray) -> CellPoints:
        """Multiply out the coefficients of the thermometers of all columns, one after another."""
        codes = [thermometer(of_column) for of_column in bins]
        ends = np.cumsum([code.shape[1] for code in codes])
        parts = np.split(coefficients, ends[:-1])
        return cls(bins, [code @ part for code, part in zip(codes, parts, strict=True)])

    def rounded(self, largest: float) -> CellPoints:
        """Scale so that the widest column spans so many points from zero on, and round plainly."""
        widest = max(self.spans(), default=0.0)
        scale = largest / widest if widest else 0.0
        return self._replace(
            points=[np.round((points - points.min()) * scale) for points in self.points]
        )

    def scores(self, cells: IntArray) -> FloatArray:
        """Return the sum of the points of rows with these cells, of shape (n, columns)."""
        columns = [points[cells[:, k]] for k, points in enumerate(self.points)]
        return np.sum(columns, axis=0) if columns else np.zeros(len(cells))

    def spans(self) -> list[float]:
        """Return the greatest less the least points of each column."""
        return [float(np.ptp(points)) for points in self.points]

    @property
    def used(self) -> list[int]:
        """The columns whose cells do not all have the same points."""
        return [k for k, span in enumerate(self.spans()) if span > 0.0]

    @property
    def n_lines(self) -> int:
        """Lines of the printed card: ordered neighbours, or levels, with equal points share one."""
        lines = 0
        for k in self.used:
            points, n_ordered = self.points[k], self.bins[k].n_ordered
            ordered = points[1 : n_ordered + 1]
            free = np.concatenate([points[:1], points[n_ordered + 1 :]])
            lines += len(np.unique(free)) + (n_ordered > 0) + np.count_nonzero(np.diff(ordered))
        return int(lines)


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


class ScoredCard(NamedTuple):
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
            scored: ScoredCard | None = cards[method]
        elif method == ROUNDED:
            scored = fit_rounded(train, test, cards[INTEGER].points)
        else:
            scored = fit_faster_risk(train, test, FASTER_RISK[method])
        rows.append((name, fold, method, *cells(scored, test.y), commit()))
    return rows


def cells(scored: ScoredCard | None, y: AnyArray) -> tuple[object, ...]:
    """Return CPU seconds, both metrics and the size; empty cells if the limit was not kept."""
    if scored is None:
        return (LIMIT, *("" for _ in (*METRICS, *SIZES)))
    values = (f"{metric.score(y, scored.scores):.6g}" for metric in METRICS.values())
    points = scored.points
    size = len(points.used), points.n_lines, f"{max(points.spans(), default=0.0):.4g}"
    return f"{scored.cpu:.3g}", *values, *size


def fit_ours(train: Rows, test: Rows, points: str | None) -> ScoredCard:
    """Fit our card of at most ten columns."""
    classifier = ScorecardClassifier(
        METRICS[RECALL], max_columns=MOST_COLUMNS, max_crosses=0, points=points
    )
    _, spent = timed(classifier.fit, *train)
    card = classifier.card_
    scores = np.asarray(classifier.decision_function(test.X), dtype=np.float64)
    return ScoredCard(scores, CellPoints(card.bins, card.columns), spent)


def fit_rounded(train: Rows, test: Rows, ours: CellPoints) -> ScoredCard:
    """Fit logistic regression to the columns of our card, scale to its points, and round."""
    names = [train.X.columns[k] for k in ours.used]
    if not names:
        return ScoredCard(np.zeros(len(test.y)), CellPoints((), ()), 0.0)
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
    return ScoredCard(points.scores(binner.cells(test.X[names])), points, spent)


def fit_faster_risk(train: Rows, test: Rows, settings: faster_risk.Settings) -> ScoredCard | None:
    """Fit FasterRisk to conditions on bins; None if it did not keep the limit."""
    binner = Binner(max_bins=MOST_BINS).fit(train.X)
    features = conditions(binner, train.X)
    widths = [thermometer(bins).shape[1] for bins in binner.bins_]
    column = np.repeat(np.arange(len(widths)), widths)
    fitted = faster_risk.fit(features, train.y, column, settings, LIMIT)
    if fitted is None:
        return None
    points = CellPoints.of_features(binner.bins_, fitted.coefficients)
    return ScoredCard(points.scores(binner.cells(test.X)), points, fitted.cpu)


def conditions(binner: Binner, frame: Any) -> FloatArray:
    """Return the thermometers of all columns, one after another."""
    found = binner.cells(frame)
    codes = [thermometer(bins) for bins in binner.bins_]
    return np.hstack([code[found[:, k]] for k, code in enumerate(codes)])


# ── the report ────────────────────────────────────────────────────────────────────────────────────


class Results:
    """What the record has, by column, method and fold of a table."""

    def __init__(self, rows: list[Row]) -> None:
        self.values: dict[tuple[str, str], dict[tuple[str, str], float]] = defaultdict(dict)
        self.ended: dict[str, list[str]] = defaultdict(list)
        for row in rows:
            if not row["AUC"]:
                self.ended[row["method"]].append(f"{row['set']} (fold {row['fold']})")
                continue
            for column in ("cpu", *METRICS, *SIZES):
                key = row["set"], row["fold"]
                self.values[row["method"], column][key] = float(row[column])

    def of_table(
        self, column: str, name: str, methods: Sequence[str] = METHODS
    ) -> list[float | None]:
        """Return the mean of each method over the folds that those on this table share."""
        folds = [{key for key in self.values[m, column] if key[0] == name} for m in methods]
        shared = sorted(set[tuple[str, str]].intersection(*([of for of in folds if of] or [set()])))
        return [
            fmean(self.values[method, column][key] for key in shared) if of and shared else None
            for method, of in zip(methods, folds, strict=True)
        ]

    def difference(self, column: str, one: str, other: str) -> tuple[float, float, int]:
        """Return the mean of one less the other over the tables, standard error, and tables."""
        pairs = (self.of_table(column, name, (one, other)) for name in TABLES)
        gaps = [a - b for a, b in pairs if a is not None and b is not None]
        if not gaps:
            return float("nan"), float("nan"), 0
        error = stdev(gaps) / len(gaps) ** 0.5 if len(gaps) > 1 else float("nan")
        return fmean(gaps), error, len(gaps)


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    title = ["# Cards of ten columns with whole points", "", "How: see `integer_cards.py`."]
    results = Results(rows)
    if not results.values:
        return [*title, "", "Nothing was measured yet."]
    return [*title, *_rounding(results), *_against(results), *_sizes(results), *_values(results)]


def _rounding(results: Results) -> list[str]:
    loss, error, tables = results.difference("AUC", UNROUNDED, INTEGER)
    recall, recall_error, _ = results.difference(RECALL, UNROUNDED, INTEGER)
    names = [name for name, _ in results.values[INTEGER, "AUC"]]
    least, most = min(map(names.count, names)), max(map(names.count, names))
    summary = (
        f"Whole points cost {loss:.4f} (standard error {error:.4f}) of AUC and {recall:.4f} "
        f"({recall_error:.4f}) of recall at 5 % false positives in the mean of {tables} tables "
        f"({least if least == most else f'{least} to {most}'} folds each). "
        f"The goal of at most {GOAL:g} of AUC is {'met' if loss <= GOAL else 'not met'}."
    )
    return ["", summary]


def _against(results: Results) -> list[str]:
    cells = []
    for method in (UNROUNDED, ROUNDED, *FASTER_RISK):
        gaps = [results.difference(metric, INTEGER, method) for metric in METRICS]
        if gaps[0][2]:
            cells.append((method, gaps[0][2], *(signed_error(*gap[:2]) for gap in gaps)))
    columns = " | ".join(f"{metric} (standard error)" for metric in METRICS)
    title = f"{INTEGER}, less each other method"
    return table(f"method | tables | {columns}", cells, title)


def _sizes(results: Results) -> list[str]:
    cells = []
    for method in METHODS:
        ours, theirs = (results.values[m, "cpu"] for m in (INTEGER, method))
        if not theirs:
            continue
        sizes = [f"{median(results.values[method, size].values()):g}" for size in SIZES]
        if method == UNROUNDED:
            sizes[-1] = ""  # in a unit of its own
        ratios = [theirs[key] / ours[key] for key in theirs.keys() & ours.keys()]
        cpu = f"{median(ratios):.2g}" if ratios else ""
        cells.append((method, *sizes, cpu, listed(results.ended[method])))
    columns = "method | columns | lines | largest points | CPU to ours | ended"
    return table(columns, cells, "Size of the card and CPU, medians of folds")


def _values(results: Results) -> list[str]:
    text = []
    for metric in METRICS:
        means = {name: results.of_table(metric, name) for name in TABLES}
        cells = ((name, *best_bold(found)) for name, found in means.items() if any(found))
        text += table(" | ".join(("table", *METHODS)), cells, sentence_case(metric))
    return text


def plan(args: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Yield fold, table and method."""
    methods = args.only
    if faster_risk.VARIABLE not in os.environ:
        print(f"not run: FasterRisk; {faster_risk.VARIABLE} does not name its Python")
        methods = [method for method in methods if method not in FASTER_RISK]
    names, folds = (QUICK, 1) if args.quick else (tuple(TABLES), args.folds)
    return product(range(folds), names, methods)


RECORD = Record.beside(
    __file__,
    ("set", "fold", "method", "cpu", *METRICS, *SIZES, "commit"),
    "fold, set, method",
)
STUDY = Study(
    [Part(RECORD, plan, measure, together=2)],
    lines,
    quick="one fold of the two smallest tables",
    options={
        "--folds": {"type": int, "default": FOLDS, "help": "of five"},
        "--only": {"nargs": "*", "default": list(METHODS), "choices": METHODS},
    },
)


if __name__ == "__main__":
    STUDY.main(__doc__)
