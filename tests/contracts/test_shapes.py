"""Laws over shapes of tables: the quick form of `tests.shapes`, which ``make laws`` runs whole."""

import numpy as np
import pytest
import shapes
from sklearn.metrics import roc_auc_score

from directrix.cards import sizes

#: Small tables, whose fits take seconds.
QUICK = [cell for cell in shapes.CELLS if cell.columns <= 10 and cell.rows == 400][:5]


@pytest.mark.parametrize("cell", QUICK, ids=lambda cell: f"{cell.classifier}-{cell.columns}")
@pytest.mark.every_case
def test_promises_are_kept_on_tables_of_other_shapes(cell):
    assert list(shapes.broken_laws({(cell, 0): shapes.result(cell, 0)})) == []


@pytest.mark.every_case
@pytest.mark.parametrize("classifier", shapes.FACTORS["classifier"])
def test_promises_are_kept_on_noise(classifier):
    draws = [draw for draw in shapes.DRAWS if draw.classifier == classifier][5::6]
    results = {(draw, 1): shapes.result(draw, 1) for draw in draws}
    assert list(shapes.broken_laws(results)) == []


def wide_card():
    """Return a default card of 100 columns, how far ahead it is, and whether the fit warned."""
    cell = shapes.Cell(columns=100, missing=0.05, rows=1_500, labels="signal")
    rng = np.random.default_rng(0)
    (X, y, _), (X_new, y_new) = shapes.training_rows(cell, rng), shapes.labelled(cell, 4_000, rng)
    models = shapes.classifier(cell), shapes.logistic(cell)
    (card, caught), (rival, _) = (shapes.fitted(each, X, y, {}) for each in models)
    areas = [roc_auc_score(y_new, each.decision_function(X_new)) for each in (card, rival)]
    warned = any(issubclass(each.category, shapes.IS_WORSE) for each in caught)
    return card, areas[0] - areas[1], warned


def test_a_wide_card_is_not_behind():
    _, ahead, warned = wide_card()
    assert ahead >= -shapes.BEHIND
    assert not warned


def test_a_card_that_is_behind_says_so_first_and_warns(monkeypatch):
    """A card of four lines has too few of them for a hundred columns."""
    monkeypatch.setattr(sizes, "SIZES", (2, 4))
    monkeypatch.setattr(sizes, "MOST_LINES", 4)
    card, ahead, warned = wide_card()
    assert ahead < -shapes.BEHIND
    assert warned
    assert card.report_.too_short
    assert "Clearly worse than the full card" in card.report_.summary().splitlines()[0]
