"""Raw tables with everything that a column can hold, and scorecards with random points for them."""

import warnings
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache

import numpy as np
import pandas as pd

from directrix import Binner, ScorecardClassifier
from directrix.cards.card import Cross

#: Texts that languages quote or cut off; the last ones are never seen in training rows.
TEXTS = ["", " ", "it's", '"', "\\", 'a\\"b', "a\nb", "a\rb", "é", "e\u0301", "日本", "😀", "NULL"]
TEXTS += ["yes ", " yes", "two  spaces", "<&>", "NaN", "missing", "a b", "plain", "tab\t"]
NEW_TEXTS = ["never seen", "yes", "other"]
#: Names that mean something in SQL, XML, or as an output.
NAMES = {"number": 'a "b" <c> & d', "text": "it's", "flag": "points", "day": "größe\n年"}
SPECIAL_DAY = datetime(2020, 1, 1)  # noqa: DTZ001 - dates of tables have no time zone
_KINDS = ("number", "text", "flag", "day", "constant")


def raw_rows(n=300, seed=0, *, new=True):
    """Return a data frame of numbers, texts, booleans and times, with missing values.

    Numbers are missing, special (−999), infinite or finite. ``new`` adds texts that rows without it
    do not have.
    """
    rng = np.random.default_rng(seed)
    finite = np.random.default_rng(5).normal(size=40) * 10
    numbers = rng.choice([*finite, -999.0, np.inf, -np.inf, np.nan, 5e-324, 0.0], size=n)
    texts = np.array(TEXTS + (NEW_TEXTS if new else []), dtype=object)
    steps = rng.choice([*np.random.default_rng(6).integers(-(10**15), 10**15, 40), 0], size=n)
    table = {
        "number": numbers.tolist(),
        "text": rng.choice(texts, size=n).tolist(),
        "flag": (rng.random(n) < 0.5).tolist(),
        "day": [SPECIAL_DAY + timedelta(microseconds=int(step)) for step in steps],
        "constant": [1.0] * n,
    }
    for name in ("text", "flag", "day"):
        table[name] = [None if rng.random() < 0.1 else value for value in table[name]]
    frame = pd.DataFrame({name: pd.Series(table[name], dtype=object) for name in _KINDS})
    return frame.rename(columns=NAMES)


@lru_cache
def fitted_card():
    """Return a fitted scorecard."""
    rows = raw_rows(n=500, new=False)
    numbers = np.nan_to_num(rows.iloc[:, 0].to_numpy(dtype=float), posinf=20, neginf=-20)
    score = numbers / 10 + (rows.iloc[:, 1].isin(TEXTS[:7]).to_numpy() - 0.5)
    score = score + np.random.default_rng(1).normal(size=len(rows))
    special = {NAMES["number"]: [-999], NAMES["day"]: [SPECIAL_DAY]}
    binner = Binner(special_values=special, min_rows=3, min_level_rows=2)
    options = {"cv": 2, "max_lines": None}  # all columns have points
    classifier = ScorecardClassifier("auc", binner=binner, **options)
    labels = (score >= np.median(score)).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a bad model is good enough
        return classifier.fit(rows, labels)


def with_random_points(classifier, seed, *, whole, higher_is_positive=True, labels=None):
    """Return a copy whose card has random points for all cells, and two crosses.

    Parameters
    ----------
    classifier : ScorecardClassifier, fitted
    seed : int
    whole : bool
        Whether points are whole numbers.
    higher_is_positive : bool
    labels : array, optional
        Other labels of the classes.
    """
    rng = np.random.default_rng(seed)

    def points(*shape):
        made = rng.integers(-5, 6, size=shape).astype(float)
        return made if whole else made / 7.0

    def cross(left, right, bins):
        merged = tuple(
            rng.integers(0, size, bins[k].n_cells) for k, size in ((left, 4), (right, 3))
        )
        return Cross((left, right), merged, points(4, 3))

    other, card = deepcopy(classifier), classifier.card_
    other.card_ = replace(
        card,
        intercept=float(points(1)[0]),
        columns=(
            *(points(bins.n_cells) for bins in card.bins[:-1]),
            np.zeros(card.bins[-1].n_cells),
        ),
        crosses=(cross(0, 1, card.bins), cross(3, 2, card.bins)),
        cutoff=float(points(1)[0]),
        higher_is_positive=higher_is_positive,
    )
    if labels is not None:
        other.classes_ = np.asarray(labels)
        other.positive_ = labels[-1]
    return other
