"""A summary store whose writers and compactor are killed at random times.

In each round four processes add 12 days of three parts to one store, each part by two of them, one
process compacts random days, and two readers check every total that they read. Writers and the
compactor are killed with SIGKILL at random times and started again until all parts are added. A
reader's totals must be sums of whole parts, none twice and none lost that it saw before; at the end
the days must be those of a store in which nobody was killed.
``python -m benchmarks.studies.store_crashes`` runs the rounds that ``store_crashes.csv`` lacks and
writes ``store_crashes.md``; ``--quick`` runs two and tracks nothing; ``--report`` writes the report
only.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from functools import cache
from itertools import combinations
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.markdown import holds
from benchmarks.harness.record import Record, Row, commit
from benchmarks.harness.runner import Part, Study
from directrix import Binner, Moments
from directrix.monitoring import SummaryStore
from directrix.rows.sums import tree_sum
from directrix.tables import BinCounts

ROUNDS, QUICK = 200, 2
N_DAYS, N_PARTS, N_WRITERS, N_READERS = 12, 3, 4, 2
DAYS = [date(2026, 1, 1) + timedelta(days=k) for k in range(N_DAYS)]
#: Seconds between kills, at first and at most; they get rarer, so that a round ends.
FIRST_GAP, LAST_GAP = 0.15, 1.0
#: Age in seconds after which `prune` takes a file without a record for that of a killed writer.
ABANDONED = 3600.0


class Outcome(NamedTuple):
    """What happened in a round.

    Parameters
    ----------
    writers_killed, compactors_killed : int
    readings : int
        Days that readers read and checked.
    wrong_readings : int
        Those that are not sums of whole parts, or lack a part that was there before.
    errors : int
        Processes that ended with an error.
    wrong_days : int
        Days that are not as expected at the end.
    repeated : int
        Parts that the store took twice when all were added again.
    abandoned : int
        Files that killed processes left behind.
    remaining : int
        Files too many or too few after days were compacted and abandoned files pruned.
    """

    writers_killed: int
    compactors_killed: int
    readings: int
    wrong_readings: int
    errors: int
    wrong_days: int
    repeated: int
    abandoned: int
    remaining: int

    @property
    def right(self) -> bool:
        """Whether nothing was wrong."""
        wrong = self.wrong_readings, self.errors, self.wrong_days, self.repeated, self.remaining
        return not any(wrong)


RECORD = Record.beside(__file__, ("round", *Outcome._fields, "commit"), "round")


# ── parts ─────────────────────────────────────────────────────────────────────────────────────────


@cache
def summaries(day: int, part: int) -> dict[str, Any]:
    """Return the summaries of a part: 1, 3 or 9 rows, so that a number of rows tells its parts."""
    n = 3**part
    y = np.arange(n) % 2
    X = np.column_stack([np.full(n, part) + 0.1 * np.arange(n), np.full(n, float(day))])
    table = np.array([[f"part {part}", f"day {day}"]] * n, dtype=object)
    return {
        "moments": Moments.of(X, y, classes=[0, 1]),
        "counts": BinCounts.of(_binner(), table, y, classes=[0, 1]),
    }


@cache
def _binner() -> Binner:
    days = [f"day {day}" for day in range(N_DAYS)]
    parts = [f"part {part % N_PARTS}" for part in range(N_DAYS)]
    return Binner(min_rows=1, min_level_rows=1).fit(np.array([parts, days], dtype=object).T)


@cache
def possible(day: int) -> dict[int, tuple[frozenset[int], dict[str, Any]]]:
    """Return every set of parts of a day with its summaries, by its number of rows."""
    sums = {}
    for size in range(1, N_PARTS + 1):
        for parts in combinations(range(N_PARTS), size):
            chosen = [summaries(day, part) for part in parts]
            total = {stream: tree_sum([part[stream] for part in chosen]) for stream in chosen[0]}
            sums[sum(3**part for part in parts)] = frozenset(parts), total
    return sums


def parts_of(day: int, stream: str, summary: Any) -> frozenset[int] | None:
    """Return the parts of which a summary of a day is the sum; None if it is no such sum."""
    rows = sum(_rows(summary))
    if rows not in possible(day):
        return None
    parts, total = possible(day)[rows]
    # The last digits of moments depend on the order in which parts were added.
    same = (
        _rows(summary) == _rows(total[stream])
        if stream == "moments"
        else bool(summary == total[stream])
    )
    return parts if same else None


def _rows(summary: Any) -> list[int]:
    [groups] = summary.parts
    return [group.count for group in groups]


# ── processes ─────────────────────────────────────────────────────────────────────────────────────


def write(folder: str, writer: int) -> None:
    """Add the parts of one writer, in random order; half of them are also those of the next."""
    store = SummaryStore(folder)
    every = [(day, part) for day in range(N_DAYS) for part in range(N_PARTS)]
    mine = [
        step
        for number, step in enumerate(every)
        if writer in (number % N_WRITERS, (number + 1) % N_WRITERS)
    ]
    random.shuffle(mine)
    for day, part in mine:
        store.add(DAYS[day], summaries(day, part), key=f"part {part}")


def compact(folder: str) -> None:
    """Compact random days until this process or its parent is killed."""
    store, parent = SummaryStore(folder), os.getppid()
    while os.getppid() == parent:
        store.compact(random.choice(DAYS))  # noqa: S311 - no secret
        time.sleep(0.002)


def read(folder: str, result: str) -> None:
    """Read days until this process is asked to end, and write what was wrong."""
    asked: list[int] = []
    parent = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
    store, readings, wrong = SummaryStore(folder), 0, 0
    seen: dict[tuple[int, str], frozenset[int]] = {}
    while not asked and os.getppid() == parent:
        since = random.choice([None, *DAYS])  # noqa: S311 - no secret
        stream = random.choice(["counts", "moments"])  # noqa: S311
        try:
            days = store.read(stream, since=since, until=since)
        except LookupError:  # nobody has added it yet, or so it must be
            days = {}
        lost = {where for where in seen if where[1] == stream and DAYS[where[0]] == since}
        for day, summary in days.items():
            where = DAYS.index(day), stream
            parts = parts_of(*where, summary)
            readings += 1
            wrong += parts is None or not parts >= seen.get(where, frozenset())
            seen[where] = parts or frozenset()
            lost.discard(where)
        wrong += len(lost)
        time.sleep(0.02)
    Path(result).write_text(json.dumps([readings, wrong]), encoding="utf-8")


def _start(target: Callable[..., None], *args: Any) -> BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=_seeded, args=(target, *args))
    process.start()
    return process


def _seeded(target: Callable[..., None], *args: Any) -> None:
    random.seed()  # a forked process would draw what its siblings draw
    target(*args)


def run_round(seed: int, folder: Path) -> Outcome:
    """Run one round in an empty folder."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    address = str(folder / "store")
    SummaryStore(address)
    results = [folder / f"reader {number}" for number in range(N_READERS)]
    readers = [_start(read, address, str(result)) for result in results]
    compactor = _start(compact, address)
    writers = {number: _start(write, address, number) for number in range(N_WRITERS)}
    killed = {"writer": 0, "compactor": 0}
    errors, gap = 0, FIRST_GAP
    while writers:
        time.sleep(rng.uniform(0.0, gap))
        gap = min(1.04 * gap, LAST_GAP)
        for number, process in list(writers.items()):
            if process.exitcode is not None:
                errors += process.exitcode != 0
                del writers[number]
        victim = rng.choice([None, *writers])
        if victim is None:
            errors += compactor.exitcode is not None  # it never ends by itself
            _kill(compactor)
            killed["compactor"] += 1
            compactor = _start(compact, address)
        else:
            process = writers[victim]
            _kill(process)
            if process.exitcode == -signal.SIGKILL:
                killed["writer"] += 1
                writers[victim] = _start(write, address, victim)
    _kill(compactor)
    for reader in readers:
        reader.terminate()
        reader.join()
        errors += reader.exitcode != 0
    checked = [json.loads(path.read_text(encoding="utf-8")) for path in results if path.exists()]
    readings, wrong = (sum(column) for column in zip(*checked, strict=True)) if checked else (0, 0)
    return Outcome(killed["writer"], killed["compactor"], readings, wrong, errors, *_end(address))


def _kill(process: BaseProcess) -> None:
    process.kill()
    process.join()


def _end(address: str) -> tuple[int, int, int, int]:
    """Return wrong days, repeated parts, abandoned files, and files that remain after pruning."""
    store = SummaryStore(address)
    every = frozenset(range(N_PARTS))
    wrong = set(store.days()) ^ set(DAYS)
    for stream in ("counts", "moments"):
        for day, summary in store.read(stream).items():
            if parts_of(DAYS.index(day), stream, summary) != every:
                wrong.add(day)
    repeated = sum(
        store.add(DAYS[day], summaries(day, part), key=f"part {part}")
        for day in range(N_DAYS)
        for part in range(N_PARTS)
    )
    for day in DAYS:
        store.compact(day)
    used = {name for record in store.history() for name in (record.name, *record.files)}
    used |= {"manifest.json", ".lock"}
    names = _names(address)
    then = time.time() - 2 * ABANDONED
    for name in names:
        os.utime(Path(address, name), (then, then))
    store.prune()
    return len(wrong), repeated, len(names - used), len(_names(address) ^ used)


def _names(address: str) -> set[str]:
    return {path.name for path in Path(address).iterdir()}


# ── record and report ─────────────────────────────────────────────────────────────────────────────


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder for a round; killed processes leave their temporary files in it."""
    with tempfile.TemporaryDirectory() as folder:
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = before


def measured(number: int) -> Outcome:
    """Run a round in a folder of its own."""
    for day in range(N_DAYS):
        possible(day)  # so that no process has to make them
    with scratch() as folder:
        return run_round(number, folder)


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    sums = Outcome(*(sum(int(row[name]) for row in rows) for name in Outcome._fields))
    wrong = sums.wrong_readings
    commits = ", ".join(dict.fromkeys(row["commit"] for row in rows))
    return [
        "# Killed writers of a summary store",
        "",
        f"Commit {commits}. {len(rows)} rounds, each with {N_WRITERS} processes that add {N_DAYS}",
        f"days of {N_PARTS} parts, each part by two of them, one process that compacts random days",
        f"and {N_READERS} readers. SIGKILL at random times ended {sums.writers_killed:,} writers",
        f"and {sums.compactors_killed:,} compactors, which were started again.",
        "",
        "- Every total of a day that was read is a sum of whole parts, none twice, none lost.",
        f"  Wrong are {wrong:,} of {sums.readings:,} readings: {holds(not wrong)}.",
        f"- No process ended with an error. There were {sums.errors}: {holds(not sums.errors)}.",
        "- At the end all days are what they would be if nobody had been killed. Different are",
        f"  {sums.wrong_days} of {N_DAYS * len(rows):,}: {holds(not sums.wrong_days)}.",
        "- Parts that are added once more after that do not count again. Counted again are",
        f"  {sums.repeated} of {N_DAYS * N_PARTS * len(rows):,}: {holds(not sums.repeated)}.",
        f"- `prune` removes the {sums.abandoned:,} files that killed processes left behind, and no",
        f"  other: {holds(not sums.remaining)}.",
    ]


def try_out(_: argparse.Namespace) -> None:
    """Run a few rounds, print them, and end with an error if one is wrong."""
    outcomes = [measured(number) for number in range(QUICK)]
    for outcome in outcomes:
        print(json.dumps(outcome._asdict()), flush=True)
    sys.exit(not all(outcome.right for outcome in outcomes))


STUDY = Study(
    [
        Part(
            RECORD,
            lambda _: ((number,) for number in range(ROUNDS)),
            lambda number: [(number, *measured(number), commit())],
        )
    ],
    lines,
    quick=f"{QUICK} rounds, nothing is tracked",
    try_out=try_out,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
