"""Cards of wide tables with missing values, against boosting and logistic regression.

``python -m benchmarks.studies.cards.wide_tables`` draws 400 or 3,000 rows of tables of 60 to 300
columns, three of them generated and three real, with 0, 5 and 30 % missing values, and tests on up
to 6,000 others. Missing values are drawn, more often where a value is high. In the generated tables
five factors stand behind all columns; a tenth of the columns matter, some of them along a line,
others by a step or a bend. Of hiva the 300 columns of the largest variance are taken. The report is
a part of `one_card.md`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import cache
from itertools import product
from statistics import fmean

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.harness.data import Rows, load
from benchmarks.harness.markdown import bold_if, table
from benchmarks.harness.record import Record, Row, commits_of, distinct, package_commit
from benchmarks.harness.runner import Part, Study
from benchmarks.rivals.tables import LINE
from benchmarks.studies.cards.methods import GROWN, METRICS, SEVEN, measured

GENERATED = {"generated, 60": 60, "generated, 150": 150, "generated, 300": 300}
SETS = (*GENERATED, "sylva", "w8a", "hiva")
SIZES, SHARES, SEEDS, MOST_TEST = (400, 3_000), (0.0, 0.05, 0.3), 2, 6_000
MOST_COLUMNS = 300
METHODS = (GROWN, SEVEN, LINE)


@cache
def real(name: str) -> Rows:
    """Return a set of numbers; of many columns those of the largest variance."""
    X, y = load(name)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    widest = np.sort(np.argsort(-X.var(axis=0), kind="stable")[:MOST_COLUMNS])
    return Rows(X[:, widest], y)


def generated(n: int, columns: int, rng: np.random.Generator) -> Rows:
    """Return rows of numbers that five factors correlate."""
    X = rng.normal(size=(n, 5)) @ rng.normal(0.0, 0.4, (5, columns)) + rng.normal(size=(n, columns))
    shapes = (lambda x: x, lambda x: 2.0 * (x > 0.8), lambda x: np.abs(x) - 1.0)
    odds = sum(rng.normal() * shapes[k % 3](X[:, 10 * k]) for k in range(columns // 10))
    return Rows(X, rng.random(n) < expit(odds / np.std(odds) * 1.5 - 1.0))


def split(name: str, size: int, share: float, seed: int) -> tuple[Rows, Rows]:
    """Return training and test rows; with other shares of missing values they are the same rows."""
    rng = np.random.default_rng([seed, size, SETS.index(name)])
    if name in GENERATED:
        X, y = generated(size + MOST_TEST, GENERATED[name], rng)
    else:
        X, y = real(name)
        order = rng.permutation(len(y))[: size + MOST_TEST]
        X, y = X[order].copy(), y[order]
    rank = (np.median(X, axis=0) < X).astype(float)
    X[rng.random(X.shape) < share * (0.75 + 0.5 * rank)] = np.nan
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    first = Rows(frame.iloc[:size].reset_index(drop=True), y[:size])
    return first, Rows(frame.iloc[size:].reset_index(drop=True), y[size:])


def measure(
    seed: int, name: str, size: int, share: float, missing: list[tuple[str]]
) -> list[tuple[object, ...]]:
    """Fit the missing methods to one table."""
    train, test = split(name, size, share, seed)
    about = seed, name, size, share
    return [
        (*about, method, *measured(method, train, test), package_commit()) for (method,) in missing
    ]


def lines(rows: list[Row]) -> list[str]:
    """Return the part of the report on wide tables."""
    if not rows:
        return []
    values = {tuple(row[name] for name in RECORD.key): row for row in rows}
    seeds = distinct(rows, "seed")
    cells, better = [], dict.fromkeys(METHODS[1:], 0)
    for size, share, name in product(SIZES, SHARES, SETS):
        every = [
            [values.get((seed, name, str(size), str(share), method)) for method in METHODS]
            for seed in seeds
        ]
        whole = [[row for row in some if row] for some in every if all(some)]
        if not whole:
            continue
        shown: list[str] = []
        for metric in ("AUC", "recall at FPR 5 %", "log loss"):
            means = np.mean([[float(row[metric]) for row in some] for some in whole], axis=0)
            gaps = means[0] - means[1:]
            sign = 1.0 if METRICS[metric].greater_is_better else -1.0
            shown += [f"{means[0]:.4f}", *(bold_if(f"{g:+.4f}", sign * g < 0) for g in gaps)]
            if metric == "AUC":
                for method, gap in zip(METHODS[1:], gaps, strict=True):
                    better[method] += bool(gap > 0)
        cpu = "/".join(f"{fmean(float(some[k]['cpu']) for some in whole):.2g}" for k in range(3))
        cells.append((name, size, f"{share:.0%}", *shown, cpu))
    columns = [f"{metric} | less trees | less line" for metric in ("AUC", "recall 5 %", "log loss")]
    ahead = " and ".join(f"{method} on {n} of {len(cells)}" for method, n in better.items())
    return [
        *table(f"table | rows | missing | {' | '.join(columns)} | CPU s", cells, TITLE),
        "",
        f"How: see `wide_tables.py`; trees are {SEVEN}, the line {LINE}. By AUC",
        f"the card is ahead of {ahead}.",
        f"Draws of each table: {len(seeds)}; CPU seconds of the card, trees and line.",
        f"Commits: {commits_of(rows)}.",
    ]


def plan(_: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Yield seed, table, rows, share of missing values and method."""
    return product(range(SEEDS), SETS, SIZES, SHARES, METHODS)


TITLE = "Wide tables with missing values: the card, and the card less others; losses are bold"
RECORD = Record.beside(
    __file__,
    ("seed", "table", "rows", "missing", "method", *METRICS, "lines", "cpu", "commit"),
    "seed, table, rows, missing, method",
)
STUDY = Study([Part(RECORD, plan, measure, together=4)], options={"--minutes": None})
if __name__ == "__main__":
    STUDY.main(__doc__)
