"""A card in PMML is scored by JPMML, in Java, as by the classifier."""

import shutil
from copy import deepcopy
from dataclasses import replace
from unittest import mock
from xml.etree import ElementTree as ET

import card_problems
import numpy as np
import pandas as pd
import pytest
from card_problems import NAMES

from directrix import Binner, MomentClassifier, ScorecardClassifier
from directrix.exceptions import LabelRangeError
from directrix.export import to_pmml
from directrix.moments import BinCounts

SPACE = "{http://www.dmg.org/PMML-4_4}"
#: Costs of a row that are equal, to rounding.
EQUAL = 1e-9


class Java:
    """JPMML in a process of its own."""

    def __init__(self, jpmml, backend):
        self.jpmml, self.backend = jpmml, backend

    def score(self, document, frame, *, nan_as_missing=True):
        """Return the outputs for the rows of a frame, by name."""
        evaluator = self.jpmml.make_evaluator(document, backend=self.backend)
        results = [evaluator.evaluate(row, nan_as_missing) for row in rows_in_java(frame)]
        return {name: [result[name] for result in results] for name in results[0] if name}

    def validate(self, document):
        """Raise the error of Java unless a document is valid by the schema of PMML 4.4."""
        from py4j import java_gateway, protocol

        java = self.backend.gateway.jvm
        resource = java.ClassLoader.getSystemClassLoader().getResource("pmml.xsd")
        language = "http://www.w3.org/2001/XMLSchema"
        schema = java.javax.xml.validation.SchemaFactory.newInstance(language).newSchema(resource)
        source = java.javax.xml.transform.stream.StreamSource(java.java.io.StringReader(document))
        # A Spark session in this process would look for the error in its own virtual machine.
        plain = protocol.get_return_value
        with mock.patch.object(java_gateway, "get_return_value", plain):
            schema.newValidator().validate(source)


@pytest.fixture(scope="module")
def java():
    jpmml = pytest.importorskip("jpmml_evaluator")
    if shutil.which("java") is None:
        pytest.skip("there is no java")
    from jpmml_evaluator.py4j import Py4JBackend

    backend = Py4JBackend()
    yield Java(jpmml, backend)
    process = backend.gateway.java_process
    Py4JBackend.destroyGateway()
    process.stdin.close()
    process.wait(60)


def rows_in_java(frame):
    """Return rows as a caller in Java has them: a time is text in ISO 8601."""
    for row in frame.to_dict("records"):
        yield {
            name: value.isoformat() if hasattr(value, "isoformat") else value
            for name, value in row.items()
        }


def random_card(seed=0, *, whole=True, **options):
    return card_problems.with_random_points(
        card_problems.fitted_card(), seed, whole=whole, **options
    )


# ── equal in every row ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("higher_is_positive", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_whole_points_are_equal_in_every_row(java, seed, higher_is_positive):
    classifier = random_card(seed, higher_is_positive=higher_is_positive)
    rows = card_problems.raw_rows(seed=seed + 10)
    answer = java.score(to_pmml(classifier), rows)
    expected = classifier.predict_points(rows)
    assert answer["points_"] == expected.tolist()  # a column is called points
    assert answer["score"] == classifier.decision_function(rows).tolist()
    assert answer["prediction"] == classifier.predict(rows).tolist()
    probability = classifier.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(answer["probability_1"], probability, rtol=0, atol=1e-12)
    assert len(set(expected)) > 10
    assert len(set(answer["prediction"])) == 2


@pytest.mark.parametrize("points", ["random", "fitted"])
def test_other_points_are_equal_up_to_rounding(java, figure, points):
    classifier = random_card(3, whole=False) if points == "random" else card_problems.fitted_card()
    rows = card_problems.raw_rows(seed=12)
    answer = java.score(to_pmml(classifier), rows)
    apart = np.abs(answer["points_"] - classifier.predict_points(rows)).max()
    figure(f"PMML: {apart:.1e}")
    assert apart < 1e-12
    probability = classifier.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(answer["probability_1"], probability, rtol=0, atol=1e-12)


def test_every_cell_of_every_column_is_scored():
    # Otherwise the tests above would prove less than they seem to.
    rows, bins = card_problems.raw_rows(seed=10), card_problems.fitted_card().card_.bins
    assert [column.kind for column in bins] == ["number", "text", "boolean", "date", "number"]
    cells = card_problems.fitted_card().binner_.cells(rows)
    scored = [len(set(column)) / bins.n_cells for column, bins in zip(cells.T, bins, strict=True)]
    assert min(scored[:4]) > 0.9


def test_nan_is_missing(java):
    classifier = random_card()
    rows = card_problems.raw_rows(40, seed=3).assign(**{NAMES["number"]: np.nan})
    answer = java.score(to_pmml(classifier), rows, nan_as_missing=False)
    assert answer["points_"] == classifier.predict_points(rows).tolist()


def test_levels_that_share_a_cell(java):
    town = np.array([["Graz"], ["Linz"], ["Wien"], [None], ["Rom"]] * 6, dtype=object)
    binner = Binner(min_level_rows=1).fit(town)
    counts = BinCounts.of(binner, town, np.arange(30) % 2)
    grouped = counts.rebin(merge={"x0": [("Graz", "Wien")]}, other={"x0": ["Rom"]})
    classifier = ScorecardClassifier(max_lines=None).fit_summary(grouped)
    points = np.array([7.0, 5.0, 3.0, 2.0])
    classifier.card_ = replace(classifier.card_, columns=(points,))
    document = to_pmml(classifier, columns=["town"])
    text = ET.fromstring(document).find(f".//{SPACE}Array").text  # noqa: S314 - our own
    assert text == '"Graz" "Wien"'
    answer = java.score(document, pd.DataFrame({"town": town[:5, 0].tolist()}))
    assert answer["points"] == classifier.predict_points(town[:5]).tolist()


@pytest.mark.parametrize(
    "labels", [["no <&> ", "it's\r\n yes"], [False, True], [-1, 7], [0.25, 1e-30], [" ", "x"]]
)
def test_a_prediction_is_a_label_of_its_type(java, labels):
    classifier = random_card(1, labels=labels)
    rows = card_problems.raw_rows(60, seed=4)
    answer = java.score(to_pmml(classifier), rows)
    assert answer["prediction"] == classifier.predict(rows).tolist()
    assert {type(label) for label in answer["prediction"]} == {type(label) for label in labels}
    assert len(set(answer["prediction"])) == 2


# ── reasons ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("higher_is_positive", [True, False])
def test_reasons_are_the_columns_that_speak_most_for_the_last_class(java, higher_is_positive):
    classifier = random_card(2, higher_is_positive=higher_is_positive)
    rows = card_problems.raw_rows(80, seed=6)
    answer = java.score(to_pmml(classifier), rows)
    card, cells = classifier.card_, classifier.binner_.cells(rows)
    sign = 1 if higher_is_positive else -1
    costs = {
        bins.name: sign * points[cells[:, k]] - (sign * points).min()
        for k, (bins, points) in enumerate(zip(card.bins, card.columns, strict=True))
        if points.any()
    }
    for cross in card.crosses:
        name = " x ".join(card.bins[k].name for k in cross.columns)
        costs[name] = sign * cross.scores(cells) - (sign * cross.points).min()
    ranked = -np.sort(-np.array(list(costs.values())), axis=0)
    for rank in range(4):
        found = [costs[name][row] for row, name in enumerate(answer[f"reason_{rank + 1}"])]
        np.testing.assert_allclose(found, ranked[rank], atol=EQUAL)
    assert len(set(answer["reason_1"])) > 3


def test_reasons_have_codes(java):
    classifier = random_card()
    rows = card_problems.raw_rows(80, seed=6)
    names = [f"{NAMES['number']} x {NAMES['text']}", NAMES["flag"]]
    before = java.score(to_pmml(classifier), rows)
    codes = {names[0]: "A17", names[1]: "<&> 'b'"}
    after = java.score(to_pmml(classifier, reason_codes=codes), rows)
    for rank in ("reason_1", "reason_4"):
        assert after[rank] == [codes.get(name, name) for name in before[rank]]
        assert set(codes.values()) & set(after[rank])
    with pytest.raises(ValueError, match="reason_codes has 'age', which is no column or cross"):
        to_pmml(classifier, reason_codes={"age": "A1"})


# ── the document ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("points", ["random", "fitted"])
def test_the_document_is_valid_by_the_schema(java, points):
    document = to_pmml(random_card() if points == "random" else card_problems.fitted_card())
    java.validate(document)
    with pytest.raises(Exception, match="cvc-"):
        java.validate(document.replace("initialScore", "initial"))
    with pytest.raises(Exception, match="cvc-"):
        java.validate(document.replace("MiningSchema", "Schema"))


def test_neighbouring_bins_with_equal_points_are_one_attribute():
    classifier = deepcopy(card_problems.fitted_card())
    card = classifier.card_
    points = np.zeros(card.bins[0].n_cells)
    points[2 : card.bins[0].n_ordered] = 3.0  # the first and the last ordered bin have none
    zeros = [np.zeros(bins.n_cells) for bins in card.bins[1:]]
    classifier.card_ = replace(card, columns=(points, *zeros), crosses=())
    root = ET.fromstring(to_pmml(classifier))  # noqa: S314
    (column,) = root.iter(f"{SPACE}Characteristic")
    assert [part.get("partialScore") for part in column] == ["0", "0", "0", "3", "0"]
    fields = [part.get("name") for part in root.iter(f"{SPACE}DataField")]
    assert fields == [NAMES["number"]]  # the others give every row zero points


def test_a_card_without_points_scores_all_the_same(java):
    classifier = deepcopy(card_problems.fitted_card())
    zeros = tuple(np.zeros(bins.n_cells) for bins in classifier.card_.bins)
    classifier.card_ = replace(classifier.card_, columns=zeros, crosses=(), intercept=2.5)
    document = to_pmml(classifier)
    java.validate(document)
    assert java.score(document, card_problems.raw_rows(3))["points"] == [2.5, 2.5, 2.5]


def test_columns_may_have_other_names(java):
    rows = card_problems.raw_rows(30, seed=2)
    names = ["probability_1", "score", "prediction", "reason_1", "points"]
    classifier = random_card(1)
    answer = java.score(to_pmml(classifier, columns=names), rows.set_axis(names, axis=1))
    outputs = ["points", "score_", "probability_1_", "prediction_", "reason_1_", "reason_2"]
    assert set(outputs) <= set(answer)  # the last column has no points, and is no field
    assert answer["points"] == classifier.predict_points(rows).tolist()


def test_what_is_refused():
    with pytest.raises(TypeError, match=r"writes scorecards, not a MomentClassifier: .*to_onnx"):
        to_pmml(MomentClassifier(sample=0).fit([[0.0], [1.0], [2.0]], [0, 0, 1]))
    counted = BinCounts.of(Binner().fit([["a"], ["b"]] * 9), [["a"], ["b"]] * 9, [0, 1 << 31] * 9)
    with pytest.raises(LabelRangeError, match="label 2147483648 is beyond 32 bits"):
        to_pmml(ScorecardClassifier(max_lines=None).fit_summary(counted))
    with pytest.raises(ValueError, match="5 different names"):
        to_pmml(card_problems.fitted_card(), columns=["a"])
    rows = [["a\0b"], ["x"]] * 20
    counts = BinCounts.of(Binner(min_level_rows=1).fit(rows), rows, [0, 1] * 20)
    classifier = ScorecardClassifier(max_lines=None).fit_summary(counts)
    with pytest.raises(ValueError, match=r"XML cannot hold the text 'a\\x00b'"):
        to_pmml(classifier)
