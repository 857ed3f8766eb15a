"""CatBoost with its defaults: ordered boosting, texts as categories."""

from __future__ import annotations

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.rivals.table_rival import LogOdds, TableRival, text_columns, with_plain_texts


class CatBoost(TableRival):
    """A thousand trees at the learning rate that the library sets."""

    needs = "catboost"

    def log_odds(self, train: Rows, test: Rows) -> LogOdds:
        """Fit once."""
        from catboost import CatBoostClassifier  # noqa: PLC0415 - optional

        # Missing numbers are native to it; a missing text has to be a level.
        fitted, other = (with_plain_texts(part.X, missing="missing") for part in (train, test))
        model = CatBoostClassifier(
            thread_count=1,
            random_seed=0,
            cat_features=text_columns(train.X),
            verbose=False,
            allow_writing_files=False,
        ).fit(fitted, train.y.astype(int))
        scores = model.predict(other, prediction_type="RawFormulaVal")
        return LogOdds(np.asarray(scores, dtype=np.float64))


default = CatBoost()
