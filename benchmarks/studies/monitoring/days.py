"""Days of rows whose law is known, and the models that score them.

Eight columns are functions of a latent normal vector: normal, skewed, rounded, counted and binary
ones. The positives have other means and 1.3 times the standard deviations. Drift acts on the latent
vector, so that a rounded column stays rounded; its size is in latent standard deviations.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.runner import quiet
from directrix import MomentClassifier, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray

COLUMNS = ("normal", "skewed", "rounded", "count", "first", "second", "binary", "noise")
#: Means of the positives.
GAP = np.array([1.0, 0.8, 0.5, 0.4, 0.3, 0.3, 0.3, 0.0])
#: Correlation of the columns "first" and "second".
CORRELATION = 0.5
#: Share of positives in the reference, and where the share of a day wanders under prior shift.
SHARE, WANDERING = 0.05, (0.02, 0.12)
#: Drift in latent standard deviations; for the correlation, the change of it.
SIZE = 0.3

COLUMN, TOWARD, NEGATIVES, POSITIVES = "a column", "toward positives", "negatives", "positives"
CORRELATED, SPREAD = "correlation", "spread"
#: Kinds of drift, and what changes.
DRIFTS = {
    COLUMN: "the column `count`, in both classes",
    TOWARD: "both classes, along the gap between the means of the classes",
    NEGATIVES: "the negatives in the column `normal`, toward the positives",
    POSITIVES: "the positives in the column `normal`, toward the negatives",
    CORRELATED: "the correlation of the columns `first` and `second`, from 0.5 to 0.2; no mean",
    SPREAD: "the standard deviation of the column `normal`, to 1.3 times; no mean",
}
MOMENT, CARD = "MomentClassifier", "ScorecardClassifier"
MODELS = (MOMENT, CARD)
METRIC = "recall@fpr=0.05"
#: Degrees of freedom of t-distributed columns in the population with heavy tails.
TAIL = 3.0
TRAINING_ROWS = 20_000


class Day(NamedTuple):
    """Rows of a day, and which of them are positive."""

    X: FloatArray
    y: AnyArray


def draw(
    rng: np.random.Generator,
    n: int,
    share: float = SHARE,
    *,
    drift: str | None = None,
    shift: FloatArray | float = 0.0,
    heavy: bool = False,
) -> Day:
    """Draw the rows of a day.

    ``n``: rows. ``share``: probability that a row is positive. ``drift``: one of `DRIFTS`.
    ``shift``: added to the latent vectors of all rows: what makes a day differ from others.
    ``heavy``: whether the columns "normal" and "noise" have t-distributions.
    """
    y = rng.random(n) < share
    latent = rng.normal(size=(n, len(COLUMNS)))
    if heavy:
        for k in (0, len(COLUMNS) - 1):
            latent[:, k] = rng.standard_t(TAIL, n)
    correlation = CORRELATION - (SIZE if drift == CORRELATED else 0.0)
    latent[:, 5] = correlation * latent[:, 4] + (1.0 - correlation**2) ** 0.5 * latent[:, 5]
    if drift == SPREAD:
        # The mean of all rows stays: the column is widened before the classes are moved apart.
        latent[:, 0] *= 1.0 + SIZE
    latent *= np.where(y[:, None], 1.3, 1.0)
    latent += y[:, None] * GAP + shift
    if drift == COLUMN:
        latent[:, 3] += SIZE
    elif drift == TOWARD:
        latent += SIZE * GAP / np.linalg.norm(GAP)
    elif drift == NEGATIVES:
        latent[~y, 0] += SIZE
    elif drift == POSITIVES:
        latent[y, 0] -= SIZE
    X = latent.copy()
    X[:, 1] = np.exp(0.7 * latent[:, 1])
    X[:, 2] = np.round(2.0 * latent[:, 2]) / 2.0
    X[:, 3] = np.floor(np.exp(0.8 * latent[:, 3]))
    X[:, 6] = latent[:, 6] > 1.0
    return Day(X, y)


@cache
def fitted(name: str, *, heavy: bool = False) -> Any:
    """Return a model that is fitted to rows of the share of the reference.

    ``name``: one of `MODELS`. ``heavy``: as for `draw`.
    """
    day = draw(np.random.default_rng(0), TRAINING_ROWS, heavy=heavy)
    model = {MOMENT: MomentClassifier, CARD: ScorecardClassifier}[name](METRIC)
    with quiet():
        return model.fit(*day)
