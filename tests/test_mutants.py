import ast

import pytest
from mutants import ROOT, choose, faults, files_of_tests, graph_of_imports, planted, shares

SOURCE = '''"""A text of 1 line."""
import warnings

LIMIT: int = 3


def worst(scores: "list[float] | 1", *, least=0.5):
    """Return 2 numbers."""
    if not scores and least <= LIMIT:
        raise ValueError("no scores: " + str(1 + 1))
    warnings.warn("at least " + str(2), stacklevel=2)
    text = f"{least + 1}"
    return max(scores[-1] - least, 0.0), text
'''


def changed(source=SOURCE):
    return {(fault.line, fault.before, fault.after) for fault in faults("a.py", source)}


def test_code_is_changed_and_texts_types_and_errors_are_not():
    assert changed() == {
        (4, "3", "4"),
        (7, "0.5", "1.0"),
        (9, "not scores and least <= LIMIT", "(not scores or least <= LIMIT)"),
        (9, "not scores", "(scores)"),
        (9, "least <= LIMIT", "(least < LIMIT)"),
        (9, "least <= LIMIT", "(least > LIMIT)"),
        (13, "max(scores[-1] - least, 0.0)", "min(scores[-1] - least, 0.0)"),
        (13, "scores[-1] - least", "(scores[-1] + least)"),
        (13, "-1", "(1)"),
        (13, "1", "2"),
        (13, "0.0", "1.0"),
    }


def test_a_planted_fault_changes_one_line_and_can_be_parsed():
    source = SOURCE.replace("text", "größe")  # columns count bytes
    for fault in faults("a.py", source):
        lines = zip(source.split("\n"), planted(source, fault).split("\n"), strict=True)
        assert [number for number, (a, b) in enumerate(lines, 1) if a != b] == [fault.line]
        ast.parse(planted(source, fault))


@pytest.mark.parametrize("count", [3, 5, 60])
def test_shares_are_in_proportion_and_leave_no_room_out(count):
    given = shares({"a": 900, "b": 90, "c": 10}, count)
    assert sum(given.values()) == count
    assert min(given.values()) == 1
    assert given["a"] >= given["b"] >= given["c"]


def test_every_room_has_a_fault_and_a_file_at_most_one():
    chosen = choose()
    assert len(chosen) == 60
    assert chosen == choose()
    assert len({fault.path for fault in chosen}) == 60
    rooms = {
        path.stem for path in (ROOT / "src" / "directrix").iterdir() if path.suffix != ".typed"
    }
    assert rooms - {fault.room for fault in chosen} <= {"_typing", "__pycache__"}


def test_tests_of_the_file_come_first_and_all_that_can_see_it_follow():
    graph = graph_of_imports()
    names = files_of_tests("src/directrix/rows/sums.py", graph)
    assert {"tests/moments/test_tree.py", "tests/moments/test_double_double.py"} <= set(names)
    assert len(names) == len(set(names))
    assert names.index("tests/contracts/test_moments.py") < names.index(
        "tests/export/test_model_file.py"
    )
