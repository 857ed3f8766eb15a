"""The columns and points of scorecards as plain lists and dicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from directrix.tables import LevelBins
from directrix.tables.bins import Bins

if TYPE_CHECKING:
    from directrix.classifiers.scoring import CardFormula
    from directrix.models.card import Card


def column_entries(formula: CardFormula) -> list[dict[str, Any]]:
    """Return the name and kind of each column, and the values that separate its bins."""
    return [
        {"name": bins.name, "kind": "text", "levels": list(bins.levels)}
        if isinstance(bins, LevelBins)
        else {
            "name": bins.name,
            "kind": bins.kind,
            "cuts": list(bins.cuts),
            "special_values": [value for value, _ in bins.special_forms],
        }
        for bins in formula.cards[0].bins
    ]


def card_entry(card: Card) -> dict[str, Any]:
    """Return the points of a card, by the bins of its columns."""
    columns = zip(card.bins, card.columns, strict=True)
    return {
        "intercept": float(card.intercept),
        "points": [_by_bin(bins, points.tolist()) for bins, points in columns],
        "crosses": [
            {
                "columns": list(cross.columns),
                "groups": [
                    _by_bin(card.bins[k], merged.tolist())
                    for k, merged in zip(cross.columns, cross.merged, strict=True)
                ],
                "points": cross.points.tolist(),
            }
            for cross in card.crosses
        ],
        "cutoff": float(card.cutoff),
        "higher_is_last": bool(card.higher_is_last),
    }


def _by_bin(bins: Bins, by_cell: Sequence[Any]) -> dict[str, Any]:
    """Return a value for each bin, from values in the order of the cells."""
    if isinstance(bins, LevelBins):
        levels = [by_cell[cell] for cell in bins.level_cells]
        return {"missing": by_cell[0], "other": by_cell[1], "levels": levels}
    first = 1 + bins.n_ordered
    return {
        "missing": by_cell[0],
        "bins": list(by_cell[1:first]),
        "special_values": [by_cell[cell] for _, cell in bins.special_forms],
    }
