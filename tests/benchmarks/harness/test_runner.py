import sys

import pytest

from benchmarks.harness.markdown import sentence_case, signed_error
from benchmarks.harness.record import Record
from benchmarks.harness.runner import isolated, measure_missing


@pytest.fixture
def record(tmp_path, monkeypatch):
    monkeypatch.setattr(Record, "note_commit", lambda _: None)
    return Record(tmp_path / "measured.csv", ("set", "fold", "model", "value"), ("set", "fold"))


def measured(name, fold):
    return [(name, fold, model, f"{fold}{model}") for model in "xy"]


def test_what_is_there_is_not_measured_again(record):
    record.append([("a", 0, "x", "kept")])
    measure_missing(record, [("a", 0), ("a", 1), ("a", 1), ("b", 0)], measured)
    values = [row["value"] for row in record.rows()]
    assert values == ["kept", "1x", "1y", "0x", "0y"]
    whole = record.path.read_text()
    measure_missing(record, [("a", 0), ("a", 1), ("b", 0)], measured)
    assert record.path.read_text() == whole


def test_a_run_goes_on_where_it_was_stopped(record):
    def stopped(name, fold):
        if fold == 2:
            raise KeyboardInterrupt
        return measured(name, fold)

    plan = [("a", fold) for fold in range(4)]
    with pytest.raises(KeyboardInterrupt):
        measure_missing(record, plan, stopped)
    assert record.done() == {("a", "0"), ("a", "1")}
    record.path.write_text(record.path.read_text() + "a,2,x")  # what a killed run leaves
    measure_missing(record, plan, measured)
    assert [row["value"] for row in record.rows()] == [f"{k}{m}" for k in range(4) for m in "xy"]


def test_what_is_compared_is_measured_together(tmp_path, record):
    record = Record(tmp_path / "rivals.csv", record.columns, ("set", "fold", "model"))
    calls = []

    def measure(name, fold, models):
        calls.append((name, fold, models))
        return [(name, fold, model, 1) for (model,) in models]

    record.append([("a", 0, "x", 0)])
    plan = [(name, 0, model) for name in "ab" for model in "xyz"]
    measure_missing(record, plan, measure, together=2)
    assert calls == [("a", 0, [("y",), ("z",)]), ("b", 0, [("x",), ("y",), ("z",)])]
    assert len(record.done()) == 6


def test_no_task_is_begun_after_the_last_minute(record):
    measure_missing(record, [("a", 0)], measured, minutes=-1)
    assert record.rows() == []


def test_processes_measure_the_same(record):
    measure_missing(record, [("a", fold) for fold in range(4)], measured, jobs=2)
    assert record.done() == {("a", str(fold)) for fold in range(4)}
    assert len(record.rows()) == 8


def test_a_progress_bar_is_not_needed(record, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    measure_missing(record, [("a", 0)], measured)
    assert len(record.rows()) == 2


def test_a_process_of_its_own_gets_arguments_and_returns(tmp_path):
    assert isolated(signed_error, 0.5, 0.25) == signed_error(0.5, 0.25)
    assert isolated(sentence_case, tmp_path / "it's") == sentence_case(str(tmp_path / "it's"))
