"""What classifiers promise where there is nothing to learn, against the truth on new rows.

``python -m benchmarks.studies.new_rows.noise`` fits cards and lines to columns that are independent
of the labels, generated ones and tables with permuted labels, and compares the expected metric and
its 95 % interval with what the fitted classifier does on new rows. Each round fits every cell
once. ``--cells a,n,perm:attrition`` selects cells by their names or by the beginnings of them,
``--fits`` is the number of rounds. ``--label`` names the code that is measured, by
default by its commit.

A cell is a population, a classifier and the way its rows are given. Cells are named by a letter
and, where a letter has several, what distinguishes them: ``a``, ``n:f1``, ``perm:attrition:rows``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.harness.data import TABLES, load_table
from benchmarks.harness.markdown import table
from benchmarks.harness.record import (
    Record,
    Row,
    commits_of,
    distinct,
    numbers,
    package_commit,
    select,
)
from benchmarks.harness.runner import Part, Study, timed
from directrix import DirectClassifier, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import AUC, Cost, Metric, PartialAUC, PrecisionAtK, RecallAtFPR, resolve

#: Share of positive rows, unless a cell has another.
PRIOR = 0.3
#: Rows on which the truth is measured.
NEW_ROWS = 50_000
_MOST_ROWS_OF_TABLES = 2_000
_COUNTS = {"learn_from": "counts"}


class Sample(NamedTuple):
    """Rows of a population."""

    X: Any
    y: AnyArray
    weight: FloatArray | None = None
    groups: AnyArray | None = None


Sampler = Callable[[int, np.random.Generator], Sample]


@dataclass(frozen=True)
class Cell:
    """A population without signal, and a classifier.

    ``text``: description for the report. ``sampler``: of a number of rows and a generator.
    ``classifier``: returns a classifier that is not fitted. ``n_rows``: rows of a fit. ``source``:
    whether `fit_source` reads the rows from an Arrow table; else `fit`. ``new_rows``: rows on which
    the truth is measured.
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


def normal_columns(
    n: int, rng: np.random.Generator, n_columns: int, prior: float = PRIOR
) -> Sample:
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
    sample = normal_columns(n, rng, 10)
    return sample._replace(weight=rng.lognormal(size=n))


def grouped(n: int, rng: np.random.Generator, copies: int = 3) -> Sample:
    """Return rows that are repeated, with their labels: the copies of a row are a group."""
    group = np.arange(n) // copies
    distinct = normal_columns(int(group[-1]) + 1, rng, 10)
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
    ten, twenty = partial(normal_columns, n_columns=10), partial(normal_columns, n_columns=20)
    words = partial(texts, n_columns=10)
    few = partial(normal_columns, n_columns=10, prior=0.04)
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


FITS, _FIRST_SEED = 12, 100
_FIGURES: tuple[str, ...] = ("expected", "low", "high", "empirical", "truth", "chance")
_GAPS = tuple(f"{of}{end}" for of in ("gap", "straight") for end in ("", " low", " high"))
_FIGURES += (*_GAPS, "crosses", "seconds")


def measured(code: str, cell: str, seed: int) -> list[tuple[Any, ...]]:
    """Return a row: what a classifier expects, and the truth on new rows."""
    spec = CELLS[cell]
    sample, new = spec.draw(seed)
    fitted, seconds = timed(spec.fit, sample)
    point, report = fitted.operating_point_, fitted.report_
    metric, scores = point.metric, spec.scores(fitted, new)
    if metric.limit is None:
        truth = metric.score(new.y, scores, new.weight)
    else:  # the metric at the threshold of the classifier, not at the best one of new rows
        weight = np.ones(len(new.y)) if new.weight is None else new.weight
        truth = float(np.average(scores[new.y] > 0, weights=weight[new.y]))
    figures = (
        point.expected.metric,
        *point.intervals.metric,
        point.empirical.metric,
        truth,
        chance(metric, float(sample.y.mean())),
        *report.gap,
        *((nan, nan, nan) if report.unbinned_baseline is None else report.unbinned_baseline),
        len(fitted.card_.crosses) if hasattr(fitted, "card_") else 0,
        seconds,
    )
    better = "more" if metric.greater_is_better else "less"
    about = (code, package_commit(), cell, seed, better)
    return [(*about, *(f"{figure:.5g}" for figure in figures))]


def planned(args: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Yield label, cell and seed of each fit, in rounds over the cells."""
    for seed in range(_FIRST_SEED, _FIRST_SEED + args.fits):
        yield from ((args.label, cell, seed) for cell in selected(args.cells))


def selected(names: str) -> list[str]:
    """Return the cells with given names, or whose names begin with them."""
    if not names:
        return list(CELLS)
    cells = [
        cell
        for cell in CELLS
        if any(cell == name or cell.startswith(f"{name}:") for name in names.split(","))
    ]
    if not cells:
        msg = f"no cell is named {names!r}; there are {', '.join(CELLS)}"
        raise ValueError(msg)
    return cells


class Summary(NamedTuple):
    """Figures of several fits of one cell; a bias above zero is optimistic."""

    fits: int
    expected: float
    expected_error: float
    truth: float
    bias: float
    bias_error: float
    excluded: float
    above_chance: float
    rosier: float
    false_gaps: float
    no_width: float
    crosses: float
    seconds: float


def summary(rows: list[Row]) -> Summary:
    """Return the figures of the fits of one cell."""
    figures = (numbers(rows, name) for name in _FIGURES)
    expected, low, high, empirical, truth, base, *gaps, crosses, seconds = figures
    gap, gap_low, gap_high = (np.array(gaps[part::3]) for part in range(3))
    sign = 1.0 if rows[0]["better"] == "more" else -1.0
    bias = sign * (expected - truth)
    above = (low > base) if sign > 0 else (high < base)
    return Summary(
        len(rows),
        expected.mean(),
        _standard_error(expected),
        truth.mean(),
        bias.mean(),
        _standard_error(bias),
        ((truth < low) | (truth > high)).mean(),
        above.mean(),
        (sign * (expected - empirical) > 1e-9).mean(),
        ((gap_low > 0.0) | (gap_high < 0.0)).sum() / max((~np.isnan(gap_low)).sum(), 1),
        ((gap_low == gap_high) & ((gap != 0.0) | [[False], [True]])).any(axis=0).mean(),
        crosses.mean(),
        seconds.mean(),
    )


def _standard_error(values: Any) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else inf


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        "Labels are independent of all columns, so that no classifier has any signal to find. "
        "Expected is the metric that a fit promises on new rows, truth what its classifier has "
        "there. The bias (expected minus truth; above zero is optimistic in every line) is "
        "followed by its standard error. Then shares of fits: of 95 % intervals that exclude the "
        "truth; of intervals that lie wholly on the better side of chance; where more is expected "
        "than held-out rows showed to the choice. Gaps found is the share of intervals of gaps to "
        "logistic regression (on the same bins, and without bins) that exclude zero, where the "
        "models rank new rows alike; no width the share of fits with such a gap of no width. Then "
        "the mean number of crosses, and CPU seconds of a fit."
    )
    text = ["# Promises on noise", "", about]
    columns = (
        "cell | rows and classifier | fits | expected | truth | bias | excluded | above chance | "
        "above empirical | gaps found | no width | crosses | CPU s"
    )
    for code in distinct(rows, "code"):
        of_code = select(rows, code=code)
        fits = {cell: select(of_code, cell=cell) for cell in CELLS}
        cells = (
            (cell, spec.text, *_cells(summary(fits[cell])))
            for cell, spec in CELLS.items()
            if fits[cell]
        )
        text += table(columns, cells, f"{code} (commit {commits_of(of_code)})")
    return text


def _cells(of: Summary) -> tuple[object, ...]:
    shares = (of.excluded, of.above_chance, of.rosier, of.false_gaps, of.no_width)
    return (
        of.fits,
        f"{of.expected:.3f}{_error_text(of.expected_error)}",
        f"{of.truth:.3f}",
        f"{of.bias:+.3f}{_error_text(of.bias_error)}",
        *(f"{share:.0%}" for share in shares),
        f"{of.crosses:.1f}",
        f"{of.seconds:.1f}",
    )


def _error_text(error: float) -> str:
    return f" ± {error:.3f}" if error < inf else ""


RECORD = Record.beside(
    __file__, ("code", "commit", "cell", "seed", "better", *_FIGURES), "code, cell, seed"
)
STUDY = Study(
    [Part(RECORD, planned, measured)],
    lines,
    options={
        "--cells": {"default": "", "help": "names, or beginnings of names"},
        "--fits": {"type": int, "default": FITS, "help": "of each cell"},
        **dict.fromkeys(("--label", "--minutes", "--results")),
    },
)


if __name__ == "__main__":
    STUDY.main(__doc__)
