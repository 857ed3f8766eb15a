"""Explainable boosting machine of interpret: additive boosting with pairs of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.rivals.table_rival import LogOdds, TableRival, with_plain_texts


class ExplainableBoosting(TableRival):
    """With the library's defaults, but for the number of outer bags if it is given.

    ``outer_bags``: models whose mean it is; by default 14. Four take a quarter of the time.
    ``monotone``: columns of numbers whose scores may only rise (1) or only fall (-1).
    """

    needs = "interpret"

    def __init__(
        self, outer_bags: int | None = None, monotone: Mapping[str, int] | None = None
    ) -> None:
        self.outer_bags = outer_bags
        self.monotone = dict(monotone or {})

    def log_odds(self, train: Rows, test: Rows) -> LogOdds:
        """Fit once."""
        from interpret.glassbox import ExplainableBoostingClassifier  # noqa: PLC0415 - optional

        fitted, other = (with_plain_texts(part.X) for part in (train, test))
        options: dict[str, Any] = {}
        if self.outer_bags is not None:
            options["outer_bags"] = self.outer_bags
        if self.monotone:
            options["monotone_constraints"] = [self.monotone.get(name, 0) for name in fitted]
            # A number of few values would be taken for a category, which has no direction.
            options["feature_types"] = [
                "continuous" if name in self.monotone else "auto" for name in fitted
            ]
        model = ExplainableBoostingClassifier(n_jobs=1, random_state=0, **options)
        model.fit(fitted, train.y)
        return LogOdds(np.asarray(model.decision_function(other), dtype=np.float64))


default, four_bags = ExplainableBoosting(), ExplainableBoosting(4)
