"""Our own classifiers: everything that they choose, they choose on folds of the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Grid, Metrics, Rival, Scores
from directrix import (
    BetaBernoulliClassifier,
    DirectClassifier,
    MomentClassifier,
    SmoothClassifier,
)


class Ours(Rival):
    """A classifier with its defaults, fitted to the features as they are.

    Parameters
    ----------
    classifier : type
        One that has ``fit_each`` fits all metrics at once.
    """

    family = "ours"

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit to each metric."""
        if hasattr(self.classifier, "fit_each"):
            models = self.classifier().fit_each(list(metrics.values()), *train)
        else:
            models = [self.classifier(metric).fit(*train) for metric in metrics.values()]
        return {
            name: np.asarray(model.decision_function(test.X))
            for name, model in zip(metrics, models, strict=True)
        }


direct, moment, smooth = map(Ours, (DirectClassifier, MomentClassifier, SmoothClassifier))
beta_bernoulli = Grid(
    lambda alpha: BetaBernoulliClassifier(alpha=alpha), (0.1, 1.0, 10.0, 100.0), family="ours"
)
