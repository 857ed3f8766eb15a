"""Pipelines of raw columns, their training rows, and new rows with values they have not seen."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

from directrix import Binner, DirectClassifier, MomentClassifier, ScorecardClassifier

NUMBERS = ["age", 'in "come"', "visits"]
TEXTS = ["it's home", "job"]
LEVELS = {"it's home": ["own", "it's", "a\\b"], "job": ["cook", "clerk", "nurse"]}


def rows(n=300, seed=0, *, new=False):
    """Return a data frame; new rows have unseen levels, and numbers far out."""
    rng = np.random.default_rng(seed)
    wide = 4.0 if new else 1.0
    frame = pd.DataFrame(
        {
            "age": 40.0 + 12.0 * wide * rng.normal(size=n),
            'in "come"': np.exp(wide * rng.normal(size=n)),
            "visits": rng.integers(0, 5, n).astype(float),
            **{
                name: rng.choice(np.array([*levels, *["new!"] * new], dtype=object), n)
                for name, levels in LEVELS.items()
            },
            "key": np.arange(n),
        }
    )
    for name in ("age", 'in "come"', "it's home"):
        frame.loc[rng.random(n) < 0.1, name] = np.nan
    return frame


def target(frame):
    """Return labels that depend on all columns."""
    rng = np.random.default_rng(5)
    risk = (
        frame["age"].fillna(50) / 20
        + (frame["job"] == "cook")
        + np.log(frame['in "come"']).fillna(1)
    )
    return (risk + rng.normal(size=len(frame)) > 2.5).to_numpy()


def line():
    return MomentClassifier("auc", learn_from="moments")


def prepared(encoder, scaler):
    """Return the usual preparation of numbers and texts."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), scaler)
    texts = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)
    return ColumnTransformer([("numbers", numbers, NUMBERS), ("texts", texts, TEXTS)])


PIPELINES = {
    "usual": lambda: make_pipeline(
        prepared(OneHotEncoder(handle_unknown="ignore", sparse_output=False), StandardScaler()),
        line(),
    ),
    "dropped and clipped": lambda: make_pipeline(
        prepared(
            OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False),
            MinMaxScaler((-1, 2), clip=True),
        ),
        line(),
    ),
    "ordinal, then three scalers": lambda: make_pipeline(
        ColumnTransformer(
            [
                (
                    "codes",
                    OrdinalEncoder(
                        handle_unknown="use_encoded_value",
                        unknown_value=-7,
                        encoded_missing_value=9.0,
                    ),
                    TEXTS,
                ),
                (
                    "fill",
                    SimpleImputer(strategy="constant", fill_value=-1.0),
                    slice("age", "visits"),
                ),
                ("drop", "drop", ["key"]),
            ]
        ),
        StandardScaler(with_mean=False),
        MinMaxScaler(),
        StandardScaler(with_std=False),
        line(),
    ),
    "numbers as categories": lambda: make_pipeline(
        ColumnTransformer(
            [
                ("visits", OneHotEncoder(sparse_output=False, handle_unknown="ignore"), [2]),
                ("age", SimpleImputer(), [True] + [False] * 5),
            ],
            remainder="drop",
        ),
        line(),
    ),
    "missing as a category": lambda: make_pipeline(
        ColumnTransformer(
            [
                (
                    "texts",
                    OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
                    make_column_selector("home|job"),
                )
            ],
        ),
        "passthrough",
        line(),
    ),
    "rare categories as one": lambda: make_pipeline(
        ColumnTransformer(
            [
                (
                    "texts",
                    OneHotEncoder(
                        sparse_output=False,
                        min_frequency=98,
                        handle_unknown="infrequent_if_exist",
                        drop="first",
                    ),
                    TEXTS,
                ),
                (
                    "codes",
                    OrdinalEncoder(
                        max_categories=3, handle_unknown="use_encoded_value", unknown_value=-2
                    ),
                    ["visits", "job"],
                ),
            ]
        ),
        line(),
    ),
    "thermometers": lambda: make_pipeline(
        ColumnTransformer([("bins", Binner(max_bins=5, sparse_output=False), NUMBERS + TEXTS)]),
        line(),
    ),
    "indicators": lambda: Pipeline(
        [
            ("learn_from", ColumnTransformer([("all", "passthrough", NUMBERS + TEXTS)])),
            ("bins", Binner(max_bins=4, encoding="onehot", sparse_output=False)),
            ("line", line()),
        ]
    ),
    "cells": lambda: make_pipeline(
        ColumnTransformer([("bins", Binner(max_bins=6, encoding="ordinal"), ["age", "job"])]),
        line(),
    ),
    "card after an imputer": lambda: make_pipeline(
        ColumnTransformer(
            [
                ("fill", SimpleImputer(strategy="most_frequent"), TEXTS),
                ("scale", StandardScaler(), NUMBERS),
            ],
        ).set_output(transform="pandas"),
        ScorecardClassifier(
            "auc", binner=Binner(max_bins=8), learn_from="counts", cv=2, max_lines=None
        ),
    ),
    "three classes": lambda: make_pipeline(
        prepared(
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), StandardScaler()
        ),
        DirectClassifier("auc", cv=2),
    ),
}


def fitted(name):
    """Return a pipeline fitted to the training rows."""
    frame = rows()
    y = target(frame)
    if name == "three classes":
        y = np.array(["a", "b", "it's"])[y.astype(int) + (frame["visits"] > 2).to_numpy()]
    return PIPELINES[name]().fit(frame, y)
