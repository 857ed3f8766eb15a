"""scikit-learn's TunedThresholdClassifierCV over logistic regression."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import INNER_FOLDS, Metrics, Rival, Scores, standardized
from directrix._typing import AnyArray, FloatArray
from directrix.metrics.at_threshold import ThresholdMetric
from directrix.metrics.base import Metric


class TunedThreshold(Rival):
    """C = 1; the threshold of best metric in three folds, by its own grid of a hundred."""

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit once for each metric that has a threshold."""
        train, test = standardized(train, test)
        model = LogisticRegression().fit(*train)
        plain = np.asarray(model.decision_function(test.X))
        return {
            name: self._moved(train, test, metric) if isinstance(metric, ThresholdMetric) else plain
            for name, metric in metrics.items()
        }

    @staticmethod
    def _moved(train: Rows, test: Rows, metric: Metric) -> FloatArray:
        def score(y: AnyArray, predicted: AnyArray) -> float:
            return metric.score(y, np.where(predicted, 1.0, -1.0))

        tuned = TunedThresholdClassifierCV(
            LogisticRegression(),
            scoring=make_scorer(score, greater_is_better=metric.greater_is_better),
            cv=StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0),
        ).fit(*train)
        probability = tuned.predict_proba(test.X)[:, 1]
        return np.asarray(probability - tuned.best_threshold_)
