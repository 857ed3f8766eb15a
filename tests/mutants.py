"""Planted faults: whether the tests find them.

    python tests/mutants.py                 # 60 faults, the quick form of the suite
    python tests/mutants.py --all-cases     # all cases of all tests
    python tests/mutants.py --only tables   # those of one room, or of one file
    python tests/mutants.py --list          # what would be planted

Each fault is one changed expression in a clone of the last commit: a comparison, a sign, a number,
a condition, a minimum or what a function returns. The faults are the same on every run, at most one
per file, and each room has a share in proportion to its lines. Tests are run in the order of their
distance to the changed file in the graph of imports until one fails; that test must pass without
the fault. Results are added to a record (csv), from which an interrupted run continues.

A faulty program may write or remove what it should not: do not run this as root, nor where files
matter that are not in a repository.
"""

import argparse
import ast
import csv
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict, deque
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from zlib import crc32

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "directrix"
COUNT, SEED = 60, 0
#: Seconds for the tests nearest to the fault, and for all others; who takes longer has found it, as
#: most faults that make a program slow make it endless.
NEAR_LIMIT, FAR_LIMIT = 900, 3600
#: How many files of tests are run first.
NEAREST = 6

#: Faults that no test can find, by what was changed, each with the reason.
EQUIVALENT: dict[tuple[str, str, str], str] = {}


#: A file that pytest, with this module as a plug-in, writes the names of failed tests to.
FAILED = "DIRECTRIX_FAILED"


def pytest_runtest_logreport(report):
    """Note the name of a test that fails."""
    if report.failed and FAILED in os.environ:
        with Path(os.environ[FAILED]).open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")


def pytest_collectreport(report):
    """Note the name of a file that cannot be imported."""
    pytest_runtest_logreport(report)


# ── faults ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Mutant:
    """One changed expression.

    Parameters
    ----------
    path : str
        The file, from the root of the repository.
    line, column : int
        Where the expression begins.
    operator : str
        The kind of change.
    before, after : str
        The expression and what takes its place.
    """

    path: str
    line: int
    column: int
    operator: str
    before: str
    after: str

    @property
    def room(self):
        """The folder or module of the package that the file is part of."""
        return Path(self.path).relative_to("src/directrix").parts[0].removesuffix(".py")

    @property
    def name(self):
        """What tells it from all others."""
        return f"{self.path}:{self.line}:{self.column} {self.operator}"


_COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
_SWAPS = ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all")
_SWAPPED = dict([*_SWAPS, *(pair[::-1] for pair in _SWAPS)])
#: Calls whose arguments are texts for people.
_MESSAGES = {"warn", "debug", "info", "cast", "TypeVar"}


def changes(node):
    """Yield (operator, changed expression) for each fault that an expression can have."""
    match node:
        case ast.Compare(ops=[operator]):
            for other in _COMPARISONS[type(operator)]:
                yield "comparison", ast.Compare(node.left, [other()], node.comparators)
        case ast.BinOp() if type(node.op) in _ARITHMETIC and not _is_text(node):
            yield "arithmetic", ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and, or", ast.BoolOp(other, node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield "removed sign", node.operand
        case ast.Constant(value=bool() | int() | float()):
            yield "constant", ast.Constant(_other_number(node.value))
        case ast.Call(func=ast.Name(id=name)) if name in _SWAPPED:
            yield "min, max", ast.Call(ast.Name(_SWAPPED[name]), node.args, node.keywords)
        case ast.Call(func=ast.Attribute(attr=name)) if name in _SWAPPED:
            function = ast.Attribute(node.func.value, _SWAPPED[name])
            yield "min, max", ast.Call(function, node.args, node.keywords)


def _other_number(value):
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else value * 2.0 or 1.0


def _is_text(node):
    return any(
        isinstance(part, ast.JoinedStr)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in ast.walk(node)
    )


class _Finder(ast.NodeVisitor):
    """Collects the faults of a file, passing over texts for people and types."""

    def __init__(self, path, source):
        self.path, self.lines, self.found = path, source.split("\n"), []

    def visit(self, node):
        if _is_for_people(node):
            return
        for operator, changed in changes(node):
            self.note(node, operator, changed)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Name | ast.Call):
            self.note(node.value, "return", ast.Constant(None))
        for field, child in ast.iter_fields(node):
            if field not in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
                for part in child if isinstance(child, list) else [child]:
                    if isinstance(part, ast.AST):
                        self.visit(part)

    def note(self, node, operator, changed):
        if node.lineno != node.end_lineno:
            return
        line = self.lines[node.lineno - 1].encode()
        before = line[node.col_offset : node.end_col_offset].decode()
        after = ast.unparse(changed)
        if isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp):
            after = f"({after})"
        place = node.lineno, node.col_offset
        self.found.append(Mutant(self.path, *place, operator, before, after))


def _is_for_people(node):
    """Return whether a statement or a call holds error texts, messages or types."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", getattr(node.func, "id", None)) in _MESSAGES
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert)


def faults(path, source):
    """Return all faults that a file can have, in the order of its lines."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return sorted(
        finder.found, key=lambda fault: (fault.line, fault.column, fault.operator, fault.after)
    )


def planted(source, fault):
    """Return a source with a fault in it."""
    lines = source.split("\n")
    line = lines[fault.line - 1].encode()
    start, end = fault.column, fault.column + len(fault.before.encode())
    assert line[start:end].decode() == fault.before
    lines[fault.line - 1] = (line[:start] + fault.after.encode() + line[end:]).decode()
    return "\n".join(lines)


def shares(sizes, count):
    """Divide a count in proportion to sizes, at least one each, by largest remainders."""
    whole = sum(sizes.values())
    exact = {name: count * size / whole for name, size in sizes.items()}
    given = {name: max(1, int(part)) for name, part in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (given[name] - exact[name], name))
    for name in by_remainder[: max(0, count - sum(given.values()))]:
        given[name] += 1
    while sum(given.values()) > count:
        several = [name for name in given if given[name] > 1]
        most = max(several, key=lambda name: (given[name] - exact[name], name))
        given[most] -= 1
    return given


def choose(count=COUNT, seed=SEED, source=SOURCE):
    """Return the faults to plant: at most one a file, in each room as many as its lines ask for."""
    by_room = defaultdict(dict)
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(source.parents[1]).as_posix()
        of_file = faults(name, text)
        if of_file:
            by_room[of_file[0].room][name] = (len(text.splitlines()), of_file)
    sizes = {room: sum(lines for lines, _ in files.values()) for room, files in by_room.items()}
    chosen = []
    for room, share in shares(sizes, count).items():
        files = by_room[room]
        # Large files first, by chance: the larger of powers of uniform numbers are a weighted draw.
        weight = {
            name: random.Random(f"{seed} {name}").random() ** (1.0 / lines)  # noqa: S311
            for name, (lines, _) in files.items()
        }
        for name in sorted(weight, key=weight.get, reverse=True)[:share]:
            by_operator = defaultdict(list)
            for fault in files[name][1]:
                by_operator[fault.operator].append(fault)
            draw = random.Random(f"{seed} {name} fault")  # noqa: S311
            # The operator first, or nearly all would be constants.
            chosen.append(draw.choice(by_operator[draw.choice(sorted(by_operator))]))
    return sorted(chosen, key=lambda fault: (fault.path, fault.line))


# ── tests in the order of their distance ──────────────────────────────────────────────────────────


def module_name(path):
    """Return the dotted name of a file of the package."""
    parts = Path(path).relative_to("src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(text, modules):
    """Return the modules of the package that a text imports; of Markdown, by its examples."""
    found = set()
    lines = re.sub(r"(?m)^\s*(>>>|\.\.\.) ?", "", text)
    for whole, names in re.findall(
        r"(?m)^\s*from (directrix[\w.]*) import (\([^)]*\)|[^\n]*)", lines
    ):
        found.add(whole)
        found |= {f"{whole}.{name}" for name in re.findall(r"\w+", names)}
    found |= set(re.findall(r"(?m)^\s*import (directrix[\w.]*)", lines))
    return found & modules


def graph_of_imports():
    """Return, for each module of the package, the modules that it imports."""
    files = {module_name(path.relative_to(ROOT)): path for path in SOURCE.rglob("*.py")}
    modules = set(files)
    return {name: imported(path.read_text("utf-8"), modules) for name, path in files.items()}


def files_of_tests(path, graph):
    """Return files of tests, nearest to a file of the package first."""
    target = module_name(path)
    importers = defaultdict(set)
    for name, others in graph.items():
        for other in others:
            importers[other].add(name)
    distance, waiting = {target: 0}, deque([target])
    while waiting:
        name = waiting.popleft()
        for other in sorted(importers[name] - set(distance)):
            distance[other] = distance[name] + 1
            waiting.append(other)
    far = max(distance.values()) + 2
    modules = set(graph)
    ranked = []
    tests = [
        *(ROOT / "tests").rglob("test_*.py"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "README.md",
    ]
    for file in tests:
        if {"_ext", "api", "gallery", "repository"} & set(file.relative_to(ROOT).parts[:2]):
            continue
        name = file.relative_to(ROOT).as_posix()
        near = imported(file.read_text("utf-8"), modules)
        steps = min((1 + distance[module] for module in near if module in distance), default=far)
        if name == mirror(path):
            steps = 0
        # Of two at the same distance the one that imports less, and the one of the same room.
        same_room = Path(name).parts[1:2] == Path(path).parts[2:3]
        ranked.append((steps, not same_room, "benchmarks" in name, len(near), name))
    doctests = [
        (distance[module] * 2, False, False, 0, file.relative_to(ROOT).as_posix())
        for module, file in (
            (module_name(file.relative_to(ROOT)), file) for file in SOURCE.rglob("*.py")
        )
        if module in distance and ">>> " in file.read_text("utf-8")
    ]
    return [name for *_, name in sorted(ranked + doctests)]


def mirror(path):
    """Return the file of tests that is named after a file of the package."""
    inside = Path(path).relative_to("src/directrix")
    return (Path("tests") / inside.parent / f"test_{inside.stem.lstrip('_')}.py").as_posix()


# ── the run ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Result:
    """What became of a fault; a row of the record."""

    name: str
    before: str
    after: str
    suite: str
    outcome: str
    test: str
    seconds: float


class Clone:
    """A clone of the last commit, whose tests run on its own sources."""

    def __init__(self, folder, python, options):
        self.folder, self.python, self.options = Path(folder), python, options
        self.broken = set()  # tests that fail without any fault
        git = shutil.which("git")
        subprocess.run([git, "clone", "-q", "--shared", ROOT, self.folder], check=True)

    def pytest(self, names, limit, *options):
        """Run files of tests until one fails; return its name, "" if none does, or None if late."""
        deselected = [f"--deselect={name}" for name in sorted(self.broken)]
        command = [self.python, "-m", "pytest", "-q", "-x", "-p", "mutants", "-p", "no:randomly"]
        command += ["-p", "no:cacheprovider", "--tb=no", *self.options, *options, *deselected]
        listed, failed = self.folder / "tests.list", self.folder / "failed.list"
        listed.write_text("\n".join(names), encoding="utf-8")
        failed.write_text("", encoding="utf-8")
        places = self.folder / "src", self.folder, ROOT / "tests"
        env = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, places)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            FAILED: str(failed),
        }
        process = subprocess.Popen(
            [*command, f"@{listed}"],
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:  # late, or this program is asked to end
                os.killpg(process.pid, signal.SIGKILL)  # also what tests have started
                process.communicate()
        if process.returncode in (0, 5):  # 5: no test was chosen
            return ""
        names = failed.read_text(encoding="utf-8").splitlines()
        if not names:
            message = f"pytest ended with {process.returncode} and named no test:\n{said[-2000:]}"
            raise RuntimeError(message)
        return names[0]

    def find(self, fault, names, limit, *options):
        """Run files of tests on a fault; return the test that finds it, "" or None."""
        path = self.folder / fault.path
        source = path.read_text(encoding="utf-8")
        while True:
            path.write_text(planted(source, fault), encoding="utf-8")
            try:
                test = self.pytest(names, limit, *options)
            finally:
                path.write_text(source, encoding="utf-8")
            if not test:
                return test
            if self.pytest([test], limit) == "":
                return test
            self.broken.add(test)


def examine(clone, fault, graph, args):
    """Return what becomes of a fault."""
    names = files_of_tests(fault.path, graph)
    near, far = names[:NEAREST], names[NEAREST:]
    test = clone.find(fault, near, NEAR_LIMIT, "-n", "0")
    if test == "" and not args.near:
        test = clone.find(fault, far, FAR_LIMIT, "-n", str(args.workers))
    if test is None:
        return "killed", "time"
    return ("killed", test) if test else ("survived", "")


def read_record(path):
    """Return the results of earlier runs by fault and suite."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["name"], row["after"], row["suite"]): row for row in csv.DictReader(file)}


def add_to_record(path, result):
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Result)])
        if is_new:
            writer.writeheader()
        writer.writerow(asdict(result))


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def report(chosen, known, suite):
    """Print, for each room, how many faults were found, and all that were not."""
    rooms = defaultdict(lambda: defaultdict(int))
    survivors = []
    for fault in chosen:
        row = known.get((fault.name, fault.after, suite))
        reason = EQUIVALENT.get((fault.path, fault.before, fault.after))
        outcome = "equivalent" if reason else row["outcome"] if row else "not run"
        rooms[fault.room][outcome] += 1
        rooms["all"][outcome] += 1
        if outcome in ("survived", "equivalent"):
            survivors.append(
                f"{outcome}: {fault.name}: {fault.before} -> {fault.after} {reason or ''}"
            )
    say(f"\n{'room':14} {'killed':>8} {'survived':>9} {'equivalent':>11} {'not run':>8}")
    for room, counts in rooms.items():
        killed, survived = counts["killed"], counts["survived"]
        say(f"{room:14} {killed:8} {survived:9} {counts['equivalent']:11} {counts['not run']:8}")
    for line in survivors:
        say(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--all-cases", action="store_true", help="all cases of all tests")
    parser.add_argument("--near", action="store_true", help=f"the {NEAREST} nearest files of tests")
    parser.add_argument("--only", help="those whose path holds this text")
    parser.add_argument("--list", action="store_true", help="print the faults and plant none")
    parser.add_argument("--report", action="store_true", help="print the record and plant none")
    parser.add_argument("--count", type=int, default=COUNT, help="of all rooms together")
    parser.add_argument("--at-most", type=int, help="how many are planted in this run")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--workers", type=int, default=2, help="of pytest, for the farther tests")
    parser.add_argument("--python", default=sys.executable, help="that has the test libraries")
    parser.add_argument("--record", type=Path, default=ROOT / "build" / "mutants.csv")
    args = parser.parse_args()
    suite = ("all" if args.all_cases else "quick") + (", near" if args.near else "")
    chosen = [
        fault
        for fault in choose(args.count, args.seed)
        if args.only is None or args.only in fault.path
    ]
    known = read_record(args.record)
    if args.list or args.report:
        for fault in chosen if args.list else ():
            say(f"{fault.name}: {fault.before} -> {fault.after}")
        report(chosen, known, suite)
        return
    # The clone is removed and tests are stopped also where the program is terminated.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated; the record is kept"))
    args.record.parent.mkdir(parents=True, exist_ok=True)
    left = [fault for fault in chosen if (fault.name, fault.after, suite) not in known]
    left = [fault for fault in left if (fault.path, fault.before, fault.after) not in EQUIVALENT]
    # By chance, so that a run that ends early has met many rooms.
    left.sort(key=lambda fault: crc32(fault.name.encode()))
    graph = graph_of_imports()
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        clone = Clone(
            Path(folder) / "clone", args.python, ["--all-cases"] if args.all_cases else []
        )
        for number, fault in enumerate(left[: args.at_most], start=1):
            began = time.monotonic()
            outcome, test = examine(clone, fault, graph, args)
            seconds = round(time.monotonic() - began, 1)
            changed = fault.name, fault.before, fault.after
            result = Result(*changed, suite, outcome, test, seconds)
            add_to_record(args.record, result)
            say(
                f"{number}/{len(left)} {outcome} ({seconds:.0f} s) {fault.name}: "
                f"{fault.before} -> {fault.after} {test}"
            )
    report(chosen, read_record(args.record), suite)


if __name__ == "__main__":
    main()
