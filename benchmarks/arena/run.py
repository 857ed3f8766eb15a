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
from benchmarks.arena.results import LARGE, MEASURED, Arena, Score, drift
from benchmarks.harness.record import commit
from benchmarks.harness.runner import Part, Study, grouped, timed
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


def plan(args: argparse.Namespace) -> Iterator[tuple[str, int, int, str]]:
    """Yield set, repeat, fold and competitor of all that can be measured here."""
    for name, rival in RIVALS.items():
        if rival.missing:
            print(f"not run: {name}; try: pip install {rival.missing}")
    left_out = {*args.without, *NOT_WHOLE * args.large, *NOT_QUICK * args.quick}
    able = [name for name, rival in RIVALS.items() if not rival.missing and name not in left_out]
    for task in planned(quick=args.quick, large=args.large):
        yield from ((*task[:3], name) for name in able)


def _rows(
    name: str, repeat: int, fold: int, rivals: list[tuple[str]], *, whole: bool = False
) -> list[tuple[object, ...]]:
    task = Task(name, repeat, fold, whole)
    return [score.cells(METRICS) for score in measured(task, [rival for (rival,) in rivals])]


def compare(args: argparse.Namespace) -> None:
    """Measure small sets again, and fail where they are far from the tracked figures."""
    again: list[Score] = []
    for *fold, rivals in tqdm(grouped(plan(args), 3)):
        again += measured(Task(*fold), [rival for (rival,) in rivals])
    raise SystemExit(drift(again) or 0)


STUDY = Study(
    [
        Part(MEASURED, lambda args: () if args.large else plan(args), _rows, 3),
        Part(LARGE, lambda args: plan(args) if args.large else (), partial(_rows, whole=True), 3),
    ],
    lambda _: report.lines(Arena()),
    quick="three small sets, compared only",
    options={
        "--large": {"action": "store_true", "help": "the large sets, whole"},
        "--jobs": None,
        "--without": {"nargs": "*", "default": [], "choices": RIVALS, "help": "left for later"},
    },
    try_out=compare,
    report_path=report.REPORT,
    draw=lambda: report.draw(Arena()),
)

if __name__ == "__main__":
    STUDY.main(__doc__)
