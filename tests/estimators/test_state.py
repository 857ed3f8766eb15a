from dataclasses import replace

import numpy as np
import pytest

from directrix import DirectClassifier, MomentClassifier
from directrix.estimators.state import StateArrays
from directrix.exceptions import StateError
from directrix.files.layout import is_count, is_number

pytestmark = pytest.mark.filterwarnings("ignore:logistic regression is as good")

RNG = np.random.default_rng(4)
X = RNG.normal(size=(80, 3))
Y = X[:, 0] + RNG.normal(size=80) > 0

CLASSIFIERS = (
    MomentClassifier("f1", sample=0),
    DirectClassifier(cv=3),
)


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_a_state_restores_an_equal_classifier(classifier):
    classifier.fit(X, Y)
    again = type(classifier).from_state(classifier.export_state())
    assert again.get_params() == classifier.get_params()
    assert again.predict_proba(X).tobytes() == classifier.predict_proba(X).tobytes()
    assert again.predict(X).tolist() == classifier.predict(X).tolist()


def test_a_state_of_three_classes_is_refused():
    state = replace(MomentClassifier().fit(X, Y).export_state(), classes=np.arange(3))
    with pytest.raises(StateError, match="MomentClassifier has another number of classes"):
        MomentClassifier.from_state(state)


def test_a_state_without_a_calibration_is_refused():
    state = replace(DirectClassifier(cv=3).fit(X, Y).export_state(), calibration=None)
    with pytest.raises(StateError, match="does not have a calibration"):
        DirectClassifier.from_state(state)


def test_arrays_are_taken_once_and_none_may_be_left():
    rows = np.eye(2)
    arrays = StateArrays({"a": np.ones((2, 1)), "rows": rows})
    assert arrays.take("a", (None, 1), "float32", "float64").shape == (2, 1)
    with pytest.raises(StateError, match="lacks the array a"):
        arrays.take("a", (None, 1), "float64")
    with pytest.raises(StateError, match="do not belong there: rows"):
        arrays.require_empty()
    assert arrays.take("rows", (2, 2), "float64") is rows
    arrays.require_empty()


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.ones(3), r"a has type float64, shape \(3,\)"),
        (np.ones((2, 2), dtype=np.int64), "a has type int64"),
        (np.full((2, 2), np.inf), "a is not finite"),
    ],
)
def test_an_array_of_another_type_shape_or_value_is_refused(array, words):
    with pytest.raises(StateError, match=words):
        StateArrays({"a": array}).take("a", (2, 2), "float64")


def test_what_is_a_number_and_what_is_a_count():
    assert all(map(is_number, (0, -3, 0.5, 2**53 - 1)))
    assert not any(map(is_number, (True, None, "1", 2**53, np.inf, np.nan, [1])))
    assert all(map(is_count, (0, 7)))
    assert not any(map(is_count, (True, -1, 1.0, 2**53, None)))
