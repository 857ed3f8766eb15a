"""DirectClassifier before and after a change of its search, on the folds of the arena.

``python -m benchmarks.studies.search_quality --code NAME`` fits all sets of the arena, five folds
each, for nine metrics, by the code that is installed, and appends the values on the rows held out
under that name: the commit of the code. To measure another commit, run this file with
``PYTHONPATH`` set to the ``src`` of a worktree of it. The report compares the last two names.

A difference is positive where the later code is better. Its interval over sets is that of a t-test;
a set has moved if the corrected t-test over its folds says so at 5 %. Of tests of sets that have
not changed, one in twenty says so too, half of them for the worse.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from statistics import median

import numpy as np
from scipy import stats

from benchmarks.arena import protocol
from benchmarks.arena.protocol import Task, planned, rows_of, split
from benchmarks.arena.results import LEVEL, Verdict
from benchmarks.harness.markdown import listed, table
from benchmarks.harness.record import Record, Row, distinct, mean_of, numbers, select
from benchmarks.harness.runner import Part, Study, timed
from benchmarks.rivals.lines import RIVALS

#: Those that a classifier can be trained for.
METRICS = {
    name: metric
    for name, metric in protocol.METRICS.items()
    if name not in ("average precision", "log-loss")
}


def plan(args: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Yield code, set and fold, small sets first."""
    if args.code is None:
        msg = "--code is needed to measure: the name of the code that is installed"
        raise SystemExit(msg)
    names = {task.name for task in planned(quick=False, large=False)}
    for name in sorted(names, key=lambda name: (len(rows_of(name).y), name)):
        yield from ((args.code, name, fold) for fold in range(5))


def measure(code: str, name: str, fold: int) -> list[tuple[object, ...]]:
    """Return the values of one fold, with the CPU seconds of the fit for all metrics."""
    train, test = split(Task(name, 0, fold))
    scores, spent = timed(RIVALS["direct"].scores, train, test, METRICS)
    values = (METRICS[key].score(test.y, scores[key]) for key in METRICS)
    return [(code, name, fold, f"{spent:.3g}", *(f"{value:.6g}" for value in values))]


def lines(rows: list[Row]) -> list[str]:
    """Return the comparison of the last two names."""
    before, after = distinct(rows, "commit")[-2:]
    old, new = (
        {(row["set"], row["fold"]): row for row in select(rows, commit=code)}
        for code in (before, after)
    )
    pairs: dict[str, tuple[list[Row], list[Row]]] = {}
    for key in old.keys() & new.keys():
        both = pairs.setdefault(key[0], ([], []))
        both[0].append(old[key])
        both[1].append(new[key])
    names = [name for name in distinct(old.values(), "set") if name in pairs]
    ratios = [mean_of(pairs[name][1], "cpu") / mean_of(pairs[name][0], "cpu") for name in names]
    cells = []
    for key, metric in METRICS.items():
        unit = metric.unit if metric.greater_is_better else -metric.unit
        verdicts = {
            name: Verdict.of((numbers(pairs[name][1], key) - numbers(pairs[name][0], key)) / unit)
            for name in names
        }
        means = np.array([verdict.mean for verdict in verdicts.values()])
        mean, reach = means.mean(), stats.t.ppf(0.975, len(means) - 1) * stats.sem(means)
        moved = (
            listed(
                f"{name} ({verdict.mean:+.4f})"
                for name, verdict in verdicts.items()
                if verdict.p < LEVEL and np.sign(verdict.mean) == sign
            )
            for sign in (1, -1)
        )
        span = f"{mean - reach:+.5f} to {mean + reach:+.5f}"
        cells.append((key, f"{mean:+.5f}", span, *moved))
    columns = "metric | mean difference | 95 % interval | sets better | sets worse"
    n_sets = len(names)
    return [
        f"# DirectClassifier: {after} against {before}",
        "",
        f"{n_sets} sets of the arena, five folds each. Difference of the metric on rows held out,",
        "in units of the metric; positive is better. CPU of a fit for all nine metrics:",
        f"{median(ratios):.2f} of that before (median over sets; not measured side by side).",
        *table(columns, cells),
    ]


RECORD = Record.beside(__file__, ("commit", "set", "fold", "cpu", *METRICS), "commit, set, fold")
STUDY = Study([Part(RECORD, plan, measure)], lines, options={"--code": {"help": "its commit"}})

if __name__ == "__main__":
    STUDY.main(__doc__)
