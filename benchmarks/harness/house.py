"""Measure the source tree: files, lines, import circles, names, and the files that a fit enters.

``python -m benchmarks.harness.house`` prints the figures of the checkout that it runs in, and
``python -m benchmarks.harness.house rooms`` a table of its rooms, the folders of the package.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import re
import sys
import tempfile
import tokenize
import tomllib
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import directrix

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
ESTIMATORS = (*("MomentClassifier", "DirectClassifier", "ScorecardClassifier"),)
#: The most lines that each room may have.
BUDGETS = "benchmarks/harness/rooms.toml"
_BUDGETS_HEAD = """\
# The most lines that each room of src/directrix may have: `make lint` fails above them.
# `python -m benchmarks.harness.house rooms --tighten` lowers them to the lines that there are.
"""
#: The room of the files directly in src/directrix.
TOP = "(top)"
_LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
#: A record with more fields than this is counted.
FIELDS = 8


def sizes() -> dict[str, tuple[int, int]]:
    """Return files and lines of Python by folder."""
    texts = {name: sorted((ROOT / name).rglob("*.py")) for name in ("src", "tests", "benchmarks")}
    return {
        name: (len(paths), sum(len(path.read_text("utf-8").splitlines()) for path in paths))
        for name, paths in texts.items()
    }


def imports(*, types: bool) -> dict[str, set[str]]:
    """Return the modules that each module imports at its top level.

    types: whether imports that only a type checker sees count.
    """
    paths = {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in SOURCE.rglob("*.py")
    }
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        body = list(ast.parse(path.read_text("utf-8")).body)
        for node in [node for node in body if isinstance(node, ast.If)]:
            if types or ast.unparse(node.test) != "TYPE_CHECKING":
                body += node.body
        graph[module] = set()
        for node in body:
            if isinstance(node, ast.ImportFrom) and node.module in paths:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    graph[module].add(inner if inner in paths else str(node.module))
        graph[module].discard(module)
    return graph


def circles(graph: dict[str, set[str]]) -> list[frozenset[str]]:
    """Return the groups of modules that reach each other."""
    reached: dict[str, set[str]] = {}
    for module in graph:
        reached[module], waiting = set(), [module]
        while waiting:
            for other in graph[waiting.pop()] - reached[module]:
                reached[module].add(other)
                waiting.append(other)
    groups = {frozenset(m for m in reached[n] if n in reached[m]) for n in graph}
    return [group for group in groups if len(group) > 1]


def entered(fit: Callable[[], Any]) -> int:
    """Return how many files of the package a call enters."""
    files = set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and "directrix" in frame.f_code.co_filename:
            files.add(frame.f_code.co_filename)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit()  # first, so that imports do not count
        sys.setprofile(watch)
        try:
            fit()
        finally:
            sys.setprofile(None)
    return len({file for file in files if str(SOURCE) in file})


def fits() -> dict[str, int]:
    """Return the files that each of six fits enters."""
    np, pandas = importlib.import_module("numpy"), importlib.import_module("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=600) > 1
    numbers = pandas.DataFrame(X, columns=list("abcd"))
    table = numbers.assign(text=rng.choice(["x", "y", "z"], 600))
    with tempfile.TemporaryDirectory() as folder:
        for name, frame in (("numbers", numbers), ("table", table)):
            frame.assign(label=y).to_parquet(f"{folder}/{name}.parquet", row_group_size=200)
        source = {"target": "label", "progress": False}
        calls: dict[str, Callable[[], Any]] = {
            "MomentClassifier.fit": lambda: directrix.MomentClassifier("auc").fit(numbers, y),
            "DirectClassifier.fit": lambda: directrix.DirectClassifier("auc").fit(numbers, y),
            "ScorecardClassifier.fit": lambda: directrix.ScorecardClassifier("auc").fit(table, y),
            "DirectClassifier.fit_source": lambda: directrix.DirectClassifier("auc").fit_source(
                f"{folder}/numbers.parquet", **source
            ),
            "ScorecardClassifier.fit_source": lambda: directrix.ScorecardClassifier(
                "auc"
            ).fit_source(f"{folder}/table.parquet", **source),
        }
        return {name: entered(call) for name, call in calls.items()}


# ── rooms ─────────────────────────────────────────────────────────────────────────────────────────


class Room(NamedTuple):
    """What a room of the package holds.

    Parameters
    ----------
    lines, tokens, size, files : int
        Lines, tokens other than comments and layout, bytes, files.
    unused : int
        Functions that are named nowhere but where they are defined: dead, or used by a decorator.
    records : int
        Classes of data with more than eight fields.
    anys : int
        Mentions of ``Any``, imports aside.
    undocumented : int
        Public functions and classes without a docstring.
    """

    lines: int = 0
    tokens: int = 0
    size: int = 0
    files: int = 0
    unused: int = 0
    records: int = 0
    anys: int = 0
    undocumented: int = 0

    def plus(self, other: Room) -> Room:
        """Return the sum of two rooms."""
        return Room(*(a + b for a, b in zip(self, other, strict=True)))


def files_by_room(root: Path) -> dict[str, list[Path]]:
    """Return the Python files of each room."""
    package = root / "src" / "directrix"
    rooms = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).parts
        rooms[parts[0] if len(parts) > 1 else TOP].append(path)
    return rooms


def lines_by_room(root: Path) -> dict[str, int]:
    """Return the lines of each room."""
    rooms = files_by_room(root)
    return {
        room: sum(len(path.read_text("utf-8").splitlines()) for path in rooms[room])
        for room in sorted(rooms)
    }


def mentions(root: Path) -> Counter[str]:
    """Return how often each name occurs in code, comments, texts and pages."""
    counts: Counter[str] = Counter()
    for folder in ("src", "tests", "benchmarks", "docs"):
        for path in (root / folder).rglob("*"):
            built = {"api", "gallery", "repository"} & set(path.relative_to(root).parts[1:2])
            if path.suffix in {".py", ".md"} and not (folder == "docs" and built):
                counts.update(re.findall(r"[^\W\d]\w*", path.read_text("utf-8")))
    return counts


def _is_record(node: ast.ClassDef) -> bool:
    names = [ast.unparse(each).partition("(")[0] for each in (*node.decorator_list, *node.bases)]
    kinds = {"dataclass", "NamedTuple", "TypedDict"}
    return any(name.rpartition(".")[2] in kinds for name in names)


def _fields(node: ast.ClassDef) -> int:
    fields = [each.annotation for each in node.body if isinstance(each, ast.AnnAssign)]
    return sum("ClassVar" not in ast.unparse(annotation) for annotation in fields)


def _public(node: ast.Module | ast.ClassDef) -> Iterator[ast.ClassDef | _FUNCTIONS]:
    """Yield public functions and classes, and those inside public classes."""
    for each in node.body:
        if isinstance(each, ast.ClassDef | _FUNCTIONS) and not each.name.startswith("_"):
            # The docstring of these is that of another function.
            marks = {ast.unparse(mark).rpartition(".")[2] for mark in each.decorator_list}
            if not marks & {"overload", "override", "setter"}:
                yield each
            if isinstance(each, ast.ClassDef):
                yield from _public(each)


def measured(path: Path, named: Counter[str]) -> Room:
    """Return what a file holds.

    named: how often each name occurs in the repository.
    """
    text = path.read_text("utf-8")
    with path.open("rb") as file:
        tokens = [each for each in tokenize.tokenize(file.readline) if each.type not in _LAYOUT]
    nodes = list(ast.walk(tree := ast.parse(text)))
    functions = [node.name for node in nodes if isinstance(node, _FUNCTIONS)]
    imported = sum(isinstance(node, ast.alias) and node.name == "Any" for node in nodes)
    return Room(
        lines=len(text.splitlines()),
        tokens=len(tokens),
        size=path.stat().st_size,
        files=1,
        # Python itself calls those with two underscores.
        unused=sum(named[name] == 1 and not name.startswith("__") for name in functions),
        records=sum(
            isinstance(node, ast.ClassDef) and _is_record(node) and _fields(node) > FIELDS
            for node in nodes
        ),
        anys=sum(each.string == "Any" for each in tokens) - imported,
        undocumented=sum(ast.get_docstring(node) is None for node in _public(tree)),
    )


def rooms(root: Path) -> dict[str, Room]:
    """Return what each room of the package holds."""
    named, found = mentions(root), {}
    for room, paths in sorted(files_by_room(root).items()):
        found[room] = Room()
        for path in paths:
            found[room] = found[room].plus(measured(path, named))
    return found


def budgets(root: Path) -> dict[str, int]:
    """Return the most lines that each room may have."""
    path = root / BUDGETS
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def excesses(lines: dict[str, int], budget: dict[str, int]) -> list[str]:
    """Return a sentence for each room above its budget, without one, and for each budget left."""
    found = []
    for room in sorted({*lines, *budget}):
        if room not in budget:
            remedy = f"add the line `{_entry(room, lines[room])}` to {BUDGETS}"
            found.append(f"room {room} has {lines[room]} lines and no budget: {remedy}")
        elif room not in lines:
            remedy = f"remove it from {BUDGETS}"
            found.append(f"the budget of {budget[room]} lines is for no room, {room}: {remedy}")
        elif lines[room] > budget[room]:
            over = f"{lines[room] - budget[room]} above its budget of {budget[room]}"
            remedy = f"shorten it, or raise the budget in {BUDGETS} and say why in the commit"
            found.append(f"room {room} has {lines[room]} lines, {over}: {remedy}")
    return found


def _entry(room: str, lines: int) -> str:
    return f'"{room}" = {lines}' if room == TOP else f"{room} = {lines}"


def tighten(root: Path) -> None:
    """Lower each budget to the lines of its room; none goes up, and those for no room go."""
    lines, budget = lines_by_room(root), budgets(root)
    kept = [_entry(room, min(budget[room], lines[room])) for room in lines if room in budget]
    (root / BUDGETS).write_text(_BUDGETS_HEAD + "\n".join(kept) + "\n", encoding="utf-8")


def table(found: dict[str, Room], budget: dict[str, int]) -> str:
    """Return a row of text for each room, and one for their sum."""
    total = Room()
    for room in found.values():
        total = total.plus(room)
    heads = ["room", "lines", "budget", "tokens", "bytes/line", "files"]
    texts = [[*heads, "unused", "records", "Any", "undocumented"]]
    for name, room in {**found, "total": total}.items():
        most = sum(budget.values()) if name == "total" else budget.get(name, "none")
        rest = room.files, room.unused, room.records, room.anys, room.undocumented
        size = round(room.size / max(1, room.lines), 1)
        texts.append([name, *map(str, (room.lines, most, room.tokens, size, *rest))])
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if number else text.ljust(width)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in texts
    )


def error_classes(root: Path) -> dict[str, int]:
    """Return how many classes of errors and of warnings the package defines."""
    counts = {"Error": 0, "Warning": 0}
    for path in (root / "src").rglob("*.py"):
        text = path.read_text("utf-8")
        for ending, bases in re.findall(r"(?m)^ *class \w*?(Error|Warning)\(([^)]*)\):", text):
            # By its bases too: the metrics Error and BalancedError are no errors.
            counts[ending] += bool(re.search(r"(Error|Warning|Exception)\b", bases))
    return counts


# ── what is printed ───────────────────────────────────────────────────────────────────────────────


def public_names() -> int:
    """Return how many names the rooms export."""
    modules = (importlib.import_module(f"directrix.{room}") for room in directrix._ROOMS)  # noqa: SLF001
    return sum(len(getattr(module, "__all__", ())) for module in modules)


def figures() -> None:
    """Print the figures of the whole tree."""
    for name, (files, lines) in sizes().items():
        print(f"{name}: {files} files, {lines:,} lines")
    for types, text in ((False, "at run time"), (True, "with those of type checkers")):
        print(f"import circles, {text}: {len(circles(imports(types=types)))}")
    print("public names:", public_names())
    for estimator in ESTIMATORS:
        parameters = len(inspect.signature(getattr(directrix, estimator)).parameters)
        print(f"{estimator}: {parameters} parameters")
    calls = chains = 0
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                asked = sum(
                    isinstance(each, ast.Call) and ast.unparse(each.func) == "isinstance"
                    for each in ast.walk(node)
                )
                calls, chains = calls + asked, chains + (asked >= 3)
    print(f"isinstance: {calls} calls, {chains} functions with three or more")
    for name, count in fits().items():
        print(f"{name}: enters {count} files")


def main(words: list[str] | None = None, root: Path = ROOT) -> None:
    """Print what the command line asks for, or check or lower the budgets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command")
    command = commands.add_parser("rooms", help="a table of the folders of the package")
    either = command.add_mutually_exclusive_group()
    either.add_argument("--check", action="store_true", help="fail if a room exceeds its budget")
    either.add_argument("--tighten", action="store_true", help="lower the budgets to the lines")
    args = parser.parse_args(words)
    if args.command is None:
        figures()
    elif args.check:
        if found := excesses(lines_by_room(root), budgets(root)):
            sys.exit("\n".join(found))
    elif args.tighten:
        tighten(root)
    else:
        print(table(rooms(root), budgets(root)))
        errors = error_classes(root)
        classes = f"error classes: {errors['Error']}, warning classes: {errors['Warning']}"
        print(f"public names in rooms: {public_names()}, {classes}")


if __name__ == "__main__":
    main()
