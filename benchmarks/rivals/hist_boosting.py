"""HistGradientBoosting of scikit-learn with native categories, tuned."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.harness.data import Rows
from benchmarks.rivals.tuned_trees import Settings, TunedTrees
from directrix._typing import FloatArray


class HistBoosting(TunedTrees):
    """Stopped by the library's own rule, on a tenth of the rows that it is fitted to."""

    #: Levels that it can tell apart; one of its 255 bins is for missing values.
    most_levels = 254

    def grow(
        self, train: Rows, other: Rows, settings: Settings, *, stop: bool
    ) -> tuple[FloatArray, int]:
        """Fit, and predict at the number of trees reached."""
        model = HistGradientBoostingClassifier(
            learning_rate=settings.rate,
            max_leaf_nodes=settings.leaves,
            max_iter=settings.trees,
            early_stopping=stop,
            categorical_features="from_dtype",
            random_state=0,
        ).fit(train.X, train.y)
        return np.asarray(model.decision_function(other.X)), int(model.n_iter_)


tuned = HistBoosting()
