"""How often a guaranteed false-positive rate is exceeded: 2,000 resamples of three sets.

``python -m benchmarks.studies.new_rows.guarantee`` writes ``guarantee.csv``. Of each set a third
trains a `DirectClassifier` once. The rest stands for all rows there are: 2,000 times some of them,
drawn with replacement, set the threshold as ``guarantee=0.95`` does, and the share of all negatives
of the rest that are above it is the rate on new rows. Beside it: the threshold that keeps the limit
on the drawn rows themselves, without a guarantee.

The line is fitted once, not 2,000 times: the bound holds for any line that has not seen the rows.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from benchmarks.harness.data import load
from benchmarks.harness.record import Record
from benchmarks.harness.runner import Part, Study, quiet
from directrix import DirectClassifier
from directrix.fitting.guarantee import Guarantee
from directrix.metrics import RecallAtFPR
from directrix.metrics.base import Curve

SETS = ("magic04", "htru2", "default_credit")
LIMITS = (0.01, 0.05)
CONFIDENCE, RESAMPLES, DRAWN = 0.95, 2000, 3000


def measured(name: str, limit: float) -> list[tuple[object, ...]]:
    """Return how often the limit is broken and the mean rate, with the guarantee and without."""
    X, y = load(name)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    train, rest = order[: len(y) // 3], order[len(y) // 3 :]
    metric = RecallAtFPR(limit)
    with quiet():
        line = DirectClassifier(metric, cv=3).fit(X[train], y[train])
    scores, positive = line.decision_function(X[rest]), y[rest]
    negatives = np.sort(scores[~positive])
    rates = np.empty((RESAMPLES, 2))
    for number in range(RESAMPLES):
        drawn = rng.integers(0, len(rest), DRAWN)
        curve = Curve.of(positive[drawn], scores[drawn])
        thresholds = (
            Guarantee.of(metric, None, CONFIDENCE).threshold(metric, curve),
            metric.best(curve).threshold,
        )
        above = len(negatives) - np.searchsorted(negatives, thresholds, side="right")
        rates[number] = above / len(negatives)
    figures = (*(rates > limit).mean(axis=0), *rates.mean(axis=0))
    return [(name, limit, RESAMPLES, *(f"{figure:.4f}" for figure in figures))]


RECORD = Record.beside(
    __file__, "set, limit, resamples, broken, broken without, mean rate, without", "set, limit"
)
STUDY = Study([Part(RECORD, lambda _: product(SETS, LIMITS), measured)])

if __name__ == "__main__":
    STUDY.main(__doc__)
