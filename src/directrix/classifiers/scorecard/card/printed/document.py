"""CardDocument: a card as the texts that every printed format shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.classifiers.scorecard.card.card import Card
    from directrix.classifiers.scorecard.card.printed.cross_table import CrossTable
    from directrix.classifiers.scorecard.card.printed.rows import CardRow

#: Digits after the point that printed points have, unless all points of the card are whole.
DECIMALS = 1
#: Headings of the texts of a row.
HEADINGS = ("points", "rows", "share", "positive", "WoE", "bin")


@dataclass(frozen=True, eq=False)
class ColumnBlock:
    """The rows of a column.

    Parameters
    ----------
    title : str
        The name of the column, and its least and greatest points.
    rows : tuple of CardRow
    texts : tuple of tuples of str
        For each row one text for each of `HEADINGS`.
    n_ordered : int
        Number of ordered bins of the column.
    """

    title: str
    rows: tuple[CardRow, ...]
    texts: tuple[tuple[str, ...], ...]
    n_ordered: int


@dataclass(frozen=True, eq=False)
class CrossBlock:
    """The points of a cross.

    Parameters
    ----------
    title : str
    table : CrossTable
        With no more columns than rows.
    texts : tuple of tuples of str
        Points.
    """

    title: str
    table: CrossTable
    texts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class CardDocument:
    """All that is printed of a card, columns and crosses with the widest range of points first.

    Parameters
    ----------
    headline : str
        Base points, cutoff, and which side of it is predicted positive.
    columns : tuple of ColumnBlock
    unused : str
        Names the columns whose printed points are zero in every bin; empty if there are none.
    crosses : tuple of CrossBlock
    """

    headline: str
    columns: tuple[ColumnBlock, ...]
    unused: str
    crosses: tuple[CrossBlock, ...]

    @classmethod
    def of(cls, card: Card) -> CardDocument:
        """Round points as they are printed, merge bins whose points are then equal, and word it."""
        whole = all(np.array_equal(part, np.round(part)) for part in card.blocks)
        decimals = 0 if whole else DECIMALS
        columns, unused = [], []
        for index in card.ranked_columns:
            rows = card.column_table(index, DECIMALS)
            if not any(row.points for row in rows):
                unused.append(card.bins[index].name)
                continue
            title = _title(card.bins[index].name, card.columns[index], decimals)
            texts = tuple(_texts(row, decimals) for row in rows)
            columns.append(ColumnBlock(title, tuple(rows), texts, card.bins[index].n_ordered))
        crosses = []
        for table in card.cross_tables(DECIMALS):
            tall = table if table.points.shape[0] >= table.points.shape[1] else table.transposed()
            rows_of = [[points_text(p, decimals) for p in row] for row in tall.points.tolist()]
            title = _title(table.name, table.points, decimals)
            crosses.append(CrossBlock(title, tall, tuple(map(tuple, rows_of))))
        return cls(
            _headline(card, decimals), tuple(columns), _unused(unused, decimals), tuple(crosses)
        )


def points_text(points: float, decimals: int) -> str:
    """Return points as text, never as minus zero."""
    return f"{round(points, decimals) + 0.0:.{decimals}f}"


def count_text(count: float) -> str:
    """Return a weight of rows as text."""
    if np.isnan(count):
        return "-"
    return f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"


def share_text(share: float) -> str:
    """Return a share in per cent."""
    return "-" if np.isnan(share) else f"{100 * share:.1f} %"


def _texts(row: CardRow, decimals: int) -> tuple[str, ...]:
    evidence = "-" if np.isnan(row.evidence) else points_text(row.evidence, 2)
    return (
        points_text(row.points, decimals),
        count_text(row.rows),
        share_text(row.share),
        share_text(row.positive_rate),
        evidence,
        row.bin,
    )


def _headline(card: Card, decimals: int) -> str:
    base = points_text(card.intercept, decimals if card.intercept.is_integer() else DECIMALS)
    cutoff = points_text(card.cutoff, 0 if float(card.cutoff).is_integer() else DECIMALS)
    side = "above" if card.higher_is_positive else "below"
    label = "positive" if card.label is None else repr(card.label)
    return f"base points {base}; predicted {label} {side} a cutoff of {cutoff} points in all"


def _title(name: str, points: FloatArray, decimals: int) -> str:
    low, high = (points_text(float(end), decimals) for end in (points.min(), points.max()))
    return f"{name}: points from {low} to {high}"


def _unused(names: Sequence[str], decimals: int) -> str:
    return f"{points_text(0.0, decimals)} points in every bin: {', '.join(names)}" if names else ""
