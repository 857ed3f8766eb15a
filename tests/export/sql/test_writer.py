from dataclasses import replace

import numpy as np
import pytest

duckdb = pytest.importorskip("duckdb")

from directrix.classifiers.scoring import CardFormula, Sigmoid  # noqa: E402
from directrix.export.sql.writer import FormulaWriter  # noqa: E402
from directrix.models.card import Card  # noqa: E402
from directrix.tables import NumberBins  # noqa: E402

BINS = (NumberBins("x", "number", (1.0,), (0.0, 2.0)),)
CARD = Card(1.0, (np.array([0.0, -2.0, 4.0]),), bins=BINS)
FORMULA = CardFormula(
    classes=("no", "yes"), features=("x",), response=Sigmoid(0.5, 1.0, 2.0), cards=(CARD,)
)


def value(expression, x):
    with duckdb.connect() as connection:
        query = f"SELECT {expression} FROM (SELECT CAST({x} AS DOUBLE) AS x)"  # noqa: S608
        return connection.execute(query).fetchone()[0]


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("cutoff", [0.0, 0.5, -7.25])
@pytest.mark.parametrize(("x", "cell"), [("NULL", 0), ("0.0", 1), ("'inf'", 2)])
def test_the_score_is_the_distance_of_the_points_from_the_cutoff(x, cell, cutoff, higher):
    card = replace(CARD, cutoff=cutoff, higher_is_positive=higher)
    writer = FormulaWriter(replace(FORMULA, cards=(card,)), "duckdb")
    points = writer.points(["x"])
    scores = writer.scores(points)
    expected = card.scores(np.array([[cell]]))[0]
    assert value(scores[0], x) == expected
    assert value(writer.prediction(scores), x) == ("yes" if expected > 0 else "no")
    slope = 1.0 if expected < 0 else 2.0
    probability = 1.0 / (1.0 + np.exp(-(0.5 + slope * expected)))
    assert value(writer.probabilities(scores)[0], x) == pytest.approx(probability, rel=1e-12)
