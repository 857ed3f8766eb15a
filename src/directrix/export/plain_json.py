"""A fitted classifier as plain JSON, for programs that score rows in another language."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from directrix.estimators.scoring import ScoringFormula
from directrix.export.expressions import features_to_read, with_features
from directrix.export.scoring_formula import scoring_formula
from directrix.tables import LevelBins
from directrix.tables.bins import Bins

if TYPE_CHECKING:
    from directrix.cards.card import Card


def to_json(classifier: Any) -> str:
    """Return the numbers that score a row as JSON; ``docs/export.md`` says how to use them.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
        That of a `ScorecardClassifier` has the bins of raw columns and their points. Named
        features without coefficients, and named columns without points, are left out.

    Returns
    -------
    str

    Examples
    --------
    >>> import json
    >>> from directrix import MomentClassifier
    >>> from directrix.export import to_json
    >>> classifier = MomentClassifier(sample=0).fit([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> formula = json.loads(to_json(classifier))
    >>> formula["classes"], formula["threshold"], sorted(formula["probability"])
    ([0, 1], 0.0, ['above', 'below', 'class', 'kind', 'name', 'offset', 'one_minus'])
    """
    formula = formula_to_read(classifier)
    card = formula.card
    if card is not None:
        entries: dict[str, Any] = {
            "format": "directrix.card",
            "version": 1,
            "classes": formula.classes,
            "columns": column_entries(card),
            "card": card_entry(card),
            "probability": _probability(formula),
        }
    else:
        entries = {
            "format": "directrix.scoring",
            "version": 1,
            "classes": formula.classes,
            "features": formula.features,
            "coefficients": formula.coefficients,
            "intercept": formula.intercept,
            "threshold": 0.0,
            "probability": _probability(formula),
        }
    return json.dumps(entries, indent=2, allow_nan=False)


def formula_to_read(classifier: Any) -> ScoringFormula:
    """Return the formula of a classifier, without features that have no part in the score.

    Without names, features are told by their positions, and all of them are needed.
    """
    formula = scoring_formula(classifier)
    if formula.features is None:
        return formula
    return with_features(formula, features_to_read(formula))


def _probability(formula: ScoringFormula) -> dict[str, Any]:
    """Return the function of the score, and the class whose probability it gives."""
    index, response = formula.positive_index, formula.response
    return {
        "class": formula.classes[index],
        "name": formula.probability_name,
        "kind": response.name,
        **vars(response),
        # The score is in favour of the last class, and so is the function of it.
        "one_minus": index == 0,
    }


def column_entries(card: Card) -> list[dict[str, Any]]:
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
        for bins in card.bins
    ]


def card_entry(card: Card) -> dict[str, Any]:
    """Return the points of a card, by the bins of its columns."""
    columns = zip(card.bins, card.columns, strict=True)
    return {
        "intercept": float(card.intercept),
        "points": [by_bin(bins, points.tolist()) for bins, points in columns],
        "crosses": [
            {
                "columns": list(cross.columns),
                "groups": [
                    by_bin(card.bins[k], merged.tolist())
                    for k, merged in zip(cross.columns, cross.merged, strict=True)
                ],
                "points": cross.points.tolist(),
            }
            for cross in card.crosses
        ],
        "cutoff": float(card.cutoff),
        "higher_is_last": bool(card.higher_is_last),
    }


def by_bin(bins: Bins, by_cell: Sequence[Any]) -> dict[str, Any]:
    """Return a value for each bin, from values in the order of the cells."""
    if isinstance(bins, LevelBins):
        levels = [by_cell[cell] for cell in bins.level_cells]
        return {"missing": by_cell[bins.missing_cell], "other": by_cell[1], "levels": levels}
    first = 1 + bins.n_ordered
    return {
        "missing": by_cell[bins.missing_cell],
        "bins": list(by_cell[1:first]),
        "special_values": [by_cell[cell] for _, cell in bins.special_forms],
    }


def cell_entry(bins: Bins, cell: int) -> tuple[str, int | None]:
    """Return where the value of a cell is in what `by_bin` returns: a key, and an index if any."""
    if cell == 0:
        return "missing", None
    if isinstance(bins, LevelBins):
        return ("other", None) if cell == 1 else ("levels", bins.level_cells.index(cell))
    if cell <= bins.n_ordered:
        return "bins", cell - 1
    return "special_values", [other for _, other in bins.special_forms].index(cell)
