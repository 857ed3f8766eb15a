"""Signatures of classifiers in MLflow: types that let pass what the classifier takes."""

import card_problems
import mlflow_server
import numpy as np
import pandas as pd
import pytest

from directrix import MomentClassifier, ScorecardClassifier
from directrix.integrations.mlflow import infer_signature, typical_row

needs_mlflow = pytest.mark.skipif(
    mlflow_server.why_not() is not None, reason=str(mlflow_server.why_not())
)
# Of MLflow, about its own code.
pytestmark = [
    pytest.mark.filterwarnings("ignore::Warning:mlflow"),
    # Bad models are good enough here.
    pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning"),
    pytest.mark.filterwarnings("ignore::directrix.exceptions.OneClassPredictedWarning"),
]
if mlflow_server.why_not() is None:
    mlflow = mlflow_server.imported()

RNG = np.random.default_rng(1)
X = RNG.normal(size=(80, 2))
Y = X[:, 0] + RNG.normal(size=80) > 0
FRAME = pd.DataFrame({"amount": X[:, 0] * 10, "visits": RNG.poisson(3, 80)})


def types(classifier, example=None):
    schema = infer_signature(classifier, example).inputs
    return {spec.name: str(spec.type) for spec in schema.inputs}


@pytest.fixture(scope="module")
def line():
    return MomentClassifier("auc").fit(FRAME, Y)


@needs_mlflow
def test_columns_of_a_card_have_the_types_of_their_kinds():
    number, text, flag, day = card_problems.NAMES.values()
    assert types(card_problems.fitted_card()) == {
        number: "Any",
        text: "DataType.string",
        flag: "DataType.boolean",
        day: "DataType.datetime",
        "constant": "Any",
    }


@needs_mlflow
def test_floats_of_an_example_are_doubles_and_integers_are_not_checked(line):
    assert types(line) == {"amount": "Any", "visits": "Any"}
    assert types(line, FRAME) == {"amount": "DataType.double", "visits": "Any"}


@needs_mlflow
@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", "b", None] * 20, dtype="category"),
        pd.Series([True, False, None] * 20, dtype="boolean"),
        pd.Series(pd.date_range("2024-01-01", periods=60, tz="UTC")),
        pd.Series([1, 2, None] * 20, dtype="Int64"),
        pd.Series([1, 2, 3] * 20),
    ],
    ids=["category", "boolean", "time zone", "Int64", "int64"],
)
def test_rows_like_the_example_pass(column, tmp_path):
    from directrix.integrations.mlflow import save_model

    table = pd.DataFrame({"column": column, "other": RNG.normal(size=60)})
    card = ScorecardClassifier("auc", cv=2, max_lines=None).fit(table, Y[:60])
    save_model(card, tmp_path / "model", input_example=table.head(3))
    pyfunc = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    assert pyfunc.predict(table).tolist() == card.predict(table).tolist()


@needs_mlflow
def test_a_card_takes_integers_and_missing_values_in_turn(tmp_path):
    from directrix.integrations.mlflow import save_model

    card = ScorecardClassifier("auc", cv=2, max_lines=None).fit(FRAME, Y)
    save_model(card, tmp_path / "model", input_example=FRAME.head())
    pyfunc = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    for rows in (FRAME, FRAME.mask(FRAME > 4), FRAME.assign(amount=3)):
        assert pyfunc.predict(rows).tolist() == card.predict(rows).tolist()


@needs_mlflow
def test_columns_without_names_are_a_tensor_of_a_line_and_types_of_a_card():
    line = MomentClassifier("auc").fit(X, Y)
    (spec,) = infer_signature(line, X[:2]).inputs.inputs
    assert (spec.type, spec.shape) == (np.dtype(np.float64), (-1, 2))
    table = [[1.5, "a"], [None, "b"]] * 40
    card = ScorecardClassifier("auc", cv=2, max_lines=None).fit(table, Y)
    specs = infer_signature(card, typical_row(card)).inputs.inputs
    assert [(spec.name, str(spec.type)) for spec in specs] == [
        (None, "Any"),
        (None, "DataType.string"),
    ]


@needs_mlflow
@pytest.mark.parametrize(
    ("labels", "expected"),
    [([0, 1], "long"), ([False, True], "boolean"), ([0.0, 1.0], "double"), (["a", "b"], "string")],
)
def test_the_type_of_labels_is_that_of_the_output(labels, expected):
    line = MomentClassifier("auc").fit(X, np.array(labels)[Y.astype(int)])
    signature = infer_signature(line)
    assert [spec.type for spec in signature.outputs.inputs] == [mlflow.types.DataType[expected]]
    assert [(param.name, param.default) for param in signature.params] == [("method", "predict")]


def test_a_typical_row_has_the_most_frequent_bin_of_each_column():
    card = card_problems.fitted_card()
    row = typical_row(card)
    cells = card.binner_.cells(row)[0]
    for bins, cell in zip(card.binner_.bins_, cells, strict=True):
        weights = list(bins.weights)
        values = slice(1, 1 + bins.n_ordered) if bins.n_ordered else slice(2, None)
        assert cell in range(len(weights))[values]
        assert weights[cell] == max(weights[values])


def test_a_typical_row_needs_a_card_and_its_columns_may_have_no_names(line):
    assert typical_row(line) is None
    card = ScorecardClassifier("auc", cv=2, max_lines=None).fit(X, Y)
    assert typical_row(card).columns.tolist() == [0, 1]
