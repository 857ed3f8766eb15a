"""What the page "Evidence" says of cost, honesty and scale, from measurements beside the arenas."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.arena.everything import (
    CARD,
    COUNTS,
    DIRECT,
    ONE_HOT,
    SHORT,
    TABLES,
    TREES,
    Everything,
)
from benchmarks.arena.results import LARGE, Score
from benchmarks.arena.tables.protocol import LARGE as LARGE_SETS
from benchmarks.arena.tables.results import LARGE as LARGE_TABLES
from benchmarks.harness.markdown import header, line
from benchmarks.harness.record import read_rows
from benchmarks.rivals.on_tables import EBM, LINE

ROOT = Path(__file__).parents[2]


def cost_and_scale(arena: Everything) -> list[str]:
    """Return one line each on cost, honesty and scale, and a table of sets that were not cut."""
    card, few = (
        [f"{arena.cpu_to(TABLES, ours, rival):.2g}" for rival in (TREES, EBM)]
        for ours in (CARD, COUNTS)
    )
    lines = [
        (
            f"- **Cost.** {_fit_cost()} On tables, for all metrics together, a card takes "
            f"{card[0]} times the CPU time of tuned LightGBM and {card[1]} times that of EBM with "
            f"four bags; from counts {few[0]} and {few[1]}."
        ),
        f"- **Honesty.** {_coverage()} {_guarantee()}",
        f"- **Scale.** {_two_passes()}",
    ]
    whole = whole_sets(Everything(LARGE, LARGE_TABLES))
    return [*lines, "", *whole] if whole else lines


def whole_sets(arena: Everything) -> list[str]:
    """Return a table of the large sets, one fold of all their rows; nothing if none was measured.

    ``arena``: of the records of large sets.
    """
    columns = ((LINE,), (DIRECT, ONE_HOT), (CARD,), (COUNTS,), (TREES,))
    found = {(score.name, score.rival): score for score in arena.scores}
    lines = []
    for name in LARGE_SETS:
        scores = [
            next((found[name, rival] for rival in rivals if (name, rival) in found), None)
            for rivals in columns
        ]
        measured = [score for score in scores if score is not None]
        if not measured:
            continue
        shape = f"{measured[0].rows:,} x {measured[0].features}"
        lines.append(line(name, shape, *(_of_whole_set(score) for score in scores)))
    if not lines:
        return []
    hours = sum(score.cpu_seconds for score in arena.scores) / 3600
    about = (
        "Large sets, whole: AUC and recall at a false-positive rate of 1 % on a fifth of the rows, "
        "and the CPU time for all metrics together, to that of logistic regression. Measured on "
        f"commit {', '.join(f'`{commit}`' for commit in arena.commits)}, in {hours:.2g} hours of "
        "CPU time; empty cells were not."
    )
    names = [SHORT[rivals[0]] for rivals in columns]
    return [about, "", *header("set", "size", *names), *lines]


def _of_whole_set(score: Score | None) -> str:
    if score is None:
        return ""
    auc, recall = (score.values[metric] for metric in ("AUC", "recall at FPR 1 %"))
    return f"{auc:.3f}, {recall:.3f}, CPU {score.cpu:.2g}"


def fit_costs() -> dict[str, list[float]]:
    """Return CPU times of one fit, relative to LogisticRegressionCV, by metric: one for each set.

    Those of other methods are under the metric and their name: "AUC by GridSearchCV".
    """
    costs: dict[str, list[float]] = {}
    for row in read_rows(ROOT / "benchmarks" / "speed" / "direct.csv"):
        what, _, unit = row["what"].partition(" / ")
        if unit == "LogisticRegressionCV(cv=5)" and not what.startswith(("generated", "median")):
            costs.setdefault(what.split(", ")[-1], []).append(float(row["ratio"]))
    return costs


def _fit_cost() -> str:
    said = ", ".join(
        f"{np.median(ratios):.2f} for {metric}"
        for metric, ratios in fit_costs().items()
        if " by " not in metric
    )
    return (
        "One fit of DirectClassifier takes the CPU time of `LogisticRegressionCV(cv=5)` times "
        f"{said} (medians of eight sets, [speed](../benchmarks/speed/direct.csv))."
    )


def _coverage() -> str:
    rows = read_rows(ROOT / "benchmarks" / "studies" / "new_rows" / "claims.csv")
    now = [row for row in rows if row["code"] == "now"]
    covered = [float(r["low"]) <= float(r["truth"]) <= float(r["high"]) for r in now]
    return (
        f"The 95 % interval of what to expect on new rows covers the truth in "
        f"{100 * np.mean(covered):.1f} % of {len(now):,} fits "
        "([claims](../benchmarks/studies/new_rows/claims.md))."
    )


def _guarantee() -> str:
    rows = read_rows(ROOT / "benchmarks" / "studies" / "new_rows" / "guarantee.csv")
    broken = [float(row["broken"]) for row in rows]
    without = [float(row["broken without"]) for row in rows]
    return (
        f"A limit of the false-positive rate with a guarantee of 95 % is exceeded on new rows in "
        f"{100 * np.mean(broken):.1f} % of fits, without it in {100 * np.mean(without):.0f} % "
        "([guarantee](../benchmarks/studies/new_rows/guarantee.csv))."
    )


def _two_passes() -> str:
    rows = read_rows(ROOT / "benchmarks" / "studies" / "two_passes.csv")
    fits = [row for row in rows if row["recall at FPR 1 %"]]
    largest = max(fits, key=lambda row: int(row["rows"]))
    read, spent = float(largest["times the bytes were read"]), largest["CPU to two scans"]
    return (
        f"{int(largest['rows']):,} rows in {largest['megabytes']} MB, read {read:.1f} times, at "
        f"{spent} times the CPU time of two scans "
        "([two passes](../benchmarks/studies/two_passes.csv), "
        "[cluster](../benchmarks/studies/scale/cluster.md), "
        "[cards](../benchmarks/studies/scale/cards.md))."
    )
