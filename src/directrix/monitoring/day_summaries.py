"""Summaries of the rows of a day as a model sees them: its scores, and its columns."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing

from directrix.estimators import ScorecardClassifier
from directrix.estimators.base import LinearClassifier
from directrix.exceptions import ChangedColumnsWarning, silenced
from directrix.export import save
from directrix.fit.held_out_scores import ScoreScale, positive_response, response_method
from directrix.metrics import ScoreHistogram
from directrix.moments import BinCounts, Moments
from directrix.rows.classes import positive_of, toward_positive
from directrix.rows.labels import as_labels, numbered_names

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.tables import Binner

#: The scale of probabilities of other libraries' models.
_LOG_ODDS = ScoreScale(2.0**-30, 1.0)
_TWO_CLASSES = "days are summarised for models of two classes"


@dataclass(frozen=True)
class DaySummaries:
    """What is kept of the rows of a day.

    Parameters
    ----------
    scores : ScoreHistogram
        Scores in favour of the positive label, with labels True and False.
    columns : Moments, BinCounts or None
        Moments of the features of a linear model, counts of the bins of a card or of a binner that
        was given; else None.
    """

    scores: ScoreHistogram
    columns: Moments | BinCounts | None

    def __add__(self, other: DaySummaries) -> DaySummaries:
        columns: Any = self.columns
        if columns is not None and other.columns is not None:
            columns = columns + other.columns
        return DaySummaries(self.scores + other.scores, columns)


def summarize_day(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    binner: Binner | None = None,
    table: Any = None,
) -> DaySummaries:
    """Summarise the rows of a day, to be kept and checked.

    Parameters
    ----------
    model : fitted classifier of two classes
        Any of this library, whose scores are zero at its threshold, or one of another library with
        ``predict_proba`` or ``decision_function``: its threshold is given to `Monitor.of_days`.
        For scores alone, an `OperatingPointClassifier` without an estimator.
    X : rows, as the model takes them
    y : array of shape (n,), optional
        Labels, if they are known.
    sample_weight : array of shape (n,), optional
    binner : Binner, optional
        Fitted. Its cells are counted, so that columns are watched whatever the model is; by default
        those of a card, and the moments of the features of a linear model.
    table : data frame or array, optional
        Rows that the binner reads, if these are not X.

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
    if not hasattr(model, "classes_"):
        msg = (
            f"a day is summarised for a fitted classifier, not for {type(model).__name__}: the "
            "order is summarize_day(model, X, y)"
        )
        raise TypeError(msg)
    with silenced(ChangedColumnsWarning):  # which the report of the day says of its columns
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
    binner = getattr(model, "binner_", None) if binner is None else binner
    if binner is not None:
        rows = X if table is None else table
        columns = BinCounts.of(binner, rows, y, sample_weight, classes=classes)
    elif isinstance(model, LinearClassifier) and hasattr(model, "coef_"):
        names = getattr(model, "feature_names_in_", None)
        names = None if names is None else [str(name) for name in names]
        columns = Moments.of(X, y, sample_weight, classes=classes, feature_names=names, sample=0)
    return DaySummaries(histogram, columns)


def summarize_segments(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None, *, segment: Any
) -> dict[Any, DaySummaries]:
    """Summarise the rows of a day in each segment; see `summarize_day`.

    Parameters
    ----------
    model, X, y, sample_weight : as in `summarize_day`
    segment : array of shape (n,)
        Segment of each row, such as a country.

    Returns
    -------
    dict of DaySummaries by segment
    """
    names, number = numbered_names(segment)
    made = {}
    for position, name in enumerate(names):
        rows = np.flatnonzero(number == position)
        beside = (None if each is None else np.asarray(each)[rows] for each in (y, sample_weight))
        made[name] = summarize_day(model, _take(X, rows), *beside)
    return made


def _take(X: Any, rows: Any) -> Any:
    """Return some rows of a table of any library."""
    return X.take(rows) if hasattr(X, "column_names") else _safe_indexing(X, rows)


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
    """Return scores in favour of the positive label, on a scale that depends on the model alone.

    Those of this library are zero at the threshold. Probabilities of other models are log-odds:
    days of a rare class then tell small probabilities apart.
    """
    if isinstance(model, LinearClassifier):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        turned: FloatArray = toward_positive(model, scores)
        return turned
    if len(model.classes_) != 2:
        raise ValueError(_TWO_CLASSES)
    method, _ = _response_of(model)
    scores = positive_response(model, X, method, positive_of(model))
    return _LOG_ODDS.positions(scores) if method == "predict_proba" else scores


def threshold_of(model: Any, threshold: float | None = None) -> float:
    """Return the score of `positive_scores` above which a model flags a row.

    ``threshold`` is on the scale of a model of another library: a probability, or a value of its
    ``decision_function``. By default it is that of a ``TunedThresholdClassifierCV`` or a
    ``FixedThresholdClassifier``, and else 0.5 or 0.
    """
    if isinstance(model, LinearClassifier):
        if threshold is not None:
            msg = (
                f"{type(model).__name__} has a threshold of its own: leave threshold= out, or move "
                "it with model.with_threshold(...)"
            )
            raise ValueError(msg)
        return 0.0
    method, own = _response_of(model)
    threshold = own if threshold is None else threshold
    if method != "predict_proba":
        return 0.0 if threshold is None else float(threshold)
    threshold = 0.5 if threshold is None else float(threshold)
    if not 0 < threshold < 1:
        msg = (
            f"the threshold of {type(model).__name__} is one of probabilities, and {threshold!r} "
            "does not lie between 0 and 1: divide percentages by 100"
        )
        raise ValueError(msg)
    return float(_LOG_ODDS.positions(threshold))


def _response_of(model: Any) -> tuple[str, float | None]:
    """Return the method that scores rows, and the threshold that a model itself applies to it."""
    asked = getattr(model, "response_method", "auto")
    method = response_method(model, asked if isinstance(asked, str) else "auto")
    own = getattr(model, "best_threshold_", getattr(model, "threshold", None))
    return method, float(own) if isinstance(own, int | float | np.floating) else None


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
        of_scores, this = (
            "a model of another library" if each is None else f"model {each}"
            for each in (scores.model, identity)
        )
        msg = (
            f"the scores are of {of_scores}, and this is {this}: summarise the days with this model"
        )
        raise ValueError(msg)
