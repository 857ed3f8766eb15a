"""What several cells of a column have in common, as text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from directrix.tables import LevelBins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.tables.bins import Bins

#: Stands between parts that are not neighbours.
SEPARATOR = "; "


def cells_label(bins: Bins, cells: Sequence[int]) -> str:
    """Return the name of some cells of a column together; of one cell, its label.

    Neighbouring ordered bins are one range, levels are listed, and all else follows.

    Parameters
    ----------
    bins : NumberBins or LevelBins
    cells : sequence of int
        Increasing.
    """
    if isinstance(bins, LevelBins):
        return _levels_label(bins, cells)
    labels, parts = bins.labels, []
    ordered = [cell for cell in cells if 1 <= cell <= bins.n_ordered]
    while ordered:
        first = last = ordered.pop(0)
        while ordered and ordered[0] == last + 1:
            last = ordered.pop(0)
        parts.append(labels[first] if first == last else _range_label(bins, first, last))
    rest = [labels[cell] for cell in cells if not 1 <= cell <= bins.n_ordered]
    return SEPARATOR.join([*parts, *rest])


def printable(text: str) -> str:
    """Return a text in one line, with escapes for characters that cannot be printed."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _range_label(bins: Bins, first: int, last: int) -> str:
    cuts = bins.cut_labels  # type: ignore[union-attr]  # ordered bins are those of numbers
    if last == bins.n_ordered:
        return "any value" if first == 1 else f"> {cuts[first - 2]}"
    return f"<= {cuts[last - 1]}" if first == 1 else f"{cuts[first - 2]} to {cuts[last - 1]}"


def _levels_label(bins: LevelBins, cells: Sequence[int]) -> str:
    """Return the levels as bins that group them would name them, which quotes what is misread."""
    of_levels = [cell for cell in cells if cell > 1]
    rest = [bins.labels[cell] for cell in cells if cell <= 1]
    if len(of_levels) < 2:
        return SEPARATOR.join([*(bins.labels[cell] for cell in of_levels), *rest])
    members = [
        level
        for level, cell in zip(bins.levels, bins.level_cells, strict=True)
        if cell in of_levels
    ]
    grouped = replace(bins, levels=tuple(members), groups=(0,) * len(members), weights=())
    return SEPARATOR.join([grouped.labels[2], *rest])
