"""The report ``tables.md`` of the arena of tables.

``python -m benchmarks.arena.tables.report`` writes it from the tracked file, and measures nothing.
Competitors and sets that were not measured yet are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.arena.results import LEAST_GAP, LEVEL, ClosedShare, holm, signed_rank_p
from benchmarks.arena.tables.protocol import METRICS, SETS, LargeTableArena, TableArena
from benchmarks.harness.markdown import bold_if, header, line, write_report
from benchmarks.rivals.tables import BOOSTING, EBM, LINE

REPORT = Path(__file__).with_name("tables.md")
#: The metric whose gap between the line and boosting is to be closed.
GAP = "recall at FPR 1 %"
#: Share of the sets that a competitor must be measured on to have a mean over them.
_OFTEN = 0.75


def main() -> None:
    """Write the report."""
    write_report(REPORT, lines())


def lines() -> list[str]:
    """Return the report of the tracked files."""
    return [*lines_of(TableArena()), *lines_of_large(LargeTableArena())]


def lines_of(arena: TableArena) -> list[str]:
    """Return the lines of the report."""
    lines = [
        "# The arena of tables",
        "",
        "All competitors on the same folds; how: see `run.py`. Values are means over the folds of",
        "whole repeats. Wins and losses on a set: the corrected t-test for repeated",
        f"cross-validation at {LEVEL:.0%}. Over the sets together: Wilcoxon's signed-rank test of",
        "the means of the sets, corrected by Holm's method for the competitors of a metric.",
        "A mean difference above zero is in favour of ours. Means over the sets are of those that",
        "all competitors have that were measured on three quarters of the sets.",
    ]
    for kind, names in SETS.items():
        lines += _comparisons(arena, kind, names)
    lines += _closed_shares(arena)
    for kind, names in SETS.items():
        lines += _cpu(arena, kind, names)
    for kind, names in SETS.items():
        for metric in METRICS:
            lines += _values(arena, kind, names, metric)
    return lines


def lines_of_large(arena: LargeTableArena) -> list[str]:
    """Return the values of the large sets."""
    names = tuple(arena.shapes)
    kind = "large sets, whole"
    lines = [line for metric in METRICS for line in _values(arena, kind, names, metric)]
    return [*_cpu(arena, kind, names), *lines]


def _complete(arena: TableArena, names: Sequence[str], metric: str) -> list[str]:
    """Return the competitors that have a whole repeat on any of these sets."""
    return [r for r in arena.rivals if arena.measured(names, metric, [r])]


# ── ours against each ─────────────────────────────────────────────────────────────────────────────


def _comparisons(arena: TableArena, kind: str, names: Sequence[str]) -> list[str]:
    columns = ("metric", "against", "sets", "wins", "ties", "losses", "won on", "lost on")
    lines = []
    for ours in arena.ours:
        rows = [row for metric in METRICS for row in _against_each(arena, names, metric, ours)]
        if rows:
            lines += ["", f"## {ours} on {kind}, against each competitor", ""]
            lines += [*header(*columns, "mean difference", "p, corrected"), *rows]
    return lines


def _against_each(arena: TableArena, names: Sequence[str], metric: str, ours: str) -> list[str]:
    rivals = [r for r in arena.rivals if r != ours and arena.measured(names, metric, [ours, r])]
    differences = [np.subtract(*arena.means(names, metric, [ours, rival]).T) for rival in rivals]
    corrected = holm([signed_rank_p(by_set) for by_set in differences])
    rows = []
    for rival, by_set, p in zip(rivals, differences, corrected, strict=True):
        sets = arena.outcomes(names, metric, ours, [rival])
        counts = (str(len(of_word)) for of_word in sets.values())
        lists = (", ".join(sets[word]) for word in ("win", "loss"))
        pooled = f"{by_set.mean():+.4f}", bold_if(f"{p:.2g}", p < LEVEL)
        rows.append(line(metric, rival, str(len(by_set)), *counts, *lists, *pooled))
    return rows


# ── the gap between a line and boosting ───────────────────────────────────────────────────────────


def _closed_shares(arena: TableArena) -> list[str]:
    names, ends = SETS["numbers"], [LINE, BOOSTING]
    others = [
        rival
        for rival in arena.rivals
        if rival not in ends and arena.measured(names, GAP, [*ends, rival])
    ]
    if not arena.measured(names, GAP, ends):
        return []
    near, far = arena.means(names, GAP, ends).T
    lines = [
        "",
        f"## Closed share of the gap between {LINE} and {BOOSTING} on sets of numbers",
        "",
        f"By {GAP}: the gap is {(far - near).mean():+.4f} in the mean of {len(near)} sets. A share",
        "is the mean gain over the line to the mean gap, with 95 % of samples of the sets; the",
        f"median is over single sets with a gap of at least {LEAST_GAP:g}.",
        "",
        *header("competitor", "sets", "gap", "closed share", "95 %", "median of sets"),
    ]
    for rival in others:
        share = ClosedShare.of(*arena.means(names, GAP, [*ends, rival]).T)
        interval = f"{share.low:.0%} to {share.high:.0%}"
        median = "" if np.isnan(share.median) else f"{share.median:.0%}"
        cells = f"{share.gap:+.4f}", f"{share.share:.0%}", interval, median
        lines.append(line(rival, str(share.sets), *cells))
    return lines


# ── CPU time, and every value ─────────────────────────────────────────────────────────────────────


def _cpu(arena: TableArena, kind: str, names: Sequence[str]) -> list[str]:
    measured = {score.rival for score in arena.scores if score.name in names}
    if not measured:
        return []
    lines = [
        "",
        f"## CPU of the whole choice on {kind}, all metrics together (median of folds)",
        "",
    ]
    lines += header("competitor", f"to {EBM}", f"to {LINE}")
    for rival in arena.rivals:
        if rival in measured:
            ratios = (arena.cpu_to(names, rival, unit) for unit in (EBM, LINE))
            lines.append(line(rival, *("" if np.isnan(r) else f"{r:.3g}" for r in ratios)))
    return lines


def _values(arena: TableArena, kind: str, names: Sequence[str], metric: str) -> list[str]:
    rivals = _complete(arena, names, metric)
    measured = [name for name in names if any(arena.measured([name], metric, [r]) for r in rivals)]
    if not measured:
        return []
    better = "more" if METRICS[metric].greater_is_better else "less"
    lines = ["", f"## {metric[0].upper()}{metric[1:]} on {kind} ({better} is better)", ""]
    lines += header("set", "n x d", *rivals)
    for name in measured:
        tables = [arena.folds(name, metric, [rival]) for rival in rivals]
        means = [None if table is None else float(table.mean()) for table in tables]
        lines.append(line(name, arena.shapes[name], *_cells(arena, metric, means)))
    often = [
        rival
        for rival in rivals
        if len(arena.measured(measured, metric, [rival])) >= _OFTEN * len(measured)
    ]
    shared = arena.means(names, metric, often)
    if len(shared):
        by_rival = dict(zip(often, shared.mean(axis=0).tolist(), strict=True))
        cells = _cells(arena, metric, [by_rival.get(rival) for rival in rivals])
        lines.append(line(f"mean of {len(shared)}", "", *cells))
    return lines


def _cells(arena: TableArena, metric: str, means: Sequence[float | None]) -> list[str]:
    """Return means as cells, the best one bold, an empty cell where there is none."""
    best = max(round(mean, 9) for mean in means if mean is not None)
    return [
        "" if mean is None else bold_if(f"{arena.signed(metric, mean):.4f}", round(mean, 9) == best)
        for mean in means
    ]


if __name__ == "__main__":
    main()
