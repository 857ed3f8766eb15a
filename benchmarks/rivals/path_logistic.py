"""Logistic regression over features that a transformer makes of a table, its C by inner folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.harness.data import Rows
from benchmarks.rivals.table_rival import (
    LogOdds,
    TableRival,
    frame_folds,
    mean_auc,
    with_plain_texts,
)
from directrix._typing import FloatArray

#: From much regularisation to little, each fit the start of the next.
PATH = tuple(float(C) for C in np.logspace(-4, 2, 10).round(6))
INNER_FOLDS = 5


class PathLogistic(TableRival):
    """The C of best mean AUC in five inner folds; features are made anew in each of them.

    ``make``: returns the unfitted transformer for a frame.
    """

    family = "linear"

    def __init__(self, make: Callable[[Any], Any], *, needs: str = "") -> None:
        self.make = make
        self.needs = needs  # type: ignore[misc]

    def log_odds(self, train: Rows, test: Rows) -> LogOdds:
        """Fit the path of C in every inner fold, then the chosen one to all rows."""
        held_out = {C: np.zeros(len(train.y)) for C in PATH}
        parts = []
        for part, fitted, other in frame_folds(train, INNER_FOLDS):
            parts.append(part)
            for C, scores in self._path(fitted, other):
                held_out[C][part] = scores
        best = max(PATH, key=lambda C: round(mean_auc(train.y, held_out[C], parts), 12))
        ((_, on_test),) = self._path(train, test, [best])
        return LogOdds(on_test, held_out[best])

    def _path(
        self, train: Rows, test: Rows, values: Sequence[float] = PATH
    ) -> Iterator[tuple[float, FloatArray]]:
        transformer = self.make(train.X)
        fitted = transformer.fit_transform(with_plain_texts(train.X), train.y.astype(int))
        other = transformer.transform(with_plain_texts(test.X))
        model = LogisticRegression(max_iter=1000, warm_start=True)
        for C in values:
            model.set_params(C=C).fit(fitted, train.y)
            yield C, np.asarray(model.decision_function(other))
