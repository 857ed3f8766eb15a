"""The runner of all measurements that are too long to be made in one go."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from time import monotonic
from typing import Any

from joblib import Parallel, delayed

from benchmarks.harness.record import Record

Key = tuple[object, ...]
Rows = Iterable[Sequence[object]]


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
    task are written at once.

    Parameters
    ----------
    record : Record
    plan : iterable of tuple
        Keys of tasks in the order of ``record.key``, the most urgent first.
    measure : callable
        Called with the entries of a key; returns the rows of the task. With ``together`` it is
        called with the first entries and a list of tuples, the missing others.
    together : int, optional
        How many entries of a key identify what must be measured in one call, because its CPU times
        are compared.
    jobs : int
        Processes.
    minutes : float
        After which no other task is begun.
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
