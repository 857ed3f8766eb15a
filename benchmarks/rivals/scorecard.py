"""Our scorecard: bins of every column, chosen and fitted for the metric."""

from __future__ import annotations

from typing import Any

import numpy as np

import directrix
from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Metrics, Rival, Scores
from benchmarks.rivals.ours import FOR_PROBABILITIES, LOG_LOSS, log_odds


class Scorecard(Rival):
    """A `ScorecardClassifier`, fitted to all metrics at once.

    Parameters
    ----------
    **options
        Parameters of the classifier other than its defaults.
    """

    family = "ours"

    def __init__(self, **options: Any) -> None:
        self.options = options

    @property
    def missing(self) -> str:
        """The class, where this version of directrix does not have it."""
        return "" if hasattr(directrix, "ScorecardClassifier") else "a later directrix"

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit to each metric; log-loss is that of the probabilities of the classifier for AUC."""
        from directrix import ScorecardClassifier  # noqa: PLC0415 - not in every version

        fitted = [name for name in metrics if name != LOG_LOSS]
        classifier = ScorecardClassifier(**self.options)
        cards = classifier.fit_each([metrics[name] for name in fitted], *train)
        by_name = dict(zip(fitted, cards, strict=True))
        scores = {
            name: np.asarray(card.decision_function(test.X)) for name, card in by_name.items()
        }
        if LOG_LOSS in metrics:
            scores[LOG_LOSS] = log_odds(by_name[FOR_PROBABILITIES], test.X)
        return scores


rows, counts = Scorecard(), Scorecard(train_on="counts")
