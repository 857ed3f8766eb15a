"""The card of one penalised likelihood against the card of many candidates, boosting and others.

``python -m benchmarks.studies.cards.one_card`` fits the card and LightGBM, with 150 trees of 7
leaves and by its defaults, to twelve tables and twelve sets of numbers, at most 6,000 rows of each,
first one fold of all, then the next. Two folds then have slower rivals: logistic regression over
one-hot texts, weights of evidence by optbinning, an EBM of four bags (all as in the arena of
tables), the card of counts alone, from one pass in five folds, and a card of at most 20 lines for
FasterRisk, which is fitted to one fold with ten conditions on bins (see `faster_risk.py`; it has no
probabilities). Where the arena of tables has the same rows in the same folds, the values of its
rivals are read from there.

``--quick`` measures one fold of the two smallest tables; ``--folds`` says how many folds. The card
of many candidates was measured on the same folds by the last commits that made it, which the rows
name. The report has the differences of all, the gate that decided which of both cards
`ScorecardClassifier` makes, and wide tables (`wide_tables.py`).
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from statistics import fmean, stdev

import numpy as np

from benchmarks.arena.protocol import GENERAL
from benchmarks.arena.tables.protocol import MEASURED as ARENA
from benchmarks.harness.data import TABLES
from benchmarks.harness.markdown import bold_if, signed_error, table
from benchmarks.harness.record import Record, Row, package_commit
from benchmarks.harness.runner import Part, Study
from benchmarks.rivals.tables import EBM, LINE
from benchmarks.studies.cards import faster_risk, wide_tables
from benchmarks.studies.cards.folds import FOLDS, split
from benchmarks.studies.cards.methods import COUNTS, GROWN, METRICS, RISK, SMALL, TREES, measured

#: Every second of the general sets of numbers, from the smallest of 700 rows on.
NUMBERS = GENERAL[4:28:2]
SETS = (*TABLES, *NUMBERS)
MOST_ROWS = 6_000
QUICK = ("german_credit", "hmda_boston")
LANDED = "many candidates"
FAST_RIVALS = (SMALL, COUNTS, LINE, "weights of evidence")
RIVALS = (*FAST_RIVALS, EBM, RISK)
METHODS = (GROWN, LANDED, *TREES, *RIVALS)
RIVAL_FOLDS = 2
#: What the new card may lose in the mean of all sets, and its CPU time relative to the other's.
GATE = {"AUC": -0.001, "recall at FPR 5 %": -0.005, "log loss": 0.0005}
MOST_CPU = 0.4


def measure(fold: int, name: str, missing: list[tuple[str]]) -> list[tuple[object, ...]]:
    """Fit the missing methods to one fold of one set."""
    train, test = split(name, fold, MOST_ROWS)
    return [
        (fold, name, method, *measured(method, train, test), package_commit())
        for (method,) in missing
    ]


def recorded() -> Iterator[Row]:
    """Yield what the arena measured on the same rows in the same folds."""
    sizes = {row["set"]: int(row["rows"]) for row in ARENA.rows()}
    for row in ARENA.rows():
        same = row["set"] in SETS and sizes[row["set"]] <= MOST_ROWS and row["repeat"] == "0"
        if same and row["rival"] in RIVALS:
            own = {"method": row["rival"], "log loss": row["log-loss"], "cpu": row["cpu_seconds"]}
            yield row | own | {"lines": ""}


# ── the report ────────────────────────────────────────────────────────────────────────────────────


class Results:
    """Values by method, column, set and fold."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.values: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
        for row in rows:
            for column in (*METRICS, "cpu", "lines"):
                if row.get(column):
                    key = row["method"], column, row["set"]
                    self.values[key][row["fold"]] = float(row[column])

    def mean(self, method: str, column: str, name: str) -> float | None:
        """Return the mean over the folds."""
        of_folds = self.values.get((method, column, name))
        return fmean(of_folds.values()) if of_folds else None

    def pair(self, method: str, column: str, name: str) -> tuple[float, float] | None:
        """Return the means of the card and of a method over the folds that both have."""
        first, other = (self.values.get((m, column, name), {}) for m in (GROWN, method))
        shared = first.keys() & other.keys()
        return (
            (fmean(first[k] for k in shared), fmean(other[k] for k in shared)) if shared else None
        )

    def gaps(self, method: str, column: str, names: Sequence[str]) -> list[float]:
        """Return the card less a method in each set that has both."""
        pairs = (self.pair(method, column, name) for name in names)
        return [a - b for a, b in filter(None, pairs)]

    def cpu_ratio(self, method: str, names: Sequence[str]) -> float:
        """Return the CPU time of the card relative to that of a method."""
        ours, theirs = np.transpose([p for n in names if (p := self.pair(method, "cpu", n))])
        return float(ours.sum() / theirs.sum())


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    results = Results([*rows, *recorded()])
    text = [
        "# One likelihood, or many candidates",
        "",
        "How: see `one_card.py`. Differences are of the folds that both have; values of the card",
        "are of all its folds. Its points are log-odds. Logistic regression has the C of best",
        "AUC, so that its log loss is poor where all C rank alike. The CPU time of a rival has",
        "that of its tuning, on the machine that measured it.",
    ]
    if not any(results.mean(GROWN, "AUC", name) for name in SETS):
        return [*text, "", "Nothing was measured yet."]
    text += _means(results)
    if results.gaps(LANDED, "AUC", SETS):
        text += _gate(results)
    for metric in METRICS:
        text += _each_set(results, metric)
    return [*text, *_sizes(results), *wide_tables.lines(wide_tables.RECORD.rows())]


def _means(results: Results) -> list[str]:
    """Return the differences by rival and kind of set."""
    cells = []
    for method, (kind, names) in product(METHODS[1:], (("tables", TABLES), ("numbers", NUMBERS))):
        of_auc = results.gaps(method, "AUC", tuple(names))
        if len(of_auc) < 2:
            continue
        folds = [len(results.values.get((method, "AUC", name), ())) for name in names]
        few, most = min(filter(None, folds)), max(folds)
        shown = [_with_error(results.gaps(method, metric, tuple(names))) for metric in METRICS]
        ahead = f"{sum(gap > 0 for gap in of_auc)} of {len(of_auc)}"
        number = str(few) if few == most else f"{few} to {most}"
        cpu = f"{results.cpu_ratio(method, tuple(names)):.2g}"
        cells.append((method, kind, number, ahead, *shown, cpu))
    columns = f"method | sets | folds | ahead by AUC | {' | '.join(METRICS)} | CPU, ratio"
    return table(columns, cells, f"{GROWN} less each other method")


def _with_error(gaps: list[float]) -> str:
    return signed_error(fmean(gaps), stdev(gaps) / len(gaps) ** 0.5) if len(gaps) > 1 else ""


def _gate(results: Results) -> list[str]:
    gaps = {metric: fmean(results.gaps(LANDED, metric, SETS)) for metric in GATE}
    ratio = results.cpu_ratio(LANDED, SETS)
    kept = [
        gap <= GATE[name] if name == "log loss" else gap >= GATE[name] for name, gap in gaps.items()
    ]
    figures = [f"{gap:+.4f} ({GATE[name]:+g})" for name, gap in gaps.items()]
    cells = [
        (name, figure, "kept" if fine else "**not kept**")
        for name, figure, fine in zip(
            (*GATE, "CPU, ratio"),
            (*figures, f"{ratio:.2f} ({MOST_CPU:g})"),
            (*kept, ratio <= MOST_CPU),
            strict=True,
        )
    ]
    return table("figure | measured (at most lost) | gate", cells, "The gate")


def _each_set(results: Results, metric: str) -> list[str]:
    """Return the card in each set, and its differences to the others; losses are bold."""
    sign = 1.0 if METRICS[metric].greater_is_better else -1.0
    others = [m for m in METHODS[1:] if results.gaps(m, metric, SETS)]
    cells = []
    for name in SETS:
        value = results.mean(GROWN, metric, name)
        if value is None:
            continue
        gaps = [results.gaps(method, metric, [name]) for method in others]
        shown = [bold_if(f"{gap[0]:+.4f}", sign * gap[0] < 0) if gap else "" for gap in gaps]
        cells.append((name, f"{value:.4f}", *shown))
    title = f"Each set: {metric}, and the card less each other; what it loses is bold"
    return table(" | ".join(("set", GROWN, *others)), cells, title)


def _sizes(results: Results) -> list[str]:
    cells = [
        (
            name,
            *(f"{results.mean(m, 'lines', name) or 0:.0f}" for m in (GROWN, SMALL, RISK)),
            *(f"{results.mean(m, 'cpu', name) or 0:.2g}" for m in METHODS),
        )
        for name in SETS
    ]
    heading = [*(f"lines, {m}" for m in (GROWN, SMALL, RISK)), *(f"CPU s, {m}" for m in METHODS)]
    return table(" | ".join(("set", *heading)), cells, "Each set: lines and CPU seconds")


def plan(args: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Yield fold, set and method."""
    names, folds = (QUICK, 1) if args.quick else (SETS, args.folds)
    return product(range(folds), names, (GROWN, *TREES))


def plan_fast(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Yield what the arena has not measured of the faster rivals."""
    yield from _not_recorded(args, FAST_RIVALS, RIVAL_FOLDS)


def plan_risk(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Yield one fold of FasterRisk, if there is one."""
    if faster_risk.VARIABLE in os.environ:
        yield from _not_recorded(args, (RISK,), 1)


def plan_slow(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Yield what the arena has not measured of the slowest rival."""
    yield from _not_recorded(args, (EBM,), RIVAL_FOLDS)


def _not_recorded(
    args: argparse.Namespace, methods: Sequence[str], folds: int
) -> Iterator[tuple[object, ...]]:
    have = {(int(row["fold"]), row["set"], row["method"]) for row in recorded()}
    every = product(range(min(folds, args.folds)), SETS, methods)
    yield from () if args.quick else (key for key in every if key not in have)


RECORD = Record.beside(
    __file__,
    ("fold", "set", "method", *METRICS, "lines", "cpu", "commit"),
    "fold, set, method",
)
STUDY = Study(
    [Part(RECORD, some, measure, together=2) for some in (plan, plan_fast, plan_risk, plan_slow)],
    lines,
    quick="one fold of the two smallest tables",
    options={
        "--folds": {"type": int, "default": FOLDS, "help": "of five"},
        "--minutes": None,
        "--results": None,
    },
)
if __name__ == "__main__":
    STUDY.main(__doc__)
