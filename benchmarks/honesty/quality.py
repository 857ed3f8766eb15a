"""What honesty costs in quality: two runs of the arena on the same folds, set by set.

``python -m benchmarks.honesty.quality BEFORE.csv AFTER.csv`` compares the lines of our classifiers
that both files of the arena have, and writes ``quality.csv`` (means over the folds of a set) and
``quality.md`` (mean differences over the sets, with a 95 % interval).
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.arena.protocol import METRICS
from benchmarks.arena.record import read
from benchmarks.markdown import header, line

OURS = ("direct", "moment", "beta-bernoulli", "smooth")


def main() -> None:
    """Compare, track and print."""
    before, after = ({own.key: own for own in read(Path(path))} for path in sys.argv[1:3])
    pairs = defaultdict(list)
    for key in before.keys() & after.keys():
        if before[key].rival in OURS:
            pairs[before[key].rival, key[0]].append((before[key].values, after[key].values))
    rows = []
    for (rival, name), found in sorted(pairs.items()):
        for metric in METRICS:
            old, new = (np.mean([pair[k][metric] for pair in found]) for k in (0, 1))
            rows.append((rival, name, len(found), metric, f"{old:.5f}", f"{new:.5f}"))
    folder = Path(__file__).parent
    with (folder / "quality.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("classifier", "set", "folds", "metric", "before", "after"))
        writer.writerows(rows)
    about = (
        "Mean difference over the sets, after less before, on the same folds of the arena, turned "
        "so that above zero is better; 95 % interval over sets, and sets that are better / worse."
    )
    text = ["# The arena before and after", "", about, ""]
    text += header("classifier", "metric", "sets", "difference", "95 % interval", "better / worse")
    for rival in OURS:
        for metric, each in METRICS.items():
            own = [row for row in rows if row[0] == rival and row[3] == metric]
            if len(own) < 2:
                continue
            sign = 1.0 if each.greater_is_better else -1.0
            gaps = sign * np.array([float(row[5]) - float(row[4]) for row in own])
            reach = stats.t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps))
            interval = f"{gaps.mean() - reach:+.4f} to {gaps.mean() + reach:+.4f}"
            counts = f"{(gaps > 0).sum()} / {(gaps < 0).sum()}"
            text.append(
                line(rival, metric, str(len(gaps)), f"{gaps.mean():+.4f}", interval, counts)
            )
    (folder / "quality.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
