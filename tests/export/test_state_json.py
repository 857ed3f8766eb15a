import json
from dataclasses import replace
from math import inf, nan

import pytest

from directrix.estimators import OperatingPoint
from directrix.estimators.state import ModelMetadata
from directrix.exceptions.files import FileContentError
from directrix.export.model_file import (
    calibration_from_json,
    calibration_to_json,
    facts_from_json,
    facts_to_json,
    point_from_json,
    point_to_json,
)
from directrix.fit.operating_point import Calibration, Intervals, Rates
from directrix.metrics import RecallAtFPR

FACTS = ModelMetadata(
    losses={0.1: 0.5, 1.0: inf},
    nothing={},
    kernel=ModelMetadata(name="rbf", params=ModelMetadata(gamma=0.5, degree=None)),
    prior=None,
)
POINT = OperatingPoint(
    RecallAtFPR(0.1),
    0.25,
    Rates(0.9, 0.1, 0.5, 0.9),
    Rates(0.8, 0.1, nan, 0.8),
    "held-out rows",
    Rates(0.7, 0.1, 0.4, 0.7),
    Intervals((0.6, 0.8), (0.05, 0.2), (0.3, 0.5), (0.6, 0.8)),
    "fpr at most 0.1",
)


def through_text(value):
    return json.loads(json.dumps(value, allow_nan=False))


def test_facts_are_read_as_they_were_written():
    again = facts_from_json(through_text(facts_to_json(FACTS)))
    assert again == FACTS
    assert type(again["kernel"]) is type(again["kernel"]["params"]) is ModelMetadata
    assert type(again["losses"]) is type(again["nothing"]) is dict


@pytest.mark.parametrize("plain", [None, [], "x", 1])
def test_facts_that_are_no_object_are_refused(plain):
    with pytest.raises(FileContentError, match="facts are not those"):
        facts_from_json(plain)


def test_a_calibration_is_read_as_it_was_written():
    calibration = Calibration(0.1, 1.0, 2.0, "fitted")
    plain = through_text(calibration_to_json(calibration))
    assert calibration_from_json(plain) == calibration
    assert calibration_to_json(None) is calibration_from_json(None) is None


def test_an_operating_point_is_read_as_it_was_written():
    again = point_from_json(through_text(point_to_json(POINT)))
    assert repr(again) == repr(POINT)
    assert (again.expected, again.intervals) == (POINT.expected, POINT.intervals)
    assert again.guarantee == POINT.guarantee
    assert again.weighted_by == ""
    weighted = replace(POINT, weighted_by="sample_weight")
    assert point_from_json(through_text(point_to_json(weighted))) == weighted
    assert point_to_json(None) is point_from_json(None) is None


def test_an_operating_point_may_have_no_expectation():
    plain = through_text(point_to_json(POINT))
    del plain["expected"], plain["guarantee"]
    again = point_from_json(plain)
    assert again.expected is again.guarantee is None
