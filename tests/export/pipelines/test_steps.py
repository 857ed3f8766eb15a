"""Expressions of steps give what the steps give; evaluated by a small interpreter."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

pd = pytest.importorskip("pandas")

import pipeline_samples as samples  # noqa: E402

from directrix import Binner  # noqa: E402
from directrix.export.expressions import (  # noqa: E402
    Binned,
    Calculated,
    Clipped,
    Filled,
    Lookup,
    RawColumn,
    raw_position,
)
from directrix.export.pipelines import step_features  # noqa: E402


def is_missing(value):
    return value is None or value != value  # noqa: PLR0124


def evaluate(expression, row):  # noqa: PLR0911 - one for each kind
    """Return the value of an expression for a row, by its definition."""
    if isinstance(expression, RawColumn):
        return row[expression.position]
    value = evaluate(expression.value, row)
    if isinstance(expression, Filled):
        return expression.fill if is_missing(value) else value
    if isinstance(expression, Calculated):
        operations = {
            "+": lambda x, y: x + y,
            "-": lambda x, y: x - y,
            "*": lambda x, y: x * y,
            "/": lambda x, y: x / y,
        }
        return operations[expression.operator](value, expression.number)
    if isinstance(expression, Clipped):
        return min(max(value, expression.low), expression.high)
    if isinstance(expression, Lookup):
        if is_missing(value):
            return np.nan if expression.missing is None else expression.missing
        known = dict(zip(expression.categories, expression.numbers, strict=True))
        number = known.get(value, expression.unknown)
        return np.nan if number is None else number
    assert isinstance(expression, Binned)
    if expression.bins.kind == "text":
        known = dict(zip(expression.bins.levels, expression.bins.level_cells, strict=True))
        return expression.numbers[0 if is_missing(value) else known.get(value, 1)]
    return expression.numbers[int(expression.bins.cells(np.array([value], dtype=float))[0])]


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("name", list(samples.PIPELINES))
def test_features_are_those_of_the_steps(name):
    pipeline, new = samples.fitted(name), samples.rows(80, 3, new=True)
    columns = [RawColumn(k) for k in range(new.shape[1])]
    features = step_features(pipeline[:-1], columns, "")
    expected = np.asarray(pipeline[:-1].transform(new))
    found = [[evaluate(feature, row) for feature in features] for row in new.to_numpy(dtype=object)]
    assert without_nan(found) == without_nan(expected.tolist())


def without_nan(rows):
    return [[None if is_missing(value) else value for value in row] for row in rows]


def test_unknown_categories_that_are_errors_are_missing():
    frame = pd.DataFrame({"t": ["a", "b", np.nan]})
    for encoder in (OneHotEncoder(sparse_output=False), OrdinalEncoder()):
        encoder.fit(frame[:2])
        (first, *_) = step_features(encoder, [RawColumn(0)], "'e'")
        assert (first.unknown, first.missing) == (None, None)
        encoder.fit(frame)
        assert step_features(encoder, [RawColumn(0)], "'e'")[0].missing in (0.0, None)


TRAINING = pd.DataFrame(
    {"t": ["a"] * 5 + ["b"] * 4 + ["c", "d"] + [None] * 3, "k": [1, 1, 2, 1, 1, 2, 1] * 2}
)


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(min_frequency=4, handle_unknown="infrequent_if_exist"),
        OneHotEncoder(min_frequency=4, handle_unknown="ignore", drop="first"),
        OneHotEncoder(max_categories=3, handle_unknown="infrequent_if_exist", drop="if_binary"),
        OneHotEncoder(max_categories=2, handle_unknown="ignore", drop=["a", 1]),
        OrdinalEncoder(min_frequency=4, handle_unknown="use_encoded_value", unknown_value=-1),
        OrdinalEncoder(
            max_categories=2,
            handle_unknown="use_encoded_value",
            unknown_value=np.nan,
            encoded_missing_value=9,
        ),
    ],
    ids=repr,
)
@pytest.mark.parametrize("n", [11, 14], ids=["present", "missing"])
def test_rare_categories_are_grouped_as_by_the_encoder(encoder, n):
    encoder.fit(TRAINING[:n])
    new = pd.DataFrame([[t, k] for t in ["a", "b", "c", "d", "new", None] for k in (1, 2, 9)])
    features = step_features(encoder, [RawColumn(0), RawColumn(1)], "'e'")
    found = [[evaluate(feature, row) for feature in features] for row in new.to_numpy(object)]
    expected = encoder.transform(new.set_axis(["t", "k"], axis=1))
    expected = expected if isinstance(encoder, OrdinalEncoder) else expected.toarray()
    assert without_nan(found) == without_nan(expected.tolist())


@pytest.mark.parametrize(
    "columns",
    [["c", "a"], [2, 0], [-1, 0], np.array([True, False, True]), slice("b", "c"), slice(1, 3)],
)
def test_columns_are_selected_as_by_scikit_learn(columns):
    rows = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=list("abc"))
    step = ColumnTransformer([("n", "passthrough", columns)]).fit(rows)
    found = step_features(step, [RawColumn(k) for k in range(3)], "'c'")
    assert [column.position for column in found] == step.transform(rows)[0].tolist()


def test_flags_among_positions_are_positions_as_for_numpy():
    # scikit-learn takes a set of them, in which True is 1; it refuses other mixes.
    rows = np.arange(6.0).reshape(2, 3)
    step = ColumnTransformer([("n", "passthrough", [True, 1])]).fit(rows)
    found = step_features(step, [RawColumn(k) for k in range(3)], "'c'")
    assert [column.position for column in found] == step.transform(rows)[0].tolist() == [1, 1]


def test_a_column_without_values_is_dropped_as_by_the_imputer():
    frame = np.array([[1.0, np.nan], [3.0, np.nan]])
    columns = [RawColumn(0), RawColumn(1)]
    assert step_features(SimpleImputer().fit(frame), columns, "") == [Filled(RawColumn(0), 2.0)]
    kept = step_features(SimpleImputer(keep_empty_features=True).fit(frame), columns, "")
    assert kept == [Filled(RawColumn(0), 2.0), Filled(RawColumn(1), 0.0)]


def test_the_raw_column_of_an_expression():
    nested = Calculated(Filled(RawColumn(3), 0.0), "-", 1.0)
    assert raw_position(nested) == 3


NUMBERS = np.arange(12.0).reshape(6, 2)
TEXT = np.array([["a"], ["b"], [None], [np.nan]], dtype=object)


@pytest.mark.parametrize(
    ("step", "rows", "words"),
    [
        (PCA(), NUMBERS, "'s' is a PCA, which cannot be exported; steps that can: SimpleImputer"),
        (SimpleImputer(add_indicator=True), NUMBERS, "'s' has add_indicator=True"),
        (SimpleImputer(missing_values=-1), NUMBERS, "'s' has missing_values=-1"),
        (OneHotEncoder(), TEXT, "both None and NaN"),
        (OneHotEncoder(), np.array([["2024-02-29"]], dtype="M8[D]"), "'s' has categories"),
        (FunctionTransformer(np.log1p), NUMBERS, "'s' has func=<ufunc 'log1p'>"),
        (Binner(crosses=[(0, 1)]), NUMBERS, "'s' has crosses"),
        (make_pipeline(StandardScaler(), PCA()), NUMBERS, "'s' > 'pca' is a PCA"),
        (ColumnTransformer([("p", PCA(), [0])]), NUMBERS, "'s' > 'p' is a PCA"),
        (
            ColumnTransformer([("m", MinMaxScaler(), [0])], transformer_weights={"m": 2}),
            NUMBERS,
            "'s' has transformer_weights",
        ),
    ],
    ids=repr,
)
def test_what_cannot_be_written_is_named(step, rows, words):
    with pytest.raises((TypeError, ValueError), match=words.replace("<", ".")):
        step_features(step.fit(rows), [RawColumn(k) for k in range(rows.shape[1])], "'s'")


def test_a_step_must_be_fitted():
    with pytest.raises(NotFittedError):
        step_features(StandardScaler(), [RawColumn(0)], "'s'")
