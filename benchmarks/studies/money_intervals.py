"""Coverage of the intervals of money saved where few rows carry most of it.

Amounts are drawn from distributions of long tails whose mean is known;
``python -m benchmarks.studies.money_intervals`` compares the interval with the bootstrap of rows
and with the normal one.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import Any

import numpy as np

from benchmarks.harness.markdown import holds, table
from benchmarks.harness.record import Record, Row, commit, commits_of, numbers, select
from benchmarks.harness.runner import Part, Study, quiet
from directrix._typing import FloatArray
from directrix.fit.money import Money, RowCosts

MEAN = 100.0
RECALL, FPR, FP = 0.7, 0.05, 5.0
TAILS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "lognormal, sigma 2": lambda rng, n: MEAN * np.exp(2.0 * rng.normal(size=n) - 2.0),
    "lognormal, sigma 1": lambda rng, n: MEAN * np.exp(rng.normal(size=n) - 0.5),
    "Pareto 1.5": lambda rng, n: MEAN / 3.0 * (1.0 + rng.pareto(1.5, n)),
    "Lomax 1.5": lambda rng, n: MEAN / 2.0 * rng.pareto(1.5, n),
    "exponential": lambda rng, n: rng.exponential(MEAN, n),
}
SAMPLES = ((2000, 0.02), (2000, 0.1), (20_000, 0.02))
DRAWS, RESAMPLES = 200, 200


def bootstrap(values: FloatArray, rng: np.random.Generator) -> tuple[float, float]:
    """Return the percentile interval of the bootstrap of rows."""
    found = values[values != 0]
    counts = rng.binomial(len(values), len(found) / len(values), RESAMPLES)
    means = [found[rng.integers(0, len(found), k)].sum() / len(values) for k in counts]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def coverage(tail: str, n: int, prior: float) -> list[tuple[Any, ...]]:
    """Return how often intervals of the money saved cover it, and their median width."""
    rng = np.random.default_rng(n + round(1000 * prior))
    truth = prior * RECALL * MEAN - (1.0 - prior) * FPR * FP
    ends: dict[str, list[tuple[float, float]]] = {"ours": [], "normal": [], "bootstrap": []}
    for _ in range(DRAWS):
        y, amount = rng.random(n) < prior, TAILS[tail](rng, n)
        flagged = rng.random(n) < np.where(y, RECALL, FPR)
        costs = RowCosts(np.full(n, FP), amount)
        saved = np.where(flagged, np.where(y, amount, -FP), 0.0)
        found = Money.of(costs, y, np.ones(n), {"": flagged})[""].saved_on_none
        ends["ours"].append((found.low, found.high))
        reach = 1.96 * saved.std() / np.sqrt(n)
        ends["normal"].append((saved.mean() - reach, saved.mean() + reach))
        ends["bootstrap"].append(bootstrap(saved, rng))
    records = []
    for method, pairs in ends.items():
        low, high = np.array(pairs).T
        shares = (np.mean((low <= truth) & (truth <= high)), np.mean(low > truth))
        width = float(np.median(high - low)) / truth
        cells = (f"{value:.4f}" for value in (*shares, width))
        records.append((tail, n, prior, method, DRAWS, *cells, commit()))
    return records


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        f"Rows of which {100 * RECALL:g} % of the positives and {100 * FPR:g} % of the negatives "
        f"are flagged, amounts of mean {MEAN:g}, {DRAWS} draws: how often the 95 % interval of "
        f"the money saved covers it. Commit {commits_of(rows)}."
    )
    cells = []
    for tail, (n, prior) in product(TAILS, SAMPLES):
        of_tail = [row for row in select(rows, tail=tail, prior=prior) if row["rows"] == str(n)]
        found = {row["method"]: row for row in of_tail}
        if not found:
            continue
        shares = (f"{100 * float(found[m]['covered']):.1f} %" for m in ("ours", "bootstrap"))
        normal = f"{100 * float(found['normal']['covered']):.1f} %"
        widths = (f"{float(found[m]['width']):.2f}" for m in ("ours", "bootstrap"))
        cells.append((tail, f"{n:,}", f"{100 * prior:g} %", *shares, normal, *widths))
    columns = (
        "amounts | rows | positives | ours | bootstrap of rows | normal | width, ours | "
        "width, bootstrap"
    )
    least = numbers(select(rows, method="ours"), "covered").min()
    said = f"Ours covers at least 90 % in all rows above (least: {100 * least:.1f} %)"
    return [
        "# Intervals of money saved",
        "",
        "Made by `python -m benchmarks.studies.money_intervals`.",
        "",
        about,
        *table(columns, cells),
        "",
        f"{said}: {holds(least >= 0.9)}.",
    ]


RECORD = Record.beside(
    __file__,
    "tail, rows, prior, method, draws, covered, above, width, commit",
    "tail, rows, prior",
)


def planned(args: Namespace) -> Iterator[tuple[str, int, float]]:
    """Yield the tasks; a quick run has the first only."""
    tasks = ((tail, *sample) for tail, sample in product(TAILS, SAMPLES))
    yield from islice(tasks, 1 if args.quick else None)


STUDY = Study([Part(RECORD, planned, coverage)], lines, quick="the first task")

if __name__ == "__main__":
    with quiet():
        STUDY.main(__doc__)
