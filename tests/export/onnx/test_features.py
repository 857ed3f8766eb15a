"""Pipelines in ONNX: raw columns in, equal to scikit-learn's in every row."""

import warnings

import numpy as np
import pandas as pd
import pipeline_samples as samples
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
from directrix.export.expressions import Calculated, Filled, Lookup, RawColumn
from directrix.export.onnx_writer import OnnxWriter

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
            values = [["?" if pd.isna(x) else x] for x in column[value.name]]
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


def fitted(*steps, classifier=None):
    pipeline = make_pipeline(*steps, classifier or MomentClassifier(learn_from="moments"))
    rows = frame()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a bad model is good enough
        return pipeline.fit(rows, labels(rows))


@pytest.mark.filterwarnings("ignore:Found unknown categories:UserWarning")
@pytest.mark.parametrize("name", list(samples.PIPELINES))
def test_a_pipeline_is_equal_in_every_row(name):
    pipeline, rows = samples.fitted(name), samples.rows(500, 7, new=True)
    answer = run(to_onnx(pipeline, missing_text="?"), rows)
    np.testing.assert_allclose(
        answer["score"], pipeline.decision_function(rows), rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(answer["probabilities"], pipeline.predict_proba(rows), atol=1e-11)
    assert answer["label"].tolist() == pipeline.predict(rows).tolist()
    assert len(set(answer["label"].tolist())) == len(pipeline.classes_)


@pytest.mark.parametrize("encoding", ["thermometer", "onehot", "ordinal"])
def test_a_binner_before_a_line(encoding):
    binner = Binner(encoding=encoding, special_values={"b": [2.0]})
    pipeline = fitted(binner)
    rows = frame(2, new=True)
    rows.loc[3, "a"], rows.loc[4, "a"] = np.inf, -np.inf
    answer = run(to_onnx(pipeline, missing_text="?"), rows)
    scores = pipeline.decision_function(rows)
    np.testing.assert_allclose(answer["score"], scores, rtol=0, atol=1e-9 * np.abs(scores).max())


def test_a_scorecard_after_steps():
    card = ScorecardClassifier("auc", learn_from="counts", cv=2, max_lines=None)
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
    pipeline = make_pipeline(steps, MomentClassifier(learn_from="moments")).fit(rows, labels(rows))
    answer = run(to_onnx(pipeline, missing_text="?"), rows)
    np.testing.assert_allclose(answer["score"], pipeline.decision_function(rows), atol=1e-12)


def test_a_step_that_cannot_be_written_is_named():
    polynomial = make_pipeline(SimpleImputer(), PolynomialFeatures())
    message = "step 'columntransformer' > 'n' > 'polynomialfeatures' is a PolynomialFeatures"
    with pytest.raises(TypeError, match=message):
        to_onnx(fitted(ColumnTransformer([("n", polynomial, NUMBERS)])))
    indicator = SimpleImputer(add_indicator=True)
    with pytest.raises(ValueError, match="step 'columntransformer' > 'n' has add_indicator=True"):
        to_onnx(fitted(ColumnTransformer([("n", indicator, NUMBERS)])))
    with pytest.raises(ValueError, match="step 'binner' has crosses"):
        to_onnx(fitted(Binner(crosses=[("a", "t")])))
    with pytest.raises(ValueError, match="written in float64: leave dtype out"):
        to_onnx(fitted(Binner()), dtype="float32")


def filled_texts(fill):
    filled = SimpleImputer(strategy="constant", fill_value=fill, missing_values=None)
    encoder = OneHotEncoder(handle_unknown="ignore")
    return fitted(ColumnTransformer([("t", make_pipeline(filled, encoder), TEXTS)]))


def test_the_text_that_stands_for_a_missing_one_is_no_category():
    pipeline, rows = filled_texts("none"), frame(7, new=True)
    with pytest.raises(ValueError, match="missing_text is 'x', which is a category of column 't'"):
        to_onnx(pipeline, missing_text="x")
    # It may be the text that missing ones are replaced by.
    for pipeline in (pipeline, filled_texts("?")):  # noqa: B020 - the first, then another
        answer = run(to_onnx(pipeline, missing_text="?"), rows)
        np.testing.assert_allclose(answer["score"], pipeline.decision_function(rows), atol=1e-12)


X = RawColumn(0)


def test_a_column_has_one_kind():
    features = OnnxWriter(["a"])
    features.numbers([Calculated(X, "-", 1.0)])
    with pytest.raises(ValueError, match="column 'a' is read as number by one step, and as text"):
        features.numbers([Lookup(X, ("x", "y"), (0.0, 1.0), None, None)])


def test_texts_must_be_encoded_and_numbers_are_not_texts():
    with pytest.raises(TypeError, match="texts that a SimpleImputer has filled are to be encoded"):
        OnnxWriter(["a"]).numbers([Filled(X, "none")])
    of_numbers = Lookup(Calculated(X, "-", 1.0), ("x",), (0.0,), None, None)
    with pytest.raises(TypeError, match="reads the numbers that another has made as texts"):
        OnnxWriter(["a"]).numbers([of_numbers])


def test_what_is_missing_is_filled_once():
    twice = Lookup(Filled(Filled(X, "none"), "other"), ("none", "other"), (1.0, 2.0), None, None)
    graph = OnnxWriter(["a"])
    graph.numbers([twice])
    assert [node.op_type for node in graph.nodes].count("Where") == 1


def test_features_that_are_made_in_the_same_way_are_made_together():
    columns = [RawColumn(k) for k in range(50)]
    scaled = [Calculated(Filled(column, 0.0), "/", 2.0) for column in columns]
    graph = OnnxWriter([f"x{k}" for k in range(50)])
    graph.numbers(scaled)
    assert [node.op_type for node in graph.nodes] == ["Concat", "IsNaN", "Where", "Div"]
