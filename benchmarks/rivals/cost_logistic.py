"""empulse's CSLogitClassifier: logistic regression for the expected cost."""

from __future__ import annotations

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Metrics, Rival, Scores, standardized
from directrix.metrics import Cost


class CostLogistic(Rival):
    """For costs alone: of other metrics it says nothing."""

    needs = "empulse"

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit once for each metric that is a cost; the threshold is the cheapest probability."""
        from empulse.models import CSLogitClassifier  # noqa: PLC0415 - optional

        train, test = standardized(train, test)
        scores = {}
        for name, metric in metrics.items():
            if isinstance(metric, Cost):
                model = CSLogitClassifier(fp_cost=metric.fp, fn_cost=metric.fn)
                model.fit(train.X, train.y.astype(int))
                probability = model.predict_proba(test.X)[:, 1]
                scores[name] = np.asarray(probability - metric.fp / (metric.fp + metric.fn))
        return scores
