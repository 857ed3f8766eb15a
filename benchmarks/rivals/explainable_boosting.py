"""Explainable boosting machine of interpret: additive boosting with pairs of columns."""

from __future__ import annotations

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.rivals.table_rival import LogOdds, TableRival, with_plain_texts


class ExplainableBoosting(TableRival):
    """With the library's defaults: 14 outer bags, and pairs as many as three times the columns."""

    needs = "interpret"

    def log_odds(self, train: Rows, test: Rows) -> LogOdds:
        """Fit once."""
        from interpret.glassbox import ExplainableBoostingClassifier  # noqa: PLC0415 - optional

        fitted, other = (with_plain_texts(part.X) for part in (train, test))
        model = ExplainableBoostingClassifier(n_jobs=1, random_state=0).fit(fitted, train.y)
        return LogOdds(np.asarray(model.decision_function(other), dtype=np.float64))


default = ExplainableBoosting()
