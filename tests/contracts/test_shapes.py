"""Laws over shapes of tables: the quick form of `tests.shapes`, which ``make laws`` runs whole."""

import pytest
import shapes

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
