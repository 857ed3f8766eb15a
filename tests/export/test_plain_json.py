import json
from math import exp

import numpy as np
import pytest

from directrix.export import to_json


def sigmoid(z):
    return 1.0 / (1.0 + exp(-z)) if z >= 0 else exp(z) / (1.0 + exp(z))


def scored(formula, row):
    """Score a row by what docs/export.md says of the JSON, and nothing else."""
    lines = [
        sum(weight * x for weight, x in zip(line, row, strict=True)) + intercept
        for line, intercept in zip(formula["coefficients"], formula["intercepts"], strict=True)
    ]
    classes, responses = formula["classes"], formula["probability"]
    if responses[0]["kind"] == "plateaus":
        (plateaus,), (score,) = responses, lines
        share = sigmoid(plateaus["gamma"] * (score + plateaus["shift"]))
        probability = min(plateaus["high"], plateaus["low"] + plateaus["rise"] * share)
        label = (
            classes[score > formula["threshold"]]
            if formula["always"] is None
            else formula["always"]
        )
        return score, probability, label
    odds = [
        part["offset"] + (part["below"] if score < 0 else part["above"]) * score
        for part, score in zip(responses, lines, strict=True)
    ]
    shares = [sigmoid(z) for z in odds]
    if len(classes) == 2:
        return lines[0], shares[0], classes[lines[0] > formula["threshold"]]
    return odds, [share / sum(shares) for share in shares], classes[odds.index(max(odds))]


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
        *("always", "classes", "coefficients", "features", "format", "intercepts"),
        *("probability", "threshold", "version"),
    ]
    assert (formula["format"], formula["version"]) == ("directrix.scoring", 1)
    assert formula["features"] == fitted("odd_names").feature_names_in_.tolist()
    assert formula["classes"] == [False, True]
    assert json.loads(to_json(fitted("text_labels")))["classes"][1] == 'the "best"'


def test_numbers_come_back_to_the_last_bit(fitted):
    formula = json.loads(to_json(fitted("wide")))
    assert formula["coefficients"] == fitted("wide").coef_.tolist()
    assert formula["intercepts"] == fitted("wide").intercept_.tolist()


def test_a_kernel_is_refused(fitted):
    with pytest.raises(ValueError, match=r"directrix\.export\.save"):
        to_json(fitted("rbf"))
