"""One competitor on one fold of the arena of tables.

A module of its own, so that the processes of a run import it, and each has one cache.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from importlib import import_module
from time import process_time

from benchmarks.arena.results import Score
from benchmarks.arena.tables.protocol import METRICS, Task, split
from benchmarks.harness.record import commit
from benchmarks.rivals.base import Scores
from benchmarks.rivals.on_tables import LINE, TABLE_RIVALS


def measured(task: Task, rival: str) -> Score:
    """Fit a competitor to the training rows of a fold, and score the others for every metric."""
    train, test = split(task)
    (scores, spent), (_, unit) = _fitted(task, rival), _fitted(task, LINE)
    values = {name: METRICS[name].score(test.y, scores[name]) for name in scores}
    about = (task.name, len(train.y) + len(test.y), train.X.shape[1], task.repeat, task.fold)
    return Score(*about, rival, spent, spent / unit, commit(), values)


# One-hot logistic regression, the unit of CPU time, is fitted once for all competitors of a fold.
@lru_cache(maxsize=4)
def _fitted(task: Task, rival: str) -> tuple[Scores, float]:
    train, test = split(task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and solvers that stop early
        competitor = TABLE_RIVALS[rival]
        if competitor.needs:
            import_module(competitor.needs)  # seconds, once a process
        start = process_time()
        scores = competitor.scores(train, test, METRICS)
        return scores, process_time() - start
