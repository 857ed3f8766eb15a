"""The competitors of the arena of tables, by name."""

from __future__ import annotations

from benchmarks.rivals import (
    catboost_trees,
    explainable_boosting,
    hist_boosting,
    lightgbm_trees,
    likelihood_card,
    one_hot_direct,
    one_hot_logistic,
    ours,
    weight_of_evidence,
)
from benchmarks.rivals.base import Rival

LINE, BOOSTING, EBM = "logistic, one-hot", "HistGradientBoosting, tuned", "EBM, 4 bags"
#: In the order of the tables.
TABLE_RIVALS: dict[str, Rival] = {
    "scorecard, rows": ours.card_of_rows,
    "scorecard, counts": ours.card_of_counts,
    "scorecard, likelihood": likelihood_card.default,
    "direct, one-hot": one_hot_direct.line,
    LINE: one_hot_logistic.tuned,
    "weights of evidence": weight_of_evidence.tuned,
    "LightGBM, tuned": lightgbm_trees.tuned,
    BOOSTING: hist_boosting.tuned,
    "CatBoost": catboost_trees.default,
    EBM: explainable_boosting.four_bags,
    "EBM": explainable_boosting.default,
}
#: A minute a fold and more.
SLOW = ("direct, one-hot", "CatBoost", EBM, "EBM")
