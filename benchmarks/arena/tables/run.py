"""The arena of tables: twelve tables with texts and missing values, and 61 sets of numbers.

``python -m benchmarks.arena.tables.run`` appends one line for each set, repeat, fold and competitor
to ``measured.csv``, goes on where an interrupted run stopped, and writes ``tables.md``. Choose with
``--only EBM CatBoost``, ``--sets credit_data`` (names, or ``tables``, ``numbers`` and
``imbalanced`` for all of a kind) and ``--repeats 1``; ``--large`` is one fold of the large sets,
whole, into ``large.csv``; ``--report`` measures nothing.

Two repeats of five stratified folds, the same for all. At most 10,000 rows a set, a fixed sample.
All that is chosen, is chosen in folds of the training rows.

* Competitors get the pandas frame as it is. Each is fitted once a fold and serves all metrics;
  those that are tuned, are tuned for AUC. Ours are fitted for each metric.
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
from collections.abc import Iterable
from functools import partial
from itertools import product

from benchmarks.arena.protocol import REPEATS
from benchmarks.arena.tables import report
from benchmarks.arena.tables.protocol import LARGE as LARGE_SETS
from benchmarks.arena.tables.protocol import (
    LARGE_MEASURED,
    MEASURED,
    METRICS,
    SETS,
    Task,
    measured,
    planned,
)
from benchmarks.harness.runner import Part, Study
from benchmarks.rivals.tables import SLOW, TABLE_RIVALS


def _rows(
    name: str, repeat: int, fold: int, rival: str, *, whole: bool = False
) -> list[tuple[object, ...]]:
    return [measured(Task(name, repeat, fold, whole), rival).cells(METRICS)]


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
    lambda _: report.lines(),
    options={
        "--only": {"nargs": "*", "default": list(TABLE_RIVALS), "choices": TABLE_RIVALS},
        "--sets": {"nargs": "*", "default": list(SETS), "choices": _NAMES},
        "--large": {"action": "store_true", "help": "one fold of the large sets, whole"},
        "--repeats": {"type": int, "default": REPEATS, "help": "of five folds each"},
        "--jobs": None,
    },
    report_path=report.REPORT,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
