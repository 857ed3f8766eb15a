import numpy as np
import pytest
from scoring_modules import assert_needs_no_library, module

from directrix import MomentClassifier
from directrix.export.python_source import _PythonArithmetic


def test_ten_thousand_rows_are_scored_as_by_the_estimator(linear, many_rows, answer, figure):
    X = many_rows(linear)
    scope, rows, expected = module(linear), X.tolist(), answer(linear, X)
    scores = np.array([scope["score"](row) for row in rows])
    apart = np.abs(scores - expected[0]) / np.maximum(np.abs(expected[0]), 1.0)
    probabilities = np.array([list(scope["probabilities"](row).values()) for row in rows])
    off = np.abs(probabilities[:, 1] - expected[1]).max()
    figure(f"Python, {type(linear).__name__}: {apart.max():.1e}, {off:.1e}")
    assert max(apart.max(), off) < 1e-9
    assert [scope["predict"](row) for row in rows] == expected[2].tolist()


def test_a_row_may_be_a_mapping_an_array_or_a_tuple(fitted):
    classifier = fitted("odd_names")
    scope, row = module(classifier), np.linspace(-1.0, 1.0, 7)
    by_name = dict(zip(classifier.feature_names_in_, row, strict=True))
    scores = {
        scope["score"](form) for form in (row, tuple(row), by_name, {"other": 1.0, **by_name})
    }
    assert len(scores) == 1


def test_a_row_of_the_wrong_length_or_without_names_is_refused(fitted):
    scope = module(fitted("one_feature"))
    with pytest.raises(ValueError, match="1 numbers, not 2"):
        scope["score"]([1.0, 2.0])
    with pytest.raises(TypeError, match="no names"):
        scope["score"]({"x": 1.0})
    with pytest.raises(KeyError):
        module(fitted("odd_names"))["score"]({"x": 1.0})


def test_the_module_needs_no_library(fitted, tmp_path):
    assert_needs_no_library(fitted("text_labels"), "[0.0] * 3", tmp_path)


def test_names_that_look_like_code_stay_names():
    names = ["x'); import os; ('", '"""', "{classes}", "\\"]
    X = np.eye(4).repeat(4, axis=0)
    classifier = MomentClassifier(sample=0).fit(X, np.arange(16) < 8)
    classifier.feature_names_in_ = np.array(names, dtype=object)
    assert module(classifier)["FEATURES"] == tuple(names)


@pytest.mark.every_case
@pytest.mark.parametrize("slopes", [(0.5, 0.5), (0.5, 2.0)])
def test_a_calibration_of_one_slope_is_a_product(slopes):
    text = _PythonArithmetic().slopes("value", *slopes)
    for value, slope in ((-3.0, slopes[0]), (4.0, slopes[1])):
        assert eval(text, {"value": value}) == slope * value  # noqa: S307 - our own expression
    assert ("if" in text) == (slopes[0] != slopes[1])
