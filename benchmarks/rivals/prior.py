"""The do-nothing rival: the class prior, the same score for every row."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Metrics, Rival, Scores, finite_threshold


class Prior(Rival):
    """All positive or all negative, whichever is better on the training rows."""

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Return a constant."""
        constant = np.zeros(len(train.y))
        # Ranks and log-loss have no threshold, and the log-odds of the prior serve both.
        prior = float(logit(np.mean(train.y)))
        return {
            name: np.full(
                len(test.y),
                -finite_threshold(metric, train.y, constant) if metric.uses_threshold else prior,
            )
            for name, metric in metrics.items()
        }
