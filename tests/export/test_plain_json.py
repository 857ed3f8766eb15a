import json
from math import exp

import numpy as np
import pytest

from directrix.export import to_json


def sigmoid(z):
    return 1.0 / (1.0 + exp(-z)) if z >= 0 else exp(z) / (1.0 + exp(z))


def scored(told, row):
    """Score a row by what docs/export.md says of the JSON, and nothing else."""
    lines = [
        sum(own * x for own, x in zip(line, row, strict=True)) + intercept
        for line, intercept in zip(told["coefficients"], told["intercepts"], strict=True)
    ]
    classes, responses = told["classes"], told["probability"]
    if responses[0]["kind"] == "plateaus":
        (own,), (score,) = responses, lines
        share = sigmoid(own["gamma"] * (score + own["shift"]))
        probability = min(own["high"], own["low"] + own["rise"] * share)
        label = classes[score > told["threshold"]] if told["always"] is None else told["always"]
        return score, probability, label
    odds = [
        own["offset"] + (own["below"] if score < 0 else own["above"]) * score
        for own, score in zip(responses, lines, strict=True)
    ]
    each = [sigmoid(z) for z in odds]
    if len(classes) == 2:
        return lines[0], each[0], classes[lines[0] > told["threshold"]]
    return odds, [own / sum(each) for own in each], classes[odds.index(max(odds))]


def test_ten_thousand_rows_are_scored_as_by_the_estimator(linear, many_rows, answer, figure):
    X = many_rows(linear)
    told = json.loads(to_json(linear))
    scores, probabilities, labels = zip(*(scored(told, row) for row in X.tolist()), strict=True)
    expected = answer(linear, X)
    apart = np.abs(np.array(scores) - expected[0]) / np.maximum(np.abs(expected[0]), 1.0)
    off = np.abs(np.array(probabilities) - expected[1]).max()
    figure(f"JSON, {type(linear).__name__}: {apart.max():.1e}, {off:.1e}")
    assert max(apart.max(), off) < 1e-9
    assert list(labels) == expected[2].tolist()


def test_it_holds_names_and_labels_and_nothing_else(fitted):
    told = json.loads(to_json(fitted("odd_names")))
    assert sorted(told) == [
        *("always", "classes", "coefficients", "features", "format", "intercepts"),
        *("probability", "threshold", "version"),
    ]
    assert (told["format"], told["version"]) == ("directrix.scoring", 1)
    assert told["features"] == fitted("odd_names").feature_names_in_.tolist()
    assert told["classes"] == [False, True]
    assert json.loads(to_json(fitted("text_labels")))["classes"][1] == 'the "best"'


def test_numbers_come_back_to_the_last_bit(fitted):
    told = json.loads(to_json(fitted("wide")))
    assert told["coefficients"] == fitted("wide").coef_.tolist()
    assert told["intercepts"] == fitted("wide").intercept_.tolist()


def test_a_kernel_is_refused(fitted):
    with pytest.raises(ValueError, match=r"directrix\.export\.save"):
        to_json(fitted("rbf"))
