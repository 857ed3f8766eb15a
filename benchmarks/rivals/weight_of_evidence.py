"""Weights of evidence by optbinning, then logistic regression: the scorecard of banks.

Its class ``Scorecard`` is such a regression with its scores scaled to points: the same order of
rows and the same probabilities, so that it is no competitor of its own.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from benchmarks.rivals.one_hot_logistic import LEAST_ROWS
from benchmarks.rivals.path_logistic import PathLogistic
from benchmarks.rivals.table_rival import text_columns
from directrix._typing import AnyArray, FloatArray


class _Evidence:
    """Optimal bins of every column, and the weight of evidence of each."""

    def fit(self, frame: Any, y: AnyArray) -> Self:
        from optbinning import BinningProcess  # noqa: PLC0415 - optional

        texts = text_columns(frame)
        # It refuses a text of which no level is frequent enough.
        poor = {name for name in texts if frame[name].value_counts().max() < LEAST_ROWS}
        self.names = [name for name in frame if name not in poor]
        # By default a level of one row has evidence too, and a text of a thousand levels learns
        # the training rows by heart.
        rare = {"cat_cutoff": LEAST_ROWS / len(y)}
        self.process = BinningProcess(
            self.names,
            categorical_variables=[name for name in texts if name not in poor],
            binning_fit_params={name: rare for name in texts if name not in poor},
            n_jobs=1,
        ).fit(frame[self.names], y)
        return self

    def transform(self, frame: Any) -> FloatArray:
        # A missing value has the evidence of the missing ones; by default it would have none.
        weights = self.process.transform(
            frame[self.names], metric="woe", metric_missing="empirical", metric_special="empirical"
        )
        return np.nan_to_num(np.asarray(weights, dtype=np.float64))

    def fit_transform(self, frame: Any, y: AnyArray) -> FloatArray:
        return self.fit(frame, y).transform(frame)


tuned = PathLogistic(lambda _: _Evidence(), needs="optbinning")
