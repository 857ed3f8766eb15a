"""Another threshold for a model, from labelled scores and for another prevalence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix._printing import text_table
from directrix.classifiers import OperatingPoint
from directrix.classifiers.labels import positive_of
from directrix.classifiers.threshold_classifier import ThresholdClassifier
from directrix.metrics.curve import Curve, precision_of
from directrix.metrics.table import resolve
from directrix.models.calibration import calibration_from_scores
from directrix.models.intervals import Rates, Sizes
from directrix.models.operating_point import OnRows, predicted_rates
from directrix.moments import ScoreHistogram
from directrix.moments.projection import ScoreMoments
from directrix.monitoring.day_summaries import require_scores_of
from directrix.rows.sums import tree_sum

if TYPE_CHECKING:
    from directrix.metrics.base import Metric
    from directrix.models.calibration import Calibration
    from directrix.models.intervals import Intervals

#: Groups of days that are held out in turn to tell what a new threshold gives on new rows.
_GROUPS = 5
#: Names of the rates in reports.
RATE_NAMES = ("recall", "FPR", "precision")


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
        for name, old, new in zip((*RATE_NAMES, metric), self.before, self.after, strict=True):
            table.append([name, f"{old:.4f}", f"{new:.4f}"])
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
        msg = f"{type(model).__name__} has no threshold that could be moved"
        raise TypeError(msg)
    chosen = resolve(model.metric if metric is None else metric)
    given: Any = scores
    if not isinstance(given, ScoreHistogram | Mapping):
        msg = (
            "scores must be a ScoreHistogram, or a dict of them by day (the scores of "
            f"summarize_day, or store.read('scores')), not {type(given).__name__}"
        )
        raise TypeError(msg)
    days = dict(scores) if isinstance(scores, Mapping) else {}
    if isinstance(scores, Mapping) and not days:
        msg = "there are no scores: the dict of days is empty"
        raise ValueError(msg)
    total: Any = tree_sum(list(days.values())) if days else scores
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
    old = _OnCurve.of(chosen, curve, total, 0.0)
    # A card of whole points has its threshold between two of them.
    point = replace(model.operating_point_, threshold=model.threshold_above(by))
    by = model.score_above(point)
    new = _OnCurve.of(chosen, curve, total, by)
    expected, intervals = _held_out_days(chosen, list(days.values()), prevalence)
    moments = _score_moments(total, by, curve.prior)
    retuned = OperatingPoint(
        chosen,
        point.threshold,
        predicted_rates(moments, chosen, float(total.weight.sum())),
        empirical=new.rates,
        rows="labelled days" if days else "labelled scores",
        expected=expected,
        intervals=intervals,
    )
    calibration = _calibration(total, by, curve)
    if positive_of(model) != model.classes_.tolist()[-1]:
        calibration = calibration.turned()
    return Retuning(
        model.at_point(retuned, calibration),
        curve.prior,
        old.rates,
        new.rates,
        old.alerts,
        new.alerts,
    )


class _OnCurve(NamedTuple):
    """Rates and alerts at a threshold."""

    rates: Rates
    alerts: float

    @classmethod
    def of(cls, metric: Metric, curve: Curve, scores: ScoreHistogram, threshold: float) -> _OnCurve:
        tpr, fpr = scores.rates(threshold)
        prior = curve.prior
        value = float(metric.at_rates(tpr, fpr, prior))
        precision = float(precision_of(tpr, fpr, prior))
        return cls(Rates(tpr, fpr, precision, value), prior * tpr + (1.0 - prior) * fpr)


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
    prior = curve.prior
    value = float(metric.at_rates(tpr, fpr, prior))
    rates = Rates(tpr, fpr, float(precision_of(tpr, fpr, prior)), value)
    n_neg, n_pos = (total.weight**2 / total.weight_sq).tolist()
    index = int(np.argmin(np.abs(curve.fpr - fpr)))
    return rates, OnRows(curve, index, Sizes(n_pos, n_neg)).intervals(metric)


def _score_moments(scores: ScoreHistogram, threshold: float, prior: float) -> ScoreMoments:
    centers = scores.centers - threshold
    shares = scores.counts / scores.weight[:, None]
    mean_neg, mean_pos = (shares @ centers).tolist()
    var_neg = float(shares[0] @ (centers - mean_neg) ** 2)
    var_pos = float(shares[1] @ (centers - mean_pos) ** 2)
    return ScoreMoments(mean_pos, var_pos, mean_neg, var_neg, prior)


def _calibration(scores: ScoreHistogram, threshold: float, curve: Curve) -> Calibration:
    """Return a calibration that is fitted to the bins of a histogram, as weighted rows."""
    factors = np.array([curve.negatives, curve.positives]) / scores.weight
    weights = scores.counts * factors[:, None]
    filled = weights > 0
    positive = np.broadcast_to(np.array([[False], [True]]), weights.shape)[filled]
    centers = np.broadcast_to(scores.centers - threshold, weights.shape)[filled]
    return calibration_from_scores(positive, centers, weights[filled], "labelled scores")
