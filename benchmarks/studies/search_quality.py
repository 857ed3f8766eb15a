"""DirectClassifier before and after a change of its search, on the folds of the arena.

``python -m benchmarks.studies.search_quality --code NAME`` fits all sets of the arena, five folds
each, for nine metrics, by the code that is installed, and appends the values on the rows held out
to ``search_quality.csv`` under that name: the commit of the code. To measure another commit, run
this file with ``PYTHONPATH`` set to the ``src`` of a worktree of it. It goes on where it stopped;
``--report`` compares the last two names and writes ``search_quality.md``.

A difference is positive where the later code is better. Its interval over sets is that of a t-test;
a set has moved if the corrected t-test over its folds says so at 5 %. Of tests of sets that have
not changed, one in twenty says so too, half of them for the worse.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from time import process_time

import numpy as np
from scipy import stats

from benchmarks.arena import protocol
from benchmarks.arena.protocol import Task, planned, rows_of, split
from benchmarks.arena.results import LEVEL, Verdict
from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import Record
from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.rivals import RIVALS
from directrix._typing import FloatArray

#: Those that a classifier can be trained for.
METRICS = {
    name: metric
    for name, metric in protocol.METRICS.items()
    if name not in ("average precision", "log-loss")
}
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    ("commit", "set", "fold", "cpu", *METRICS),
    ("commit", "set", "fold"),
)
REPORT = Path(__file__).with_suffix(".md")


def measure(code: str, name: str, fold: int) -> Iterator[tuple[object, ...]]:
    """Yield the values of one fold, with the CPU seconds of the fit for all metrics."""
    train, test = split(Task(name, 0, fold))
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and where logistic regression is chosen
        scores = RIVALS["direct"].scores(train, test, METRICS)
    spent = process_time() - start
    values = (METRICS[key].score(test.y, scores[key]) for key in METRICS)
    yield (code, name, fold, f"{spent:.3g}", *(f"{value:.6g}" for value in values))


def differences() -> tuple[str, str, dict[str, dict[str, FloatArray]], list[float]]:
    """Return both names, by metric and set the differences of the folds, and CPU ratios."""
    rows = RECORD.rows()
    before, after = list(dict.fromkeys(row["commit"] for row in rows))[-2:]
    by_code = {
        code: {(row["set"], row["fold"]): row for row in rows if row["commit"] == code}
        for code in (before, after)
    }
    common = [key for key in by_code[before] if key in by_code[after]]
    names = dict.fromkeys(name for name, _ in common)
    pairs = {
        name: [(by_code[before][key], by_code[after][key]) for key in common if key[0] == name]
        for name in names
    }
    table = {
        metric: {
            name: (1.0 if METRICS[metric].greater_is_better else -1.0)
            * np.array([float(new[metric]) - float(old[metric]) for old, new in pairs[name]])
            / METRICS[metric].unit
            for name in names
        }
        for metric in METRICS
    }
    ratios = [
        fmean(float(new["cpu"]) for _, new in both) / fmean(float(old["cpu"]) for old, _ in both)
        for both in pairs.values()
    ]
    return before, after, table, ratios


def lines() -> list[str]:
    """Return the comparison of the last two names."""
    before, after, table, ratios = differences()
    n_sets = len(ratios)
    text = [
        f"# DirectClassifier: {after} against {before}",
        "",
        f"{n_sets} sets of the arena, five folds each. Difference of the metric on rows held out,",
        "in units of the metric; positive is better. CPU of a fit for all nine metrics:",
        f"{median(ratios):.2f} of that before (median over sets; not measured side by side).",
        "",
        *header("metric", "mean difference", "95 % interval", "sets better", "sets worse"),
    ]
    for metric, by_set in table.items():
        means = np.array([folds.mean() for folds in by_set.values()])
        reach = float(stats.t.ppf(0.975, len(means) - 1) * stats.sem(means))
        verdicts = {name: Verdict.of(folds) for name, folds in by_set.items()}
        moved = {
            sign: [
                f"{name} ({verdict.mean:+.4f})"
                for name, verdict in verdicts.items()
                if verdict.p < LEVEL and np.sign(verdict.mean) == sign
            ]
            for sign in (1, -1)
        }
        mean = float(means.mean())
        text.append(
            line(
                metric,
                f"{mean:+.5f}",
                f"{mean - reach:+.5f} to {mean + reach:+.5f}",
                *(", ".join(moved[sign]) or "none" for sign in (1, -1)),
            )
        )
    return text


def main() -> None:
    """Measure what is missing, and compare."""
    parser = option_parser(__doc__)
    parser.add_argument("--code", help="name of the code that is installed: its commit")
    args = parser.parse_args()
    if not args.report:
        if args.code is None:
            parser.error("--code is needed to measure")
        names = {task.name for task in planned(quick=False, large=False)}
        keys = (
            (args.code, name, fold)
            for name in sorted(names, key=lambda name: (len(rows_of(name).y), name))
            for fold in range(5)
        )
        measure_missing(RECORD, keys, measure)
    if len({row["commit"] for row in RECORD.rows()}) > 1:
        write_report(REPORT, lines())


if __name__ == "__main__":
    main()
