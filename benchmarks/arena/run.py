"""The arena: every competitor on the same folds of 31 general and 30 imbalanced sets.

``python -m benchmarks.arena.run`` appends one line for each set, repeat, fold and competitor to
``measured.csv``, goes on where an interrupted run stopped, and writes ``arena.md`` and
``ranks.png``. ``--quick`` is three small sets and leaves the tracked files alone but compares with
them; ``--large`` is one fold of the large sets, whole, into ``large.csv``. ``--jobs 2`` uses two
processes; ``--without "LibAUC"`` leaves a competitor for a later run.

Two repeats of five stratified folds, the same for all. At most 10,000 rows a set, a fixed sample.
All that is chosen, is chosen in folds of the training rows: for the competitors, three, the same
for all of them; for `MomentClassifier` and `SmoothClassifier` in folds of their own. Every metric
is exact on the fold held out.

* Features are standardised on the training rows for competitors; ours get them as they are.
* Thresholds: for the error, competitors have their own (those that only rank have none, and are
  given one). For every other metric with a threshold it is the best one for the scores of the
  inner folds, but for "logistic", which is scikit-learn's default throughout. Ours choose theirs
  on folds, for the error too: some wins there come from the threshold alone, and the column
  "logistic, tuned threshold" says which.
* "beta-bernoulli" is treated as the competitors are, its ridge chosen for each metric.
* "Fisher" is LDA without shrinkage; "prior" is one score for all rows.
* HistGradientBoosting, XGBoost and naive Bayes are not linear: they are shown, and not ranked.
* LibAUC has five epochs of balanced batches, 300 steps at least, and one learning rate; Vowpal
  Wabbit five passes and its own steps: neither is tuned.

CPU is that of the whole choice, for all metrics together, to that of tuned logistic regression.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial

from tqdm import tqdm

from benchmarks.arena import report
from benchmarks.arena.protocol import METRICS, Task, planned, split
from benchmarks.arena.results import LARGE, MEASURED, Score, drift
from benchmarks.harness.record import commit
from benchmarks.harness.runner import grouped, measure_missing, timed
from benchmarks.rivals.lines import RIVALS, TUNED

#: Too slow for what they tell, where rows are many.
NOT_WHOLE = ("LibAUC", "Vowpal Wabbit", "pairwise hinge", "SMOTE + logistic", "XGBoost, pairwise")
NOT_QUICK = ("LibAUC", "Vowpal Wabbit")


def measured(task: Task, names: Sequence[str]) -> list[Score]:
    """Fit competitors to the training rows of a fold, and score the others for every metric."""
    train, test = split(task)
    n, d = len(train.y) + len(test.y), train.X.shape[1]
    fold_scores, unit = [], 1.0
    # Tuned logistic regression is the unit of CPU time, so it runs whether asked for or not.
    for name in dict.fromkeys([TUNED, *names]):
        scores, spent = timed(RIVALS[name].scores, train, test, METRICS)
        unit = spent if name == TUNED else unit
        values = {key: METRICS[key].score(test.y, scores[key]) for key in scores}
        about = (task.name, n, d, task.repeat, task.fold, name)
        fold_scores.append(Score(*about, spent, spent / unit, commit(), values))
    return [score for score in fold_scores if score.rival in names]


def plan(
    *, quick: bool, large: bool, without: Sequence[str] = ()
) -> Iterator[tuple[str, int, int, str]]:
    """Yield set, repeat, fold and competitor of all that can be measured here."""
    left_out = {*without, *(NOT_WHOLE if large else ()), *(NOT_QUICK if quick else ())}
    able = [name for name, rival in RIVALS.items() if not rival.missing and name not in left_out]
    for task in planned(quick=quick, large=large):
        yield from ((*task[:3], name) for name in able)


def _rows(
    name: str, repeat: int, fold: int, rivals: list[tuple[str]], *, whole: bool
) -> list[tuple[object, ...]]:
    task = Task(name, repeat, fold, whole)
    return [score.cells(METRICS) for score in measured(task, [rival for (rival,) in rivals])]


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three small sets, compared only")
    parser.add_argument("--large", action="store_true", help="the large sets, whole")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--without", nargs="*", default=[], choices=RIVALS, help="left for later")
    args = parser.parse_args()
    for name, rival in RIVALS.items():
        if rival.missing:
            print(f"not run: {name}; try: pip install {rival.missing}")
    keys = plan(quick=args.quick, large=args.large, without=args.without)
    if args.quick:
        again: list[Score] = []
        for *fold, rivals in tqdm(grouped(keys, 3)):
            again += measured(Task(*fold), [rival for (rival,) in rivals])
        raise SystemExit(drift(again) or 0)
    record = LARGE if args.large else MEASURED
    measure = partial(_rows, whole=args.large)
    measure_missing(record, keys, measure, together=3, jobs=args.jobs)
    report.main()


if __name__ == "__main__":
    main()
