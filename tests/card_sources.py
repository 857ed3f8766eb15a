"""A raw table of two classes for cards that are fitted in passes, and a fast fit to it."""

from functools import cache

import numpy as np
import pandas as pd

from directrix import ScorecardClassifier
from directrix.engines import HashFolds

FEATURES = ["age", 'the "home" of', "member", "since"]
N_FOLDS = 3


@cache
def frame(n=1500, seed=0):
    """Return rows with numbers, texts, booleans and dates, some missing, and a key column."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    home = rng.choice(["own", "rent", "it's"], n).astype(object)
    member = rng.random(n) < 0.5
    since = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), unit="D")
    risk = np.abs(age - 45) / 6 + (home == "rent") + 0.5 * member + rng.normal(size=n)
    age[::50], home[::37] = np.nan, None
    columns = zip(FEATURES, [age, home, member, since], strict=True)
    return pd.DataFrame(dict(columns)).assign(y=np.where(risk > 4, "yes", "no"), id=np.arange(n))


def fit(source, metric="auc", *, card=None, **options):
    """Fit a card of counts with folds by a key, which are the same however rows are read."""
    options = {"features": FEATURES, "fold": HashFolds(N_FOLDS, key="id")} | options
    card = {"cv": N_FOLDS, "max_lines": None} | (card or {})
    return ScorecardClassifier(metric, **card).fit_source(
        source, target="y", progress=False, **options
    )


def parts(rows, n=3):
    """Return consecutive rows as several data frames."""
    return [rows.iloc[index] for index in np.array_split(np.arange(len(rows)), n)]


def points(card, rows=None):
    """Return the points of rows, by default of some that the card was not fitted to."""
    return card.decision_function((frame(400, 9) if rows is None else rows)[FEATURES])
