"""Binner as a scikit-learn transformer, and its parameters. Its laws are in tests/contracts."""

from datetime import date

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from directrix import Binner
from directrix.exceptions.columns import ColumnKindError, ColumnNotFoundError
from directrix.tables import LevelBins, NumberBins, Table

CHECKS = parametrize_with_checks(
    [
        Binner(),
        Binner(sparse_output=False, max_bins=3),
        Binner(encoding="onehot"),
        Binner(encoding="ordinal"),
    ]
)


# Before scikit-learn 1.9 the checks are a generator, which pytest 9 deprecates.
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def frame(n_rows=200, seed=0):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    missing = rng.random((n_rows, 2)) < 0.1
    return pandas.DataFrame(
        {
            "income": np.where(missing[:, 0], np.nan, rng.lognormal(size=n_rows)),
            "town": np.where(missing[:, 1], None, rng.choice(["Paris", "Rome", "Oslo"], n_rows)),
            "since": np.datetime64("2020-01-01") + rng.integers(0, 900, n_rows),
            "member": rng.random(n_rows) < 0.5,
        }
    )


def test_attributes_of_a_fit():
    X = frame()
    binner = Binner(max_bins=4).fit(X)
    assert [bins.name for bins in binner.bins_] == list(X.columns)
    assert [type(bins) for bins in binner.bins_] == [NumberBins, LevelBins, NumberBins, NumberBins]
    assert binner.feature_names_in_.tolist() == list(X.columns)
    assert binner.n_features_in_ == 4
    again = clone(binner).fit_table(Table.of(X))
    assert again.bins_ == binner.bins_
    unnamed = binner.fit(X.to_numpy(dtype=object))
    assert not hasattr(unnamed, "feature_names_in_")


def test_columns_may_come_in_another_order_with_others_between():
    X = frame()
    binner = Binner(sparse_output=False).fit(X)
    shuffled = X[["member", "since", "town", "income"]].assign(unknown=1)
    np.testing.assert_array_equal(binner.transform(shuffled), binner.transform(X))
    with pytest.raises(ColumnNotFoundError, match="no column named 'income'"):
        binner.transform(X.drop(columns="income"))
    with pytest.raises(ColumnKindError, match="'income' holds texts, but numbers are expected"):
        binner.transform(X.assign(income="high"))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("encoding", ["thermometer", "onehot", "ordinal"])
def test_output_as_a_frame(library, encoding):
    module = pytest.importorskip(library)
    X = frame()
    binner = Binner(encoding=encoding, crosses=[("town", "member")], sparse_output=False).fit(X)
    rows = binner.transform(X)
    given = X if library == "pandas" else module.from_pandas(X)
    shown = binner.set_output(transform=library).transform(given)
    assert isinstance(shown, module.DataFrame)
    assert list(shown.columns) == binner.get_feature_names_out().tolist()
    np.testing.assert_array_equal(shown.to_numpy(), rows)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_cannot_be_sparse(library):
    pytest.importorskip(library)
    X = frame()
    binner = Binner().set_output(transform=library).fit(X)
    with pytest.raises(ValueError, match="outputs a scipy sparse matrix"):
        binner.transform(X)
    assert Binner(encoding="ordinal").set_output(transform="pandas").fit_transform(X).shape == (
        200,
        4,
    )


def test_ordinal_is_the_cell_number():
    X = frame()
    binner = Binner(encoding="ordinal", crosses=[("town", "income")]).fit(X)
    rows = binner.transform(X)
    np.testing.assert_array_equal(rows[:, :4], binner.cells(X))
    income, town = binner.cells(X)[:, 0], binner.cells(X)[:, 1]
    np.testing.assert_array_equal(rows[:, 4], town * binner.bins_[0].n_cells + income)
    assert binner.get_feature_names_out().tolist() == [*X.columns, "town x income"]


def test_a_pipeline_of_raw_columns():
    X = frame(400)
    y = (X["town"] == "Rome") ^ X["member"]
    crossed = make_pipeline(
        Binner(crosses=[("town", "member")]), LogisticRegression(max_iter=10_000)
    )
    plain = make_pipeline(Binner(), LogisticRegression(max_iter=10_000))
    # An exclusive or is linear in the cells of the pair, and in nothing less.
    assert crossed.fit(X, y).score(X, y) == 1.0
    assert plain.fit(X, y).score(X, y) < 0.9


def test_special_values_by_column_and_for_all_numbers():
    X = frame().assign(income=lambda X: X["income"].fillna(-999))
    everywhere = Binner(special_values=[-999, -998]).fit(X)
    assert [getattr(bins, "special_values", ()) for bins in everywhere.bins_] == [
        *[(-999.0, -998.0), (), (), ()]
    ]
    never = date(9999, 12, 31)
    one = Binner(special_values={"since": [never], "income": -999}).fit(X)
    assert one.bins_[0].special_values == (-999.0,)
    assert one.bins_[2].labels[-1] == "9999-12-31"
    X["since"] = X["since"].astype("datetime64[s]")
    X.loc[3, "since"] = np.datetime64(never)
    assert one.cells(X)[3, 2] == one.bins_[2].n_cells - 1


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"max_bins": 1}, ValueError, "max_bins must be a whole number of at least 2, not 1"),
        ({"max_bins": 2.5}, ValueError, "max_bins must be a whole number"),
        ({"min_rows": -1}, ValueError, "min_rows must be a number of rows, not -1"),
        ({"min_level_rows": "few"}, ValueError, "min_level_rows must be a number of rows"),
        ({"encoding": "dummy"}, ValueError, "encoding must be one of thermometer, onehot"),
        ({"special_values": ["none"]}, ValueError, "special_values must be numbers"),
        ({"special_values": [1, 1.0]}, ValueError, "must be different finite numbers"),
        ({"special_values": [np.nan]}, ValueError, "missing has a bin anyway"),
        ({"special_values": {"town": [1]}}, ValueError, "names 'town', whose values"),
        ({"special_values": {"age": [1]}}, ColumnNotFoundError, "no column named 'age'"),
        ({"crosses": [("town", "age")]}, ColumnNotFoundError, "no column named 'age'"),
        ({"crosses": ["town"]}, ValueError, "crosses must be pairs of columns, not 'town'"),
        ({"crosses": [("town", "town")]}, ValueError, "crossed with itself"),
        ({"crosses": [("town", "member")] * 2}, ValueError, "names a pair twice"),
    ],
)
def test_wrong_parameters_are_named(params, error, message):
    with pytest.raises(error, match=message):
        Binner(**params).fit(frame())


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), "one number for each of 200 rows"),
        (np.full(200, -1.0), "finite and not negative"),
        (np.full(200, np.nan), "finite and not negative"),
        (np.zeros(200), "zero in every row"),
    ],
)
def test_wrong_weights_are_named(weight, message):
    with pytest.raises(ValueError, match=message):
        Binner().fit(frame(), sample_weight=weight)


def test_it_shows_itself_as_other_estimators_do():
    binner = Binner(max_bins=8)
    assert repr(binner) == "Binner(max_bins=8)"
    assert "Binner" in binner._repr_html_()
    assert "Binner" in binner.fit(frame())._repr_html_()
    assert [line.split()[0] for line in binner.table().splitlines()] == [
        *("column", "income", "town", "since", "member")
    ]


def test_names_of_input_features_must_be_those_of_fit():
    binner = Binner().fit(frame())
    assert len(binner.get_feature_names_out(["income", "town", "since", "member"]))
    with pytest.raises(ValueError, match="input_features must be the columns of fit"):
        binner.get_feature_names_out(["a", "b", "c", "d"])
