"""Planted faults: the share of them that the nearest tests find, room by room.

    python -m tests.mutants --each 20 --near               # 20 faults in each room
    python -m tests.mutants --each 20 --near --only files  # in one room
    python -m tests.mutants --list --only files            # print them and plant none

Each fault is one changed expression in a clone of the last commit, so that the checkout is free for
other work. A seed always gives the same faults, and a larger ``--each`` adds to those of a smaller
one. Test files run in the order of their distance to the changed file in the graph of imports,
those of its room first, until a test fails that passes otherwise, or until the limit of CPU
time. Each result is a row of ``tests/mutants.csv``; faults that it has for this commit are not
planted again. The shares are printed at the end, or at once with ``--each 0``.

A faulty program may write or remove what it should not: do not run this as root, nor where files
matter that are not in a repository.
"""

import argparse
import ast
import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict, deque
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import accumulate, count
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: The test files that ``--near`` runs, and how many imports these may be away from the fault; files
#: further away fill the number where there are fewer.
NEAREST, STEPS = 12, 2
#: Seconds of CPU time for the tests of a fault, with ``--near`` and without.
NEAR_LIMIT, FAR_LIMIT = 30.0, 900.0

# ── the plug-in of pytest: which test fails, and an end when the CPU time is up ───────────────────

PLUGIN = "planted_faults"
#: Seconds that may pass for each second of CPU time.
PATIENCE = 6.0
_BEGAN = time.monotonic()
_LOG, _LIMIT = "DIRECTRIX_FAULT_LOG", "DIRECTRIX_FAULT_LIMIT"


def _note(event, test=""):
    if _LOG in os.environ:
        with Path(os.environ[_LOG]).open("a", encoding="utf-8") as file:
            file.write(f"{event}\t{_clock()}\t{test}\n")


def _clock():
    """Return CPU time, which other work does not change, or a share of the time of what sleeps."""
    return max(time.process_time(), (time.monotonic() - _BEGAN) / PATIENCE)


def pytest_configure():
    """End the process when its time is up."""
    _note("begin")
    began = _clock()

    def watch():
        while _clock() - began < float(os.environ[_LIMIT]):
            time.sleep(0.1)
        _note("late")
        os._exit(1)

    if _LIMIT in os.environ:
        threading.Thread(target=watch, daemon=True).start()


def pytest_runtest_logstart(nodeid):
    """Note which test runs."""
    _note("start", nodeid)


def pytest_runtest_logfinish(nodeid):
    """Note that a test has ended."""
    _note("finish", nodeid)


def pytest_runtest_logreport(report):
    """Note a test that fails."""
    if report.failed:
        _note("failed", report.nodeid)


def pytest_collectreport(report):
    """Note a file that cannot be imported."""
    pytest_runtest_logreport(report)


# ── faults ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Fault:
    """One changed expression, in a file named from the root of the repository."""

    file: str
    line: int
    column: int
    kind: str
    before: str
    after: str


def room_of(file):
    """Return the folder of the package that a file is in, or "(top)" if it is in none."""
    parts = Path(file).parts[2:]
    return parts[0] if len(parts) > 1 else "(top)"


_COMPARISONS = {"Lt": "LtE Gt", "LtE": "Lt Gt", "Gt": "GtE Lt", "GtE": "Gt Lt", "Eq": "NotEq"}
_COMPARISONS |= {"NotEq": "Eq", "Is": "IsNot", "IsNot": "Is", "In": "NotIn", "NotIn": "In"}
_ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
_BOOLEAN = {ast.And: ast.Or, ast.Or: ast.And}
_SWAPS = ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all")
_SWAPPED = dict([*_SWAPS, *(pair[::-1] for pair in _SWAPS)])
#: Calls whose arguments swapped fail at once, or change nothing.
_FIXED = {"isinstance", "issubclass", "getattr", "hasattr", "map", "zip"}
#: Calls and arguments that hold texts for people or types, or that only guard against mistakes.
_CALLS = {"warn", "debug", "info", "cast", "field", "TypeVar", "ParamSpec", "NewType"}
_ARGUMENTS = {"strict", "stacklevel", "repr"}
_NOT_CODE = {"annotation", "returns", "decorator_list", "type_params", "bases"}


def changes(node):
    """Yield (expression, kind, what takes its place) for the faults that a node can have."""
    match node:
        case ast.Compare(left, [operator], right):
            for other in _COMPARISONS[type(operator).__name__].split():
                yield node, "comparison", ast.Compare(left, [getattr(ast, other)()], right)
        case ast.BinOp(left, operator, right) if type(operator) in _ARITHMETIC:
            if not any(_is_text(part) for part in (left, right)):
                yield node, "arithmetic", ast.BinOp(left, _ARITHMETIC[type(operator)](), right)
        case ast.BoolOp(operator, values):
            yield node, "and, or", ast.BoolOp(_BOOLEAN[type(operator)](), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield node, "condition", operand
        case ast.UnaryOp(ast.USub(), operand):
            yield node, "arithmetic", operand
        case ast.Constant(bool() as value):
            yield node, "constant", ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield node, "constant", ast.Constant(value + 1)
    yield from _changed_flow(node)


def _changed_flow(node):
    """Yield the faults of calls, returns and conditions."""
    match node:
        case ast.Call(ast.Name(name), arguments, keywords) if name in _SWAPPED:
            yield node, "min, max", ast.Call(ast.Name(_SWAPPED[name]), arguments, keywords)
        case ast.Call(ast.Attribute(value, name), arguments, keywords) if name in _SWAPPED:
            other = ast.Attribute(value, _SWAPPED[name])
            yield node, "min, max", ast.Call(other, arguments, keywords)
        case ast.Call(function, [first, second, *rest], keywords):
            fixed = ast.unparse(function) in _FIXED or ast.unparse(first) == ast.unparse(second)
            texts = any(isinstance(each, ast.Starred) or _is_text(each) for each in (first, second))
            if not (fixed or texts):
                yield node, "arguments", ast.Call(function, [second, first, *rest], keywords)
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield value, "return", ast.Constant(None)
        case ast.If(test) | ast.While(test) | ast.IfExp(test) | ast.comprehension(ifs=[test]):
            if not isinstance(test, ast.Compare | ast.UnaryOp):  # these have faults of their own
                yield test, "condition", ast.UnaryOp(ast.Not(), test)


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_for_people(node):
    """Return whether a node holds error texts, messages, types or exports."""
    match node:
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)):
            return name in _CALLS
        case ast.Assign([ast.Name(name)]):
            return name in {"msg", "message", "__all__"}
        case ast.If(test):
            return "TYPE_CHECKING" in ast.unparse(test)
        case ast.keyword(argument):
            return argument in _ARGUMENTS
    return isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert)


def _code(node):
    """Yield a node and those below it, without texts for people and types."""
    if not _is_for_people(node):
        yield node
        for name, child in ast.iter_fields(node):
            if name not in _NOT_CODE:
                for part in child if isinstance(child, list) else [child]:
                    if isinstance(part, ast.AST):
                        yield from _code(part)


def faults(file, text):
    """Return all faults that a file can have."""
    data, found = text.encode(), []
    starts = _line_starts(data)
    for node in _code(ast.parse(text)):
        for old, kind, new in changes(node):
            start = starts[old.lineno - 1] + old.col_offset
            before = data[start : starts[old.end_lineno - 1] + old.end_col_offset].decode()
            after = ast.unparse(new)
            if not isinstance(new, ast.Constant | ast.Call):
                after = f"({after})"
            found.append(Fault(file, old.lineno, old.col_offset, kind, before, after))
    return found


def _line_starts(data):
    return list(accumulate((len(line) + 1 for line in data.split(b"\n")), initial=0))


def planted(text, fault):
    """Return a text with a fault in it."""
    data, before = text.encode(), fault.before.encode()
    start = _line_starts(data)[fault.line - 1] + fault.column
    assert data[start : start + len(before)] == before
    return (data[:start] + fault.after.encode() + data[start + len(before) :]).decode()


def choose(each, seed, root=ROOT, only=None):
    """Return so many faults of each room, or of the named ones; the first of every room first."""
    rooms = defaultdict(lambda: defaultdict(list))
    for path in sorted((root / "src" / "directrix").rglob("*.py")):
        file = path.relative_to(root).as_posix()
        if only is None or room_of(file) in only:
            for fault in faults(file, path.read_text("utf-8")):
                rooms[room_of(file)][fault.kind].append(fault)
    chosen = []
    for room, kinds in rooms.items():
        draw = random.Random(f"{seed} {room}")  # noqa: S311
        for of_kind in kinds.values():
            draw.shuffle(of_kind)
        order = draw.sample(sorted(kinds), len(kinds))
        # One kind after the other, or most faults would be constants.
        turns = [kinds[kind][n] for n in range(each) for kind in order if n < len(kinds[kind])]
        chosen += [(turn, room, fault) for turn, fault in enumerate(turns[:each])]
    return [fault for *_, fault in sorted(chosen, key=lambda item: item[:2])]


# ── tests in the order of their distance ──────────────────────────────────────────────────────────


class Imports:
    """The modules of the package that each of its modules, and each test file, imports."""

    def __init__(self, root=ROOT):
        source = root / "src"
        names = {
            path: ".".join(path.relative_to(source).with_suffix("").parts)
            for path in source.rglob("*.py")
        }
        self.pairs = {
            name.removesuffix(".__init__"): _imported(path) for path, name in names.items()
        }
        self.tests = {
            path.relative_to(root).as_posix(): self._modules(_imported(path))
            for path in (root / "tests").rglob("test_*.py")
        }
        self.importers = defaultdict(set)
        for name, pairs in self.pairs.items():
            for other in self._modules(pairs):
                self.importers[other].add(name)

    def _modules(self, pairs):
        return {self._defines(*pair) for pair in pairs} & set(self.pairs)

    def _defines(self, module, name):
        """Return the module that defines what another one exports."""
        if f"{module}.{name}" in self.pairs:
            return f"{module}.{name}"
        for source, other in self.pairs.get(module, ()):
            if other == name and source != module:
                return self._defines(source, name)
        return module

    def nearest(self, file):
        """Return the test files that can see a file of the package, nearest first."""
        target = ".".join(Path(file).with_suffix("").parts[1:]).removesuffix(".__init__")
        distance, waiting = {target: 1}, deque([target])
        while waiting:
            name = waiting.popleft()
            for other in self.importers[name] - set(distance):
                distance[other] = distance[name] + 1
                waiting.append(other)
        name, room, ranked = f"test_{Path(file).stem.lstrip('_')}.py", room_of(file), []
        for test, modules in self.tests.items():
            # Those that reach it in other ways than imports come last, and those of benchmarks.
            steps = min((distance[each] for each in modules & set(distance)), default=99)
            far = steps > STEPS or "benchmarks" in test
            other_room = room not in Path(test).parts
            mirrored = Path(test).name == name and not other_room
            # Of two at the same distance the one that imports less.
            ranked.append((far, not mirrored, other_room, steps, len(modules), test))
        return [test for *_, test in sorted(ranked)]


def _imported(path):
    """Return (module, name) for everything that a file imports from the package."""
    tree = ast.parse(path.read_text("utf-8"))
    return {
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "directrix"
        for alias in node.names
    }


# ── the run ───────────────────────────────────────────────────────────────────────────────────────


class Suite:
    """Runs tests in a copy of the repository, on its sources.

    Parameters
    ----------
    folder : Path
        The copy.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        # By a name that no test folder has: the copy may hold another version of this file.
        shutil.copy(__file__, self.folder / f"{PLUGIN}.py")
        self.usual = {}  # CPU seconds of tests that pass, if only with some other fault, or None
        self.times = count(10**9)

    def run(self, tests, limit, *options):
        """Run tests until one fails.

        Returns (outcome, test, CPU seconds of that test), the outcome "passed", "failed" or "late".
        """
        log = self.folder / "events.log"
        log.write_text("", encoding="utf-8")
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        env = os.environ | {"PYTHONPATH": str(self.folder / "src"), "TMPDIR": str(scratch)}
        env |= {_LOG: str(log), _LIMIT: str(limit)}
        env |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-p", PLUGIN]
        command += ["-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider", *options]
        command += [f"--deselect={test}" for test, time in self.usual.items() if time is None]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(
            [*command, *tests], cwd=self.folder, env=env, start_new_session=True, **quiet
        )
        try:
            code = process.wait(timeout=60 + 2 * PATIENCE * limit)
        except subprocess.TimeoutExpired:  # nothing lets the watch run
            code = None
        finally:
            process.kill()
            if os.name == "posix":  # also what tests have started
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        lines = [line.split("\t") for line in log.read_text(encoding="utf-8").splitlines()]
        events = [(what, float(when), test) for what, when, test in lines]
        failed = [test for what, _, test in events if what == "failed"]
        running, began, last = "", 0.0, ""
        for last, when, test in events:
            if last == "start":
                running, began = test, when
            elif last == "finish" and test not in failed:
                self.usual.setdefault(test, when - began)
        took = when - began if running else 0.0
        if code is None or last == "late":
            return "late", running, limit if code is None else took
        if code in (0, 5):  # 5: no test was chosen
            assert events, "pytest ran without the plug-in"
            return "passed", running, took
        # Where no test failed, one ended the process, or the first file could not even be read.
        return "failed", failed[0] if failed else running or tests[0], took

    def usual_time(self, test):
        """Return the CPU seconds of a test that passes, or None if it fails without a fault too."""
        if test not in self.usual:
            collected = () if "::" in test else ("--collect-only",)
            outcome, _, seconds = self.run([test], FAR_LIMIT, *collected)
            self.usual[test] = seconds if outcome == "passed" else None
        return self.usual[test]

    @contextmanager
    def fault(self, fault):
        """Plant a fault for a while."""
        path = self.folder / fault.file
        text = path.read_text("utf-8")
        try:
            self._write(path, planted(text, fault))
            yield
        finally:
            self._write(path, text)

    def _write(self, path, text):
        path.write_text(text, encoding="utf-8", newline="\n")
        # Python compiles a file again if its size or the second of its last change differ.
        os.utime(path, (next(self.times),) * 2)

    def examine(self, fault, tests, limit):
        """Return whether tests find a fault, "yes", "no" or "timeout", and which test does."""
        while tests:
            with self.fault(fault):
                outcome, test, seconds = self.run(tests, limit)
            if outcome == "late":
                # The limit may just be short; a test that takes far longer than it should hangs.
                usual = self.usual_time(test) if test else 0.0
                hangs = usual is not None and seconds > max(limit / 4, 5 * usual)
                return ("timeout", test) if hangs else ("no", "")
            if outcome == "passed":
                return "no", ""
            if test in self.usual and self.usual[test] is None:  # it cannot be left out alone
                tests = [each for each in tests if each != test.partition("::")[0]]
            elif self.usual_time(test) is not None:
                return "yes", test
        return "no", ""


COLUMNS = ["seed", "commit", "tests", "room", "file", "line", "column", "kind", "before", "after"]
COLUMNS += ["found", "test", "seconds"]


def read_record(path):
    """Return the rows of a record."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def add_to_record(path, row):
    """Add a row to a record."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def shares(rows):
    """Return a line of text for each room, and one for all: faults planted and found."""
    rooms = defaultdict(Counter)
    for row in rows:
        rooms[row["room"]][row["found"]] += 1
        rooms["all"][row["found"]] += 1
    lines = [f"{'room':14} planted found timeout not found  share"]
    for room in sorted(rooms, key=lambda room: (room == "all", room)):
        yes, no, hangs = (rooms[room][found] for found in ("yes", "no", "timeout"))
        every = yes + no + hangs
        share = (yes + hangs) / every
        lines.append(f"{room:14} {every:7} {yes:5} {hangs:7} {no:9} {share:6.0%}")
    return lines


def say(text):
    """Print a line at once, also into a file."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _git(*words):
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=20, help="faults of each room")
    parser.add_argument("--only", nargs="+", metavar="ROOM", help="rooms; (top) for single files")
    parser.add_argument("--near", action="store_true", help=f"the {NEAREST} nearest test files")
    parser.add_argument("--limit", type=float, help="CPU seconds for a fault")
    parser.add_argument("--record", type=Path, default=ROOT / "tests" / "mutants.csv")
    parser.add_argument("--list", action="store_true", help="print the faults and plant none")
    args = parser.parse_args()
    # Not that of a commit of the record.
    commit = _git("log", "-1", "--format=%H", "--", "src", "tests", ":!tests/mutants.csv")[:10]
    suite = {"seed": str(args.seed), "commit": commit, "tests": "near" if args.near else "all"}
    limit = args.limit or (NEAR_LIMIT if args.near else FAR_LIMIT)

    def known():
        rows = read_record(args.record)
        return [row for row in rows if all(row[name] == value for name, value in suite.items())]

    with tempfile.TemporaryDirectory(prefix="mutants", ignore_cleanup_errors=True) as folder:
        # The clone is removed and tests are stopped also where the program is terminated.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated; the record is kept"))
        clone = Path(folder) / "clone"
        _git("clone", "-q", "--shared", str(ROOT), str(clone))
        chosen = choose(args.each, args.seed, clone, args.only)
        imports, runs = Imports(clone), Suite(clone)
        done = {(row["file"], row["line"], row["column"], row["after"]) for row in known()}
        for number, fault in enumerate(chosen, start=1):
            text = f"{number}/{len(chosen)} {fault.file}:{fault.line} {fault.kind}: "
            text += f"{fault.before} -> {fault.after}"
            if args.list:
                say(text)
            elif (fault.file, str(fault.line), str(fault.column), fault.after) not in done:
                began = sum(os.times()[:4])
                tests = imports.nearest(fault.file)[: NEAREST if args.near else None]
                found, test = runs.examine(fault, tests, limit)
                seconds = round(sum(os.times()[:4]) - began, 1)
                result = {"found": found, "test": test, "seconds": seconds}
                row = suite | {"room": room_of(fault.file)} | asdict(fault) | result
                add_to_record(args.record, row)
                say(f"{text}: {found} ({seconds} s) {test}")
    if not args.list:
        say("\n".join(shares(known())))


if __name__ == "__main__":
    main()
