import pytest

from directrix.cards.card import scale_of
from directrix.estimators import IntegerPoints, PointsToDoubleOdds


def test_names_are_the_scales_with_their_defaults():
    assert scale_of("pdo") == PointsToDoubleOdds()
    assert scale_of("integer") == IntegerPoints()
    assert scale_of("log-odds") is None
    given = IntegerPoints(5)
    assert scale_of(given) is given


@pytest.mark.parametrize("points", ["points", 20, IntegerPoints, ["pdo"], None])
def test_others_are_named(points):
    with pytest.raises(ValueError, match="points must be 'integer', 'pdo', 'log-odds'"):
        scale_of(points)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PointsToDoubleOdds(pdo=0), "pdo of PointsToDoubleOdds must be above zero, not 0"),
        (lambda: PointsToDoubleOdds(base_odds=-1.0), "base_odds of PointsToDoubleOdds"),
        (lambda: PointsToDoubleOdds(base_points=float("nan")), "must be a finite number"),
        (lambda: IntegerPoints(0), "largest of IntegerPoints must be a whole number, 1 or more"),
        (lambda: IntegerPoints(2.5), "must be a whole number"),
    ],
)
def test_wrong_numbers_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
