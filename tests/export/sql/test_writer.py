from dataclasses import replace

import numpy as np
import pytest

duckdb = pytest.importorskip("duckdb")

from directrix.cards.card import Card  # noqa: E402
from directrix.estimators.scoring import ScoringFormula, Sigmoid  # noqa: E402
from directrix.export.sql_writer import SqlWriter, _level_number, sum_sql  # noqa: E402
from directrix.tables import NumberBins  # noqa: E402

BINS = (NumberBins("x", "number", (1.0,), (0.0, 2.0)),)
CARD = Card(1.0, (np.array([0.0, -2.0, 4.0]),), bins=BINS)
FORMULA = ScoringFormula(
    classes=("no", "yes"), features=("x",), response=Sigmoid(0.5, 1.0, 2.0), card=CARD
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
    writer, formula = SqlWriter("duckdb"), replace(FORMULA, card=card)
    score = writer.score(formula, [writer.points(card, ["x"])])
    expected = card.scores(np.array([[cell]]))[0]
    assert value(score, x) == expected
    assert value(writer.prediction(formula, score), x) == ("yes" if expected > 0 else "no")
    slope = 1.0 if expected < 0 else 2.0
    probability = 1.0 / (1.0 + np.exp(-(0.5 + slope * expected)))
    assert value(writer.probability(formula, score), x) == pytest.approx(probability, rel=1e-12)


@pytest.mark.parametrize("n", [1, 50, 51, 2_500, 2_501])
def test_all_terms_are_added_once_in_their_order_and_no_bracket_holds_many(n):
    text = sum_sql([f"t[{k}]" for k in range(n)])
    added = []

    class Terms:
        def __getitem__(self, k):
            added.append(k)
            return k

    assert eval(text, {"t": Terms()}) == n * (n - 1) // 2  # noqa: S307 - our own text
    assert added == list(range(n))
    flat = text
    while "(" in flat:  # innermost brackets first
        start = flat.rindex("(")
        end = flat.index(")", start)
        assert flat.count("+", start, end) < 50
        flat = f"{flat[:start]}s{flat[end + 1 :]}"


def test_a_level_is_a_number_only_if_the_number_has_its_text():
    assert [_level_number(level) for level in ("2", "-0.5")] == [2.0, -0.5]
    for level in ("007", "2.0", "inf", "nan", "two", ""):
        assert _level_number(level) is None
