"""How often a guaranteed false-positive rate is exceeded: 2,000 resamples of three sets.

``python -m benchmarks.guarantee.resamples`` writes ``resamples.csv``. Of each set a third trains a
`DirectClassifier` once. The rest stands for all rows there are: 2,000 times some of them, drawn
with replacement, set the threshold as ``guarantee=0.95`` does, and the share of all negatives of
the rest that are above it is the rate on new rows. Beside it: the threshold that keeps the limit on
the drawn rows themselves, without a guarantee.

The line is fitted once, not 2,000 times: the bound holds for any line that has not seen the rows.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np

from benchmarks.data import load
from directrix import DirectClassifier
from directrix.classifiers.fitting.guarantee import Guarantee
from directrix.metrics import Curve, RecallAtFPR

RESULTS = Path(__file__).with_suffix(".csv")
SETS = ("magic04", "htru2", "default_credit")
LIMITS = (0.01, 0.05)
CONFIDENCE, RESAMPLES, DRAWN = 0.95, 2000, 3000
COLUMNS = ("set", "limit", "resamples", "broken", "broken without", "mean rate", "without")


def measured(name: str, limit: float) -> tuple[float, float, float, float]:
    """Return how often the limit is broken and the mean rate, with the guarantee and without."""
    X, y = load(name)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    train, rest = order[: len(y) // 3], order[len(y) // 3 :]
    metric = RecallAtFPR(limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where nothing beats logistic regression
        line = DirectClassifier(metric, cv=3).fit(X[train], y[train])
    scores, positive = line.decision_function(X[rest]), y[rest]
    negatives = np.sort(scores[~positive])
    rates = np.empty((RESAMPLES, 2))
    for number in range(RESAMPLES):
        drawn = rng.integers(0, len(rest), DRAWN)
        own = positive[drawn], scores[drawn]
        thresholds = (
            Guarantee.of(metric, None, CONFIDENCE).threshold(metric, Curve.of(*own)),
            metric.best(Curve.of(*own)).threshold,
        )
        above = len(negatives) - np.searchsorted(negatives, thresholds, side="right")
        rates[number] = above / len(negatives)
    broken = (rates > limit).mean(axis=0)
    mean = rates.mean(axis=0)
    return float(broken[0]), float(broken[1]), float(mean[0]), float(mean[1])


def main() -> None:
    """Measure, print and track."""
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name in SETS:
            for limit in LIMITS:
                found = measured(name, limit)
                writer.writerow((name, limit, RESAMPLES, *(f"{value:.4f}" for value in found)))
                print(
                    f"{name}, FPR at most {limit:g}: broken in {found[0]:.4f} of {RESAMPLES} "
                    f"resamples, without a guarantee in {found[1]:.4f}; mean rate {found[2]:.4f} "
                    f"and {found[3]:.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
