"""Quality before and after a change: two runs of the arena on the same folds, set by set.

``python -m benchmarks.studies.new_rows.quality BEFORE.csv AFTER.csv`` compares the rows of our
classifiers that both files of the arena have, and writes ``quality.csv`` (means over the folds of a
set) and ``quality.md`` (mean differences over the sets, with a 95 % interval).
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.arena.protocol import METRICS
from benchmarks.arena.results import MEASURED, read
from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import Record, Row

CLASSIFIERS = ("direct", "moment", "beta-bernoulli", "smooth")
REPORT = Path(__file__).with_suffix(".md")
RECORD = Record(
    Path(__file__).with_suffix(".csv"), ("classifier", "set", "folds", "metric", "before", "after")
)


def compare(before_path: Path, after_path: Path) -> list[tuple[object, ...]]:
    """Return the means of both files over the folds that they share, by classifier and set."""
    before, after = (
        {score.key: score for score in read(replace(MEASURED, path=path))}
        for path in (before_path, after_path)
    )
    pairs = defaultdict(list)
    for key in before.keys() & after.keys():
        if before[key].rival in CLASSIFIERS:
            pairs[before[key].rival, key[0]].append((before[key].values, after[key].values))
    rows: list[tuple[object, ...]] = []
    for about, folds in sorted(pairs.items()):
        for metric in METRICS:
            if not all(metric in values for pair in folds for values in pair):
                continue
            means = (np.mean([pair[k][metric] for pair in folds]) for k in (0, 1))
            rows.append((*about, len(folds), metric, *(f"{mean:.5f}" for mean in means)))
    return rows


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        "Mean difference over the sets, after less before, on the same folds of the arena, turned "
        "so that above zero is better; 95 % interval over sets, and sets that are better / worse."
    )
    text = ["# The arena before and after", "", about, ""]
    text += header("classifier", "metric", "sets", "difference", "95 % interval", "better / worse")
    for rival in CLASSIFIERS:
        for name, metric in METRICS.items():
            sets = [row for row in rows if (row["classifier"], row["metric"]) == (rival, name)]
            if len(sets) < 2:
                continue
            sign = 1.0 if metric.greater_is_better else -1.0
            gaps = sign * np.array([float(row["after"]) - float(row["before"]) for row in sets])
            reach = stats.t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps))
            interval = f"{gaps.mean() - reach:+.4f} to {gaps.mean() + reach:+.4f}"
            counts = f"{(gaps > 0).sum()} / {(gaps < 0).sum()}"
            text.append(line(rival, name, str(len(gaps)), f"{gaps.mean():+.4f}", interval, counts))
    return text


def main() -> None:
    """Compare, track and print."""
    RECORD.write(compare(*map(Path, sys.argv[1:3])))
    write_report(REPORT, lines(RECORD.rows()))


if __name__ == "__main__":
    main()
