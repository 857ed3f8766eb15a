"""Compact cards of fitted classifiers: few printed lines, and numbers that are theirs."""

import numpy as np
import pandas as pd
import pytest

from directrix import Binner, ScorecardClassifier
from directrix.classifiers import IntegerPoints, PointsToDoubleOdds

SCALES = [None, "pdo", IntegerPoints(20), "integer", PointsToDoubleOdds(rounded=False)]


def loans(n=900, seed=0):
    """Return a table with numbers, texts and missing values, and labels with an interaction."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 80, n).astype(float), rng.lognormal(10, 0.6, n)
    home, job = rng.choice(["own", "rent", "free"], n), rng.choice(list("abcdefgh"), n)
    score = np.abs(age - 45) / 12 - np.log(income) + 10.5 + (home == "rent") * (age < 40)
    late = score + np.isin(job, ["a", "c"]) + rng.logistic(size=n) > 1.8
    income[rng.random(n) < 0.1] = np.nan
    table = pd.DataFrame({"age": age, "income": income, "home": home, "job": job})
    return table.astype({"home": object, "job": object}), late


@pytest.mark.parametrize("points", SCALES, ids=repr)
@pytest.mark.parametrize("max_lines", [2, 5, 12, 30])
def test_a_card_has_at_most_so_many_printed_lines(max_lines, points):
    table, late = loans()
    classifier = ScorecardClassifier("auc", max_lines=max_lines, points=points, warn_baseline=False)
    card = classifier.fit(table, late).card_
    assert card.n_lines <= max_lines
    printed = [
        line
        for line in card.table(1)
        if np.ptp(card.columns[[b.name for b in card.bins].index(line.column)])
    ]
    cells = sum(part.points.size for part in card.cross_tables(1))
    assert len(printed) + cells <= max_lines
    assert (classifier.decision_function(table) > 0).tolist() == classifier.predict(table).tolist()


def test_a_card_of_the_same_size_is_the_full_card():
    table, late = loans()
    full = ScorecardClassifier("auc", max_lines=None, warn_baseline=False).fit(table, late)
    same = ScorecardClassifier("auc", max_lines=10_000, warn_baseline=False).fit(table, late)
    assert same.card_.n_lines == full.card_.n_lines
    assert np.array_equal(same.decision_function(table), full.decision_function(table))


def test_the_order_of_rows_and_columns_does_not_matter():
    table, late = loans()
    made = ScorecardClassifier("auc", max_lines=15, warn_baseline=False).fit(table, late)
    order = np.random.default_rng(1).permutation(len(table))
    other = ScorecardClassifier("auc", max_lines=15, warn_baseline=False)
    other.fit(table.iloc[order, ::-1], late[order])
    np.testing.assert_allclose(
        made.decision_function(table), other.decision_function(table), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(
    "table",
    [
        {"x": np.arange(120.0) % 7},
        {"x": ["a", "b"] * 60},
        {"x": [np.nan] * 120, "y": np.arange(120.0)},
        {"x": [1.0] * 120, "y": ["a", "b", "c"] * 40},
        {"x": [None, "a"] * 60},
        {f"x{k}": np.random.default_rng(k).normal(size=120) for k in range(30)},
    ],
    ids=["one column", "two levels", "all missing", "constant", "half missing", "wide"],
)
@pytest.mark.parametrize("max_lines", ["auto", 2, 6])
def test_hostile_tables(table, max_lines):
    table = pd.DataFrame(table)
    y = np.random.default_rng(0).random(120) < 0.4
    made = ScorecardClassifier("auc", max_lines=max_lines, warn_baseline=False).fit(table, y)
    assert np.isfinite(made.decision_function(table)).all()
    if max_lines != "auto":
        assert made.card_.n_lines <= max_lines


def test_missing_may_be_in_a_line_with_a_bin():
    table, late = loans(2000)
    made = ScorecardClassifier("auc", max_lines=8, warn_baseline=False).fit(table, late)
    income = [row.bin for row in made.card_.table() if row.column == "income"]
    assert any("missing" in name and ";" in name for name in income)
    assert "missing" in str(made.card_)


def test_monotone_columns_of_a_classifier_stay_monotone():
    table, late = loans(1500)
    for max_lines in (8, 20, 40):
        made = ScorecardClassifier(
            "auc",
            max_lines=max_lines,
            monotone={"income": "decreasing", "home": ["own", "free", "rent"]},
            points="integer",
            warn_baseline=False,
        ).fit(table, late)
        bins = made.card_.bins
        assert (np.diff(made.card_.columns[1][1 : 1 + bins[1].n_ordered]) <= 0).all()
        points = dict(zip(bins[2].labels, made.card_.columns[2], strict=True))
        assert points["own"] <= points["free"] <= points["rent"]


def test_the_report_says_what_the_full_card_is_ahead_by():
    table, late = loans()
    made = ScorecardClassifier("auc", max_lines=10, warn_baseline=False).fit(table, late)
    size = made.report_.size
    assert size.lines == made.card_.n_lines
    assert size.full_lines > 10
    assert f"this card has {size.lines} lines; the full card of {size.full_lines}" in str(
        made.report_
    )


def test_numbers_of_a_report_are_those_of_the_printed_card():
    """A card of two lines is much worse than the full one, and its report says so."""
    table, late = loans(3000)
    full = ScorecardClassifier("auc", max_lines=None, warn_baseline=False).fit(table, late)
    small = ScorecardClassifier("auc", max_lines=2, warn_baseline=False).fit(table, late)
    new, truth = loans(20_000, seed=1)
    assert small.report_.expected.value < full.report_.expected.low
    assert small.report_.expected.low < small.score(new, truth) < small.report_.expected.high


def test_a_frozen_binner_is_kept():
    table, late = loans()
    binner = Binner(max_bins=8)
    made = ScorecardClassifier("auc", binner=binner, max_lines=9, warn_baseline=False)
    made.fit(table, late)
    assert max(bins.n_ordered for bins in made.binner_.bins_) <= 8
    assert made.card_.n_lines <= 9
