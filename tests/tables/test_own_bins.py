"""Bins of the user's own: cuts, groups of levels, and missing values that join a bin."""

from dataclasses import replace
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from directrix import Binner, Moments, ScorecardClassifier
from directrix.exceptions import (
    BinNotFoundError,
    ColumnNotFoundError,
    LevelNotFoundError,
    OwnBinsError,
)
from directrix.moments import BinCounts
from directrix.tables import Column, LevelBins, NumberBins, Table

RNG = np.random.default_rng(3)
N = 1200
X = pd.DataFrame(
    {
        "age": RNG.integers(18, 75, N).astype(float),
        "income": np.where(RNG.random(N) < 0.1, -999.0, RNG.lognormal(8, 0.6, N).round()),
        "town": RNG.choice(
            ["Graz", "Linz", "Wels", "Wien", "Zell"], N, p=[0.3, 0.2, 0.1, 0.395, 0.005]
        ),
        "since": pd.Timestamp("2015-01-01") + pd.to_timedelta(RNG.integers(0, 3000, N), unit="D"),
        "member": RNG.choice([True, False, None], N),
        "code": pd.Categorical(RNG.integers(1, 5, N)),
    }
)
X.loc[RNG.random(N) < 0.08, ["age", "town", "since", "code"]] = None
Y = (RNG.logistic(size=N) < 0.05 * (40 - X["age"].fillna(25))).to_numpy()
CUTS = {"age": [25, 35.5, 50], "since": ["2016-03-01", date(2020, 1, 1)]}
GROUPS = {"town": [["Graz", "Zell"], ["Linz", "Wels"]], "code": [[1, "4"]]}
MISSING = {
    "age": "25 to 35.5",
    "income": -999,
    "town": "Wels",
    "since": date(2018, 1, 1),
    "member": False,
    "code": "other",
}


def own(**params):
    return Binner(max_bins=6, special_values={"income": [-999]}, **params).fit(X)


BINNER = own(cuts=CUTS, groups=GROUPS, missing_with=MISSING)


def bins_of(binner, name):
    return next(bins for bins in binner.bins_ if bins.name == name)


# ── what the parameters do ────────────────────────────────────────────────────────────────────────


def test_cuts_are_those_that_were_given():
    assert bins_of(BINNER, "age").cuts == (25.0, 35.5, 50.0)
    assert bins_of(BINNER, "since").cut_labels == ("2016-03-01", "2020-01-01")
    assert own(cuts={"age": []}).bins_[0].labels == ("missing", "any value")


def test_a_value_equal_to_a_cut_is_below_it():
    rows = X[:3].assign(age=[25.0, 25.000001, np.nan])
    assert BINNER.cells(rows)[:, 0].tolist() == [1, 2, 2]


@pytest.mark.parametrize("given", [[datetime(2016, 3, 1, 12)], [np.datetime64("2016-03-01T12")]])  # noqa: DTZ001
def test_dates_are_given_by_any_type_of_date(given):
    cuts = own(cuts={"since": ["2016-03-01T12:00"]}).bins_[3].cuts
    assert own(cuts={"since": given}).bins_[3].cuts == cuts
    assert own(cuts={"since": pd.DatetimeIndex(given)}).bins_[3].cuts == cuts


def test_durations_are_cut_in_days():
    rows = pd.DataFrame({"late": pd.to_timedelta(RNG.integers(0, 90, 50), unit="D")})
    bins = Binner(cuts={"late": [timedelta(30), np.timedelta64(60, "D")]}).fit(rows).bins_[0]
    assert bins.cuts == (30.0, 60.0)


@pytest.mark.filterwarnings("ignore::directrix.exceptions.ChangedColumnsWarning")  # far rows
def test_bins_without_rows_are_kept_and_can_be_fitted():
    binner = own(cuts={"age": [0, 10, 30, 500, 1000]})
    bins = bins_of(binner, "age")
    assert bins.weights[1:3] == (0.0, 0.0)
    assert bins.weights[5:] == (0.0, 0.0)
    assert list(bins.means) == sorted(bins.means)
    options = {"cv": 2, "max_lines": None, "warn_baseline": False}
    card = ScorecardClassifier("auc", binner=binner, **options).fit(X, Y)
    assert np.isfinite(card.predict_points(X.assign(age=2000.0))).all()
    assert card.binner_.bins_[0].cuts == (0, 10, 30, 500, 1000)
    nothing = Binner(cuts={"x0": [-1.0, 1.0]}).fit([[np.nan], [np.nan]]).bins_[0]
    assert nothing.means == (0.0, 0.0, 0.0)


def test_a_group_has_a_bin_however_rare_its_levels_are():
    assert bins_of(BINNER, "town").labels[2:] == ("Graz, Zell", "Linz, Wels; missing", "Wien")
    assert "Zell" not in bins_of(own(), "town").levels
    assert bins_of(own(groups={"town": [["Zell"]]}), "town").levels == (
        *bins_of(own(), "town").levels,
        "Zell",
    )


def test_levels_of_categories_of_numbers_are_texts():
    assert bins_of(BINNER, "code").labels == ("missing", "other; missing", "1, 4", "2", "3")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("age", "25 to 35.5; missing"),
        ("income", "-999; missing"),
        ("town", "Linz, Wels; missing"),
        ("since", "2016-03-01 to 2020-01-01; missing"),
        ("member", "False; missing"),
        ("code", "other; missing"),
    ],
)
def test_missing_values_join_a_bin(name, label):
    bins = bins_of(BINNER, name)
    apart = bins_of(own(cuts=CUTS, groups=GROUPS), name)
    index = bins.labels.index(label)
    assert bins.missing_cell == index
    assert bins.weights[index] == apart.weights[index] + apart.weights[0]
    assert bins.weights[0] == 0.0
    column = [each.name for each in BINNER.bins_].index(name)
    cells = own(cuts=CUTS, groups=GROUPS).cells(X)[:, column]
    np.testing.assert_array_equal(BINNER.cells(X)[:, column], np.where(cells == 0, index, cells))


def test_a_bin_is_named_by_what_is_printed_or_by_a_value_in_it():
    label = bins_of(own(), "age").labels[3]
    by_label = own(missing_with={"age": label}).bins_[0]
    low = bins_of(own(), "age").cuts[1]
    assert own(missing_with={"age": np.nextafter(low, np.inf)}).bins_[0] == by_label
    town = own(groups=GROUPS, missing_with={"town": "Linz, Wels"}).bins_[2]
    assert own(groups=GROUPS, missing_with={"town": "Linz"}).bins_[2] == town


def test_a_level_called_other_comes_before_the_bin_of_that_name():
    column = Column("job", "text", ("clerk", "other"))
    bins = LevelBins.of(column, np.array([0.0, 1.0, 1.0]), None, min_rows=1)
    assert bins.cell_of("other") == 3
    assert bins.cell_of('"other"') == 3
    assert LevelBins("job", ("clerk",)).cell_of("other") == 1


def test_the_printed_table_says_what_is_joined():
    text = BINNER.table()
    assert "age     number    joined" in text
    assert "25, 35.5, 50; missing with 25 to 35.5" in text
    assert "(Graz, Zell), (Linz, Wels), Wien; missing with Linz, Wels" in text


# ── laws ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_cuts_of_a_binner_given_to_another_make_the_same_bins():
    learned = own()
    cuts = {
        bins.name: bins.cut_labels if bins.kind == "date" else bins.cuts
        for bins in learned.bins_
        if bins.kind in {"number", "date"}
    }
    stated = [
        replace(bins, is_stated=True) if bins.name in cuts else bins for bins in learned.bins_
    ]
    assert list(own(cuts=cuts).bins_) == stated


def test_groups_and_joined_missing_values_are_those_of_merged_counts():
    fine = BinCounts.of(Binner(max_bins=6, min_level_rows=1, cuts=CUTS).fit(X), X, Y)
    merge = {"town": GROUPS["town"], "code": [["1", "4"]]}
    without = {name: value for name, value in MISSING.items() if name != "income"}
    merged = fine.rebin(merge=merge, missing_with=without)
    binner = Binner(
        max_bins=6, min_level_rows=1, cuts=CUTS, groups=GROUPS, missing_with=without
    ).fit(X)
    assert merged.bins == binner.bins_
    assert merged == BinCounts.of(binner, X, Y)
    assert merged.moments("thermometer") == BinCounts.of(binner, X, Y).moments("thermometer")


def test_later_merges_take_joined_missing_values_along():
    counts = BinCounts.of(BINNER, X, Y)
    coarse = counts.rebin(
        cuts={"age": [50]}, merge={"town": [("Graz", "Linz")]}, other={"code": ["2"]}
    )
    assert [bins.labels[bins.missing_cell] for bins in (coarse.bins[0], coarse.bins[2])] == [
        "<= 50; missing",
        "Graz, Linz, Wels, Zell; missing",
    ]
    assert coarse == BinCounts.of(coarse.binner, X, Y)
    with pytest.raises(OwnBinsError, match=r"in the bin '25 to 35\.5; missing' already"):
        counts.rebin(missing_with={"age": 60})


def test_moments_of_counts_are_those_of_features():
    counts = BinCounts.of(BINNER, X, Y)
    for encoding in ("thermometer", "onehot"):
        binner = clone(BINNER).set_params(encoding=encoding).fit(X)
        features = binner.transform(X)
        assert features.shape[1] == len(binner.get_feature_names_out())
        expected, made = Moments.of(features, Y), counts.moments(encoding)
        for label, group in expected.by_class.items():
            np.testing.assert_allclose(made.by_class[label].mean, group.mean, atol=1e-12)
            np.testing.assert_allclose(made.by_class[label].scatter, group.scatter, atol=1e-9)


def test_a_file_keeps_the_bins_and_the_parameters(tmp_path):
    again = Binner.from_json(BINNER.to_json())
    assert again.bins_ == BINNER.bins_
    assert again.to_json() == BINNER.to_json()
    assert again.cuts == {"age": [25, 35.5, 50], "since": ["2016-03-01", "2020-01-01"]}
    assert clone(again).fit(X).bins_ == BINNER.bins_
    counts = BinCounts.of(BINNER, X, Y)
    counts.save(tmp_path / "a.counts")
    assert BinCounts.load(tmp_path / "a.counts") == counts


@pytest.mark.filterwarnings("ignore::directrix.exceptions.ChangedColumnsWarning")  # far rows
def test_cards_keep_the_bins():
    options = {"cv": 2, "max_crosses": 0, "max_lines": None, "warn_baseline": False}
    card = ScorecardClassifier("auc", binner=Binner(cuts=CUTS, missing_with={"age": 40}), **options)
    card.fit(X, Y)
    labels = [row.bin for row in card.card_.table() if row.column == "age"]
    assert not any(label == "missing" for label in labels)
    assert sum("; missing" in label for label in labels) == 1
    missing, present = (card.predict_points(X.assign(age=value)) for value in (np.nan, 40.0))
    np.testing.assert_array_equal(missing, present)
    assert f"{card.card_}".count("; missing") == 1
    frozen = ScorecardClassifier("auc", binner=FrozenEstimator(card.binner_), **options).fit(X, Y)
    assert frozen.binner_.bins_ == card.binner_.bins_


def test_a_fit_in_passes_has_the_bins_of_a_fit_in_memory():
    frame = X.assign(y=Y)
    options = {"binner": clone(BINNER), "cv": 2, "warn_baseline": False}
    memory = ScorecardClassifier("auc", **options).fit(X, Y)
    passes = ScorecardClassifier("auc", **options).fit_source(frame, target="y", progress=False)
    assert passes.binner_.bins_[0].cuts == memory.binner_.bins_[0].cuts
    assert [bins.missing_cell for bins in passes.binner_.bins_] == [
        bins.missing_cell for bins in memory.binner_.bins_
    ]
    np.testing.assert_array_equal(passes.binner_.cells(X), memory.binner_.cells(X))


def test_a_sample_need_not_have_every_level_of_a_group():
    table = Table.of(X[X["town"] != "Zell"])
    binner = clone(BINNER)
    with pytest.raises(LevelNotFoundError):
        binner.fit_table(table)
    bins = binner.fit_table(table, complete=False).bins_[2]
    assert bins.levels == ("Graz", "Linz", "Wels", "Wien", "Zell")
    assert bins.level_cells[0] == bins.level_cells[-1]


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("params", "error", "fields", "message"),
    [
        ({"cuts": {"aeg": [1]}}, ColumnNotFoundError, {"similar": ("age",)}, "did you mean 'age'"),
        ({"groups": {"towm": []}}, ColumnNotFoundError, {"name": "towm"}, "did you mean 'town'"),
        ({"missing_with": {"x": 1}}, ColumnNotFoundError, {"name": "x"}, "the columns are"),
        (
            {"groups": {"town": [["Gratz", "Linz"]]}},
            LevelNotFoundError,
            {"column": "town", "level": "Gratz"},
            "has no level 'Gratz'; did you mean 'Graz'?",
        ),
        (
            {"cuts": {"age": [50, 25]}},
            OwnBinsError,
            {"column": "age", "parameter": "cuts", "given": [50, 25]},
            "increasing order",
        ),
        ({"cuts": {"age": [25, 25]}}, OwnBinsError, {"column": "age"}, "without repetition"),
        ({"cuts": {"age": [25, np.nan]}}, OwnBinsError, {"column": "age"}, "must be finite"),
        ({"cuts": {"age": [np.inf]}}, OwnBinsError, {"column": "age"}, "must be finite"),
        ({"cuts": {"age": [10**400]}}, OwnBinsError, {"column": "age"}, "must be numbers"),
        ({"cuts": {"age": ["25"]}}, OwnBinsError, {"column": "age"}, "must be numbers"),
        ({"cuts": {"age": 25}}, OwnBinsError, {"column": "age"}, "must be numbers"),
        ({"cuts": {"since": [18000]}}, OwnBinsError, {"column": "since"}, "must be dates"),
        ({"cuts": {"since": ["soon"]}}, OwnBinsError, {"column": "since"}, "must be dates"),
        ({"cuts": {"town": [1]}}, OwnBinsError, {"column": "town"}, "give groups of its levels"),
        ({"cuts": {"member": [0.5]}}, OwnBinsError, {"column": "member"}, "two bins anyway"),
        (
            {"cuts": {"town": [1]}, "groups": {"town": [["Graz"]]}},
            OwnBinsError,
            {"column": "town", "parameter": "cuts"},
            "groups too",
        ),
        ({"groups": {"age": [[1]]}}, OwnBinsError, {"parameter": "groups"}, "give cuts"),
        ({"groups": {"town": "Graz"}}, OwnBinsError, {"given": "Graz"}, "list of lists"),
        ({"groups": {"town": ["Graz"]}}, OwnBinsError, {"given": ["Graz"]}, "list of lists"),
        (
            {"groups": {"town": [["Graz"], ["Graz", "Linz"]]}},
            OwnBinsError,
            {"parameter": "groups"},
            "in two groups",
        ),
        (
            {"cuts": {"age": [25, 50]}, "missing_with": {"age": "<= 52"}},
            BinNotFoundError,
            {"column": "age", "bin": "<= 52", "available": ("<= 25", "25 to 50", "> 50")},
            "did you mean '<= 25'?",
        ),
        ({"missing_with": {"age": np.nan}}, BinNotFoundError, {"column": "age"}, "has no bin nan"),
        ({"missing_with": {"age": "missing"}}, BinNotFoundError, {"column": "age"}, "its bins"),
        ({"missing_with": {"town": "Zell"}}, BinNotFoundError, {"bin": "Zell"}, "its bins are"),
        ({"missing_with": {"since": 18000}}, BinNotFoundError, {"bin": 18000}, "its bins are"),
        ({"cuts": [25]}, ValueError, {}, "cuts must be a dict"),
        ({"missing_with": "age"}, ValueError, {}, "missing_with must be a dict"),
    ],
)
def test_what_cannot_be_is_refused_in_words(params, error, fields, message):
    with pytest.raises(error) as caught:
        own(**params)
    assert message in str(caught.value)
    assert {name: getattr(caught.value, name) for name in fields} == fields


def test_a_number_has_one_cell_for_its_value():
    bins = NumberBins("x", "number", (1.0,), (0.0, 2.0), (-9.0,))
    assert [bins.cell_of(value) for value in (1, "<= 1", 1.5, -9, "-9", "missing", None)] == [
        *(1, 1, 2, 3, 3),
        *(None, None),
    ]
