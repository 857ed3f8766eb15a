"""Bands of total points: what they promise about the rate of positives, and what new rows show.

``python -m benchmarks.studies.new_rows.bands`` fits cards to a part of twelve tables, and counts on
the other rows in how many bands the observed rate is inside the interval that the card gave for as
many rows (``RiskBand.interval_among``). ``width`` is the mean width of the 95 % interval of the
rate itself, in points of per cent, beside that of Wilson's interval of the observed rate alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

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
from benchmarks.harness.runner import Part, Study, quiet
from directrix import ScorecardClassifier
from directrix.fit.shares import wilson

#: Training rows at most; no more than half of a table.
MOST_ROWS = 4_000
NEW_ROWS = 20_000
#: The first split of each table, with seed 0, was used to choose how much probabilities are worth.
SEEDS = (1, 2)
POINTS = ("pdo", "integer")
#: How many bands of equal rows; "tails" are cuts at these shares of the held-out rows.
KINDS = ("10", "20", "tails")
_TAILS = (0.01, 0.03, 0.1, 0.5, 0.9, 0.97, 0.99)
_FIGURES = ("bands", "inside", "width", "wilson")


def measured(name: str, seed: int, points: str) -> list[tuple[Any, ...]]:
    """Return a row for each kind of bands of one card."""
    rows = load_table(name)
    order = np.random.default_rng([seed, 39]).permutation(len(rows.y))
    n_seen = min(len(order) // 2, MOST_ROWS)
    seen, new = order[:n_seen], order[n_seen : n_seen + NEW_ROWS]
    card = ScorecardClassifier("auc", max_crosses=0, points=points, warn_baseline=False)
    with quiet():
        card.fit(rows.X.iloc[seen], rows.y[seen])
    totals, y = card.predict_points(rows.X.iloc[new]), rows.y[new]
    made = []
    for kind in KINDS:
        bands = card.card_.bands(tail_cuts(card.card_.held_out) if kind == "tails" else int(kind))
        index = bands.positions(totals)
        count, positive = (np.bincount(index, w, len(bands)) for w in (np.ones(len(y)), y))
        inside = []
        for band, n, k in zip(bands, count, positive, strict=True):
            low, high = band.interval_among(int(n))
            inside += [low <= k / n <= high] if n else []
        known = [band for band in bands if band.rows]
        widths = [100 * (band.high - band.low) for band in known]
        plain = [100 * float(np.diff(wilson(b.observed, b.rows))[0]) for b in known]
        figures = len(inside), sum(inside), np.mean(widths), np.mean(plain)
        about = package_commit(), name, seed, points, kind, len(seen), len(new)
        made.append((*about, *(f"{figure:.5g}" for figure in figures)))
    return made


def tail_cuts(held_out: Any) -> list[float]:
    """Return points that cut off small shares of the held-out rows."""
    share = np.cumsum(held_out.negatives + held_out.positives)
    index = np.searchsorted(share / share[-1], _TAILS)
    cuts = np.unique(held_out.points[index])
    return [float(cut) for cut in cuts if cut < held_out.points[-1]]


def _measure(name: str, seed: int, points: str, kinds: list[tuple[str]]) -> list[tuple[Any, ...]]:
    wanted = {kind for (kind,) in kinds}
    return [row for row in measured(name, seed, points) if row[4] in wanted]


def planned(args: argparse.Namespace) -> Iterator[tuple[str, int, str, str]]:
    """Yield table, seed, points and kind of bands, in rounds over all tables."""
    for seed, name, points, kind in product(args.seeds, TABLES, POINTS, KINDS):
        yield name, seed, points, kind


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        f"Cards of at most {MOST_ROWS:,} training rows (half of a smaller table), judged on up to "
        f"{NEW_ROWS:,} other rows. Inside: bands whose observed rate among the new rows is inside "
        "the 95 % interval that the card gave for as many rows. Width: mean width of the interval "
        "of the rate, in points of per cent; Wilson's interval of the held-out rows of the band "
        f"alone beside it. Tails: cuts at {', '.join(f'{100 * share:g} %' for share in _TAILS)} of "
        "the held-out rows. How many rows the probabilities of a card are worth was chosen on "
        f"other splits of the same tables. Measured on commit {commits_of(rows)}."
    )
    text = ["# Bands of total points on new rows", "", about]
    for kind in KINDS:
        cells = []
        of_kind = select(rows, kind=kind)
        for name in (*distinct(of_kind, "table"), "all"):
            chosen = of_kind if name == "all" else select(of_kind, table=name)
            bands, inside, width, alone = (numbers(chosen, figure) for figure in _FIGURES)
            share = inside.sum() / bands.sum()
            cells.append(
                (
                    name,
                    len(chosen),
                    f"{bands.sum():.0f}",
                    f"{inside.sum():.0f}",
                    f"{share:.1%}",
                    f"{width.mean():.1f}",
                    f"{alone.mean():.1f}",
                )
            )
        title = f"{kind} bands of equal rows" if kind != "tails" else "Bands in the tails"
        text += table("table | cards | bands | inside | share | width | Wilson", cells, title)
    return text


RECORD = Record.beside(
    __file__,
    ("commit", "table", "seed", "points", "kind", "seen", "new", *_FIGURES),
    "table, seed, points, kind",
)
STUDY = Study(
    [Part(RECORD, planned, _measure, together=3)],
    lines,
    options={
        **dict.fromkeys(("--minutes", "--results", "--jobs")),
        "--seeds": {"type": int, "nargs": "*", "default": SEEDS},
    },
)

if __name__ == "__main__":
    STUDY.main(__doc__)
