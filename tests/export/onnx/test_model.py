import numpy as np
import pytest

from directrix import MomentClassifier
from directrix.export import Float32PrecisionWarning, to_onnx

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def run(model, X):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(["label", "probabilities", "score"], {"X": X})


@pytest.mark.parametrize(("dtype", "close"), [("float64", 1e-9), ("float32", 1e-5)])
def test_ten_thousand_rows_are_scored_as_by_the_estimator(
    dtype, close, linear, many_rows, answer, figure
):
    X = many_rows(linear).astype(dtype)
    model = to_onnx(linear, dtype=dtype)
    onnx.checker.check_model(model, full_check=True)
    label, probabilities, score = run(model, X)
    expected = answer(linear, X.astype(np.float64))
    assert score.dtype == probabilities.dtype == np.dtype(dtype)
    assert score.shape == expected[0].shape
    apart = np.abs(score - expected[0]).max() / max(np.abs(expected[0]).max(), 1.0)
    off = np.abs(probabilities[:, 1] - expected[1]).max()
    figure(f"ONNX {dtype}, {type(linear).__name__}: {apart:.1e}, {off:.1e}")
    assert apart < close
    assert off < close
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-6)
    assert label.tolist() == expected[2].tolist()


def test_features_far_from_zero_keep_their_digits_in_float32():
    X = 1e6 + np.array([[-2.0], [-1.0], [1.0], [2.0]])
    classifier = MomentClassifier(sample=0).fit(X, [0, 0, 1, 1])
    with pytest.warns(Float32PrecisionWarning):  # these features happen to fit in float32
        model = to_onnx(classifier, dtype="float32")
    _, _, score = run(model, X.astype(np.float32))
    assert np.abs(score - classifier.decision_function(X)).max() < 1e-6


def test_by_default_labels_are_those_of_the_estimator_far_from_zero():
    X, y = blobs(center=1e9)
    classifier = MomentClassifier(sample=0).fit(X, y)
    label, _, score = run(to_onnx(classifier), X)
    assert score.dtype == np.float64
    assert label.tolist() == classifier.predict(X).tolist()


@pytest.mark.parametrize("signs", [(1.0, 1.0), (1.0, -1.0)])  # of the second, the intercept is 0
def test_float32_warns_where_it_changes_labels(signs):
    X, y = blobs(center=1e9, signs=signs)
    classifier = MomentClassifier(sample=0).fit(X, y)
    with pytest.warns(Float32PrecisionWarning, match='dtype="float64"') as caught:
        model = to_onnx(classifier, dtype="float32")
    assert caught[0].filename == __file__
    label, _, _ = run(model, X.astype(np.float32))
    assert (label == classifier.predict(X)).mean() < 0.8


@pytest.mark.parametrize("center", [0.0, 100.0])
def test_float32_does_not_warn_where_its_digits_are_enough(center):
    X, y = blobs(center)
    classifier = MomentClassifier(sample=0).fit(X, y)
    label, _, _ = run(to_onnx(classifier, dtype="float32"), X.astype(np.float32))
    assert (label == classifier.predict(X)).mean() > 0.999


def blobs(center, signs=(1.0, 1.0)):
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    return center + (rng.normal(size=(2000, 2)) + y[:, None]) * signs, y


def test_input_and_outputs_have_names_and_shapes(fitted):
    graph = to_onnx(fitted("whole_labels")).graph
    assert [value.name for value in graph.input] == ["X"]
    names = ["label", "probabilities", "score", "probability_2"]
    assert [value.name for value in graph.output] == names
    shapes = [
        [axis.dim_param or axis.dim_value for axis in value.type.tensor_type.shape.dim]
        for value in (*graph.input, *graph.output)
    ]
    assert shapes == [["n", 2], ["n"], ["n", 2], ["n"], ["n"]]


def test_what_is_refused(fitted):
    with pytest.raises(ValueError, match="dtype must be one of"):
        to_onnx(fitted("one_feature"), dtype="float16")
