from argparse import Namespace

import numpy as np
import pytest

from benchmarks.harness.record import Record
from benchmarks.studies.monitoring import checks
from benchmarks.studies.monitoring.checks import DAYS, DRIFT, MAIN, PRIOR_SHIFT, Setting, World
from benchmarks.studies.monitoring.days import CARD, COLUMN, MOMENT
from directrix.monitoring.day_check import DayEffects


@pytest.fixture
def records(tmp_path, monkeypatch):
    for name, record in (("DAYS", DAYS), ("DRIFT", DRIFT)):
        there = Record(tmp_path / f"{name}.csv", record.columns, record.key)
        monkeypatch.setattr(checks, name, there)
    return checks.DAYS, checks.DRIFT


def test_a_batch_covers_and_an_equal_task_draws_equal_days():
    rows = checks.measure_days(0, PRIOR_SHIFT, MOMENT, 500)
    cells = dict(zip(DAYS.columns, rows[0], strict=True))
    days = MAIN[PRIOR_SHIFT].days
    assert cells["days"] == days
    assert cells["failed"] == 0
    # At 95 % coverage, fewer than seven of ten have a probability of 0.001.
    assert days - 3 <= cells["shares_covered"] <= days
    assert days - 3 <= cells["alerts_covered"] <= days
    assert 0.0 < float(cells["mean_width"]) < 0.2
    again = dict(
        zip(DAYS.columns, checks.measure_days(0, PRIOR_SHIFT, MOMENT, 500)[0], strict=True)
    )
    assert {**again, "check_ms": ""} == {**cells, "check_ms": ""}


def test_large_drift_of_a_column_is_found_on_the_first_days():
    rows = checks.measure_drift(0, COLUMN, MOMENT, 2_000)
    assert len(rows) == checks.TOGETHER
    assert {row[5] for row in rows} <= {1, 2}


def test_given_days_tell_the_monitor_that_days_differ():
    plain = Setting("", differ="by day", reference_rows=28_000)
    rng = np.random.default_rng(0)
    assert World(plain, MOMENT, rng).monitor.effects == dict.fromkeys(
        ("scores", "columns", "share"), DayEffects()
    )
    world = World(plain._replace(given=True), MOMENT, np.random.default_rng(0))
    assert world.monitor.effects["columns"].excess > 0.0


def test_a_check_that_fails_is_counted(monkeypatch):
    def check(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(World, "check", check)
    cells = dict(
        zip(DAYS.columns, checks.measure_days(0, "tiny days", MOMENT, 100)[0], strict=True)
    )
    assert cells["failed"] == cells["days"] == 10
    assert cells["shares_covered"] == 0
    assert cells["mean_width"] == ""


def test_the_plan_has_as_many_days_and_sequences_as_promised():
    tasks = list(checks.plan_days(Namespace(quick=False)))
    assert len(tasks) == len(set(tasks))
    days: dict[tuple[str, str, int], int] = {}
    for _, name, model, n in tasks:
        days[name, model, n] = days.get((name, model, n), 0) + checks.SETTINGS[name].days
    assert all(days[key] >= 200 for key in days if key[0] in MAIN)
    assert {model for _, model, _ in days} == {MOMENT, CARD}
    sequences = [
        task
        for task in checks.plan_drift(Namespace(quick=False))
        if task[1:] == (COLUMN, CARD, 500)
    ]
    assert len(sequences) * checks.TOGETHER == checks.SEQUENCES[CARD]


def test_the_report_marks_what_misses_a_goal(records):
    days, drift = records
    assert checks.lines([], [])[-1] == "Nothing was measured yet."
    times = 0.05, 1, 1, 20, "abc"
    days.append(
        [
            (PRIOR_SHIFT, MOMENT, 500, 0, 10, 0, 10, 10, 0, 0, 0, *times),
            (PRIOR_SHIFT, MOMENT, 500, 1, 10, 0, 8, 10, 2, 2, 0, *times),
            (PRIOR_SHIFT, CARD, 500, 0, 10, 4, 6, 6, 0, 0, 0, *times),
            ("tiny days", MOMENT, 100, 0, 10, 10, 0, 0, 0, 0, 0, "", 1, 1, "", "abc"),
        ]
    )
    drift.append(
        [(COLUMN, MOMENT, 500, 0, k, first, "abc") for k, first in enumerate((1, 2, "", ""))]
    )
    text = "\n".join(checks.lines(drift.rows(), days.rows()))
    assert "| 20 | 0 | **0.900 (0.100)** | 1.000 (0.000) | **0.100 (0.100)** | 0.100 |" in text
    assert "| 10 | **10** | **0.000** | **0.000** | 0.000 |" in text
    assert f"| {COLUMN} | {MOMENT} | 500 | 4 | 0.25 | **0.50** | 0.50 | not found |" in text
    assert "share of positives is 0.600 (goal 0.92: missed)" in text
    assert "alerts 0.600 (goal 0.92: missed)" in text
    # The card covers on all days that were checked.
    assert "4 checks failed" in text
    assert "the lowest coverage is 0.900 and 1.000" in text
