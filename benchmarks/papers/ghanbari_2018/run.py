"""Measure Algorithm 1 on the sets of the paper, and write its tables and figures.

``python -m benchmarks.papers.ghanbari_2018.run`` appends the folds that ``measured.csv`` lacks,
then writes ``tables.md``, ``accuracy.png`` and ``auc.png`` anew.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.harness.runner import Part, Study
from benchmarks.papers.ghanbari_2018 import report
from benchmarks.papers.ghanbari_2018.methods import (
    ARTIFICIAL,
    METRICS,
    REAL,
    VARIANTS,
    folds_of,
    outcomes_of,
    seed_of,
    split_of,
)
from benchmarks.papers.ghanbari_2018.report import RECORD, Fold, cells, read


def planned(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Yield every fold of every set for both metrics."""
    for name in args.sets or [*REAL, *VARIANTS, *ARTIFICIAL]:
        for repeat, fold in folds_of(name):
            yield from ((metric, name, repeat, fold) for metric in METRICS)


def measure(metric: str, name: str, repeat: int, fold: int) -> list[tuple[object, ...]]:
    """Measure all methods on a fold."""
    split, exact = split_of(name, repeat, fold)
    outcomes = outcomes_of(metric, split, seed_of(name, repeat, fold), exact)
    return cells(Fold(metric, name, repeat, fold), outcomes)


STUDY = Study(
    [Part(RECORD, planned, measure)],
    lambda _: report.lines(read()),
    options={"--sets": {"nargs": "*", "help": "names of sets; all, if not given"}},
    report_path=report.REPORT,
    draw=lambda: report.draw(read()),
)

if __name__ == "__main__":
    STUDY.main(__doc__)
