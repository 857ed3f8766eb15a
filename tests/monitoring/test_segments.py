"""Days by segment: drift in one is found, and all of them share one rate of false alarms."""

import numpy as np
import pytest
from few_cases import examples

from directrix import MomentClassifier
from directrix.metrics import InEverySegment
from directrix.monitoring import SegmentMonitor, summarize_day, summarize_segments

NAMES = ["at", "be", "ch", "de"]


def rows(rng, n=1500, moved=0.0, higher=0.0):
    country, y = rng.choice(NAMES, n), rng.random(n) < 0.2
    X = rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    X += moved * np.outer(country == "ch", [1, -1]) + higher * np.outer(country == "be", [1, 1])
    return X, y, country


@pytest.fixture(scope="module")
def model():
    X, y, _ = rows(np.random.default_rng(1), 4000)
    return MomentClassifier("recall@fpr=0.1").fit(X, y)


def summaries(model, X, y, country):
    return summarize_segments(model, X, y, segment=country)


def monitor_of(model, rng, days=8, **options):
    reference = [summaries(model, *rows(rng)) for _ in range(days)]
    return SegmentMonitor.of_days(model, reference, **options)


def test_each_segment_is_summarised_like_its_rows(model):
    X, y, country = rows(np.random.default_rng(2))
    found = summaries(model, X, y, country)
    assert list(found) == NAMES
    inside = country == "be"
    assert found["be"].scores == summarize_day(model, X[inside], y[inside]).scores


def test_drift_in_one_segment_is_named(model):
    rng = np.random.default_rng(3)
    monitor = monitor_of(model, rng)
    checks = monitor.check(summaries(model, *rows(rng, moved=0.6)), "2026-01-09")
    assert checks.drifted == ("ch",)
    assert checks.alarm
    assert str(checks).splitlines()[2].startswith("ch ")
    assert checks.to_dict()["drifted"] == ["ch"]
    assert "<table" in checks._repr_html_()


def test_a_false_alarm_in_any_segment_is_as_rare_as_said(model, figure):
    rng, alarms, days = np.random.default_rng(4), 0, examples(200)
    monitor = monitor_of(model, rng, days=20, alarm_rate=0.1)
    for _ in range(days):
        alarms += monitor.check(summaries(model, *rows(rng, 800))).alarm
    figure(f"four segments, alarm rate 0.1: false alarms on {alarms / days:.3f} of days")
    assert alarms / days <= 0.1 + 3 * np.sqrt(0.09 / days)
    assert next(iter(monitor.monitors.values())).alarm_rate == pytest.approx(0.025)


def test_limits_in_every_segment_are_watched(model):
    rng = np.random.default_rng(5)
    monitor = monitor_of(model, rng)
    monitor.limits = InEverySegment({"fpr": 0.15})
    assert not monitor.check(summaries(model, *rows(rng))).broken
    checks = monitor.check(summaries(model, *rows(rng, higher=0.8)))
    assert [(each.segment, each.rate) for each in checks.broken] == [("be", "fpr")]
    assert "limit broken in be: fpr" in str(checks)
    X, _, country = rows(rng, higher=0.8)
    assert not monitor.check(summarize_segments(model, X, segment=country)).broken


def test_segments_without_reference_are_named(model):
    rng = np.random.default_rng(6)
    monitor = monitor_of(model, rng)
    X, y, country = rows(rng)
    country = np.where(country == "at", "xx", country)
    checks = monitor.check(summaries(model, X, y, country))
    assert checks.unwatched == ("xx",)
    assert set(checks.checks) == set(NAMES) - {"at"}
    with pytest.raises(ValueError, match="no segment has labelled reference rows"):
        SegmentMonitor.of_days(model, [summarize_segments(model, X, segment=country)])
