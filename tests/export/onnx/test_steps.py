"""Pipelines in ONNX: raw columns in, equal to scikit-learn's in every row."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from directrix import Binner, MomentClassifier, ScorecardClassifier
from directrix.export import to_onnx
from directrix.export.onnx.graph import Graph
from directrix.export.onnx.steps import add_step
from directrix.export.onnx.table import GraphTable, RawColumn

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

N = 400
NUMBERS, TEXTS = ["a", "b"], ["t", "it's"]


def frame(seed=0, *, new=False):
    rng = np.random.default_rng(seed)
    texts = ["x", "y", "z", "rare"] + ["new"] * new
    made = pd.DataFrame(
        {
            "a": rng.normal(50, 3, N),
            "t": pd.Series(rng.choice(texts, N), dtype=object),
            "b": rng.choice([1.0, 2.0, 5.0], N),
            "it's": pd.Series(rng.choice(["no", "yes"], N), dtype=object),
            "k": rng.choice([1, 2, 3] + [9] * new, N),
        }
    )
    made.loc[::7, ["a"]] = np.nan
    made["it's"] = made["it's"].where(np.arange(N) % 5 > 0, None)
    return made


def labels(rows):
    noise = np.random.default_rng(5).normal(size=len(rows))
    return np.nan_to_num(rows["a"].to_numpy(), nan=50.0) + 3 * (rows["t"] == "x") + noise > 51


def tensors(model, rows):
    made = {}
    for value in model.graph.input:
        column = rows[[value.name]]
        text = value.type.tensor_type.elem_type == onnx.TensorProto.STRING
        if text:
            values = [["?" if x is None else x] for x in column[value.name]]
            made[value.name] = np.array(values, dtype=object)
        else:
            made[value.name] = column.to_numpy("float64")
    return made


def run(model, rows):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, tensors(model, rows)), strict=True))


def transformer(onehot, ordinal):
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    filled = SimpleImputer(strategy="constant", fill_value="none", missing_values=None)
    return ColumnTransformer(
        [
            ("numbers", numbers, NUMBERS),
            ("texts", make_pipeline(filled, onehot), TEXTS),
            ("ordinal", ordinal, ["k"]),
            ("again", "passthrough", ["b"]),
        ]
    )


def fitted(*steps, classifier=None):
    pipeline = make_pipeline(*steps, classifier or MomentClassifier(choose="moments"))
    rows = frame()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a bad model is good enough
        return pipeline.fit(rows, labels(rows))


ENCODERS = [
    (OneHotEncoder(handle_unknown="ignore"), OneHotEncoder(handle_unknown="ignore")),
    (
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=110, drop="first"),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    ),
    (
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-5),
        OneHotEncoder(drop="if_binary", handle_unknown="ignore"),
    ),
]


@pytest.mark.filterwarnings("ignore:Found unknown categories:UserWarning")
@pytest.mark.parametrize("encoders", ENCODERS, ids=["one-hot", "infrequent", "ordinal"])
def test_a_pipeline_of_everything_is_equal_in_every_row(encoders):
    pipeline = fitted(transformer(*encoders))
    rows = frame(1, new=True)
    answer = run(to_onnx(pipeline, missing_text="?"), rows)
    scores = pipeline.decision_function(rows)
    np.testing.assert_allclose(answer["score"], scores, rtol=0, atol=1e-11)
    np.testing.assert_allclose(answer["probabilities"], pipeline.predict_proba(rows), atol=1e-11)
    assert answer["label"].tolist() == pipeline.predict(rows).tolist()
    assert scores.min() < 0 < scores.max()


@pytest.mark.parametrize("encoding", ["thermometer", "onehot", "ordinal"])
def test_a_binner_before_a_line(encoding):
    binner = Binner(encoding=encoding, crosses=[("a", "t")], special_values={"b": [2.0]})
    pipeline = fitted(binner)
    rows = frame(2, new=True)
    rows.loc[3, "a"], rows.loc[4, "a"] = np.inf, -np.inf
    answer = run(to_onnx(pipeline, missing_text="?"), rows)
    scores = pipeline.decision_function(rows)
    np.testing.assert_allclose(answer["score"], scores, rtol=0, atol=1e-9 * np.abs(scores).max())


def test_a_scorecard_after_steps():
    card = ScorecardClassifier("auc", train_on="counts", cv=2)
    steps = ColumnTransformer(
        [("filled", SimpleImputer(), ["a"]), ("drop", "drop", ["b"])], remainder="passthrough"
    )
    pipeline = fitted(steps, classifier=card)
    rows = frame(3, new=True)
    model = to_onnx(pipeline, missing_text="?")
    assert [value.name for value in model.graph.input] == ["a", "t", "it's", "k"]
    answer = run(model, rows)
    points = pipeline[-1].predict_points(pipeline[:-1].transform(rows))
    np.testing.assert_allclose(answer["points"], points, rtol=0, atol=1e-12)


def test_an_array_has_inputs_by_number():
    X = frame()[NUMBERS].to_numpy()
    pipeline = make_pipeline(
        SimpleImputer(), "passthrough", StandardScaler(with_mean=False), MomentClassifier()
    ).fit(X, labels(frame()))
    answer = run(to_onnx(pipeline), pd.DataFrame(X, columns=["x0", "x1"]))
    np.testing.assert_allclose(answer["score"], pipeline.decision_function(X), atol=1e-12)


def test_a_category_that_the_encoder_refuses_has_no_score():
    steps = ColumnTransformer([("t", OneHotEncoder(), ["t"]), ("a", SimpleImputer(), ["a"])])
    pipeline = fitted(steps)
    rows = frame(4, new=True)
    unknown = (rows["t"] == "new").to_numpy()
    answer = run(to_onnx(pipeline), rows)
    assert (np.isnan(answer["score"]) == unknown).all()
    assert 0 < unknown.sum() < N
    known = pipeline.decision_function(rows[~unknown])
    np.testing.assert_allclose(answer["score"][~unknown], known, atol=1e-12)


@pytest.mark.parametrize(
    "encoder", [OneHotEncoder(), OrdinalEncoder(), OneHotEncoder(drop=["x", 2])]
)
def test_one_encoder_of_texts_and_numbers(encoder):
    pipeline = fitted(ColumnTransformer([("both", encoder, ["t", "k"])]))
    rows = frame(6)
    answer = run(to_onnx(pipeline), rows)
    np.testing.assert_allclose(answer["score"], pipeline.decision_function(rows), atol=1e-12)
    assert len(set(answer["score"])) > 4


def test_missing_is_a_category_if_training_rows_had_it():
    numbers = OneHotEncoder(handle_unknown="ignore")
    steps = ColumnTransformer([("n", numbers, ["b"]), ("t", OneHotEncoder(), ["it's"])])
    rows = frame()
    rows.loc[::3, "b"] = np.nan
    pipeline = make_pipeline(steps, MomentClassifier(choose="moments")).fit(rows, labels(rows))
    answer = run(to_onnx(pipeline, missing_text="?"), rows)
    np.testing.assert_allclose(answer["score"], pipeline.decision_function(rows), atol=1e-12)


def test_a_step_that_cannot_be_written_is_named():
    steps = ColumnTransformer(
        [("n", make_pipeline(SimpleImputer(), PolynomialFeatures()), NUMBERS)]
    )
    message = "step 'columntransformer: n: polynomialfeatures' of the pipeline is a Polynomial"
    with pytest.raises(TypeError, match=message):
        to_onnx(fitted(steps))
    indicator = ColumnTransformer([("n", SimpleImputer(add_indicator=True), NUMBERS)])
    with pytest.raises(TypeError, match="step 'columntransformer: n': add_indicator"):
        to_onnx(fitted(indicator))
    with pytest.raises(ValueError, match="written in float64: leave dtype out"):
        to_onnx(fitted(transformer(*ENCODERS[0])), dtype="float32")
    with pytest.raises(ValueError, match="missing_text is 'x', which is a category of column 't'"):
        to_onnx(fitted(transformer(*ENCODERS[0])), missing_text="x")


# ── columns ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "columns",
    [["c", "a"], [2, 0], [-1, 0], np.array([True, False, True]), slice("b", "c"), slice(1, 3)],
)
def test_columns_are_selected_as_by_scikit_learn(columns):
    rows = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=list("abc"))
    chosen = ColumnTransformer([("n", "passthrough", columns)]).fit_transform(rows)[0]
    table = GraphTable.of_inputs(Graph("abc"), [RawColumn(name) for name in "abc"])
    found = [block.node for block in table.select(columns).blocks]
    assert found == ["abc"[int(value)] for value in chosen]


def test_a_column_has_one_kind():
    table = GraphTable.of_inputs(Graph("ab"), [RawColumn("a"), RawColumn("b")])
    add_step(table, "s", StandardScaler().fit([[0.0, 1.0], [1.0, 2.0]]), "")
    with pytest.raises(ValueError, match="column 'a' is read as number by one step, and as text"):
        add_step(table.select([0]), "e", OrdinalEncoder().fit([["x"], ["y"]]), "")
