import ast
from pathlib import Path

import pytest
from mutants import ROOT, Fault, Imports, Suite, choose, faults, planted, shares

SOURCE = '''"""A text of 1 line."""
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    SIZE = 1

__all__ = ["worst", "a" * 2]
LIMIT: int = 3


def worst(scores: "list[float] | 1", *, least=0.5):
    """Return 2 numbers."""
    if not scores and least <= LIMIT:
        msg = "no score" if len(scores) == 1 else "no scores"
        raise ValueError("no scores: " + str(1 + 1))
    warnings.warn("at least " + str(2), stacklevel=2)
    text = f"{least + 1}"
    while text:
        text = slice(least, LIMIT)
    return max(scores[-1]
               - least, 0.0), zip(scores, text, strict=True)
'''


def changed(source=SOURCE):
    return {(fault.line, fault.kind, fault.after) for fault in faults("a.py", source)}


def test_code_is_changed_and_texts_types_and_errors_are_not():
    assert changed() == {
        (9, "constant", "4"),
        (12, "constant", "1.5"),
        (14, "and, or", "(not scores or least <= LIMIT)"),
        (14, "condition", "(not (not scores and least <= LIMIT))"),
        (14, "condition", "(scores)"),
        (14, "comparison", "(least < LIMIT)"),
        (14, "comparison", "(least > LIMIT)"),
        (19, "condition", "(not text)"),
        (20, "arguments", "slice(LIMIT, least)"),
        (21, "return", "None"),
        (21, "min, max", "min(scores[-1] - least, 0.0)"),
        (21, "arithmetic", "(scores[-1] + least)"),
        (21, "arithmetic", "1"),
        (21, "constant", "2"),
        (22, "constant", "1.0"),
    }


def test_a_planted_fault_changes_one_expression_and_can_be_parsed():
    source = SOURCE.replace("text", "größe")  # columns count bytes
    for fault in faults("a.py", source):
        text = planted(source, fault)
        start, end = source.index(fault.before), len(source) - len(fault.before)
        assert len(text) == end + len(fault.after)
        assert text[:start] == source[:start]
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(source))


def test_every_room_has_as_many_faults_as_asked_for():
    chosen = choose(3, 0, only=["files", "(top)"])
    assert len(set(chosen)) == 6
    assert chosen == choose(3, 0, only=["files", "(top)"])
    assert chosen != choose(3, 1, only=["files", "(top)"])
    files = [fault for fault in chosen if fault.file.startswith("src/directrix/files/")]
    assert len(files) == 3
    assert len({fault.kind for fault in files}) == 3
    # Those of a longer list go on where a shorter one ends, so that a record can be continued.
    assert choose(7, 0, only=["files"])[:3] == files


def test_tests_of_the_file_come_first_and_all_follow():
    names = Imports().nearest("src/directrix/files/layout.py")
    assert names[0] == "tests/files/test_layout.py"
    assert len(names) == len(set(names)) == len(list((ROOT / "tests").rglob("test_*.py")))
    moments = "tests/metrics/test_score_histogram.py"
    assert names.index(moments) < names.index("tests/test_printing.py")


TOY = '''"""A toy."""


def total(a, b):
    return a + b


def rest(a, b):
    return a - b


def down(n):
    while n > 0:
        n = n - 1
    return n
'''
TESTS = """
from directrix.toy.sums import down, total


def test_total():
    assert total(2, 3) == 5


def test_what_fails_anyway():
    assert total(2, 3) != 5


def test_down():
    assert down(3) == 0
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a toy needs none
    for name, text in {
        "src/directrix/__init__.py": "",
        "src/directrix/toy/__init__.py": "from directrix.toy.sums import total",
        "src/directrix/toy/sums.py": TOY,
        "tests/toy/test_sums.py": TESTS,
        "tests/test_nothing.py": "def test_nothing():\n    pass\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def fault(before):
    file = "src/directrix/toy/sums.py"
    (found,) = [
        each for each in faults(file, TOY) if each.before == before and each.kind == "arithmetic"
    ]
    return found


def test_a_fault_with_a_test_is_found_and_one_without_is_not(toy):
    suite, tests = Suite(toy), Imports(toy).nearest("src/directrix/toy/sums.py")
    assert tests == ["tests/toy/test_sums.py", "tests/test_nothing.py"]
    assert suite.examine(fault("a - b"), tests, limit=60) == ("no", "")
    assert suite.examine(fault("a + b"), tests, limit=60) == (
        "yes",
        "tests/toy/test_sums.py::test_total",
    )
    assert (toy / "src/directrix/toy/sums.py").read_text("utf-8") == TOY


def test_a_fault_that_never_ends_is_told_from_tests_that_take_long(toy):
    suite, down, slow = Suite(toy), "tests/toy/test_sums.py::test_down", "tests/test_slow.py"
    suite.usual_time("tests/toy/test_sums.py::test_what_fails_anyway")
    assert suite.examine(fault("n - 1"), ["tests/toy/test_sums.py"], limit=2) == ("timeout", down)
    (toy / slow).write_text("def test_slow():\n    while True:\n        pass\n", encoding="utf-8")
    suite.usual[f"{slow}::test_slow"] = 2.0
    assert suite.examine(fault("a - b"), [slow], limit=2) == ("no", "")


def test_a_fault_that_cannot_be_imported_is_found(toy):
    broken = Fault("src/directrix/toy/sums.py", 5, 11, "toy", "a + b", "a +")
    found, test = Suite(toy).examine(broken, ["tests/toy/test_sums.py"], limit=60)
    assert (found, Path(test)) == ("yes", Path("tests/toy/test_sums.py"))


def test_what_fails_without_the_fault_finds_nothing(toy):
    tests = ["tests/test_broken.py", "tests/test_nothing.py"]
    (toy / tests[0]).write_text("import no_such_module\n", encoding="utf-8")
    assert Suite(toy).examine(fault("a - b"), tests, limit=60) == ("no", "")


def test_shares_count_what_is_found_or_hangs():
    rows = [
        {"room": room, "found": found}
        for room, found in [("a", "yes"), ("a", "timeout"), ("a", "no"), ("a", "no"), ("b", "yes")]
    ]
    heads, a, b, every = shares(rows)
    assert a.split() == ["a", "4", "1", "1", "2", "50%"]
    assert b.split() == ["b", "1", "1", "0", "0", "100%"]
    assert every.split() == ["all", "5", "2", "1", "2", "60%"]
    assert heads.split() == ["room", "planted", "found", "timeout", "not", "found", "share"]
