"""Tables whose labels are independent of their columns, and classifiers to fit to them.

A cell is a population, a classifier and the way its rows are given. Cells are named by a letter
and, where a letter has several, what distinguishes them: ``a``, ``n:f1``, ``perm:attrition:rows``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.harness.tables import TABLES, load_table
from directrix import DirectClassifier, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import AUC, Cost, PartialAUC, PrecisionAtK, RecallAtFPR
from directrix.metrics.base import Metric
from directrix.metrics.table import resolve

#: Share of positive rows, unless a cell has another.
PRIOR = 0.3
#: Rows on which the truth is measured.
NEW_ROWS = 50_000
_MOST_ROWS_OF_TABLES = 2_000
_COUNTS = {"learn_from": "counts"}


class Sample(NamedTuple):
    """Rows of a population.

    Parameters
    ----------
    X : array or data frame
    y : array of bool
    weight, groups : array, optional
    """

    X: Any
    y: AnyArray
    weight: FloatArray | None = None
    groups: AnyArray | None = None


Sampler = Callable[[int, np.random.Generator], Sample]


@dataclass(frozen=True)
class Cell:
    """A population without signal, and a classifier.

    Parameters
    ----------
    text : str
        Description for the report.
    sampler : callable
        Of a number of rows and a generator.
    classifier : callable
        Returns a classifier that is not fitted.
    n_rows : int
        Rows of a fit.
    source : bool
        Whether `fit_source` reads the rows from an Arrow table; else `fit`.
    new_rows : int
        Rows on which the truth is measured.
    """

    text: str
    sampler: Sampler
    classifier: Callable[[], Any]
    n_rows: int = 500
    source: bool = False
    new_rows: int = NEW_ROWS

    def draw(self, seed: int) -> tuple[Sample, Sample]:
        """Return the rows of a fit, and new rows of the same population."""
        rng = np.random.default_rng(seed)
        return self.sampler(self.n_rows, rng), self.sampler(self.new_rows, rng)

    def fit(self, sample: Sample) -> Any:
        """Return a classifier that is fitted to a sample."""
        classifier = self.classifier()
        if self.source:
            table = as_frame(sample.X).assign(label=sample.y)
            arrow = pa.Table.from_pandas(table, preserve_index=False)
            return classifier.fit_source(arrow, target="label", progress=False)
        options = {"sample_weight": sample.weight, "groups": sample.groups}
        given = {name: value for name, value in options.items() if value is not None}
        return classifier.fit(sample.X, sample.y, **given)

    def scores(self, fitted: Any, sample: Sample) -> FloatArray:
        """Return the scores of a sample."""
        X = as_frame(sample.X) if self.source else sample.X
        return np.asarray(fitted.decision_function(X))


def as_frame(X: Any) -> pd.DataFrame:
    """Return rows as a data frame whose columns have names."""
    if isinstance(X, pd.DataFrame):
        return X
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])


def labels(n: int, rng: np.random.Generator, prior: float = PRIOR) -> AnyArray:
    """Return labels of a fixed share of positive rows, in random order."""
    return rng.permutation(n) < round(prior * n)


def numbers(n: int, rng: np.random.Generator, n_columns: int, prior: float = PRIOR) -> Sample:
    """Return normal columns."""
    return Sample(rng.normal(size=(n, n_columns)), labels(n, rng, prior))


def texts(n: int, rng: np.random.Generator, n_columns: int, n_levels: int = 20) -> Sample:
    """Return columns of text."""
    names = np.array([f"level {k}" for k in range(n_levels)], dtype=object)
    codes = rng.integers(0, n_levels, (n, n_columns))
    return Sample(as_frame(names[codes]), labels(n, rng))


def many_levels(n: int, rng: np.random.Generator) -> Sample:
    """Return a column of identifiers that never repeat, one of 200 levels, and three numbers."""
    frame = as_frame(rng.normal(size=(n, 3)))
    first = int(rng.integers(10**9, 10**12))
    frame["identifier"] = [f"id {first + k}" for k in range(n)]
    frame["level"] = [f"level {k}" for k in rng.integers(0, 200, n)]
    return Sample(frame, labels(n, rng))


def weighted(n: int, rng: np.random.Generator) -> Sample:
    """Return normal columns with log-normal weights."""
    sample = numbers(n, rng, 10)
    return sample._replace(weight=rng.lognormal(size=n))


def grouped(n: int, rng: np.random.Generator, copies: int = 3) -> Sample:
    """Return rows that are repeated, with their labels: the copies of a row are a group."""
    group = np.arange(n) // copies
    distinct = numbers(int(group[-1]) + 1, rng, 10)
    return Sample(distinct.X[group], distinct.y[group], groups=group)


@cache
def _table(name: str) -> tuple[pd.DataFrame, AnyArray]:
    rows = load_table(name)
    return rows.X, rows.y


def permuted(n: int, rng: np.random.Generator, name: str) -> Sample:
    """Return rows of a table with labels that are permuted.

    New rows, of which the table has too few, are drawn with replacement; rows of a fit are not.
    """
    frame, y = _table(name)
    is_new = n > _MOST_ROWS_OF_TABLES
    rows = rng.choice(len(y), n if is_new else min(n, len(y)), replace=is_new)
    return Sample(frame.iloc[rows].reset_index(drop=True), rng.permutation(y[rows]))


def _card(metric: str | Metric = "auc", **parameters: Any) -> Callable[[], Any]:
    return partial(ScorecardClassifier, metric, warn_baseline=False, **parameters)


def _by_route(letter: str, text: str, sampler: Sampler, **options: Any) -> dict[str, Cell]:
    """Return two cells, whose cards are trained on rows and on counts."""
    return {
        f"{letter}:rows": Cell(f"{text}, rows", sampler, _card(), **options),
        f"{letter}:counts": Cell(f"{text}, counts", sampler, _card(**_COUNTS), **options),
    }


#: Metrics of the cells ``n``, beside the area under the curve.
METRICS: dict[str, Metric] = {
    "error": resolve("error"),
    "balanced_error": resolve("balanced_error"),
    "f1": resolve("f1"),
    "cost": Cost(fp=1, fn=20),
    "precision_at_k": PrecisionAtK(k=0.1),
    "partial_auc": PartialAUC(max_fpr=0.1),
    "recall@fpr=0.01": RecallAtFPR(0.01),
    "average_precision": resolve("average_precision"),
}


def _generated() -> dict[str, Cell]:
    ten, twenty = partial(numbers, n_columns=10), partial(numbers, n_columns=20)
    words = partial(texts, n_columns=10)
    few = partial(numbers, n_columns=10, prior=0.04)
    counts = _card(**_COUNTS)
    lines = partial(DirectClassifier, "auc", warn_baseline=False)
    limited = _card(RecallAtFPR(0.05), **_COUNTS)
    monotone = {0: "increasing", 1: "increasing", 2: "decreasing"}
    integers = {"points": "integer", "max_columns": 5}
    cells = {
        "a": Cell("500 by 10 numbers, defaults", ten, _card()),
        "b": Cell("500 by 10 texts of 20 levels, defaults", words, _card()),
        "c": Cell("500 by 20 numbers, rows, no crosses", twenty, _card(max_crosses=0)),
        "d": Cell("500 by 20 numbers, counts", twenty, counts),
        "e": Cell("2,000 by 20 numbers, counts", twenty, counts, 2_000),
        "f": Cell("500 by 10 numbers, counts, no crosses", ten, _card(max_crosses=0, **_COUNTS)),
        "g": Cell("500 by 20 numbers, DirectClassifier", twenty, lines),
        "h": Cell("500 by 20 numbers, counts, recall at FPR 5 %", twenty, limited),
        "i": Cell("500 by 10 texts of 20 levels, counts", words, counts),
        **_by_route("j", "500 rows of identifiers, 200 levels and 3 numbers", many_levels),
        **_by_route("k", "500 by 10 numbers, 20 positives", few),
        **_by_route("l", "500 by 10 numbers, log-normal weights", weighted),
        **_by_route("m", "500 by 10 numbers, groups of 3 copies", grouped),
    }
    for name, metric in METRICS.items():
        text = f"500 by 10 numbers, counts, {metric.label}"
        cells[f"n:{name}"] = Cell(text, ten, _card(metric, **_COUNTS))
    for key, text, options in (
        ("monotone", "3 directions", {"monotone": monotone}),
        ("integer", "whole points of 5 columns", integers),
        ("auto", 'max_columns="auto"', {"max_columns": "auto"}),
    ):
        for route in ("rows", "counts"):
            make = _card(learn_from=route, **options)
            cells[f"o:{key}:{route}"] = Cell(f"500 by 10 numbers, {route}, {text}", ten, make)
    text = "2,000 by 10 numbers, `fit_source`"
    return cells | _by_route("p", text, ten, n_rows=2_000, source=True)


def _tables() -> Iterable[tuple[str, Cell]]:
    for name in TABLES:
        for route in ("rows", "counts"):
            yield (
                f"perm:{name}:{route}",
                Cell(
                    f"{name}, labels permuted, {route}",
                    partial(permuted, name=name),
                    _card(learn_from=route),
                    _MOST_ROWS_OF_TABLES,
                    new_rows=20_000,
                ),
            )


CELLS: dict[str, Cell] = _generated() | dict(_tables())


def chance(metric: Metric, prior: float) -> float:
    """Return the best value of a metric that scores without signal have on many rows."""
    if isinstance(metric, AUC):
        return 0.5
    if isinstance(metric, RecallAtFPR):
        return metric.fpr
    if isinstance(metric, PartialAUC):
        return 0.5 * metric.max_fpr
    if metric.uses_threshold:
        constant = np.array([-1.0, 1.0])
        y = np.array([True, False])
        weight = np.array([prior, 1.0 - prior])
        values = [metric.score(y, np.repeat(each, 2), weight) for each in constant]
        return max(values) if metric.greater_is_better else min(values)
    return prior
