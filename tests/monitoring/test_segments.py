"""Days by segment: drift in one is found, and all of them share one rate of false alarms."""

import numpy as np
import pytest
from few_cases import examples

from directrix import MomentClassifier
from directrix.monitoring import Monitor, summarize_day, summarize_segments

NAMES = ["at", "be", "ch", "de"]


def rows(rng, n=1500, moved=0.0):
    country, y = rng.choice(NAMES, n), rng.random(n) < 0.2
    X = rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    return X + moved * np.outer(country == "ch", [1, -1]), y, country


@pytest.fixture(scope="module")
def model():
    X, y, _ = rows(np.random.default_rng(1), 4000)
    return MomentClassifier("recall@fpr=0.1").fit(X, y)


def summaries(model, X, y, country):
    return summarize_segments(model, X, y, segment=country)


def monitors_of(model, rng, days=8, **options):
    reference = [summaries(model, *rows(rng)) for _ in range(days)]
    return Monitor.of_segments(model, reference, **options)


def drifted(monitors, day):
    return [name for name in day if monitors[name].check(day[name]).alarm]


def test_each_segment_is_summarised_like_its_rows(model):
    X, y, country = rows(np.random.default_rng(2))
    found = summaries(model, X, y, country)
    assert list(found) == NAMES
    inside = country == "be"
    assert found["be"].scores == summarize_day(model, X[inside], y[inside]).scores


def test_drift_in_one_segment_is_named(model):
    rng = np.random.default_rng(3)
    monitors = monitors_of(model, rng)
    assert drifted(monitors, summaries(model, *rows(rng, moved=0.6))) == ["ch"]


def test_a_false_alarm_in_any_segment_is_as_rare_as_said(model, figure):
    rng, alarms, days = np.random.default_rng(4), 0, examples(200)
    monitors = monitors_of(model, rng, days=20, alarm_rate=0.1)
    for _ in range(days):
        alarms += bool(drifted(monitors, summaries(model, *rows(rng, 800))))
    figure(f"four segments, alarm rate 0.1: false alarms on {alarms / days:.3f} of days")
    assert alarms / days <= 0.1 + 3 * np.sqrt(0.09 / days)
    assert monitors["be"].alarm_rate == pytest.approx(0.025)


def test_promises_about_all_rows_are_not_checked_in_a_segment(model):
    monitors = monitors_of(model, np.random.default_rng(5))
    day = summaries(model, *rows(np.random.default_rng(6)))
    states = {promise.state for promise in monitors["at"].check(day["at"]).promises}
    assert states == {"nothing was promised"}


def test_segments_without_labelled_rows_of_both_classes_have_no_monitor(model):
    rng = np.random.default_rng(7)
    days = [summaries(model, *rows(rng)) for _ in range(8)]
    X, _, country = rows(rng)
    without = summarize_segments(model, X, segment=country)
    monitors = Monitor.of_segments(model, [day | {"xx": without["at"]} for day in days])
    assert list(monitors) == NAMES
    with pytest.raises(ValueError, match="no segment has labelled reference rows"):
        Monitor.of_segments(model, [without])
