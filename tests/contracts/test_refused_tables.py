"""Laws of refused tables: every classifier names the columns that are not finite numbers."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from directrix import (
    DirectClassifier,
    MomentClassifier,
    OperatingPointClassifier,
    ScorecardClassifier,
)
from directrix.exceptions import MissingGroupsError, MixedLabelsError
from directrix.exceptions.columns import (
    ColumnNamesError,
    InfiniteValuesError,
    MissingValuesError,
    NotNumericError,
)

N_ROWS = 60
NAMES = ("amount", "age", "town", "job", "clock")

CLASSIFIERS = {
    "direct": DirectClassifier(cv=2),
    "moment": MomentClassifier("auc"),
}
every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)

#: A scorecard takes tables that they refuse, and an operating point leaves them to its estimator.
ALL = CLASSIFIERS | {
    "card": ScorecardClassifier("auc", cv=2),
    "operating point": OperatingPointClassifier(GaussianNB(), "f1", cv=2),
}


def as_array(columns):
    """Return an array of objects if a column holds them, as NumPy does."""
    return np.column_stack(list(columns.values()))


TABLES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table, "NumPy": as_array}
# Of arrays, whose columns have no names.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
every_table = pytest.mark.parametrize("kind", TABLES)


def labels():
    return np.arange(N_ROWS) % 3 == 0


def columns(**replaced):
    """Return columns of numbers by name, some of them replaced."""
    X = np.random.default_rng(0).normal(size=(N_ROWS, len(NAMES)))
    X[:, 0] += labels()
    return dict(zip(NAMES, X.T, strict=True)) | replaced


def texts():
    return np.array(["Ulm", "Bonn"], dtype=object)[np.arange(N_ROWS) % 2]


def numbers_with(value, *rows):
    values = np.random.default_rng(1).normal(size=N_ROWS)
    values[list(rows)] = value
    return values


def named(kind, *names):
    return tuple(NAMES.index(name) for name in names) if kind == "NumPy" else names


def fitted(classifier):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about so few rows
        return classifier.fit(pd.DataFrame(columns()), labels())


def refusals(classifier, table, expected):
    """Return the error of every method that is given a table."""
    with pytest.raises(expected) as of_fit:
        classifier.fit(table, labels())
    errors = [of_fit.value]
    if hasattr(classifier, "partial_fit"):
        with pytest.raises(expected) as of_part:
            type(classifier)("auc").partial_fit(table, labels())
        errors.append(of_part.value)
    fitted(classifier)
    for method in ("decision_function", "predict", "predict_proba"):
        with pytest.raises(expected) as of_method:
            getattr(classifier, method)(table)
        errors.append(of_method.value)
    return errors


@every_classifier
@every_table
def test_all_columns_of_text_are_named(classifier, kind):
    table = TABLES[kind](columns(town=texts(), job=texts()))
    for error in refusals(classifier, table, NotNumericError):
        assert isinstance(error, TypeError)
        assert error.columns == named(kind, "town", "job")
        assert len(error.dtypes) == 2
        for word in (*map(repr, error.columns), "ScorecardClassifier", "Pipeline"):
            assert word in str(error)


@every_classifier
@every_table
def test_all_columns_with_missing_values_are_named(classifier, kind):
    holes = {"age": numbers_with(np.nan, 1, 5), "clock": numbers_with(np.nan, 5, 8)}
    for error in refusals(classifier, TABLES[kind](columns(**holes)), MissingValuesError):
        assert isinstance(error, ValueError)
        assert error.columns == named(kind, "age", "clock")
        assert (error.rows, error.partial) == (3, False)
        for word in (*map(repr, error.columns), "3 rows", "ScorecardClassifier", "SimpleImputer"):
            assert word in str(error)


@every_classifier
@every_table
def test_columns_with_infinity_are_named(classifier, kind):
    table = TABLES[kind](columns(age=numbers_with(-np.inf, 7)))
    for error in refusals(classifier, table, InfiniteValuesError):
        assert (error.columns, error.rows) == (named(kind, "age"), 1)


#: Columns that each library calls missing, and text that a classifier must not mistake for it.
MISSING = {
    "None in pandas": pd.Series([None, *[1.5] * (N_ROWS - 1)], dtype=object),
    "NA in pandas": pd.Series([pd.NA, *[1] * (N_ROWS - 1)], dtype="Int64"),
    "NA of booleans": pd.Series([pd.NA, *[True] * (N_ROWS - 1)], dtype="boolean"),
    "null in polars": pl.Series([None, *[1] * (N_ROWS - 1)]),
    "null in Arrow": pa.array([None, *[1] * (N_ROWS - 1)]),
}


@every_classifier
@pytest.mark.parametrize("values", MISSING.values(), ids=MISSING)
def test_every_missing_value_of_a_library_is_one(classifier, values):
    module = type(values).__module__.partition(".")[0]
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[module]
    for error in refusals(classifier, make(columns(job=values)), MissingValuesError):
        assert (error.columns, error.rows) == (("job",), 1)


@every_classifier
@pytest.mark.parametrize("format_name", ["csr", "csc"])
def test_missing_values_of_sparse_rows_are_named(classifier, format_name):
    X = np.random.default_rng(0).poisson(1.0, (N_ROWS, 5)).astype(float)
    X[3, 2] = X[9, 2] = X[9, 4] = np.nan
    with pytest.raises(MissingValuesError) as caught:
        classifier.fit(sparse.csr_array(X).asformat(format_name), labels())
    assert (caught.value.columns, caught.value.rows) == ((2, 4), 2)


@every_classifier
def test_columns_that_the_fit_did_not_see_come_first(classifier):
    fitted(classifier)
    table = pd.DataFrame(columns(town=texts()) | {"another": texts()})
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- another"):
        classifier.predict(table)


@every_classifier
def test_the_error_is_the_only_one_that_is_shown(classifier):
    with pytest.raises(NotNumericError) as caught:
        classifier.fit(pd.DataFrame(columns(town=texts())), labels())
    assert caught.value.__suppress_context__


@every_classifier
def test_what_is_wrong_with_the_labels_is_said_of_them(classifier):
    y = labels().astype(float)
    y[3] = np.nan
    with pytest.raises(ValueError, match=r"y has missing labels .* the first at position 3"):
        classifier.fit(pd.DataFrame(columns()), y)


@pytest.mark.parametrize("classifier", [DirectClassifier(cv=2), MomentClassifier("auc")])
@every_table
def test_a_source_names_the_same_columns(classifier, kind):
    table = TABLES[kind](columns(town=texts(), job=texts()))
    with pytest.raises(NotNumericError, match=r"ScorecardClassifier.*transform=") as caught:
        classifier.fit_source(table, target=labels())
    assert caught.value.columns == named(kind, "town", "job")
    holes = {"age": numbers_with(np.nan, 1, 5), "clock": numbers_with(np.nan, 5, 8)}
    with pytest.raises(MissingValuesError, match="at least 3 rows; use Scorecard") as caught:
        classifier.fit_source(TABLES[kind](columns(**holes)), target=labels())
    assert caught.value.columns == named(kind, "age", "clock")


@every_classifier
@pytest.mark.filterwarnings("ignore::UserWarning")  # about so few rows
def test_an_imputer_in_a_pipeline_is_a_remedy(classifier):
    table = pd.DataFrame(columns(age=numbers_with(np.nan, 1, 5)))
    model = make_pipeline(SimpleImputer(), classifier).fit(table, labels())
    assert np.isfinite(model.decision_function(table)).all()


@every_classifier
def test_a_step_before_it_does_not_hide_the_columns(classifier):
    X = as_array(columns(age=numbers_with(np.nan, 1)))
    with pytest.raises(MissingValuesError, match="column 1 holds missing values"):
        make_pipeline(VarianceThreshold(), classifier).fit(X, labels())


@pytest.mark.every_case
@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore::UserWarning")  # about so few rows
def test_names_that_are_no_texts_are_refused(name):
    table = pd.DataFrame(columns())
    mixed = [] if name == "operating point" else [["a", "b", 2, 3, 4]]  # scikit-learn refuses it
    for names in ([10, 20, 30, 40, 50], [1, 0, 2, 3, 4], *mixed):
        with pytest.raises(ColumnNamesError) as caught:
            clone(ALL[name]).fit(table.set_axis(names, axis=1), labels())
        assert caught.value.names == tuple(names)
        assert "X.columns.astype(str)" in str(caught.value)
    model = clone(ALL[name]).fit(table.set_axis(range(5), axis=1), labels())
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ColumnNamesError):
        model.predict(table.set_axis([1, 0, 2, 3, 4], axis=1))


#: Labels, weights and groups of which some are wrong, with the error and what it must name.
BESIDE = {
    "labels": ({"y": ["a" if label else 1 for label in labels()]}, MixedLabelsError, ("'a'", "1")),
    "objects": (
        {"y": np.where(labels(), "a", labels().astype(object))},
        MixedLabelsError,
        ("'a'", "False"),
    ),
    "dates with a time zone": (
        {"y": pd.to_datetime(labels() * 86_400, unit="s", utc=True)},
        ValueError,
        ("Unknown label type", "1970-01-01 00:00:00+00:00", "str(label)"),
    ),
    "weights": ({"sample_weight": ["1"] * N_ROWS}, TypeError, ("sample_weight", "'1'", "number")),
    "groups": ({"groups": numbers_with(np.nan, 2, 7)}, MissingGroupsError, ("groups", "2 rows")),
    "group texts": (
        {"groups": [None if k == 2 else str(k // 2) for k in range(N_ROWS)]},
        MissingGroupsError,
        ("groups", "1 row,", "position 2"),
    ),
}


@pytest.mark.every_case
@pytest.mark.parametrize("classifier", ALL.values(), ids=ALL)
@pytest.mark.parametrize("given", BESIDE)
def test_what_stands_beside_a_table_is_named(classifier, given):
    beside, expected, words = BESIDE[given]
    with pytest.raises(expected) as caught:
        clone(classifier).fit(**({"X": np.stack([*columns().values()], 1), "y": labels()} | beside))
    assert not [word for word in words if word not in str(caught.value)]
