"""Our own classifiers: everything that they choose, they choose on folds of the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Grid, Metrics, Rival, Scores
from directrix import (
    BetaBernoulliClassifier,
    DirectClassifier,
    MomentClassifier,
    SmoothClassifier,
)
from directrix._typing import FloatArray

LOG_LOSS = "log-loss"
#: The metric whose classifier is asked for probabilities, as log-loss is none of ours.
FOR_PROBABILITIES = "AUC"


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
        """Fit to each metric; log-loss is that of the probabilities of the classifier for AUC."""
        trained = {name: metric for name, metric in metrics.items() if name != LOG_LOSS}
        if hasattr(self.classifier, "fit_each"):
            models = self.classifier().fit_each(list(trained.values()), *train)
        else:
            models = [self.classifier(metric).fit(*train) for metric in trained.values()]
        scores = {
            name: np.asarray(model.decision_function(test.X))
            for name, model in zip(trained, models, strict=True)
        }
        if LOG_LOSS in metrics:
            by_name = dict(zip(trained, models, strict=True))
            scores[LOG_LOSS] = log_odds(by_name[FOR_PROBABILITIES], test.X)
        return scores


def log_odds(model: Any, X: Any) -> FloatArray:
    """Return the log-odds of rows by the probabilities of a model.

    Parameters
    ----------
    model : fitted classifier
    X : rows
    """
    with np.errstate(divide="ignore"):  # certain rows: the metric clips them
        return np.asarray(logit(np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)))


direct, moment, smooth = map(Ours, (DirectClassifier, MomentClassifier, SmoothClassifier))
beta_bernoulli = Grid(
    lambda alpha: BetaBernoulliClassifier(alpha=alpha), (0.1, 1.0, 10.0, 100.0), family="ours"
)
