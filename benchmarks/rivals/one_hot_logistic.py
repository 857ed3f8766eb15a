"""Logistic regression over one-hot texts and standardised numbers: what people try first."""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.rivals.path_logistic import PathLogistic
from benchmarks.rivals.table_rival import text_columns

#: Levels with fewer rows share one column.
LEAST_ROWS = 10


def one_hot(frame: Any) -> ColumnTransformer:
    """Return the transformer: a missing number is the median and an indicator, a text a level."""
    texts = text_columns(frame)
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    levels = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=LEAST_ROWS)
    return ColumnTransformer(
        [
            ("numbers", numbers, [name for name in frame if name not in texts]),
            ("texts", levels, texts),
        ]
    )


tuned = PathLogistic(one_hot)
