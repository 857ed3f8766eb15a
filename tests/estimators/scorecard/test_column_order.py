"""A card does not depend on the order of the columns of the table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator

from directrix import Binner
from directrix.cards.card import Card, Cross
from directrix.estimators import IntegerPoints, ScorecardClassifier
from directrix.estimators.training_table import ColumnOrder, content_order

pytestmark = pytest.mark.filterwarnings("ignore")  # a bad model is good enough


NAMES = "abcdefgh"


def crossed(n=400, seed=0):
    """Return rows whose label depends on pairs of columns, with many ties."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "z": rng.integers(0, 6, n).astype(float),
            "a": rng.choice(["p", "q", "r"], n),
            "m": rng.normal(size=n).round(1),
            "b": rng.random(n) < 0.5,
            "twin": rng.integers(0, 3, n).astype(float),
        }
    )
    frame["twin too"] = frame["twin"]
    frame.loc[rng.random(n) < 0.1, "m"] = np.nan
    risk = np.where(frame["b"], frame["z"] - 2.5, 2.5 - frame["z"]) + (frame["a"] == "q")
    return frame, risk + 0.3 * frame["twin"] + rng.normal(size=n) > 0.5


def by_name(classifier):
    """Return points of the columns by name, and those of the crosses by pairs of names."""
    card = classifier.card_
    names = [bins.name for bins in card.bins]
    columns = dict(zip(names, card.columns, strict=True))
    crosses = {}
    for cross in card.crosses:
        pair = [names[k] for k in cross.columns]
        table = cross.points[np.ix_(*cross.merged)]
        crosses[tuple(sorted(pair))] = table if pair == sorted(pair) else table.T
    return columns, crosses


@pytest.mark.parametrize(
    "options",
    [
        {"max_lines": "auto"},
        {"points": IntegerPoints()},
        {"max_columns": 3, "monotone": {"m": "increasing", "twin": "increasing"}},
        {"guarantee": 0.9, "metric": "recall@fpr=0.2"},
    ],
    ids=str,
)
def test_the_same_card_in_any_order(options):
    X, y = crossed()
    options = {"metric": "auc", "cv": 3, "max_lines": None} | options
    first = ScorecardClassifier(**options).fit(X, y)
    columns, crosses = by_name(first)
    names = ["twin too", "b", "z", "twin", "m", "a"]
    other = ScorecardClassifier(**options).fit(X[names], y)
    assert other.feature_names_in_.tolist() == names
    assert [bins.name for bins in other.card_.bins] == names
    assert other.card_.cutoff == first.card_.cutoff
    made = by_name(other)
    for name, points in columns.items():
        np.testing.assert_array_equal(made[0][name], points)
    assert made[1].keys() == crosses.keys()
    for pair, points in crosses.items():
        np.testing.assert_array_equal(made[1][pair], points)
    np.testing.assert_array_equal(other.predict(X), first.predict(X))
    assert other.report_.chosen == first.report_.chosen
    assert other.operating_point_.threshold == first.operating_point_.threshold


def test_there_are_crosses_to_compare():
    X, y = crossed()
    assert ScorecardClassifier("auc", cv=3, max_lines=None).fit(X, y).card_.crosses


def test_directions_may_be_given_by_position():
    X, y = crossed()
    options = {"metric": "auc", "cv": 2, "max_lines": None}
    first = ScorecardClassifier(monotone={"z": "decreasing"}, **options).fit(X, y)
    names = ["b", "a", "z", "m", "twin", "twin too"]
    other = ScorecardClassifier(monotone={2: "decreasing"}, **options).fit(X[names], y)
    np.testing.assert_array_equal(other.predict(X), first.predict(X))


def test_a_frozen_binner_may_have_another_order():
    X, y = crossed()
    binner = Binner().fit(X[sorted(X)])
    options = {"metric": "auc", "cv": 2, "max_lines": None}
    card = ScorecardClassifier(binner=FrozenEstimator(binner), **options).fit(X, y)
    assert card.feature_names_in_.tolist() == [bins.name for bins in card.card_.bins]
    np.testing.assert_array_equal(
        card.predict(X), ScorecardClassifier(**options).fit(X, y).predict(X)
    )


def test_columns_may_have_other_names_or_none():
    X, y = crossed()
    X = X[["z", "m", "twin"]]
    options = {"metric": "auc", "cv": 2, "max_lines": None}
    expected = ScorecardClassifier(**options).fit(X, y).decision_function(X)
    for table in (X.to_numpy(), X.set_axis(["c", "b", "a"], axis=1)):
        made = ScorecardClassifier(**options).fit(table, y).decision_function(table)
        np.testing.assert_array_equal(made, expected)


def test_the_order_follows_from_the_rows_alone():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (50, 8)).astype(float)  # many columns with the same values
    values[rng.random(values.shape) < 0.1] = np.nan
    expected = values[:, content_order(values, NAMES)]
    for _ in range(20):
        columns, rows = rng.permutation(8), rng.permutation(50)
        other = values[:, columns]
        np.testing.assert_array_equal(other[:, content_order(other, NAMES)], expected)
        assert content_order(other[rows], NAMES) == content_order(other, NAMES)


def test_a_card_is_restored_with_its_crosses():
    order = ColumnOrder((2, 0, 1))  # the fit has the columns of the table in this order
    merged = (np.array([0, 1]), np.array([0, 1, 2]))
    cross = Cross((0, 1), merged, np.arange(6.0).reshape(2, 3))
    card = Card(0.5, (np.array([3.0]), np.array([1.0]), np.array([2.0])), (cross,))
    restored = order.restored(card)
    assert [points.tolist() for points in restored.columns] == [[1.0], [2.0], [3.0]]
    assert restored.crosses[0].columns == (0, 2)
    np.testing.assert_array_equal(restored.crosses[0].points, cross.points.T)
    assert restored.crosses[0].merged[0] is merged[1]
