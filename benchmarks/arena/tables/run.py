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

from functools import partial

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
from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.rivals.tables import SLOW, TABLE_RIVALS


def _rows(
    name: str, repeat: int, fold: int, rival: str, *, whole: bool = False
) -> list[tuple[object, ...]]:
    return [measured(Task(name, repeat, fold, whole), rival).cells(METRICS)]


def main() -> None:
    """Run and report."""
    every = [name for names in SETS.values() for name in names]
    parser = option_parser(__doc__)
    parser.add_argument("--only", nargs="*", default=list(TABLE_RIVALS), choices=TABLE_RIVALS)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=[*SETS, *every])
    parser.add_argument("--large", action="store_true", help="one fold of the large sets, whole")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="of five folds each")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    args = parser.parse_args()
    if args.report:
        return report.main()
    rivals = []
    for name in args.only:
        if missing := TABLE_RIVALS[name].missing:
            print(f"not run: {name}; try: pip install {missing}")
        else:
            rivals.append(name)
    if args.large:
        keys = ((name, 0, 0, rival) for name in LARGE_SETS for rival in rivals)
        measure_missing(LARGE_MEASURED, keys, partial(_rows, whole=True), jobs=args.jobs)
    else:
        names = [name for chosen in args.sets for name in SETS.get(chosen, (chosen,))]
        keys = planned(names, rivals, SLOW, args.repeats)
        measure_missing(MEASURED, keys, _rows, jobs=args.jobs)
    return report.main()


if __name__ == "__main__":
    main()
