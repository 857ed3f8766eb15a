"""Every export names a probability after its class, and gives the positive class one."""

import json
import warnings
from xml.etree import ElementTree as ET

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")

from directrix import (  # noqa: E402
    DirectClassifier,
    MomentClassifier,
    ScorecardClassifier,
)
from directrix.exceptions import LabelTypeError  # noqa: E402
from directrix.export import to_json, to_onnx, to_pmml, to_python, to_sql  # noqa: E402
from directrix.integrations.mlflow import PyfuncClassifier  # noqa: E402

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(RNG.normal(size=(200, 2)), columns=["a", "b"])
IS_BAD = ROWS["a"].to_numpy() + RNG.normal(size=200) > 0
CLASSIFIERS = {
    "card": ScorecardClassifier("auc", cv=2, max_lines=None, positive="bad"),
    "line": MomentClassifier("auc", positive="bad"),
    "direct": DirectClassifier("auc", positive="bad", cv=2),
}


def fitted(classifier, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a bad model is good enough
        return classifier.fit(ROWS, labels)


@pytest.fixture(scope="module", params=list(CLASSIFIERS))
def bad_is_positive(request):
    return fitted(CLASSIFIERS[request.param], np.where(IS_BAD, "bad", "good"))


@pytest.fixture(scope="module", params=["D", "us", "ns"])
def dated(request):
    labels = np.where(IS_BAD, np.datetime64("2024-02-29"), np.datetime64("2024-03-01"))
    classifier = DirectClassifier("auc", positive=np.datetime64("2024-02-29"), cv=2)
    return fitted(classifier, labels.astype(f"M8[{request.param}]"))


def by_sql(classifier):
    with duckdb.connect() as connection:
        connection.register("t", ROWS)
        return connection.execute(to_sql(classifier).select("t")).df()


def by_python(classifier):
    scope = {}
    exec(to_python(classifier), scope)  # noqa: S102 - it is our own
    return scope


def by_onnx(classifier):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model = to_onnx(classifier).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    inputs = {"X": ROWS.to_numpy()}
    if session.get_inputs()[0].name != "X":
        inputs = {name: ROWS[[name]].to_numpy() for name in ROWS}
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True)), session


def test_sql_has_the_probability_of_the_positive_class(bad_is_positive):
    made, expected = by_sql(bad_is_positive), bad_is_positive.predict_proba(ROWS)[:, 0]
    assert bad_is_positive.classes_.tolist() == ["bad", "good"]
    assert list(made)[-2:] == ["probability_bad", "prediction"]
    np.testing.assert_allclose(made["probability_bad"], expected, rtol=0, atol=1e-12)


def test_onnx_has_the_probability_of_the_positive_class(bad_is_positive):
    made, session = by_onnx(bad_is_positive)
    expected = bad_is_positive.predict_proba(ROWS)
    assert list(made)[-1] == "probability_bad"
    np.testing.assert_allclose(made["probability_bad"], expected[:, 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(made["probabilities"], expected, rtol=0, atol=1e-12)
    classes = session.get_modelmeta().custom_metadata_map["classes"]
    assert json.loads(classes) == ["bad", "good"]


def test_python_source_has_the_probability_of_the_positive_class(bad_is_positive):
    scope, expected = by_python(bad_is_positive), bad_is_positive.predict_proba(ROWS)
    rows = ROWS.to_dict("records")
    made = [scope["probability_bad"](row) for row in rows]
    np.testing.assert_allclose(made, expected[:, 0], rtol=0, atol=1e-12)
    both = scope["probabilities"](rows[0])
    assert list(both) == ["bad", "good"]
    np.testing.assert_allclose(list(both.values()), expected[0], rtol=0, atol=1e-12)
    assert "probability" not in scope


def test_json_says_whose_probability_it_has(bad_is_positive):
    entry = json.loads(to_json(bad_is_positive))["probability"]
    assert (entry["class"], entry["name"]) == ("bad", "probability_bad")
    assert entry["one_minus"] is True


def test_mlflow_has_the_probabilities_by_name(bad_is_positive):
    made = PyfuncClassifier(bad_is_positive).predict(ROWS, {"method": "predict_proba"})
    assert list(made) == ["probability_bad", "probability_good"]
    np.testing.assert_array_equal(made.to_numpy(), bad_is_positive.predict_proba(ROWS))


@pytest.mark.parametrize("positive", ["bad", "good"])
def test_pmml_has_probability_and_reasons_of_the_positive_class(positive):
    card = ScorecardClassifier("auc", cv=2, max_lines=None, positive=positive)
    card = fitted(card, np.where(IS_BAD, "bad", "good"))
    document = ET.fromstring(to_pmml(card))  # noqa: S314 - it is our own
    names = [field.get("name") for field in document.findall(".//{*}OutputField")]
    assert [name for name in names if name.startswith("probability")] == [f"probability_{positive}"]
    (model,) = document.findall(".//{*}Scorecard")
    # Reasons speak for the positive class, as those of `reasons` do.
    above = card.card_.higher_is_positive
    assert model.get("reasonCodeAlgorithm") == ("pointsAbove" if above else "pointsBelow")


@pytest.mark.parametrize("label", ['the "b"', "a'b; --", "好", " ", True, 0, -1.0])
def test_hostile_labels_can_be_queried(label):
    other = "zz" if isinstance(label, str) else 9
    classifier = fitted(
        MomentClassifier("auc", positive=label),
        np.array(
            [label if bad else other for bad in IS_BAD],
            dtype=object if isinstance(label, str) else None,
        ),
    )
    made = by_sql(classifier)
    name = classifier.scoring_formula().probability_name
    place = classifier.classes_.tolist().index(label)
    expected = classifier.predict_proba(ROWS)[:, place]
    np.testing.assert_allclose(made[name], expected, rtol=0, atol=1e-12)
    row = ROWS.to_dict("records")[0]
    assert by_python(classifier)[name](row) == pytest.approx(expected[0])


def test_dates_are_written_as_text_in_iso_8601(dated):
    expected = [str(label.astype("M8[D]")) for label in dated.predict(ROWS)]
    made = by_sql(dated)
    assert made["prediction"].tolist() == expected
    probability = dated.predict_proba(ROWS)[:, 0]
    np.testing.assert_allclose(made["probability_2024_02_29"], probability, rtol=0, atol=1e-12)
    rows = ROWS.to_dict("records")
    assert [by_python(dated)["predict"](row) for row in rows[:5]] == expected[:5]
    assert json.loads(to_json(dated))["classes"] == ["2024-02-29", "2024-03-01"]
    assert by_onnx(dated)[0]["label"].tolist() == expected


def test_a_label_of_another_type_is_refused():
    labels = np.where(IS_BAD, np.timedelta64(1, "D"), np.timedelta64(2, "D"))
    classifier = fitted(DirectClassifier("auc", cv=2, warn_baseline=False), labels)
    for export in (to_python, to_json, lambda c: to_sql(c).score):
        with pytest.raises(LabelTypeError, match=r"of type timedelta.*texts, numbers"):
            export(classifier)
