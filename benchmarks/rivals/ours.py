"""Our own classifiers: everything that they choose, they choose on folds of the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Grid, Rival
from directrix import (
    BetaBernoulliClassifier,
    DirectClassifier,
    MomentClassifier,
    SmoothClassifier,
)
from directrix.metrics import Metric

if TYPE_CHECKING:
    from directrix._typing import FloatArray


class Direct(Rival):
    """DirectClassifier with its defaults; metrics share the lines of the rows."""

    family = "ours"

    def scores(
        self, train: Rows, test: Rows, metrics: Mapping[str, Metric]
    ) -> dict[str, FloatArray]:
        """Fit to the features as they are."""
        return _scores_of_each(DirectClassifier(), train, test, metrics)


class Moment(Rival):
    """MomentClassifier with its defaults, once for each metric."""

    family = "ours"

    def scores(
        self, train: Rows, test: Rows, metrics: Mapping[str, Metric]
    ) -> dict[str, FloatArray]:
        """Fit to the features as they are."""
        return {
            name: np.asarray(MomentClassifier(metric).fit(*train).decision_function(test.X))
            for name, metric in metrics.items()
        }


class Smooth(Rival):
    """SmoothClassifier with its defaults, one sweep for all metrics."""

    family = "ours"

    def scores(
        self, train: Rows, test: Rows, metrics: Mapping[str, Metric]
    ) -> dict[str, FloatArray]:
        """Fit to the features as they are."""
        return _scores_of_each(SmoothClassifier(), train, test, metrics)


def _scores_of_each(
    classifier: DirectClassifier | SmoothClassifier,
    train: Rows,
    test: Rows,
    metrics: Mapping[str, Metric],
) -> dict[str, FloatArray]:
    fitted = classifier.fit_each(list(metrics.values()), *train)
    return {
        name: np.asarray(model.decision_function(test.X))
        for name, model in zip(metrics, fitted, strict=True)
    }


beta_bernoulli = Grid(
    lambda alpha: BetaBernoulliClassifier(alpha=alpha), (0.1, 1.0, 10.0, 100.0), family="ours"
)
