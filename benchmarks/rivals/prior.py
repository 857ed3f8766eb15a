"""The do-nothing rival: the class prior, the same score for every row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Rival, finite_threshold
from directrix.metrics import Metric

if TYPE_CHECKING:
    from directrix._typing import FloatArray


class Prior(Rival):
    """All positive or all negative, whichever is better on the training rows."""

    def scores(
        self, train: Rows, test: Rows, metrics: Mapping[str, Metric]
    ) -> dict[str, FloatArray]:
        """Return a constant."""
        constant = np.zeros(len(train.y))
        return {
            name: np.full(
                len(test.y), -finite_threshold(metric, train.y, constant) if metric.cuts else 0.0
            )
            for name, metric in metrics.items()
        }
