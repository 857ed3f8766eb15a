import json
from math import exp
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from benchmarks.studies.card_exports.compare import CARDS, difference, raw_rows
from directrix import ScorecardClassifier
from directrix.export import to_json


def sigmoid(z):
    return 1.0 / (1.0 + exp(-z)) if z >= 0 else exp(z) / (1.0 + exp(z))


def scored(formula, row):
    """Score a row by what docs/export.md says of the JSON, and nothing else."""
    pairs = zip(formula["coefficients"], row, strict=True)
    score = sum(weight * x for weight, x in pairs) + formula["intercept"]
    classes, response = formula["classes"], formula["probability"]
    slope = response["below"] if score < 0 else response["above"]
    probability = sigmoid(response["offset"] + slope * score)
    return score, probability, classes[score > formula["threshold"]]


def test_ten_thousand_rows_are_scored_as_by_the_estimator(linear, many_rows, answer, figure):
    X = many_rows(linear)
    formula = json.loads(to_json(linear))
    scores, probabilities, labels = zip(*(scored(formula, row) for row in X.tolist()), strict=True)
    expected = answer(linear, X)
    apart = np.abs(np.array(scores) - expected[0]) / np.maximum(np.abs(expected[0]), 1.0)
    off = np.abs(np.array(probabilities) - expected[1]).max()
    figure(f"JSON, {type(linear).__name__}: {apart.max():.1e}, {off:.1e}")
    assert max(apart.max(), off) < 1e-9
    assert list(labels) == expected[2].tolist()


def test_it_holds_names_and_labels_and_nothing_else(fitted):
    formula = json.loads(to_json(fitted("odd_names")))
    assert sorted(formula) == [
        *("classes", "coefficients", "features", "format", "intercept"),
        *("probability", "threshold", "version"),
    ]
    assert (formula["format"], formula["version"]) == ("directrix.scoring", 1)
    assert formula["features"] == fitted("odd_names").feature_names_in_.tolist()
    assert formula["classes"] == [False, True]
    assert json.loads(to_json(fitted("text_labels")))["classes"][1] == 'the "best"'


def test_numbers_come_back_to_the_last_bit(fitted):
    formula = json.loads(to_json(fitted("wide")))
    assert formula["coefficients"] == fitted("wide").coef_[0].tolist()
    assert formula["intercept"] == fitted("wide").intercept_[0]


@pytest.mark.parametrize("name", list(CARDS))
def test_raw_rows_are_scored_by_a_reader_of_the_json_of_a_card(name):
    assert difference(name, "JSON", raw_rows(1_000, 6, new=True)).is_close


def test_the_json_of_a_card_holds_what_the_documentation_lists():
    classifier = CARDS["integer"]()
    model = json.loads(to_json(classifier))
    assert sorted(model) == ["card", "classes", "columns", "format", "probability", "version"]
    assert (model["format"], model["version"]) == ("directrix.card", 1)
    assert [column["name"] for column in model["columns"]] == list(classifier.feature_names_in_)
    kinds = ["number", "number", "text", "boolean", "date", "date", "number"]
    assert [column["kind"] for column in model["columns"]] == kinds
    assert model["columns"][0]["special_values"] == [-999.0]
    assert model["classes"] == classifier.classes_.tolist()
    entry, card = model["card"], classifier.card_
    assert sorted(entry) == ["crosses", "cutoff", "higher_is_last", "intercept", "points"]
    assert entry["points"][1]["missing"] == card.columns[1][0]
    assert len(entry["crosses"]) == len(card.crosses)
    documentation = Path(__file__).parents[2].joinpath("docs/export.md").read_text(encoding="utf-8")
    assert all(f"`{word}`" in documentation for word in [*model, *entry, *model["columns"][0]])


@pytest.mark.filterwarnings("ignore::directrix.exceptions.TableWarning")  # one column tells
def test_a_card_without_names_has_those_of_its_bins():
    rows = np.random.default_rng(0).normal(size=(80, 2))
    card = ScorecardClassifier("auc", cv=2, max_lines=None).fit(rows, rows[:, 0] > 0)
    assert [column["name"] for column in json.loads(to_json(card))["columns"]] == ["x0", "x1"]
