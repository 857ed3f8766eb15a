"""Measure Algorithm 1 on the sets of the paper, and write its tables and figures.

``python -m benchmarks.moment_descent.run`` appends the folds that ``measured.csv`` lacks, then
writes ``tables.md``, ``accuracy.png`` and ``auc.png`` anew. ``--quick`` measures one repeat of four
small sets and writes nothing; ``--report`` measures nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.moment_descent import artificial, published_sets, record, report
from benchmarks.moment_descent.methods import METRICS, Outcome, outcomes_of
from benchmarks.moment_descent.published_sets import Split
from benchmarks.moment_descent.record import Fold
from directrix import Moments

QUICK = ("fourclass", "vowel", "segment", "sonar")


def tasks(sets: list[str]) -> Iterator[tuple[Fold, Split, Moments | None]]:
    """Yield every fold of every set for both metrics."""
    for name in sets:
        if name in artificial.SETS:
            for run, split, exact in artificial.draws_of(name):
                for metric in METRICS:
                    yield Fold(metric, name, run, 0), split, exact
        else:
            for repeat, fold, split in published_sets.splits_of(name):
                for metric in METRICS:
                    yield Fold(metric, name, repeat, fold), split, None


def measured(fold: Fold, split: Split, exact: Moments | None) -> dict[str, Outcome]:
    """Measure a fold, and say so."""
    rng = published_sets.seed_of(fold.set, fold.repeat, fold.fold)
    found = outcomes_of(fold.metric, split, rng, exact)
    values = ", ".join(f"{name} {own.value:.4f}" for name, own in found.items())
    print(f"{fold.set} {fold.metric} {fold.repeat}.{fold.fold}: {values}", flush=True)
    return found


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", help="names of sets; all, if not given")
    parser.add_argument("--quick", action="store_true", help="a minute; writes nothing")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    if arguments.quick:
        found = {task[0]: measured(*task) for task in tasks(list(QUICK)) if task[0].repeat == 0}
        print("\n".join(report.lines(found)))
        return
    known = record.read()
    every = [*published_sets.SETS, *artificial.SETS]
    for fold, split, exact in tasks([] if arguments.report else arguments.sets or every):
        if fold not in known:
            record.append(fold, measured(fold, split, exact))
    report.write(record.read())


if __name__ == "__main__":
    main()
