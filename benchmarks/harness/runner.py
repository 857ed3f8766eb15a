"""Runs of measurements: what is missing of a plan, studies declared as data, and processes."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from time import monotonic, process_time
from typing import Any, TypeVar

from joblib import Parallel, delayed

from benchmarks.harness.markdown import write_report
from benchmarks.harness.record import Record, Row

Key = tuple[object, ...]
Rows = Iterable[Sequence[object]]
T = TypeVar("T")
_MINUTES = {"type": float, "default": inf, "help": "after which nothing is begun"}
_JOBS = {"type": int, "default": 1, "help": "processes"}
#: Options that a study may ask for by their names.
COMMON_OPTIONS: dict[str, dict[str, Any]] = {
    "--minutes": _MINUTES,
    "--jobs": _JOBS,
    "--results": {"type": Path, "help": "another file"},
}


def option_parser(description: str | None, quick: str = "") -> argparse.ArgumentParser:
    """Return a parser of ``--report`` and, where a quick run is described, ``--quick``."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--report", action="store_true", help="measure nothing")
    if quick:
        parser.add_argument("--quick", action="store_true", help=quick)
    return parser


def missing(record: Record, plan: Iterable[Key]) -> list[Key]:
    """Return the keys of a plan that a record lacks, each once."""
    done = record.done()
    return [key for key in dict.fromkeys(plan) if tuple(map(str, key)) not in done]


def grouped(keys: Iterable[Key], together: int) -> list[tuple[Any, ...]]:
    """Return each beginning of the keys once, with the list of the ends that follow it."""
    groups: dict[Key, list[Key]] = {}
    for key in keys:
        groups.setdefault(key[:together], []).append(key[together:])
    return [(*begin, ends) for begin, ends in groups.items()]


def measure_missing(
    record: Record,
    plan: Iterable[Key],
    measure: Callable[..., Rows],
    *,
    together: int | None = None,
    jobs: int = 1,
    minutes: float = inf,
) -> None:
    """Measure the tasks of a plan that a record lacks, and append their rows.

    A run can be killed at any time: what is in the record is not measured again, and the rows of a
    task are written at once. Keys are in the order of ``record.key``, the most urgent first;
    ``measure`` is called with the entries of a key. ``together`` is how many entries identify what
    must be measured in one call, because its CPU times are compared: then it is called with these
    entries and a list of tuples, the missing others.
    """
    record.repair()
    calls: Sequence[Key] = missing(record, plan)
    if not calls:
        return
    calls = calls if together is None else grouped(calls, together)
    end = monotonic() + 60.0 * minutes

    def in_time() -> Iterator[Any]:
        for call in calls:
            if monotonic() > end:
                return
            yield delayed(measure)(*call)

    record.note_commit()
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    for rows in _with_progress(parallel(in_time()), len(calls)):
        record.append(rows)


def _with_progress(results: Iterable[Any], total: int) -> Iterable[Any]:
    """Return results behind a progress bar, if there is a library for one."""
    try:
        from tqdm import tqdm  # noqa: PLC0415 - measuring needs no progress bar
    except ModuleNotFoundError:
        return results
    return tqdm(results, total=total)


@dataclass(frozen=True)
class Part:
    """A record of a study, the plan of its tasks by the options of a run, and what measures one."""

    record: Record
    plan: Callable[[argparse.Namespace], Iterable[Key]]
    measure: Callable[..., Rows]
    together: int | None = None


@dataclass(frozen=True)
class Study:
    """A study declared as data: `main` measures what its records lack, and writes its report.

    ``lines`` returns the report of the rows of the first record. ``quick`` describes a quick run;
    where there is ``try_out``, it is called instead of a quick run, and nothing is tracked. The
    report has the name of the first record, unless ``report_path`` names another; ``draw`` draws
    the figures that go with it.
    ``options`` are arguments of a parser by name; None stands for that of `COMMON_OPTIONS`.
    """

    parts: Sequence[Part]
    lines: Callable[[list[Row]], list[str]] | None = None
    quick: str = ""
    options: Mapping[str, dict[str, Any] | None] = field(default_factory=dict)
    try_out: Callable[[argparse.Namespace], None] | None = None
    report_path: Path | None = None
    draw: Callable[[], None] | None = None

    @property
    def record(self) -> Record:
        """The first record."""
        return self.parts[0].record

    @property
    def path(self) -> Path:
        """The file of the report."""
        return self.report_path or self.record.path.with_suffix(".md")

    def report(self) -> list[str]:
        """Return the report of what is tracked."""
        assert self.lines is not None
        return self.lines(self.record.rows())

    def main(self, description: str | None) -> None:
        """Measure what is missing by the options of the command line, and write the report."""
        parser = option_parser(description, self.quick)
        for name, about in self.options.items():
            parser.add_argument(name, **(about or COMMON_OPTIONS[name]))
        args = parser.parse_args()
        if self.try_out is not None and args.quick:
            return self.try_out(args)
        study = self
        if getattr(args, "results", None):
            first = replace(self.parts[0], record=replace(self.record, path=args.results))
            study = replace(self, parts=(first, *self.parts[1:]))
        if not args.report:
            study.measure(args)
        if study.lines is not None:
            write_report(study.path, study.report())
        if study.draw is not None:
            study.draw()
        return None

    def measure(self, args: argparse.Namespace) -> None:
        """Measure what the records lack."""
        limits = {name: getattr(args, name) for name in ("minutes", "jobs") if name in args}
        with quiet():
            for part in self.parts:
                plan, together = part.plan(args), part.together
                measure_missing(part.record, plan, part.measure, together=together, **limits)


# ── one call, one process ─────────────────────────────────────────────────────────────────────────


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore warnings: of small classes, solvers that stop early, and where a baseline is best."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def timed(work: Callable[..., T], *args: Any, **options: Any) -> tuple[T, float]:
    """Return what a call returns, made without warnings, and its CPU seconds."""
    start = process_time()
    with quiet():
        result = work(*args, **options)
    return result, process_time() - start


def isolated(work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of a module in a process of its own; return what it returns, by way of JSON.

    Paths among the arguments arrive as texts.
    """
    module = work.__globals__["__spec__"].name  # also where the module is the one that is run
    given = json.dumps(arguments, default=str)
    code = (
        f"import json; from {module} import {work.__name__} as work; "
        f"print(json.dumps(work(*json.loads({given!r}))))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603
    return json.loads(done.stdout.splitlines()[-1])


def peak_megabytes(process: int | str = "self") -> float:
    """Return the largest size that a process has had; ``ru_maxrss`` counts its parent's too."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    largest = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(largest[1]) / 1024 if largest else float("nan")
