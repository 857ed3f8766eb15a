import sys

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow", reason="days are written to Parquet files")

from benchmarks.harness.record import Record
from benchmarks.studies.monitoring import rivals
from benchmarks.studies.monitoring.days import DRIFTS, MOMENT, fitted
from benchmarks.studies.monitoring.rivals import (
    CBPE,
    CONSTANT,
    OURS,
    PRIOR_SHIFT,
    RECORD,
    STEADY,
    UNCHANGED,
    WANDERS,
)

GROUPS = {UNCHANGED: 2, PRIOR_SHIFT: 2, "a column": 1}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(rivals, "GROUPS", GROUPS)
    return rivals.world_of(0, STEADY, 300)


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Put a script in the place of NannyML's; return a function that sets what it does."""
    script = tmp_path / "days.py"
    monkeypatch.setitem(rivals.SCRIPTS, "NannyML", script)
    monkeypatch.setenv(rivals.VARIABLES["NannyML"], sys.executable)
    start = "import sys, pandas as pd\nfolder, columns, rows = sys.argv[1:]\n"
    return lambda text: script.write_text(start + text)


def test_a_world_has_its_groups_and_its_shares(small):
    assert small.groups == [UNCHANGED, UNCHANGED, PRIOR_SHIFT, PRIOR_SHIFT, "a column"]
    assert len(small.reference) == rivals.REFERENCE_DAYS
    spread = [
        np.std([day.y.mean() for day in rivals.world_of(0, kind, 1500).reference])
        for kind in (STEADY, WANDERS)
    ]
    assert spread[0] < 0.01 < spread[1]


def test_our_answers_are_of_all_days(small):
    answered = {method: answers for method, _, answers in rivals.our_answers(small)}
    assert list(answered) == [*OURS, CONSTANT]
    assert {len(answers) for answers in answered.values()} == {len(small.days)}
    constant = answered[CONSTANT]
    assert len(set(constant)) == 1
    # Both take the recall from the same reference rows.
    assert answered[OURS[0]][0].recall == pytest.approx(constant[0].recall)


def test_a_rival_gets_all_rows_and_its_answers_come_back(fake, small):
    fake(
        "days = pd.read_parquet(folder + '/days.parquet')\n"
        "n = len(days) // int(rows)\n"
        "assert set(columns.split(',')) < set(days) and {'y', 'probability'} <= set(days)\n"
        "caught = days.predicted.groupby(days.index // int(rows)).mean()\n"
        "frame = pd.DataFrame({'method': 'NannyML CBPE', 'alarm': [False] * (n - 1) + [True],\n"
        "    'precision': caught, 'recall': 0.5, 'day': range(n), 'version': '1'})\n"
        "frame.to_csv(folder + '/found.csv', index=False)\n"
    )
    ((method, version, answers),) = rivals.rival_answers("NannyML", small)
    assert (method, version) == (CBPE, "1")
    assert [answer.alarm for answer in answers] == [False] * 4 + [True]
    model = fitted(MOMENT)
    shares = [model.predict(day.X).mean() for day in small.days]
    assert [answer.precision for answer in answers] == pytest.approx(shares)


def test_a_rival_that_misses_days_is_no_result(fake, small):
    fake(
        "pd.DataFrame({'method': ['a'], 'alarm': [True], 'version': '1'})"
        ".to_csv(folder + '/found.csv')\n"
    )
    with pytest.raises(RuntimeError, match="1 days of 5"):
        list(rivals.rival_answers("NannyML", small))


def test_rows_count_alarms_and_errors_by_group(monkeypatch, small):
    monkeypatch.setattr(rivals, "world_of", lambda *_: small)
    rows = [
        dict(zip(RECORD.columns, row, strict=True)) for row in rivals.measure(0, STEADY, "ours")
    ]
    assert len(rows) == len(GROUPS) * 3
    assert {row["precision_error"] for row in rows if row["method"] == OURS[1]} == {""}
    constant = [row for row in rows if row["method"] == CONSTANT]
    assert [row["group"] for row in constant] == list(GROUPS)
    precision = next(rivals.our_answers(small))[2]
    realised = [rivals.rates(day)[0] for day in small.days[:2]]
    expected = np.mean([abs(a.precision - r) for a, r in zip(precision, realised, strict=False)])
    assert float(rows[0]["precision_error"]) == pytest.approx(expected, abs=1e-5)


def test_methods_are_compared_on_days_that_all_have(tmp_path):
    record = Record(tmp_path / "record.csv", RECORD.columns, RECORD.key)
    assert rivals.lines([])[-1] == "Nothing was measured yet."
    evidently = "Evidently, any column"
    for world, of, method, alarms in (
        (0, "ours", OURS[0], 1),
        (1, "ours", OURS[0], 5),
        (0, "Evidently", evidently, 3),
    ):
        groups = (UNCHANGED, PRIOR_SHIFT, *DRIFTS)
        errors = ("", "") if of == "Evidently" else (0.1, 0.2)
        record.append(
            [
                (STEADY, world, of, method, group, 10, alarms, *errors, "1", "abc")
                for group in groups
            ]
        )
    text = rivals.lines(record.rows())
    unchanged = [each for each in text if each.startswith(f"| {UNCHANGED} |")]
    assert unchanged == [f"| {UNCHANGED} | 1 / 10 | 3 / 10 |", f"| {UNCHANGED} | 6 / 20 |"]
