"""Cards that are typed in: read from printed bins, scored as by hand, judged and challenged."""

import numpy as np
import pandas as pd
import pytest

from directrix import ScorecardClassifier
from directrix.cards.typed_card import typed_bins
from directrix.estimators import Card
from directrix.estimators.given_card import typed_card_on_rows
from directrix.exceptions import TypedCardError
from directrix.export import to_sql
from directrix.monitoring import challenge, summarize_day

TYPED = {
    "age": {"<= 25": 20, "25 to 60": 0, "> 60": 12, "missing": 7, -1: 3},
    "home": {"rent": 15, ("own", "free"): 0, "other": 4},
    "late": {True: 30, False: 0},
}


def rows(n=800, seed=0):
    """Return a table of the columns of the card, and labels that it ranks well."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "late": rng.random(n) < 0.2,
            "home": rng.choice(["rent", "own", "free", "boat"], n),
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 80, n)),
            "unused": rng.normal(size=n),
        }
    )
    points = [by_hand(*row) for row in zip(frame["age"], frame["home"], frame["late"], strict=True)]
    return frame, np.array(points) + rng.logistic(scale=12, size=n) > 30


def by_hand(age, home, late):
    """Return the points of a row, with a base of 5."""
    of_age = 7 if np.isnan(age) else 3 if age == -1 else 20 if age <= 25 else 0 if age <= 60 else 12
    return 5 + of_age + {"rent": 15, "own": 0, "free": 0}.get(home, 4) + (30 if late else 0)


@pytest.fixture(scope="module")
def fitted():
    """A classifier of the card, judged on rows."""
    card = Card.from_points(TYPED, base=5, cutoff=30)
    return ScorecardClassifier.from_card(card, *rows(), metric="recall@fpr=0.1")


def test_points_are_those_that_one_adds_up_by_hand(fitted):
    X, y = rows(seed=1)
    X.loc[:3, "age"] = -1.0
    expected = [by_hand(*row) for row in zip(X["age"], X["home"], X["late"], strict=True)]
    np.testing.assert_array_equal(fitted.predict_points(X), expected)
    np.testing.assert_array_equal(fitted.predict(X), np.array(expected) > 30)
    assert len(y) == len(X)


def test_fewer_points_may_be_positive(fitted):
    turned = {
        column: {bins: -points for bins, points in of.items()} for column, of in TYPED.items()
    }
    card = Card.from_points(turned, base=-5, cutoff=-30, higher_is_positive=False)
    X, y = rows()
    other = ScorecardClassifier.from_card(card, X, y, metric="recall@fpr=0.1")
    np.testing.assert_array_equal(other.predict(X), fitted.predict(X))
    np.testing.assert_allclose(other.predict_proba(X), fitted.predict_proba(X), atol=1e-9)
    assert other.report_.expected == fitted.report_.expected


def test_rates_are_those_of_the_rows_at_the_cutoff_with_intervals(fitted):
    X, y = rows()
    flagged = fitted.predict(X)
    point = fitted.operating_point_
    assert point.expected.tpr == pytest.approx(flagged[y].mean())
    assert point.expected.fpr == pytest.approx(flagged[~y].mean())
    assert point.intervals.tpr[0] < point.expected.tpr < point.intervals.tpr[1]
    assert "were given" in str(fitted.report_)
    assert fitted.sizes()[0].expected == fitted.report_.expected
    assert len(fitted.card_.bands(4)) == 4


def test_a_typed_card_is_exported_explained_and_watched(fitted):
    X, y = rows(seed=2)
    assert '"late"' in to_sql(fitted).score
    assert fitted.reasons(X[:2]) is not None
    assert summarize_day(fitted, X, y) is not None


def test_rows_of_weight_zero_do_not_count():
    X, y = rows()
    weight = np.ones(len(y))
    weight[::2] = 0.0
    card = Card.from_points(TYPED, base=5, cutoff=30)
    made = typed_card_on_rows(ScorecardClassifier("auc"), card, (X, y, weight))
    half = ScorecardClassifier.from_card(card, X[1::2], y[1::2], metric="auc")
    assert made.report_.expected == half.report_.expected
    assert made.card_.counts[0].sum() == len(y) // 2


def test_levels_without_groups_and_numbers_without_cuts_are_read():
    bins, points = typed_bins("home", {"b": 2, "a": 1})
    assert bins.labels == ("missing", "other", "a", "b")
    assert points.tolist() == [0, 0, 1, 2]
    bins, points = typed_bins("x", {"any value": 3, "missing": 1})
    assert bins.labels == ("missing", "any value")
    assert points.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "a dict from bins to points"),
        ({"<= 5": 1, "> 6": 2}, "one ends at 5 where the next begins at 6"),
        ({"<= 5": 1, "4 to 6": 2, "> 6": 0}, "where the next begins at 4"),
        ({"<= 5": 1, "5 to 6": 2}, "the highest '> ...'"),
        ({"<= 5": 1, "> 5": 2, "old": 3}, "bins of numbers are"),
        ({"a": np.nan}, "finite number"),
        ({"a": 1, ("a", "b"): 2}, "points twice"),
        ({"other": 1}, "one level at least"),
        ({1.5: 1, "a": 2}, "levels are texts"),
    ],
)
def test_bins_that_cannot_be_read_are_named(given, message):
    with pytest.raises(TypedCardError, match=message) as caught:
        Card.from_points({"age": given}, cutoff=1)
    assert caught.value.column == "age"


# ── Challengers, paired on the same rows ──────────────────────────────────────────────────────────


def test_a_challenger_is_compared_row_by_row(fitted):
    X, y = rows(seed=3)
    same = challenge(fitted, fitted, X, y)
    assert [each.metric for each in same][:3] == ["AUC", "Gini", "KS"]
    assert all(each.gain == each.low == each.high == 0 for each in same)
    weaker = Card.from_points({"late": TYPED["late"]}, cutoff=10)
    weak = ScorecardClassifier.from_card(weaker, X, y, metric="recall@fpr=0.1")
    found = challenge(weak, fitted, X, y)
    assert found[0].low > 0
    assert found[1].gain == pytest.approx(2 * found[0].gain)
    assert challenge(fitted, weak, X, y)[0].high == pytest.approx(-found[0].low)
    assert "challenger is better by" in str(found)
    assert "<table" in found._repr_html_()


def test_paired_intervals_cover_and_are_narrower_than_independent_ones(fitted):
    rng = np.random.default_rng(5)
    everything = rows(60_000, seed=6)
    other = Card.from_points({**TYPED, "age": {"<= 30": 18, "> 30": 0}}, base=5, cutoff=30)
    challenger = ScorecardClassifier.from_card(other, *rows(), metric="error")
    truth = {each.metric: each.gain for each in challenge(fitted, challenger, *everything, "error")}
    inside = dict.fromkeys(truth, 0)
    for _ in range(60):
        chosen = rng.choice(60_000, 500)
        X, y = everything[0].iloc[chosen], everything[1][chosen]
        for each in challenge(fitted, challenger, X, y, "error"):
            inside[each.metric] += each.low <= truth[each.metric] <= each.high
    assert min(inside["AUC"], inside["Gini"], inside["error rate, at the cutoffs"]) >= 53
    assert inside["KS"] >= 48  # the largest of many differences, and so a little too large


def test_rows_of_one_class_and_other_labels_are_refused(fitted):
    X, y = rows(100)
    with pytest.raises(ValueError, match="one class has none"):
        challenge(fitted, fitted, X, np.zeros(100, dtype=bool))
    card = Card.from_points(TYPED, cutoff=30)
    other = ScorecardClassifier.from_card(card, X, y, positive=False)
    with pytest.raises(ValueError, match="must catch the same label"):
        challenge(fitted, other, X, y)
