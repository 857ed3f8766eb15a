"""Summaries of the rows of a day as a model sees them: its scores, and its columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.classifiers import ScorecardClassifier
from directrix.classifiers.base import LinearClassifier
from directrix.classifiers.labels import positive_of, toward_positive
from directrix.export import save
from directrix.moments import Moments, ScoreHistogram, Summary
from directrix.rows.labels import as_labels
from directrix.tables import BinCounts

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray


@dataclass(frozen=True)
class DaySummaries:
    """What is kept of the rows of a day.

    Parameters
    ----------
    scores : ScoreHistogram
        Scores in favour of the positive label, with labels True and False.
    columns : Moments, BinCounts or None
        Moments of the features of a linear model, counts of the bins of a card; None for others.
    """

    scores: ScoreHistogram
    columns: Moments | BinCounts | None

    def __add__(self, other: DaySummaries) -> DaySummaries:
        columns: Any = self.columns
        if columns is not None and other.columns is not None:
            columns = columns + other.columns
        return DaySummaries(self.scores + other.scores, columns)

    def __iter__(self) -> Iterator[Summary]:
        yield self.scores
        if self.columns is not None:
            yield self.columns


def summarize_day(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> DaySummaries:
    """Summarise the rows of a day for a store and for checks.

    Parameters
    ----------
    model : fitted classifier of two classes
        Any of this library, or one of scikit-learn with ``decision_function`` or
        ``predict_proba``, whose threshold is then 0.5.
    X : rows, as the model takes them
    y : array of shape (n,), optional
        Labels, if they are known.
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import MomentClassifier
    >>> from directrix.monitoring import summarize_day
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.3
    >>> X = rng.normal(size=(500, 2)) + y[:, None]
    >>> model = MomentClassifier("recall@fpr=0.05").fit(X, y)
    >>> summarize_day(model, X[:100]).columns
    <Moments: 100 rows; 2 features; classes {None: 100}>
    """
    scores = positive_scores(model, X)
    caught = None if y is None else _known_labels(model, y) == positive_of(model)
    histogram = ScoreHistogram.of_scores(
        caught,
        scores,
        sample_weight,
        classes=None if y is None else [False, True],
        scale=score_scale(model),
        model=model_identity(model),
    )
    columns: Moments | BinCounts | None = None
    classes = None if y is None else model.classes_
    if isinstance(model, ScorecardClassifier):
        columns = BinCounts.of(model.binner_, X, y, sample_weight, classes=classes)
    elif isinstance(model, LinearClassifier):
        names = getattr(model, "feature_names_in_", None)
        names = None if names is None else [str(name) for name in names]
        columns = Moments.of(X, y, sample_weight, classes=classes, feature_names=names)
    return DaySummaries(histogram, columns)


def _known_labels(model: Any, y: Any) -> AnyArray:
    """Return labels as an array; raise ValueError if one is not a class of the model.

    Without this, labels in another notation ("1" for 1) would all count as negatives.
    """
    found, classes = as_labels(y), np.asarray(model.classes_).tolist()
    strays = [label for label in np.unique(found).tolist() if label not in classes]
    if strays:
        msg = f"label {strays[0]!r} is not among the classes {classes} of the model"
        raise ValueError(msg)
    return found


def positive_scores(model: Any, X: Any) -> FloatArray:
    """Return scores in favour of the positive label, above zero where it is predicted."""
    if hasattr(model, "decision_function"):
        scores: FloatArray = np.asarray(model.decision_function(X), dtype=np.float64)
    else:
        scores = np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1] - 0.5
    if scores.ndim != 1:
        msg = "days are summarised for models of two classes"
        raise ValueError(msg)
    turned: FloatArray = toward_positive(model, scores)
    return turned


def score_scale(model: Any) -> float:
    """Return the scale of a model's scores as a power of two: the unit of histogram bins.

    It depends on nothing but the model, so that the histograms of all days can be added.
    """
    variance = 0.0
    if isinstance(model, ScorecardClassifier):
        for points in model.card_.columns:
            variance += float(np.var(points))
    elif isinstance(model, LinearClassifier) and hasattr(model, "feature_scales_"):
        variance = float(np.sum((model.coef_[0] * model.feature_scales_) ** 2))
    elif not hasattr(model, "decision_function"):
        variance = 0.125**2  # probabilities
    if not (np.isfinite(variance) and variance > 0):
        return 1.0
    return float(2.0 ** np.round(0.5 * np.log2(variance)))


def model_identity(model: Any) -> str | None:
    """Return a checksum of all that scores rows; None for models of other libraries."""
    if not isinstance(model, LinearClassifier | ScorecardClassifier):
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        save(model, path)  # equal models give equal bytes
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def require_scores_of(model: Any, scores: ScoreHistogram) -> None:
    """Raise ValueError for scores of another model."""
    identity = model_identity(model)
    if scores.model != identity:
        msg = (
            f"the scores are of model {scores.model}, and this is model {identity}: summarise the "
            "days with this model"
        )
        raise ValueError(msg)
