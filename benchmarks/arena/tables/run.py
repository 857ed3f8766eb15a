"""The arena of tables: 21 tables with texts and missing values, and 61 sets of numbers.

``python -m benchmarks.arena.tables.run`` appends one line for each set, repeat, fold and competitor
to ``measured.csv``, goes on where an interrupted run stopped, and writes ``tables.md``. Choose with
``--only EBM CatBoost``, ``--sets credit_data`` (names, or all of a kind: ``tables``,
``"later tables"``, ``"new tables"``, ``numbers``, ``imbalanced``) and ``--repeats 1``; ``--large``
is one fold of the large sets, whole, into ``large.csv``; ``--report`` measures nothing.

"Later tables" came when most of the code was written, and were at hand while the rest was. "New
tables" were run once, on the last commit, with every competitor fixed before.

Two repeats of five stratified folds, the same for all. At most 10,000 rows a set, a fixed sample.
All that is chosen, is chosen in folds of the training rows.

* "scorecard, rows" has its defaults, among them that it chooses how many lines it prints;
  "scorecard, full" keeps all.
* Competitors get the pandas frame as it is, but for dates, which are days since 1970 for all. Each
  is fitted once a fold and serves all metrics; those that are tuned, are tuned for AUC. Ours are
  fitted for each metric.
* Recall at a false-positive rate and precision at the top are exact on the ranking of the test
  rows. The threshold of the cost is the best one for the scores of the inner folds; EBM and
  CatBoost have no inner folds, and have that of decision theory for their probabilities.
* Log-loss is that of the probabilities as they are; of ours, those of the classifier for AUC.
* "logistic, one-hot": numbers imputed by the median with an indicator and standardised, texts
  one-hot with levels of at least ten rows, C by five inner folds. On sets of numbers this is the
  plain line, with a C for AUC: where all C rank the rows alike it takes a strong ridge, and its
  log-loss and costs are poor. "Evidence" compares with "logistic, tuned" of the other arena there,
  which is tuned for each metric.
* "direct, one-hot" is `DirectClassifier` on the same features.
* "weights of evidence": optbinning's ``BinningProcess``, missing values with their own evidence,
  levels of fewer than ten rows together, then logistic regression, C by five inner folds, in each
  of which bins are made anew. Its class ``Scorecard`` has the same scores as points.
* "LightGBM, tuned" and "HistGradientBoosting, tuned": 7 or 31 leaves, learning rate 0.1 or 0.03, by
  three inner folds, with early stopping; texts are categories.
* "CatBoost" and "EBM" have their libraries' defaults: neither is tuned. "EBM, 4 bags" is the mean
  of 4 models instead of 14, at a quarter of the cost.

All run on one thread. CPU is that of the whole choice, for all metrics together, in seconds and to
that of one-hot logistic regression on the same fold.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.arena.protocol import REPEATS
from benchmarks.arena.results import LEAST_GAP, LEVEL, ClosedShare, holm, signed_rank_p
from benchmarks.arena.run import value_table
from benchmarks.arena.tables.protocol import LARGE as LARGE_SETS
from benchmarks.arena.tables.protocol import (
    LARGE_MEASURED,
    LINES,
    MEASURED,
    METRICS,
    SETS,
    LargeTableArena,
    TableArena,
    Task,
    measured,
    planned,
)
from benchmarks.harness.markdown import bold_if, header, line, sentence_case
from benchmarks.harness.runner import Part, Study
from benchmarks.rivals.tables import BOOSTING, EBM, LINE, SLOW, TABLE_RIVALS

# ── the report ────────────────────────────────────────────────────────────────────────────────────


REPORT = Path(__file__).with_name("tables.md")
#: The metric whose gap between the line and boosting is to be closed.
GAP = "recall at FPR 1 %"
#: Share of the sets that a competitor must be measured on to have a mean over them.
_OFTEN = 0.75


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
        for metric in arena.metrics:
            lines += _values(arena, kind, names, metric)
    return lines


def lines_of_large(arena: LargeTableArena) -> list[str]:
    """Return the values of the large sets."""
    names = tuple(arena.shapes)
    kind = "large sets, whole"
    lines = [line for metric in arena.metrics for line in _values(arena, kind, names, metric)]
    return [*_cpu(arena, kind, names), *lines]


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
    title = f"{sentence_case(metric)} on {kind}"
    lines = value_table(arena, title, names, metric, partial(_cells, arena, metric))
    if not lines:
        return []
    rivals = [rival for rival in arena.rivals if arena.measured(names, metric, [rival])]
    sets = [arena.measured(names, metric, [rival]) for rival in rivals]
    measured = len(set().union(*sets))
    often = [r for r, of in zip(rivals, sets, strict=True) if len(of) >= _OFTEN * measured]
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


# ── the run ───────────────────────────────────────────────────────────────────────────────────────


def _rows(
    name: str, repeat: int, fold: int, rival: str, *, whole: bool = False
) -> list[tuple[object, ...]]:
    return [measured(Task(name, repeat, fold, whole), rival).cells((*METRICS, LINES))]


def _rivals(args: argparse.Namespace) -> list[str]:
    """Return the competitors that are asked for and can run here."""
    able = [name for name in args.only if not TABLE_RIVALS[name].missing]
    for name in set(args.only) - set(able):
        print(f"not run: {name}; try: pip install {TABLE_RIVALS[name].missing}")
    return able


def plan(args: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Return set, repeat, fold and competitor; none for a run of the large sets."""
    names = [name for chosen in args.sets for name in SETS.get(chosen, (chosen,))]
    return () if args.large else planned(names, _rivals(args), SLOW, args.repeats)


def plan_large(args: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Return one fold of the large sets, if they are asked for."""
    return product(LARGE_SETS, [0], [0], _rivals(args)) if args.large else ()


_NAMES = [*SETS, *(name for names in SETS.values() for name in names)]
STUDY = Study(
    [Part(MEASURED, plan, _rows), Part(LARGE_MEASURED, plan_large, partial(_rows, whole=True))],
    lambda _: lines(),
    options={
        "--only": {"nargs": "*", "default": list(TABLE_RIVALS), "choices": TABLE_RIVALS},
        "--sets": {"nargs": "*", "default": list(SETS), "choices": _NAMES},
        "--large": {"action": "store_true", "help": "one fold of the large sets, whole"},
        "--repeats": {"type": int, "default": REPEATS, "help": "of five folds each"},
        "--jobs": None,
    },
    report_path=REPORT,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
