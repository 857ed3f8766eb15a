import subprocess
from typing import NamedTuple

import pytest

import directrix
from benchmarks.harness import record as record_module
from benchmarks.harness.record import Record, parse, read_rows


@pytest.fixture
def record(tmp_path):
    return Record(tmp_path / "measured.csv", ("set", "fold", "method", "error"), ("set", "fold"))


def test_rows_are_read_as_they_were_written(record):
    assert record.rows() == []
    record.append([("a", 0, "x, y", 0.5), ("a", 0, "z", "")])
    record.append([("b", 1, "x, y", 0.25)])
    assert record.path.read_text() == (
        'set,fold,method,error\na,0,"x, y",0.5\na,0,z,\nb,1,"x, y",0.25\n'
    )
    assert record.rows()[0] == {"set": "a", "fold": "0", "method": "x, y", "error": "0.5"}
    assert record.done() == {("a", "0"), ("b", "1")}


def test_writing_replaces_the_file_and_leaves_no_other(record):
    record.append([("a", 0, "x", 1)])
    record.write([("b", 2, "y", 3)])
    assert record.path.read_text() == "set,fold,method,error\nb,2,y,3\n"
    assert list(record.path.parent.iterdir()) == [record.path]


def test_rows_of_a_task_that_was_torn_by_a_kill_are_removed(record):
    record.append([("a", 0, "x", 1), ("a", 0, "y", 2)])
    whole = record.path.read_text()
    record.append([("b", 1, "x", 3), ("b", 1, "y", 4)])
    record.path.write_text(record.path.read_text()[:-3])
    assert len(read_rows(record.path)) == 3
    record.repair()
    assert record.path.read_text() == whole
    record.repair()
    assert record.path.read_text() == whole


class Fields(NamedTuple):
    set: str
    fold: int
    error: float
    given: tuple[int, ...] = ()


def test_columns_have_the_types_of_the_fields():
    row = {"set": "3", "fold": "4", "error": "0.5", "other": "x"}
    assert parse(row, Fields, given=(1,)) == Fields("3", 4, 0.5, (1,))


def test_the_commit_of_rows_is_noted_unless_they_say_it(record, monkeypatch):
    root = record.path.parent
    monkeypatch.setattr(record_module, "COMMITS", root / "harness" / "commits.csv")
    (root / "harness").mkdir()
    monkeypatch.setattr(record_module, "commit", lambda: "abc")
    record.append([("a", 0, "x", 1)])
    record.note_commit()
    expected = [{"file": "measured.csv", "from_row": "2", "commit": "abc"}]
    assert read_rows(record_module.COMMITS) == expected
    Record(root / "other.csv", ("commit", "set")).note_commit()
    assert read_rows(record_module.COMMITS) == expected


def test_the_commit_of_the_package_says_whether_its_files_have_changed(tmp_path, monkeypatch):
    def git(*words):
        who = ("-c", "user.name=x", "-c", "user.email=x@y.z")
        command = ["git", "-C", str(tmp_path), *who, *words]
        subprocess.run(command, check=True, capture_output=True)

    module = tmp_path / "package" / "__init__.py"
    module.parent.mkdir()
    module.write_text("")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    monkeypatch.setattr(directrix, "__file__", str(module))
    record_module.package_commit.cache_clear()
    first = record_module.package_commit()
    (tmp_path / "other").write_text("")
    git("add", ".")
    git("commit", "-m", "of no file of the package")
    record_module.package_commit.cache_clear()
    assert record_module.package_commit() == first
    module.write_text("changed")
    record_module.package_commit.cache_clear()
    assert record_module.package_commit() == f"{first}+"
    record_module.package_commit.cache_clear()
