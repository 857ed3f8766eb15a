"""The comparison of two commits: what counts as slower, and a run of a few statements."""

import pytest

from benchmarks.speed import compare


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ([1.0] * 5, [1.3] * 5, False),  # less than a third
        ([1.0] * 5, [1.4] * 5, True),
        ([0.010] * 5, [0.025] * 5, False),  # less than 20 ms
        ([0.010] * 5, [0.035] * 5, True),
        ([1.0] * 5, [1.0, 1.0, 1.0, 9.0, 9.0], False),  # medians
        ([1.4] * 5, [1.0] * 5, False),
    ],
)
def test_slower_is_more_than_a_third_and_more_than_20_ms(base, head, expected):
    assert compare.slower(base, head) is expected


def test_two_trees_take_turns_and_slow_tasks_are_named(monkeypatch, tmp_path, capsys):
    asked = []

    def seconds(tree):
        asked.append(tree.name)
        return {"same": 0.1, "worse": 0.1 if tree.name == "base" else 0.2}

    monkeypatch.setattr(compare, "seconds", seconds)
    monkeypatch.setattr(compare, "TASKS", {"same": "", "worse": ""})
    assert compare.compare_tasks(tmp_path / "base", tmp_path / "head") == ["worse"]
    assert asked == ["base", "head"] * 5
    assert "worse                  head / base   2.00  slower" in capsys.readouterr().out


def test_a_tree_is_timed_by_its_own_code():
    before = "import json, directrix\nfrom time import process_time\n"
    tasks = {"small": "sum(range(10))", "large": "sum(range(10**6))"}
    taken = compare.seconds(compare.ROOT, before, tasks)
    assert list(taken) == ["small", "large"]
    assert 0.0 <= taken["small"] < taken["large"]


def test_a_tree_imports_its_own_benchmarks(tmp_path):
    # Not those of the folder that the comparison is called from.
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").write_text("")
    before = "import json, benchmarks\nfrom time import process_time\n"
    before += f"assert benchmarks.__file__.startswith({str(tmp_path)!r}), benchmarks.__file__\n"
    assert list(compare.seconds(tmp_path, before, {"one": "1"})) == ["one"]


def test_statements_of_the_tasks_run():
    # Each once on few rows: a name that is gone would fail on both commits, in every comparison.
    before = compare._BEFORE.replace("20_000", "300").replace("5000", "300")
    names = {}
    exec(before, names)  # noqa: S102 - our own code
    for statement in compare.TASKS.values():
        assert eval(statement, names) is not None  # noqa: S307 - our own code
