"""TradeoffDisplay: what another threshold, cost or quota would make of a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from directrix.displays import style
from directrix.displays.scored import Scored, own_metric
from directrix.displays.words import limit_words, quota_of, words
from directrix.metrics import (
    Cost,
    Curve,
    FPRAtRecall,
    PrecisionAtRecall,
    RecallAtFPR,
    RecallAtK,
    RecallAtPrecision,
    resolve,
)
from directrix.metrics.at_point import PointMetric
from directrix.metrics.at_quota import QuotaMetric
from directrix.metrics.at_threshold import ThresholdMetric

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.metrics import Metric

_AGAINST = ("threshold", "cost", "quota")
#: Cost ratios go this many times below and above that which makes the classes equal.
_REACH, _RATIOS = 100.0, 401
_RATE: dict[type[Metric], str] = {
    RecallAtFPR: "recall",
    RecallAtPrecision: "recall",
    RecallAtK: "recall",
    FPRAtRecall: "FPR",
    PrecisionAtRecall: "precision",
}
_XLABELS = {
    "threshold": "threshold (score)",
    "cost": "cost ratio that sets the threshold (miss / false positive)",
    "quota": "share of rows flagged",
}


@dataclass(eq=False)
class TradeoffDisplay:
    r"""A metric against the threshold, the cost ratio or the quota, and where a classifier is.

    .. math:: M\big(t(\tau), f(\tau), \pi\big) \quad\text{against}\quad \tau, \qquad
              \rho : \tau = \arg\min FP + \rho\, FN, \qquad q = \pi t + (1 - \pi) f

    exactly, at every threshold that the rows tell apart. Of a metric with a limit, such as recall
    at FPR 1 %, the rate is drawn, thin where the limit is broken. Make one with `from_estimator` or
    `from_predictions`.

    Parameters
    ----------
    x : array
        Thresholds, cost ratios or shares of rows.
    values : array
        The metric.
    kept : array of bool
        Where the metric's limit is kept; everywhere, if it has none.
    point : tuple of float
        Place and metric of the operating point.
    metric : Metric
    against : "threshold", "cost" or "quota"
    quota : float, optional
        Share of rows that the metric itself takes.
    name : str

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_, broken_, point_ : matplotlib artists
    """

    x: FloatArray
    values: FloatArray
    kept: AnyArray
    point: tuple[float, float]
    metric: Metric
    against: str
    quota: float | None = None
    name: str = "scores"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        metric: str | Metric | None = None,
        against: str = "threshold",
        sample_weight: Any = None,
        ax: Any = None,
        **how: Any,
    ) -> Self:
        """Draw what other thresholds of a classifier would give.

        Parameters
        ----------
        estimator : fitted classifier of two classes
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
        metric : str or Metric, optional
            By default what the classifier was trained for, or the error.
        against : "threshold", "cost" or "quota"
        sample_weight : array of shape (n,), optional
            A row of weight k counts as k rows.
        ax, **how : as in `plot`
        """
        style.pyplot()
        rows = Scored.by_estimator(estimator, X, y, sample_weight)
        return cls._of(rows, own_metric(estimator, metric, "error"), against).plot(ax, **how)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        metric: str | Metric = "error",
        against: str = "threshold",
        threshold: float = 0.0,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **how: Any,
    ) -> Self:
        """Draw what other thresholds of some scores would give.

        Parameters
        ----------
        y_true : array of shape (n,)
            Labels of two classes.
        y_score : array of shape (n,)
            The greater, the more positive.
        metric : str or Metric
        against : "threshold", "cost" or "quota"
        threshold : float
            The operating point: above it a row is predicted positive.
        pos_label : label, optional
            By default True, 1, or the last of two.
        sample_weight : array of shape (n,), optional
        ax, **how : as in `plot`
        """
        style.pyplot()
        rows = Scored.by_predictions(y_true, y_score, sample_weight, pos_label, threshold)
        return cls._of(rows, resolve(metric), against).plot(ax, **how)

    @classmethod
    def _of(cls, rows: Scored, metric: Metric, against: str) -> Self:
        if against not in _AGAINST:
            msg = f"against must be one of {', '.join(map(repr, _AGAINST))}, not {against!r}"
            raise ValueError(msg)
        curve = Curve.of(rows.positive, rows.scores, rows.weight)
        values, kept = _at_each(metric, curve)
        total = curve.positives + curve.negatives
        # Above the cut are as many groups of equal scores as are levels above it.
        own = int(np.count_nonzero(curve.levels > rows.cut))
        if against == "threshold":
            inner = slice(1, -1)  # at the ends are all rows and none, at infinite thresholds
            x, at = curve.thresholds[inner], rows.cut
            values, kept, value = values[inner], kept[inner], values[own]
        elif against == "quota":
            x = (curve.true_positives + curve.false_positives) / total
            at, value = float(x[own]), values[own]
        else:
            x, places, at = _by_cost(metric, curve, own)
            value = values[own]
            values, kept = values[places], kept[places]
        return cls(
            x,
            values,
            kept,
            (float(at), float(value)),
            metric,
            against,
            quota_of(metric, curve.prior, total),
            rows.name,
        )

    def plot(self, ax: Any = None, *, name: str | None = None, **line: Any) -> Self:
        """Draw what is stored.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        name : str, optional
            What the legend calls the curve.
        **line
            To matplotlib, for the curve.
        """
        (self.ax_,) = style.panels(ax, (1, 1), 3.6)
        self.figure_ = self.ax_.figure
        limit = limit_words(self.metric) if not self.kept.all() else None
        own = {"color": style.BLUE, "linewidth": 1.8, "label": name or self.name, **line}
        if limit is not None:
            own["label"] = f"{own['label']}, {limit}"
        drawn = np.where(self.kept, self.values, np.nan)
        steps = "steps-post" if self.against == "cost" else "default"
        (self.line_,) = self.ax_.plot(self.x, drawn, drawstyle=steps, **own)
        self.broken_ = None
        if limit is not None:
            thin = {"color": self.line_.get_color(), "linewidth": 0.9, "linestyle": ":"}
            (self.broken_,) = self.ax_.plot(
                self.x, self.values, drawstyle=steps, zorder=1, label="limit broken", **thin
            )
        if self.quota is not None and self.against == "quota":
            thin = {"color": style.GREY, "linewidth": 0.9, "linestyle": "--"}
            self.ax_.axvline(self.quota, label="rows that the metric takes", **thin)
        self.point_ = style.mark(self.ax_, *self.point, clip_on=False)
        self.ax_.set_xscale("log" if self.against == "cost" else "linear")
        ylabel = _RATE.get(type(self.metric), "precision")
        if isinstance(self.metric, ThresholdMetric):
            ylabel = words(self.metric)
        style.finish(self.ax_, _XLABELS[self.against], ylabel)
        return self


def _at_each(metric: Metric, curve: Curve) -> tuple[FloatArray, AnyArray]:
    """Return the metric at every threshold of a curve, and where its limit is kept."""
    everywhere = np.ones(len(curve.true_positives), dtype=bool)
    if isinstance(metric, ThresholdMetric):
        losses = metric.risk().of_rates(curve.tpr, curve.fpr, curve.prior)
        values = np.asarray(metric.of_loss(losses), dtype=np.float64)
        return np.broadcast_to(values, everywhere.shape).copy(), everywhere
    if isinstance(metric, PointMetric):
        kept, values = metric._allowed_and_value(curve)  # noqa: SLF001 - one place knows limits
        return values, kept
    if isinstance(metric, QuotaMetric):
        return (curve.tpr if isinstance(metric, RecallAtK) else curve.precision), everywhere
    msg = (
        f"{metric} is of a ranking, which no threshold changes: give another metric, such as "
        "metric='balanced_error', or draw the frontier"
    )
    raise ValueError(msg)


def _by_cost(metric: Metric, curve: Curve, own: int) -> tuple[FloatArray, AnyArray, float]:
    """Return cost ratios, the place of least cost at each, and the ratio that a place is best for.

    No ratio may make a place the best: then that at which it costs the least too much, as a share.
    """
    even = curve.negatives / curve.positives
    low, high = even / _REACH, even * _REACH
    if isinstance(metric, Cost) and metric.fp and metric.fn:
        low, high = min(low, metric.fn / metric.fp / 2.0), max(high, metric.fn / metric.fp * 2.0)
    ratios = np.geomspace(low, high, _RATIOS)
    missed = curve.positives - curve.true_positives
    places = np.empty(_RATIOS, dtype=np.intp)
    excess = np.empty(_RATIOS)
    for k, ratio in enumerate(ratios):
        costs = curve.false_positives + ratio * missed
        places[k] = int(np.argmin(costs))
        excess[k] = (costs[own] - costs[places[k]]) / (curve.negatives + ratio * curve.positives)
    best = np.flatnonzero(excess <= excess.min() + 1e-12)
    return ratios, places, float(ratios[best[len(best) // 2]])
