"""XGBoost with the objective "rank:pairwise", all rows one query."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from benchmarks.rivals.base import Grid
from directrix._typing import AnyArray, FloatArray


class _Ranker:
    def fit(self, X: Any, y: AnyArray) -> Self:
        from xgboost import XGBRanker  # noqa: PLC0415 - optional

        # Pairs of all ranks, as AUC counts them; by default it looks at the first 32 places.
        pairs = {"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 4}
        self.ranker = XGBRanker(objective="rank:pairwise", n_jobs=1, random_state=0, **pairs)
        self.ranker.fit(X, y.astype(int), qid=np.zeros(len(y), dtype=int))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        return np.asarray(self.ranker.predict(X), dtype=np.float64)


# A ranking has no threshold of its own, so that of the error is moved too.
pairwise = Grid(lambda _: _Ranker(), needs="xgboost", family="reference", moves_all=True)
