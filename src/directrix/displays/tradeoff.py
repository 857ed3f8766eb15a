"""TradeoffDisplay: a metric against the threshold, the cost ratio or the quota."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.displays import style
from directrix.displays.style import BinaryScores, metric_of
from directrix.metrics.base import Curve, Metric
from directrix.metrics.table import resolve

_AGAINST = ("threshold", "cost", "quota")
#: Cost ratios span this factor below and above the ratio that balances the classes.
_REACH, _RATIOS = 100.0, 401
_XLABELS = {
    "threshold": "threshold (score)",
    "cost": "cost ratio that sets the threshold (miss / false positive)",
    "quota": "share of rows flagged",
}


@dataclass(eq=False)
class TradeoffDisplay:
    r"""A metric against the threshold, the cost ratio or the quota, and the operating point.

    .. math:: M\big(t(\tau), f(\tau), \pi\big) \quad\text{against}\quad \tau, \qquad
              \rho : \tau = \arg\min FP + \rho\, FN, \qquad q = \pi t + (1 - \pi) f

    exactly, at every threshold between two distinct scores. For a metric with a limit, such as
    recall at FPR 1 %, the rate is drawn, thin where the limit is broken. Create one with
    `from_estimator` or `from_predictions`.

    Parameters
    ----------
    x : array
        Thresholds, cost ratios or shares of rows.
    values : array
        The metric.
    kept : array of bool
        Where the limit of the metric is kept; everywhere, if it has none.
    point : tuple of float
        Position and metric of the operating point.
    metric : Metric
    against : "threshold", "cost" or "quota"
    quota : float, optional
        Share of rows that the metric flags.
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
        """Draw the metric of a classifier at other thresholds.

        Parameters
        ----------
        estimator : fitted classifier of two classes
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
        metric : str or Metric, optional
            By default the metric that the classifier was trained for, or the error.
        against : "threshold", "cost" or "quota"
        sample_weight : array of shape (n,), optional
            A row of weight k counts as k rows.
        ax, **how : as in `plot`
        """
        style.pyplot()
        rows = BinaryScores.by_estimator(estimator, X, y, sample_weight)
        return cls._of(rows, metric_of(estimator, metric, "error"), against).plot(ax, **how)

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
        """Draw the metric of given scores at other thresholds.

        Parameters
        ----------
        y_true : array of shape (n,)
            Labels of two classes.
        y_score : array of shape (n,)
            Higher scores mean that the positive class is more likely.
        metric : str or Metric
        against : "threshold", "cost" or "quota"
        threshold : float
            The operating point: rows above it are predicted positive.
        pos_label : label, optional
            By default True, 1, or the last of two.
        sample_weight : array of shape (n,), optional
        ax, **how : as in `plot`
        """
        style.pyplot()
        rows = BinaryScores.by_predictions(y_true, y_score, sample_weight, pos_label, threshold)
        return cls._of(rows, resolve(metric), against).plot(ax, **how)

    @classmethod
    def _of(cls, rows: BinaryScores, metric: Metric, against: str) -> Self:
        if against not in _AGAINST:
            msg = f"against must be one of {', '.join(map(repr, _AGAINST))}, not {against!r}"
            raise ValueError(msg)
        curve = Curve.of(rows.positive, rows.scores, rows.weight)
        if not metric.uses_threshold:
            msg = (
                f"{metric} is of a ranking, which no threshold changes: give another metric, such "
                "as metric='balanced_error', or draw the frontier"
            )
            raise ValueError(msg)
        if getattr(metric, "columns", ()):
            msg = (
                f"{metric.label} differs from row to row, and is drawn for no threshold: give "
                "another metric, such as metric='f1', or Cost with two numbers"
            )
            raise ValueError(msg)
        values, kept = metric.at_thresholds(curve)
        total = curve.positives + curve.negatives
        # The position of a threshold on the curve is the number of distinct scores above it.
        current = int(np.count_nonzero(curve.levels > rows.cut))
        value = values[current]
        if against == "threshold":
            inner = slice(1, -1)  # at the ends are all rows and none, at infinite thresholds
            x, at = curve.thresholds[inner], rows.cut
            values, kept = values[inner], kept[inner]
        elif against == "quota":
            x = (curve.true_positives + curve.false_positives) / total
            at = float(x[current])
        else:
            x, indices, at = _by_cost(metric, curve, current)
            values, kept = values[indices], kept[indices]
        return cls(
            x,
            values,
            kept,
            (float(at), float(value)),
            metric,
            against,
            metric.quota(curve.prior, total),
            rows.name,
        )

    def plot(self, ax: Any = None, *, name: str | None = None, **line: Any) -> Self:
        """Draw the stored curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        name : str, optional
            Name of the curve in the legend.
        **line
            Passed to matplotlib, for the curve.
        """
        (self.ax_,) = style.panels(ax, (1, 1), 3.6)
        self.figure_ = self.ax_.figure
        limit = self.metric.limit if not self.kept.all() else None
        curve = {"color": style.BLUE, "linewidth": 1.8, "label": name or self.name, **line}
        if limit is not None:
            curve["label"] = f"{curve['label']}, {limit.label}"
        drawn = np.where(self.kept, self.values, np.nan)
        steps = "steps-post" if self.against == "cost" else "default"
        (self.line_,) = self.ax_.plot(self.x, drawn, drawstyle=steps, **curve)
        self.broken_ = None
        if limit is not None:
            thin = {"color": self.line_.get_color(), "linewidth": 0.9, "linestyle": ":"}
            (self.broken_,) = self.ax_.plot(
                self.x, self.values, drawstyle=steps, zorder=1, label="limit not kept", **thin
            )
        if self.quota is not None and self.against == "quota":
            thin = {"color": style.GREY, "linewidth": 0.9, "linestyle": "--"}
            self.ax_.axvline(self.quota, label="number of rows in the metric", **thin)
        self.point_ = style.mark(self.ax_, *self.point, clip_on=False)
        self.ax_.set_xscale("log" if self.against == "cost" else "linear")
        style.finish(self.ax_, _XLABELS[self.against], self.metric.rate_label)
        return self


def _by_cost(metric: Metric, curve: Curve, current: int) -> tuple[FloatArray, AnyArray, float]:
    """Return cost ratios, the threshold of least cost at each, and the ratio of a threshold.

    That ratio is one at which the threshold costs the least; if there is none, the ratio at which
    its excess cost is the smallest share of the highest cost.

    ``current`` is the index of the threshold on the curve.
    """
    even = curve.negatives / curve.positives
    low, high = even / _REACH, even * _REACH
    if metric.cost_ratio is not None:
        low, high = min(low, metric.cost_ratio / 2.0), max(high, metric.cost_ratio * 2.0)
    ratios = np.geomspace(low, high, _RATIOS)
    missed = curve.positives - curve.true_positives
    indices = np.empty(_RATIOS, dtype=np.intp)
    excess = np.empty(_RATIOS)
    for k, ratio in enumerate(ratios):
        costs = curve.false_positives + ratio * missed
        indices[k] = int(np.argmin(costs))
        highest = curve.negatives + ratio * curve.positives
        excess[k] = (costs[current] - costs[indices[k]]) / highest
    best = np.flatnonzero(excess <= excess.min() + 1e-12)
    return ratios, indices, float(ratios[best[len(best) // 2]])
