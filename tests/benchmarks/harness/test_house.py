import subprocess
import sys
from dataclasses import dataclass

import pytest

from benchmarks.harness.house import (
    BUDGETS,
    ROOT,
    budgets,
    circles,
    entered,
    error_classes,
    imports,
    lines_by_room,
    main,
    rooms,
    tighten,
)
from directrix.metrics import AUC

TOP = '''"""A file above all rooms."""

from typing import Any

VALUE: Any = 1  # Any
'''
FIELDS = "\n".join(f"    {name}: int" for name in "abcdefgh")
LOSSES = '''"""Two records, three functions."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple


@dataclass(frozen=True)
class Wide:
    """Nine fields."""

{fields}
    i: int


class Narrow(NamedTuple):
{fields}
    i: ClassVar[int] = 1

    def spoken_of(self, other: Any) -> Any:
        def inner() -> None:
            pass

        return inner, Wide, _never_called


def _never_called() -> None: ...


def never_named() -> None: ...


class LateError(ValueError):
    """An error."""


class LateWarning(UserWarning):
    """A warning."""


class BalancedError(Wide):
    """A metric."""
'''.replace("{fields}", FIELDS)


@dataclass
class Tree:
    root: object

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def refusal(self):
        with pytest.raises(SystemExit) as caught:
            main(["rooms", "--check"], self.root)
        assert caught.value.code != 0
        return str(caught.value.code)


@pytest.fixture
def tree(tmp_path):
    tree = Tree(tmp_path)
    tree.write("src/directrix/__init__.py", TOP)
    tree.write("src/directrix/losses/__init__.py", "")
    tree.write("src/directrix/losses/late/late.py", LOSSES)
    tree.write("docs/page.md", "`spoken_of` is named on a page.")
    tree.write("docs/api/built.md", "`never_named` is named on each page that is built.")
    losses = len(LOSSES.splitlines())
    tree.write(BUDGETS, f'# lines\n"(top)" = 9\nlosses = {losses}\n')
    return tree


def test_circles_are_found_and_chains_are_none():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}
    assert circles(graph) == [{"a", "b", "c"}]
    assert circles(graph | {"c": set()}) == []


def test_two_circles_that_a_chain_connects_are_two():
    graph = {"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"c"}}
    assert sorted(map(sorted, circles(graph))) == [["a", "b"], ["c", "d"]]


def test_nothing_imports_in_circles_nor_do_annotations():
    assert circles(imports(types=True)) == []


def test_files_that_a_call_enters_are_counted():
    assert entered(lambda: None) == 0
    assert 1 <= entered(lambda: AUC().score([0, 1], [0.0, 1.0])) <= 5


def test_each_room_is_measured(tree):
    found = rooms(tree.root)
    assert set(found) == {"(top)", "losses"}
    top, losses = found["(top)"], found["losses"]
    # docstring | from typing import Any | VALUE : Any = 1
    assert (top.lines, top.tokens, top.size, top.files) == (5, 10, len(TOP), 1)
    assert (losses.lines, losses.files) == (len(LOSSES.splitlines()), 2)
    assert (top.anys, losses.anys) == (1, 2)  # neither comments nor imports
    assert (top.unused, losses.unused) == (0, 1)  # never_named; _never_called is returned
    assert losses.records == 1  # a ClassVar is no field
    assert losses.undocumented == 3  # Narrow, spoken_of and never_named; inner is not public
    assert error_classes(tree.root) == {"Error": 1, "Warning": 1}


def test_table_has_a_row_for_each_room_and_their_sum(tree, capsys):
    main(["rooms"], tree.root)
    heads, *rows, names = capsys.readouterr().out.splitlines()
    rows = {row.split()[0]: dict(zip(heads.split(), row.split(), strict=True)) for row in rows}
    assert list(rows) == ["(top)", "losses", "total"]
    lines = len(LOSSES.splitlines())
    assert rows["losses"]["lines"] == rows["losses"]["budget"] == str(lines)
    assert (rows["total"]["lines"], rows["total"]["budget"]) == (str(lines + 5), str(lines + 9))
    assert rows["(top)"]["bytes/line"] == str(round(len(TOP) / 5, 1))
    assert "error classes: 1, warning classes: 1" in names


def test_rooms_within_their_budgets_pass(tree):
    main(["rooms", "--check"], tree.root)


def test_a_line_too_many_fails_with_room_lines_budget_and_remedy(tree):
    tree.write("src/directrix/losses/__init__.py", "1\n")
    lines = len(LOSSES.splitlines())
    message = tree.refusal()
    assert f"room losses has {lines + 1} lines, 1 above its budget of {lines}" in message
    assert f"shorten it, or raise the budget in {BUDGETS}" in message
    assert "(top)" not in message


def test_a_room_without_a_budget_and_a_budget_without_a_room_fail(tree):
    tree.write("src/directrix/risks/risk.py", "1\n2\n")
    tree.write(BUDGETS, '"(top)" = 9\nlosses = 999\nsolve = 7\n')
    risks, solve = tree.refusal().splitlines()
    assert "room risks has 2 lines and no budget" in risks
    assert "add the line `risks = 2`" in risks
    assert "solve" in solve
    assert "7 lines" in solve
    assert "remove it" in solve


def test_tightening_lowers_budgets_and_raises_none(tree):
    tree.write("src/directrix/losses/__init__.py", "1\n")  # one above its budget
    tree.write("src/directrix/risks/risk.py", "1\n2\n")  # no budget: that is a decision
    tree.write(BUDGETS, f'"(top)" = 9\nlosses = {len(LOSSES.splitlines())}\nsolve = 7\n')
    main(["rooms", "--tighten"], tree.root)
    assert budgets(tree.root) == {"(top)": 5, "losses": len(LOSSES.splitlines())}
    assert (tree.root / BUDGETS).read_text("utf-8").startswith("# ")


def test_tightening_changes_nothing_where_budgets_are_tight(tree):
    tighten(tree.root)
    before = (tree.root / BUDGETS).read_bytes()
    tighten(tree.root)
    assert (tree.root / BUDGETS).read_bytes() == before
    main(["rooms", "--check"], tree.root)


def test_every_room_of_the_package_has_a_budget():
    assert set(budgets(ROOT)) == set(lines_by_room(ROOT))


def test_the_check_loads_no_library():
    code = (
        "import sys; from benchmarks.harness import house; "
        "house.excesses(house.lines_by_room(house.ROOT), house.budgets(house.ROOT)); "
        "sys.exit(bool({'numpy', 'scipy', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
