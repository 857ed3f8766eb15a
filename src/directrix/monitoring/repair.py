"""Repair of a model in use: another threshold, and another fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from directrix._printing import text_table
from directrix.cards.counted import score_moments
from directrix.estimators import (
    MomentClassifier,
    OperatingPoint,
    OperatingPointClassifier,
    ScorecardClassifier,
)
from directrix.estimators.threshold import ThresholdClassifier
from directrix.fit.normal_scores import predicted_rates
from directrix.fit.operating_point import EffectiveCounts, OnRows, Rates, calibration_from_scores
from directrix.metrics import ScoreHistogram
from directrix.metrics.base import Curve, precision_of
from directrix.metrics.table import resolve
from directrix.moments import BinCounts, DifferentBinsError, Moments
from directrix.moments.projection import ScoreMoments, project
from directrix.monitoring.day_check import effective_rows
from directrix.monitoring.day_summaries import require_scores_of
from directrix.monitoring.vectors import labelled_pair
from directrix.rows.classes import positive_of, toward_positive
from directrix.rows.sums import tree_sum

if TYPE_CHECKING:
    from directrix.fit.operating_point import Calibration, Intervals
    from directrix.metrics import ScoreHistogram
    from directrix.metrics.base import Metric

# ── Another threshold for a model, from labelled scores and for another prevalence ────────────────

#: Groups of days that are held out in turn to tell what a new threshold gives on new rows.
_GROUPS = 5


def _rate_lines(metric: str, before: Rates, after: Rates) -> list[list[str]]:
    """Return the lines of a table with the rates and the metric before and after a repair."""
    both = zip(("recall", "FPR", "precision", metric), before, after, strict=True)
    return [[name, f"{old:.4f}", f"{new:.4f}"] for name, old, new in both]


@dataclass(frozen=True)
class Retuning:
    """A model with another threshold, and what it changes.

    Parameters
    ----------
    model : fitted classifier
        A copy of the model with the new threshold and calibration.
    prevalence : float
        Share of positives that the threshold is for.
    before, after : Rates
        On the labelled scores at this prevalence, with the old and the new threshold.
    alerts_before, alerts_after : float
        Share of all rows above the threshold.
    """

    model: Any
    prevalence: float
    before: Rates
    after: Rates
    alerts_before: float
    alerts_after: float

    def __str__(self) -> str:
        metric = self.model.operating_point_.metric.label
        table = [["", "old threshold", "new threshold"]]
        table += _rate_lines(metric, self.before, self.after)
        table.append(["alerts", f"{self.alerts_before:.4f}", f"{self.alerts_after:.4f}"])
        title = f"{metric} at a prevalence of {100 * self.prevalence:.2f} %"
        return "\n".join([title, *text_table(table)])


def retune(
    model: Any,
    scores: ScoreHistogram | Mapping[Any, ScoreHistogram],
    *,
    prevalence: float | None = None,
    metric: Any = None,
) -> Retuning:
    """Set the threshold of a model anew, from labelled scores and for a prevalence.

    The order of the rows stays as it is, and so does the AUC.

    Parameters
    ----------
    model : fitted classifier of this library, of two classes
    scores : ScoreHistogram, or dict of them by day
        Labelled scores of this model. Given by day, groups of days are held out in turn to tell
        what to expect of the new threshold on new rows.
    prevalence : float, optional
        Share of positives to expect, such as the estimate of a `Monitor`; by default that of the
        scores.
    metric : str or Metric, optional
        By default the one that the model was trained for.
    """
    if not isinstance(model, ThresholdClassifier):
        msg = (
            f"{type(model).__name__} has no threshold that could be moved: give it one, with "
            "OperatingPointClassifier(FrozenEstimator(model), metric).fit(X, y)"
        )
        raise TypeError(msg)
    chosen = model.operating_point_.metric if metric is None else resolve(metric)
    given: Any = scores
    if not isinstance(given, ScoreHistogram | Mapping):
        msg = (
            "scores must be a ScoreHistogram, or a dict of them by day (the scores of "
            f"summarize_day), not {type(given).__name__}"
        )
        raise TypeError(msg)
    days = list(scores.values()) if isinstance(scores, Mapping) else []
    if isinstance(scores, Mapping) and not days:
        msg = "there are no scores: the dict of days is empty"
        raise ValueError(msg)
    total: Any = tree_sum(days) if days else scores
    if len(total.weight) != 2:
        msg = "a threshold needs labelled scores, and these have no labels"
        raise ValueError(msg)
    if total.model is not None:  # a histogram that was made by hand may not name its model
        require_scores_of(model, total)
    curve = _at_prevalence(Curve.of_histogram(total), prevalence)
    if not chosen.uses_threshold:
        msg = f"{chosen.label} ranks rows and has no threshold: name a metric that has one"
        raise ValueError(msg)
    by = chosen.best(curve).threshold
    if not np.isfinite(by):
        msg = (
            f"{chosen.label} is best if {'no row' if by > 0 else 'every row'} is predicted "
            "positive: no threshold of this model helps at this prevalence"
        )
        raise ValueError(msg)
    # A card of whole points has its threshold between two of them.
    point = replace(model.operating_point_, threshold=model.threshold_above(by))
    by = model.score_above(point)
    old, new = (_rates(chosen, total.rates(each), curve.prior) for each in (0.0, by))
    expected, intervals = _held_out_days(chosen, days, prevalence)
    retuned = OperatingPoint(
        chosen,
        point.threshold,
        empirical=new,
        rows="labelled days" if days else "labelled scores",
        expected=expected,
        intervals=intervals,
    )
    calibration = _calibration(total, by, curve)
    if positive_of(model) != model.classes_.tolist()[-1]:
        calibration = calibration.sign_flipped()
    prior = curve.prior
    alerts = [prior * rates.tpr + (1.0 - prior) * rates.fpr for rates in (old, new)]
    return Retuning(model.with_threshold(retuned, calibration), prior, old, new, *alerts)


def _rates(metric: Metric, rates: tuple[float, float], prior: float) -> Rates:
    """Return recall and FPR with the precision and the metric that follow at a prior."""
    tpr, fpr = rates
    precision, value = precision_of(tpr, fpr, prior), metric.at_rates(tpr, fpr, prior)
    return Rates(tpr, fpr, float(precision), float(value))


def _at_prevalence(curve: Curve, prevalence: float | None) -> Curve:
    """Return a curve whose classes are weighted to have a share of positives."""
    if prevalence is None:
        return curve
    if not 0 < prevalence < 1:
        msg = f"the prevalence must lie strictly between 0 and 1, not {prevalence!r}"
        raise ValueError(msg)
    total = curve.positives + curve.negatives
    return curve.scaled(
        prevalence * total / curve.positives, (1.0 - prevalence) * total / curve.negatives
    )


def _held_out_days(
    metric: Metric, days: list[ScoreHistogram], prevalence: float | None
) -> tuple[Rates | None, Intervals | None]:
    """Return rates on days that did not choose the threshold, and intervals."""
    groups = [tree_sum(days[k::_GROUPS]) for k in range(_GROUPS)] if len(days) >= _GROUPS else []
    if not groups or not all(group.weight.all() for group in groups):
        return None, None
    above = np.zeros(2)
    for held_out in groups:
        others = tree_sum([group for group in groups if group is not held_out])
        curve = _at_prevalence(Curve.of_histogram(others), prevalence)
        above += held_out.weight_above(metric.best(curve).threshold)
    total = tree_sum(groups)
    fpr, tpr = (above / total.weight).tolist()
    curve = _at_prevalence(Curve.of_histogram(total), prevalence)
    index = int(np.argmin(np.abs(curve.fpr - fpr)))
    n_neg, n_pos = effective_rows(total)
    intervals = OnRows(curve, index, EffectiveCounts(n_pos, n_neg)).intervals(metric)
    return _rates(metric, (tpr, fpr), curve.prior), intervals


def _calibration(scores: ScoreHistogram, threshold: float, curve: Curve) -> Calibration:
    """Return a calibration that is fitted to the bins of a histogram, as weighted rows."""
    factors = np.array([curve.negatives, curve.positives]) / scores.weight
    weights = scores.counts * factors[:, None]
    filled = weights > 0
    positive = np.broadcast_to(np.array([[False], [True]]), weights.shape)[filled]
    centers = np.broadcast_to(scores.centers - threshold, weights.shape)[filled]
    return calibration_from_scores(positive, centers, weights[filled], "labelled scores")


# ── Another fit of a model, from a summary of recent rows, and what it changes ────────────────────

#: Changes of a model that are printed before the rest is only counted.
_PRINTED = 8


class Change(NamedTuple):
    """A coefficient, or the points of a column, before and after.

    ``before`` and ``after`` are coefficients times the standard deviation of the feature, in units
    of the standard deviation of the scores; for a card, the range of the points of the column in
    such units.
    """

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Refit:
    """A model that was fitted again to a summary, and what it changes.

    Parameters
    ----------
    model : fitted classifier
    before, after : Rates
        Of the old and of the new model on the new summary, if scores are normal in each class.
    changes : tuple of Change
        Largest first.
    """

    model: Any
    before: Rates
    after: Rates
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        metric = self.model.operating_point_.metric.label
        table = [["if scores are normal", "old model", "new model"]]
        table += [*_rate_lines(metric, self.before, self.after), ["weight of", "", ""]]
        for change in self.changes[:_PRINTED]:
            table.append([change.name, f"{change.before:+.3f}", f"{change.after:+.3f}"])
        lines = text_table(table)
        if len(self.changes) > _PRINTED:
            lines.append(f"and {len(self.changes) - _PRINTED} more in .changes")
        return "\n".join(lines)


def refit(model: Any, summary: Moments | BinCounts) -> Refit:
    """Fit a model again to a summary, such as that of a window or of decayed days.

    A linear model becomes a `MomentClassifier` for the same metric, a card a card of the same bins
    in closed form: no row is read.

    Parameters
    ----------
    model : fitted classifier of two classes
    summary : Moments or BinCounts
        Labelled; such as ``decayed(days, half_life=30)``.
    """
    if isinstance(model, OperatingPointClassifier):
        msg = "a summary does not fit an estimator again: fit it to rows, and its threshold too"
        raise TypeError(msg)
    labelled = labelled_pair(summary, positive_of(model))
    if isinstance(model, ScorecardClassifier):
        if not isinstance(summary, BinCounts):
            msg = "a card is fitted again to BinCounts"
            raise TypeError(msg)
        for bins, other in zip_longest(model.binner_.bins_, summary.bins):
            if bins != other:  # the old points are not for them
                raise DifferentBinsError((bins or other).name)
        new = clone(model).fit_summary(summary)
    else:
        if not isinstance(summary, Moments):
            msg = "a linear model is fitted again to Moments"
            raise TypeError(msg)
        _require_features_of(model, summary)
        new = MomentClassifier(model.metric, positive=positive_of(model)).fit_summary(summary)
    metric = new.operating_point_.metric
    before, after = (
        predicted_rates(_moments_of_scores(each, labelled), metric, float(labelled.weight))
        for each in (model, new)
    )
    return Refit(new, before, after, _changes(model, new, labelled))


def _require_features_of(model: Any, summary: Moments) -> None:
    """Raise ValueError for moments of other features than those of the model."""
    n_features = model.coef_.shape[1]
    if summary.n_features != n_features:
        msg = f"the moments have {summary.n_features} features and the model {n_features}"
        raise ValueError(msg)
    known = [str(name) for name in getattr(model, "feature_names_in_", ())]
    for name, other in zip(known, summary.feature_names or (), strict=False):
        if name != other:
            msg = f"the moments have feature {other!r} where the model has {name!r}"
            raise ValueError(msg)


def _moments_of_scores(model: Any, labelled: Any) -> ScoreMoments:
    """Return the moments of a model's scores on the rows of a summary, the positive class last."""
    if isinstance(labelled, Moments):
        line = np.append(model.coef_[0], model.intercept_[0])
        return project(labelled, toward_positive(model, line))
    return score_moments(model.card_, labelled, labelled.classes.tolist()[1])


def _changes(old: Any, new: Any, labelled: Any) -> tuple[Change, ...]:
    """Return the weight of each feature or column in both models, the largest change first."""
    before, after = (_weights(model, labelled) for model in (old, new))
    changes = [Change(name, weight, after.get(name, 0.0)) for name, weight in before.items()]
    return tuple(sorted(changes, key=lambda change: -abs(change.after - change.before)))


def _weights(model: Any, labelled: Any) -> dict[str, float]:
    scores = _moments_of_scores(model, labelled)
    pooled = scores.prior * scores.var_pos + (1.0 - scores.prior) * scores.var_neg
    deviation = float(np.sqrt(pooled)) or 1.0
    if isinstance(labelled, Moments):
        names = labelled.feature_names or tuple(f"x{k}" for k in range(labelled.n_features))
        sizes = toward_positive(model, model.coef_[0]) * labelled.feature_scales()
        return dict(zip(names, (sizes / deviation).tolist(), strict=True))
    card = model.card_
    return {
        bins.name: float(np.ptp(points)) / deviation
        for bins, points in zip(card.bins, card.columns, strict=True)
    }
