"""Compact cards of fitted classifiers: few printed lines, and numbers that are theirs."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

from directrix import Binner, ScorecardClassifier
from directrix.cards import sizes
from directrix.cards.card import Card
from directrix.cards.in_passes import CardScores
from directrix.estimators import IntegerPoints, PointsToDoubleOdds
from directrix.exceptions import (
    CardSizeError,
    FewRowsWarning,
    OneClassPredictedWarning,
    ShortCardWarning,
)
from directrix.export import load, save
from directrix.moments import BinCounts

SCALES = ["log-odds", "pdo", IntegerPoints(20), "integer", PointsToDoubleOdds(rounded=False)]


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


@pytest.mark.parametrize("points", ["log-odds", "integer", "pdo"])
def test_missing_levels_and_what_no_row_had_count_as_the_lines_that_they_print(points):
    table, late = loans(1500)
    rng = np.random.default_rng(3)
    for name in ("home", "job"):
        table.loc[rng.random(len(table)) < 0.02, name] = None
    binner = Binner(cuts={"age": [30, 45, 60, 300]}, special_values={"income": [-1.0]})
    options = {"max_crosses": 0, "max_lines": 16, "binner": binner, "warn_baseline": False}
    made = ScorecardClassifier("auc", points=points, **options).fit(table, late)
    assert made.card_.n_lines == 16
    assert all(size.lines <= most for size, most in zip(made.sizes(), (10, 16, 20), strict=False))


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("seed", "params"),
    [(2, {}), (0, {"points": IntegerPoints(2), "max_lines": 8})],
    ids=["printed points", "rounding of the full card"],
)
def test_the_card_that_is_delivered_is_counted(seed, params):
    table, late = loans(800, seed)
    made = ScorecardClassifier("auc", cv=3, max_crosses=0, warn_baseline=False, **params)
    size, lines = made.fit(table, late).report_.size, made.card_.n_lines
    assert size.lines == lines <= params.get("max_lines", 100)
    counts = BinCounts.of(made.binner_, table, late)
    of_counts = ScorecardClassifier("auc", points="pdo", max_lines=40).fit_summary(counts)
    assert of_counts.card_.n_lines <= 40


@pytest.mark.parametrize("in_passes", [False, True])
def test_auto_says_first_that_even_its_largest_size_is_clearly_worse(in_passes, monkeypatch):
    monkeypatch.setattr(sizes, "SIZES", (2, 4))
    monkeypatch.setattr(sizes, "MOST_LINES", 4)
    table, late = loans(3000)
    classifier = ScorecardClassifier("auc", max_crosses=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if in_passes:
            classifier.fit_source(table.assign(late=late), target="late", progress=False)
        else:
            classifier.fit(table, late)
    (said,), size = caught, classifier.report_.size  # and none that blames the columns
    assert said.category is ShortCardWarning
    assert classifier.card_.n_lines <= 4
    told = said.message
    assert (told.metric, told.lines, told.full_lines) == ("AUC", size.lines, size.full_lines)
    assert told.behind == -size.gap.mean > 0
    assert said.filename == __file__
    first = f"Clearly worse than the full card of {size.full_lines} lines by "
    assert str(classifier.report_).startswith(first)
    other = [each for each in classifier.sizes() if not each.is_chosen][-1]
    assert not classifier.compact(other.lines).report_.verdict


@pytest.mark.filterwarnings("ignore::directrix.exceptions.ShortCardWarning")
def test_a_short_card_that_predicts_one_class_blames_its_length():
    table, _ = loans(3000)
    risk = np.abs(table["age"] - 45) / 12 - np.log(table["income"].fillna(2e4)) + 10.5
    rare = risk + np.random.default_rng(1).logistic(scale=0.3, size=len(table)) > 3.2
    classifier = ScorecardClassifier("error", max_crosses=0, max_lines=2)
    with pytest.warns(OneClassPredictedWarning, match="Ask max_lines for more") as caught:
        classifier.fit(table, rare)
    assert "other features" not in str(caught[0].message)


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
@pytest.mark.filterwarnings("ignore::directrix.exceptions.TableWarning")  # one has an id
def test_hostile_tables(table, max_lines):
    table = pd.DataFrame(table)
    y = np.random.default_rng(0).random(120) < 0.4
    made = ScorecardClassifier("auc", max_lines=max_lines, warn_baseline=False).fit(table, y)
    assert np.isfinite(made.decision_function(table)).all()
    if max_lines != "auto":
        assert made.card_.n_lines <= max_lines


def test_missing_values_have_a_line_of_their_own():
    table, late = loans(2000)
    made = ScorecardClassifier("auc", max_lines=8, warn_baseline=False).fit(table, late)
    income = [row.bin for row in made.card_.table() if row.column == "income"]
    assert "missing" in income
    assert not any("missing" in name and ";" in name for name in income)


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
    assert f"This card has {size.lines} lines; the full card, with {size.full_lines}" in str(
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


@cache
def fitted(**params):
    table, late = loans(1200)
    return ScorecardClassifier("auc", warn_baseline=False, **params).fit(table, late), table


@pytest.mark.parametrize("points", ["log-odds", "integer", "pdo", IntegerPoints(5)])
def test_sizes_are_known_and_each_is_a_fitted_classifier(points):
    made, table = fitted(points=points)
    sizes = made.sizes()
    lines = [size.lines for size in sizes]
    assert made.report_.size is None or made.report_.size.full_lines == lines[-1]
    assert lines[:-1] == sorted(lines[:-1])
    assert [size.gap is None for size in sizes] == [False] * (len(sizes) - 1) + [True]
    assert [size.lines for size in sizes if size.is_chosen] == [made.card_.n_lines]
    for size in sizes[:-1]:
        small = made.compact(size.lines)
        assert small.card_.n_lines == size.lines
        assert small.max_lines == size.lines
        assert small.report_.expected == size.expected
        assert small.operating_point_.expected.metric == size.expected.value
        assert len(small.sizes()) == len(sizes)
        assert np.isfinite(small.decision_function(table)).all()
    assert made.compact(None).card_.n_lines == lines[-1]
    assert made.compact(None).card_.is_whole == (points != "log-odds")
    assert made.card_.n_lines in lines  # the classifier itself is as before


def test_the_full_card_of_a_compact_fit_is_that_without_compression():
    made, table = fitted()
    full, _ = fitted(max_lines=None)
    same = made.compact(None)
    assert np.array_equal(same.decision_function(table), full.decision_function(table))
    assert np.array_equal(same.predict_proba(table), full.predict_proba(table))
    # The choice of a size is one more choice whose excess is taken off.
    assert same.report_.expected.value == pytest.approx(full.report_.expected.value, abs=2e-3)


def test_smaller_cards_expect_less():
    sizes = fitted()[0].sizes()
    assert sizes[0].expected.value < sizes[-1].expected.value
    assert sizes[0].gap.mean < 0


def test_sizes_are_printed_and_a_frame():
    made, _ = fitted(max_lines=20)
    sizes = made.sizes()
    text = str(sizes).splitlines()
    assert text[0].split()[:3] == ["lines", "columns", "crosses"]
    assert sum("*" in line for line in text) == 2
    assert text[-2].endswith("full card")
    frame = sizes.to_frame()
    assert frame["lines"].tolist() == [size.lines for size in sizes]
    assert frame["gap"].isna().tolist() == [size.gap is None for size in sizes]
    assert "full card" in sizes._repr_html_()


def test_a_size_that_is_not_known_is_refused():
    made, _ = fitted()
    with pytest.raises(CardSizeError, match="no card has at most 3 lines; the sizes are") as told:
        made.compact(3)
    assert told.value.max_lines == 3
    full, _ = fitted(max_lines=None)
    with pytest.raises(CardSizeError, match="has one size only"):
        full.compact(20)


@pytest.mark.parametrize("value", [0, 1, 1.5, True, "few"])
def test_max_lines_is_checked(value):
    table, late = loans(100)
    with pytest.raises(ValueError, match="max_lines must be a whole number, 2 or more"):
        ScorecardClassifier("auc", max_lines=value).fit(table, late)


def test_a_guarantee_holds_for_every_size():
    table, late = loans(3000)
    made = ScorecardClassifier(
        "recall@fpr=0.1", guarantee=0.9, max_lines=15, warn_baseline=False
    ).fit(table, late)
    for n_lines in (10, 15, None):
        assert made.compact(n_lines).operating_point_.guarantee


@pytest.mark.parametrize("points", ["log-odds", "integer"])
def test_a_card_of_a_source_is_compact(points):
    table, late = loans(2000)
    source = table.assign(late=late)
    made = ScorecardClassifier("auc", max_lines=14, points=points, warn_baseline=False).fit_source(
        source, target="late", progress=False
    )
    assert made.card_.n_lines <= 14
    assert made.report_.size.lines == made.card_.n_lines
    new, truth = loans(6000, seed=5)
    low, high = made.report_.expected[1:]
    assert low < made.score(new, truth) < high
    assert made.compact(10).card_.n_lines <= 10


@pytest.mark.parametrize("max_lines", ["auto", 6, 15])
def test_a_card_of_counts_is_compact(max_lines):
    table, late = loans(2000)
    counts = BinCounts.of(Binner().fit(table), table, late)
    made = ScorecardClassifier("auc", max_lines=max_lines).fit_summary(counts)
    full = ScorecardClassifier("auc", max_lines=None).fit_summary(counts)
    assert made.card_.n_lines <= (100 if max_lines == "auto" else max_lines)
    new, truth = loans(6000, seed=5)
    assert made.score(new, truth) > full.score(new, truth) - (0.1 if max_lines == 6 else 0.02)


def test_directions_of_a_card_of_counts_are_kept():
    table, late = loans(2000)
    counts = BinCounts.of(Binner().fit(table), table, late)
    made = ScorecardClassifier("auc", max_lines=12, monotone={"income": "decreasing"})
    card = made.fit_summary(counts).card_
    assert (np.diff(card.columns[1][1 : 1 + card.bins[1].n_ordered]) <= 0).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore::directrix.exceptions.OneClassPredictedWarning")  # no lines
def test_a_compact_card_of_noise_expects_no_more_than_chance(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"x{k}": rng.normal(size=600) for k in range(8)})
    made = ScorecardClassifier("auc", warn_baseline=False).fit(table, rng.random(600) < 0.3)
    for size in made.sizes():
        assert size.expected.low < 0.5


def test_a_saved_compact_card_is_the_same(tmp_path):
    made, table = fitted(max_lines=15)
    save(made, tmp_path / "card.directrix")
    read = load(tmp_path / "card.directrix")
    assert np.array_equal(read.decision_function(table), made.decision_function(table))
    assert str(read.card_) == str(made.card_)
    with pytest.raises(CardSizeError):
        read.compact(10)
    with pytest.raises(CardSizeError, match="was read from a file"):
        read.sizes()


def test_cards_are_a_coding_of_cells():
    cells = np.array([[0, 1], [1, 0], [1, 1]])
    cards = [Card(0.5, (np.array([1.0, 2.0]), np.array([4.0, 8.0]))), Card(0.0, (np.zeros(2),) * 2)]
    assert CardScores(tuple(cards)).rows(cells).tolist() == [[9.5, 0.0], [6.5, 0.0], [10.5, 0.0]]


@pytest.mark.parametrize("in_passes", [False, True])
@pytest.mark.parametrize("points", ["log-odds", "integer"])
def test_few_rows_are_warned_of_once_whatever_the_sizes(in_passes, points):
    table, late = loans(300)
    late = late & (np.cumsum(late) <= 12)
    classifier = ScorecardClassifier("recall@fpr=0.001", cv=3, points=points, warn_baseline=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if in_passes:
            classifier.fit_source(table.assign(late=late), target="late", progress=False)
        else:
            classifier.fit(table, late)
    few = [str(each.message) for each in caught if each.category is FewRowsWarning]
    assert few
    assert len(few) == len(set(few))
