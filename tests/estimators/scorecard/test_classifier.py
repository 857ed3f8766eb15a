"""Cards from tables as they are: what is the same whatever holds them, and what a report says."""

import warnings
from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold

from directrix import Binner
from directrix.estimators import ScorecardClassifier
from directrix.exceptions import NotBetterThanBaselineWarning
from directrix.exceptions.columns import ColumnNotFoundError, MissingColumnsError
from directrix.metrics import RecallAtFPR

# Rows are few here, and on some of them a straight line is as good.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def bent(n=250, d=3, seed=0):
    """Return rows of a class in the middle of one column, beside columns that say less."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.abs(X[:, 0]) + 0.3 * X[:, -1] + 0.3 * rng.normal(size=n) < 0.7


def card(metric="auc", **options):
    """Return a quick fit (two folds, one size, no crosses) with other options."""
    short = {"cv": 2, "max_crosses": 0, "max_lines": None}
    return ScorecardClassifier(metric, **(short | options))


def splits(y, k=3):
    """Return folds that do not depend on what is in the rows."""
    return list(StratifiedKFold(k).split(np.zeros((len(y), 1)), y))


class TestQuality:
    def test_a_bent_truth_is_found(self):
        X, y = bent()
        ours = card().fit(X, y)
        new, labels = bent(2000, seed=1)
        area = roc_auc_score(labels, ours.decision_function(new))
        straight = LogisticRegression().fit(X, y).decision_function(new)
        assert area > 0.9
        assert area > roc_auc_score(labels, straight) + 0.2
        # The report says both, on held-out rows.
        assert ours.report_.unbinned_baseline.mean > 0.15
        assert ours.report_.expected.value == pytest.approx(area, abs=0.05)

    def test_a_crossed_truth_is_found(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1.0, 1.0, (300, 4))
        y = (X[:, 1] * X[:, 3] > 0) ^ (rng.random(300) < 0.1)
        ours = card(max_crosses=None).fit(X, y)
        assert (1, 3) in [cross.columns for cross in ours.card_.crosses]
        new = rng.uniform(-1.0, 1.0, (2000, 4))
        truth = new[:, 1] * new[:, 3] > 0
        assert roc_auc_score(truth, ours.decision_function(new)) > 0.85
        plain = card().fit(X, y)
        assert plain.card_.crosses == ()
        assert roc_auc_score(truth, plain.decision_function(new)) < 0.65

    def test_where_the_truth_is_a_straight_line_it_says_so(self):
        gaps = []
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(150, 3))
            y = X.sum(axis=1) + 0.2 * rng.normal(size=150) > 0
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ours = card().fit(X, y)
            gap = ours.report_.unbinned_baseline
            assert gap.low <= gap.mean <= gap.high
            warned = [w for w in caught if w.category is NotBetterThanBaselineWarning]
            assert len(warned) == (gap.mean <= 0)
            assert all(w.filename == __file__ for w in warned)
            gaps.append(gap.mean)
        assert np.mean(gaps) < 0
        assert sum(gap <= 0 for gap in gaps) >= 3

    def test_a_recall_at_few_false_positives_is_kept_on_new_rows(self):
        X, y = bent(300)
        ours = card(RecallAtFPR(0.1), guarantee=0.9).fit(X, y)
        new, labels = bent(5000, seed=3)
        assert (ours.decision_function(new)[~labels] > 0).mean() <= 0.1
        assert (ours.decision_function(new)[labels] > 0).mean() > 0.3
        assert "guarantee" in ours.operating_point_.rows


class TestReport:
    @pytest.fixture(scope="class")
    def fitted(self):
        return card().fit(*bent())

    def test_it_says_the_gap_to_logistic_regression(self, fitted):
        report = fitted.report_
        for text in (str(report).lower(), report._repr_html_().lower()):
            assert report.unbinned_baseline.text("logistic regression without bins") in text

    def test_gaps_are_differences_of_what_was_tried(self, fitted):
        report = fitted.report_
        chosen = next(each for each in report.tried if each.name == report.chosen)
        assert len(chosen.folds) == 2
        pooled = 2 * chosen.metric - np.mean(chosen.folds)
        assert 0 <= pooled <= 1
        # Without bins the mean of the pooled and the fold-wise metric is this much lower.
        assert 0.4 < chosen.metric - report.unbinned_baseline.mean < 0.75

    def test_the_score_is_the_sum_of_the_points(self, fitted):
        X, _ = bent()
        cells = fitted.binner_.cells(X)
        total = fitted.card_.intercept + sum(
            points[cells[:, k]] for k, points in enumerate(fitted.card_.columns)
        )
        np.testing.assert_array_equal(fitted.decision_function(X), total - fitted.card_.cutoff)


def mixed(n=200, seed=0):
    """Return columns of every kind, with missing values, as lists of Python objects."""
    rng = np.random.default_rng(seed)
    number = [None if k % 11 == 0 else round(float(x), 3) for k, x in enumerate(rng.normal(size=n))]
    text = [None if k % 13 == 0 else "abc"[j] for k, j in enumerate(rng.integers(0, 3, n))]
    flag = [bool(x) for x in rng.random(n) < 0.4]
    day = [date(2024, 1, 1) + timedelta(days=int(k)) for k in rng.integers(0, 300, n)]
    risk = np.array([1.0 if x is None else abs(x) for x in number])
    risk = risk + np.array([0.7 * (t == "b") for t in text]) + 0.4 * np.array(flag)
    return {"number": number, "text": text, "flag": flag, "day": day}, risk > 1.2


HOLDERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "array": lambda columns: np.array(
        [list(row) for row in zip(*columns.values(), strict=True)], dtype=object
    ),
    "list": lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
    "categories": lambda columns: pd.DataFrame(columns).assign(
        text=pd.Categorical(columns["text"], categories=["unused", "c", "b", "a", "too"]),
        flag=pd.array(columns["flag"], dtype="boolean"),
        number=pd.array(columns["number"], dtype="Float64"),
        day=pd.to_datetime(pd.Series(columns["day"])),
    ),
}


class TestTables:
    @pytest.fixture(scope="class")
    def scores(self):
        columns, y = mixed()
        ours = card(max_crosses=2).fit(pd.DataFrame(columns), y)
        assert ours.report_.expected.value > 0.85
        return ours.decision_function(pd.DataFrame(columns))

    @pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
    def test_whatever_holds_the_table_the_scores_are_the_same(self, holder, scores):
        columns, y = mixed()
        held = holder(columns)
        ours = card(max_crosses=2).fit(held, y)
        np.testing.assert_array_equal(ours.decision_function(held), scores)
        np.testing.assert_array_equal(ours.predict(held), scores > 0)

    def test_numbers_alone_are_the_same_in_any_type_and_order_in_memory(self):
        X, y = bent()
        X = np.round(X * 8) / 8  # exact in single precision
        expected = card().fit(X, y).decision_function(X)
        for held in (X.astype(np.float32), np.asfortranarray(X), X.tolist(), pd.DataFrame(X)):
            ours = card().fit(held, y)
            np.testing.assert_array_equal(ours.decision_function(held), expected)

    def test_what_was_never_seen_is_scored_about_the_mean(self):
        # Texts and missing values that no training row has; high or low values are not like them.
        rng = np.random.default_rng(0)
        columns = pd.DataFrame(
            {"x": rng.normal(size=300), "t": rng.choice(["u", "v", "w"], 300)}, dtype=object
        )
        y = columns.x.astype(float) + (columns.t == "u") + 0.5 * rng.normal(size=300) > 0.3
        for sign in (1.0, -1.0):
            table = columns.assign(x=sign * columns.x.astype(float))
            ours = card(cv=splits(y)).fit(table, y)
            new = pd.DataFrame({"x": [np.nan, *(sign * np.array([-1.5, 1.5]))], "t": ["v"] * 3})
            missing, low, high = ours.decision_function(new)
            assert low + 0.3 * (high - low) < missing < high - 0.3 * (high - low)
            new = pd.DataFrame({"x": [0.0] * 3, "t": ["never seen", "v", "u"]})
            unseen, low, high = ours.decision_function(new)
            assert low <= unseen < high  # in a line with others, if the card is compact
            new = pd.DataFrame({"x": [0.0, 0.0], "t": [None, "another"]})
            assert len(set(ours.decision_function(new))) == 1

    def test_special_values_have_points_of_their_own(self):
        X, y = bent()
        X[:40, 1] = -999.0
        y[:40] = np.arange(40) < 36
        ours = card(binner=Binner(special_values=[-999.0])).fit(X, y)
        assert ours.binner_.bins_[1].special_values == (-999.0,)
        points = ours.card_.columns[1]
        assert points[-1] > points[1:-1].max()

    def test_a_frozen_binner_is_used_as_it_is(self):
        X, y = bent()
        binner = Binner(max_bins=3).fit(X[:50])
        ours = card(binner=FrozenEstimator(binner)).fit(X, y)
        np.testing.assert_array_equal(ours.binner_.cells(X), binner.cells(X))
        assert [len(points) for points in ours.card_.columns] == [4, 4, 4]
        np.testing.assert_array_equal(
            clone(ours).fit(X, y).decision_function(X), ours.decision_function(X)
        )

    def test_a_binner_is_cloned(self):
        X, y = bent()
        binner = Binner(max_bins=4)
        ours = card(binner=binner).fit(X, y)
        assert not hasattr(binner, "bins_")
        assert ours.binner_.bins_[0].n_ordered == 4
        assert ours.binner is binner


class TestWhatChangesNothing:
    def test_the_order_of_rows(self):
        X, y = bent(100)
        order = np.random.default_rng(1).permutation(100)
        ours = card(max_crosses=1).fit(X, y)
        moved = card(max_crosses=1).fit(X[order], y[order])
        np.testing.assert_array_equal(ours.decision_function(X), moved.decision_function(X))
        assert ours.report_.chosen == moved.report_.chosen

    def test_names_of_columns(self):
        X, y = bent(100)
        expected = card().fit(X, y).decision_function(X)
        hostile = pd.DataFrame(X, columns=["", "a'\"\\; drop table", "<b>\n"])
        ours = card().fit(hostile, y)
        np.testing.assert_array_equal(ours.decision_function(hostile), expected)
        assert ours.feature_names_in_.tolist() == list(hostile.columns)
        assert "drop" not in ours.report_._repr_html_()

    def test_the_unit_of_weights(self):
        X, y = bent(150)
        weight = np.random.default_rng(1).uniform(0.5, 2.0, 150)
        ours, summing_to_one, tiny = (
            card().fit(X, y, sample_weight=weight * unit)
            for unit in (1.0, 1.0 / weight.sum(), 2.0**-300)
        )
        assert ours.binner_.bins_[0].n_ordered > 10
        for other in (summing_to_one, tiny):
            assert other.binner_.bins_ == ours.binner_.bins_
            np.testing.assert_allclose(
                other.decision_function(X), ours.decision_function(X), atol=1e-6
            )

    def test_rows_of_weight_zero(self):
        X, y = bent(150)
        table = pd.DataFrame(X, columns=list("abc")).assign(t=np.where(X[:, 1] > 0, "u", "v"))
        weight = np.arange(150) % 3 > 0
        spoiled = pd.DataFrame(np.where(weight[:, None], X, 1e9), columns=list("abc"))
        spoiled["t"] = table.t.where(weight, "a level of no row")
        ours = card().fit(spoiled, y ^ ~weight, sample_weight=1.0 * weight)
        theirs = card().fit(table[weight], y[weight])
        np.testing.assert_array_equal(
            ours.decision_function(table), theirs.decision_function(table)
        )

    def test_the_number_of_jobs_and_doing_it_again(self):
        X, y = bent(60)
        ours = card().fit(X, y)
        before = ours.decision_function(X)
        for other in (clone(ours), ours):
            np.testing.assert_array_equal(other.fit(X, y).decision_function(X), before)


class TestClasses:
    @pytest.mark.parametrize("positives", [1, 2, 5])
    def test_a_class_of_few_rows(self, positives):
        X, _ = bent(60)
        y = np.arange(60) < positives
        ours = card(max_crosses=1).fit(X, y)
        assert np.isfinite(ours.decision_function(X)).all()
        assert ours.report_.rows == ("the training rows" if positives == 1 else "held-out rows")
        assert (ours.report_.unbinned_baseline is None) == (positives == 1)

    def test_class_weights_move_the_threshold(self):
        X, y = bent(200)
        shares = [
            card("error", class_weight=weight).fit(X, y).predict(X).mean()
            for weight in ({False: 20.0}, None, "balanced", {True: 20.0})
        ]
        assert shares[0] < shares[1] < shares[3]
        assert shares[0] < shares[2] < shares[3]


class TestFolds:
    def test_rows_of_a_group_are_held_out_together(self):
        # A text names the group, whose rows all have one label: no other group knows it.
        group = np.repeat(np.arange(16), 15)
        y = np.isin(group, np.random.default_rng(0).permutation(16)[:8])
        table = pd.DataFrame({"who": [f"g{k}" for k in group], "x": np.arange(240.0) % 7})
        apart = card().fit(table, y, groups=group).report_.expected.value
        split = card(cv=GroupKFold(4)).fit(table, y, groups=group).report_.expected.value
        alone = card().fit(table, y).report_.expected.value
        assert alone > 0.95
        assert max(apart, split) < 0.7

    def test_splitters_and_their_splits_are_the_same(self):
        X, y = bent(150)
        one = card(cv=StratifiedKFold(3)).fit(X, y)
        other = card(cv=splits(y)).fit(X, y)
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))

    def test_a_column_that_only_one_fold_has(self):
        X, y = bent(240)
        table = pd.DataFrame(X, columns=list("abc"))
        inside = np.arange(240) % 3 == 1
        table.loc[~inside, "b"] = np.nan
        table["t"] = np.where(inside, "only here", None)
        cv = [(np.flatnonzero(np.arange(240) % 3 != k), np.arange(k, 240, 3)) for k in range(3)]
        options = {"cv": cv, "binner": Binner(min_rows=1), "max_crosses": 2}
        ours = card(**options).fit(table, y)
        assert ours.report_.expected.value > 0.85


class TestGuarantee:
    def test_limits_are_kept_together(self):
        X, y = bent(300)
        ours = card("error", guarantee=0.9, limits={"fpr": 0.15}).fit(X, y)
        new, labels = bent(4000, seed=2)
        assert ours.predict(new)[~labels].mean() <= 0.15


def spoiled(column, n=120):
    """Return rows one column of which is something odd."""
    X, y = bent(n)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 2], "odd": column}), y


K = np.arange(120)
ODD = {
    "constant": np.ones(120),
    "constant text": ["x"] * 120,
    "all missing": np.full(120, np.nan),
    "all missing texts": pd.array([None] * 120, dtype="string"),
    "one value": np.where(K == 3, 1.0, np.nan),
    "1e300": np.where(K % 2, 1e300, -1e300) * (K % 5),
    "up to the largest float": np.where(K % 2, 1.7e308, -1.7e308) * (K / 120),
    "long tail": 10.0 ** (K * 2.5),
    "subnormal": K * 5e-324,
    "infinities": np.where(K % 3 == 0, np.inf, np.where(K % 3 == 1, -np.inf, K)),
    "only infinities": np.where(K % 2, np.inf, -np.inf),
    "a number for each row": K,
    "a text for each row": [f"id {k}" for k in K],
    "beyond 2**53": 2**53 + K,
    "Python integers beyond 2**64": pd.Series([2**70 + int(k) for k in K], dtype=object),
    "mixed objects": pd.Series([1, "a", None, 2.5, True, b"x"] * 20, dtype=object),
    "nullable integers": pd.array([1, None, 3] * 40, dtype="Int64"),
    "unused categories": pd.Categorical(["q", "r"] * 60, categories=["z", "r", "q"]),
    "dates": pd.date_range("1700-01-01", periods=120, freq="730D"),
    "zones": pd.date_range("2024-03-30", periods=120, freq="h", tz="Europe/Berlin"),
    "durations": pd.to_timedelta(K, unit="h"),
    "unicode": ["ñ", "☃", "\x00", "a\u0301"] * 30,
}


@pytest.mark.parametrize("column", ODD.values(), ids=ODD)
def test_an_odd_column_does_no_harm(column):
    table, y = spoiled(column)
    ours = card(max_crosses=3).fit(table, y)
    assert np.isfinite(ours.decision_function(table)).all()
    assert ours.report_.expected.value > 0.8


@pytest.mark.parametrize("name", ["constant", "1e300"])
def test_an_odd_column_does_no_harm_to_cards_of_rows_and_alone(name):
    table, y = spoiled(ODD[name])
    ours = card(max_crosses=1)
    assert ours.fit(table, y).report_.expected.value > 0.8
    alone = table[["odd"]]
    assert np.isfinite(card("error").fit(alone, y).predict_proba(alone)).all()


def test_rows_that_are_all_equal_are_a_coin():
    ours = card().fit(np.ones((60, 2)), np.arange(60) % 3 == 0)
    assert len(set(ours.decision_function(np.ones((60, 2))))) == 1
    assert 0.0 < ours.predict_proba(np.ones((1, 2)))[0, 1] < 1.0


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 50))
    ours = card().fit(X, X[:, 5] > 0)
    assert len(ours.card_.columns) == 50
    assert np.isfinite(ours.decision_function(X)).all()


def test_a_text_of_two_thousand_levels():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"x": rng.normal(size=2200), "t": [f"{k}" for k in [*range(2000), *[7] * 200]]}
    )
    y = (table.x > 0) | (table.t == "7")
    ours = card("error").fit(table, y)
    assert len(ours.card_.columns[1]) == 3  # missing, other, and the frequent one
    new = pd.DataFrame({"x": [-0.5, -0.5], "t": ["7", "8"]})
    assert ours.predict(new).tolist() == [True, False]


def test_repeated_rows_are_in_different_folds_and_tell_nothing_new():
    # Ten distinct rows, each as often of either class: nobody can tell them apart.
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 20, axis=0)
    ours = card().fit(X, np.arange(200) % 2 == 0)
    assert ours.report_.expected.value < 0.6


REFUSED = {
    "binner": ({"binner": "quantiles"}, "binner must be 'auto' or a Binner, not 'quantiles'"),
    "binner of a dict": (
        {"binner": {"max_bins": 5}},
        r"not {'max_bins': 5}: give Binner\(\*\*binn",
    ),
    "negative crosses": ({"max_crosses": -1}, "max_crosses must be a whole number"),
    "half a cross": ({"max_crosses": 0.5}, "max_crosses must be a whole number"),
    "crosses": ({"max_crosses": "all"}, "max_crosses must be a whole number"),
    "cv": ({"cv": 1}, "cv must be a number of folds, 2 or more"),
    "class weight": ({"class_weight": {"x": 1}}, "class_weight must be 'balanced' or a dict"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_wrong_parameters_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        card(**options).fit(*bent(40))


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (-1.0, "not be negative"),
        (1e300, "multiply all weights"),
        (0.0, "non-zero|weight zero"),
        (np.nan, "NaN"),
    ],
)
def test_wrong_weights_are_refused(factor, message):
    X, y = bent(40)
    with pytest.raises(ValueError, match=message):
        card().fit(X, y, sample_weight=np.full(40, factor))


def test_columns_are_matched_by_name_when_rows_are_scored():
    X, y = mixed()
    frame = pd.DataFrame(X).rename(columns=str)
    fitted = card(cv=2).fit(frame, y)
    expected = fitted.predict_points(frame)
    other = frame[frame.columns[::-1]].assign(another="text")
    for table in (other, pl.from_pandas(other), pa.Table.from_pandas(other)):
        np.testing.assert_array_equal(fitted.predict_points(table), expected)
        np.testing.assert_array_equal(fitted.predict(table), fitted.predict(frame))
        np.testing.assert_array_equal(fitted.predict_proba(table), fitted.predict_proba(frame))
        assert fitted.reasons(table).columns.tolist() == fitted.reasons(frame).columns.tolist()
    with pytest.raises(ColumnNotFoundError, match=repr(frame.columns[0])):
        fitted.predict(frame.iloc[:, 1:])


def test_a_missing_column_without_points_says_how_to_add_it():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=400), "b": rng.choice(["u", "v"], 400)})
    y = table["a"] + rng.normal(size=400) > 0
    card = ScorecardClassifier("auc", max_crosses=0, max_lines=3).fit(table, y)
    assert not card.card_.columns[1].any()
    with pytest.raises(MissingColumnsError, match=r"^no column named 'b'.*reindex") as caught:
        card.predict(table[["a"]])
    assert caught.value.unused == ("b",)
    added = table[["a"]].reindex(columns=card.feature_names_in_)
    assert (card.predict_points(added) == card.predict_points(table)).all()
    with pytest.raises(MissingColumnsError) as caught:
        card.predict(table[["b"]].rename(columns={"b": "c"}))
    assert (caught.value.name, caught.value.unused) == ("a", ())


def test_a_missing_column_is_not_taken_for_another_of_the_fit():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(400, 3)), columns=["income", "incomes", "time"])
    y = table.sum(axis=1) + rng.normal(size=400) > 0
    card = ScorecardClassifier("auc", max_crosses=0).fit(table, y)
    with pytest.raises(MissingColumnsError, match="no column named 'income'; the columns are"):
        card.predict(table[["incomes", "time"]])
    with pytest.raises(MissingColumnsError, match="did you mean 'Income_1'"):
        card.predict(table.rename(columns={"income": "Income_1"}))
    two = "^2 columns of the fit are missing: 'income', 'time'\nno column named 'income'"
    with pytest.raises(MissingColumnsError, match=two):
        card.predict(table[["incomes"]])


def test_one_row_that_is_no_table_is_refused_with_the_remedy():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    card = ScorecardClassifier("auc").fit(table, table["a"] > 0)
    row = table.iloc[0]
    for given in (row, row.to_dict()):
        with pytest.raises(ValueError, match=r"table\.iloc\[\[0\]\], of a dict pd\.DataFrame"):
            card.predict(given)
    assert card.predict(pd.DataFrame([row.to_dict()])) == card.predict(table.iloc[[0]])
