"""LightGBM with native categories, tuned."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.rivals.tuned_trees import Settings, TunedTrees
from directrix._typing import FloatArray


class LightGBM(TunedTrees):
    """Stopped when the log-loss of the inner fold has not fallen for fifty trees.

    ``monotone``: columns of numbers whose scores may only rise (1) or only fall (-1).
    """

    needs = "lightgbm"

    def __init__(self, monotone: Mapping[str, int] | None = None) -> None:
        self.monotone = dict(monotone or {})

    def grow(
        self, train: Rows, other: Rows, settings: Settings, *, stop: bool
    ) -> tuple[FloatArray, int]:
        """Fit, and predict at the best number of trees."""
        from lightgbm import LGBMClassifier, early_stopping  # noqa: PLC0415 - optional

        signs = [self.monotone.get(name, 0) for name in train.X]
        model = LGBMClassifier(
            monotone_constraints=signs if any(signs) else None,
            num_leaves=settings.leaves,
            learning_rate=settings.rate,
            n_estimators=settings.trees,
            n_jobs=1,
            random_state=0,
            verbosity=-1,
        )
        if stop:
            watch = early_stopping(50, verbose=False)
            model.fit(train.X, train.y, eval_set=[(other.X, other.y)], callbacks=[watch])
        else:
            model.fit(train.X, train.y)
        scores = model.predict(other.X, raw_score=True)
        return np.asarray(scores, dtype=np.float64), int(model.best_iteration_ or settings.trees)


tuned = LightGBM()
