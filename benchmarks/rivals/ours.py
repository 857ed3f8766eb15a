"""Our own classifiers: everything that they choose, they choose on folds of the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import LogLoss, Metrics, Rival, Scores
from directrix._typing import FloatArray

#: The metric whose classifier is asked for probabilities, as log-loss is none of ours.
FOR_PROBABILITIES = "AUC"


class Ours(Rival):
    """A classifier with its defaults, fitted to the features as they are.

    ``classifier``: one that has ``fit_each`` fits all metrics at once. ``**options``: parameters of
    the classifier other than its defaults.
    """

    family = "ours"

    def __init__(self, classifier: Any, **options: Any) -> None:
        self.classifier, self.options = classifier, options
        self.fitted: list[Any] = []

    @property
    def lines(self) -> float:
        """Lines of the cards fitted last, the median over metrics; NaN if they are no cards."""
        cards = [model.card_ for model in self.fitted if hasattr(model, "card_")]
        return float(np.median([card.n_lines for card in cards])) if cards else float("nan")

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit to each metric; log-loss is that of the probabilities of the classifier for AUC."""
        trained = {n: metric for n, metric in metrics.items() if not isinstance(metric, LogLoss)}
        if hasattr(self.classifier, "fit_each"):
            fitted = self.classifier(**self.options).fit_each(list(trained.values()), *train)
        else:
            fitted = [self.classifier(m, **self.options).fit(*train) for m in trained.values()]
        self.fitted = fitted
        models = dict(zip(trained, fitted, strict=True))
        return {
            name: (
                np.asarray(models[name].decision_function(test.X))
                if name in models
                else log_odds(models[FOR_PROBABILITIES], test.X)
            )
            for name in metrics
        }


def log_odds(model: Any, X: Any) -> FloatArray:
    """Return the log-odds of rows by the probabilities of a model."""
    with np.errstate(divide="ignore"):  # certain rows: the metric clips them
        return np.asarray(logit(np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)))
