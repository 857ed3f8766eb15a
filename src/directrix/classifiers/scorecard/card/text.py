"""A card as text: for each column its bins and their points, those with most influence first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.tables import Bins

#: Lines of a column, and columns and crosses, that are printed before the rest is only counted.
_LINES, _BLOCKS = 12, 20
#: Points are printed to one over this; neighbouring bins with equal points share a line.
_STEPS = 10.0


class PointRow(NamedTuple):
    """Points of a bin, or of neighbouring bins together.

    Parameters
    ----------
    column : str
    bin : str
        What rows of the bin have.
    points : float
    """

    column: str
    bin: str
    points: float


def point_rows(bins: Bins, points: FloatArray, *, merged: bool = False) -> list[PointRow]:
    """Return the points of every cell of a column that training rows may fall into.

    Parameters
    ----------
    bins : NumberBins or LevelBins
    points : array of shape (cells,)
    merged : bool
        Whether points are rounded to tenths, and neighbouring ordered bins with equal points are
        one row.
    """
    labels = bins.labels
    if not merged:
        pairs = zip(labels, points.tolist(), strict=True)
        return [PointRow(bins.name, label, value) for label, value in pairs]
    rounded = np.round(points * _STEPS) / _STEPS + 0.0  # no minus zero
    rows, cell = [], 0
    while cell < len(labels):
        end = cell
        ordered = 1 <= cell <= bins.n_ordered
        while ordered and end < bins.n_ordered and rounded[end + 1] == rounded[cell]:
            end += 1
        label = labels[cell] if end == cell else _joined(labels, cell, end, bins.n_ordered)
        rows.append(PointRow(bins.name, label, float(rounded[cell])))
        cell = end + 1
    return rows


def card_text(
    intercept: float, columns: Sequence[tuple[Bins, FloatArray]], crosses: Sequence[str]
) -> str:
    """Return a card as text.

    Parameters
    ----------
    intercept : float
    columns : sequence of pairs of bins and points
    crosses : sequence of str
        What each cross is called, the one with most influence first.
    """
    ranked = sorted(columns, key=lambda column: -_range(column[1]))
    lines = [f"intercept {intercept:+.1f}; predicted positive above 0 points in all"]
    for bins, points in ranked[:_BLOCKS]:
        rows = point_rows(bins, points, merged=True)
        lines += ["", f"{bins.name} (from {points.min():+.1f} to {points.max():+.1f})"]
        lines += [f"  {row.points:+6.1f}  {row.bin}" for row in rows[:_LINES]]
        if len(rows) > _LINES:
            lines.append(f"          and {len(rows) - _LINES} more")
    if len(ranked) > _BLOCKS:
        lines += ["", f"and {len(ranked) - _BLOCKS} more columns"]
    if crosses:
        lines += ["", "crosses, with points for pairs of bins:"]
        lines += [f"  {name}" for name in crosses[:_BLOCKS]]
        if len(crosses) > _BLOCKS:
            lines.append(f"  and {len(crosses) - _BLOCKS} more")
    return "\n".join(lines)


def _range(points: FloatArray) -> float:
    return float(np.ptp(points)) if points.size else 0.0


def _joined(labels: Sequence[str], first: int, last: int, n_ordered: int) -> str:
    """Return the label of neighbouring ordered bins together."""
    if first == 1 and last == n_ordered:
        return "any value"
    if first == 1:
        return f"<= {labels[last].split(' to ')[-1]}"
    low = labels[first].split(" to ")[0]
    return f"> {low}" if last == n_ordered else f"{low} to {labels[last].split(' to ')[-1]}"
