"""FrontierDisplay: the best ROC curve of any linear classifier, and that of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import ndtr, ndtri

from directrix._typing import FloatArray
from directrix.displays import style
from directrix.displays.style import BinaryScores, before_last_step, last_step, metric_of
from directrix.frontier import Frontier
from directrix.metrics.base import Curve, Metric
from directrix.metrics.limit import Boundary
from directrix.metrics.table import resolve
from directrix.moments import Moments

#: Limits on the false-positive rate up to which the axis is logarithmic.
_FAR_LEFT = 0.1


class Roc(NamedTuple):
    """A ROC curve: true-positive rate against false-positive rate."""

    fpr: FloatArray
    tpr: FloatArray


@dataclass(eq=False)
class FrontierDisplay:
    r"""Highest recall of any linear classifier at every false-positive rate, and one classifier.

    .. math:: t(f) = \max_\theta \Phi\left(\frac{\delta \cdot w(\theta) +
              \sqrt{v_-(\theta)}\, \Phi^{-1}(f)}{\sqrt{v_+(\theta)}}\right), \qquad
              w(\theta) = (\cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_-)^{-1} \delta

    with :math:`\delta = \mu_+ - \mu_-`: every Pareto-optimal pair of rates is one of this family,
    if the scores of each class are normal. A ROC curve of rows that passes above it shows that
    they are not. Create one with `from_estimator` or `from_moments`.

    Parameters
    ----------
    frontier : Roc
        Best curve of all linear classifiers, predicted from the moments.
    line : Roc
        Curve of one classifier, on rows or predicted.
    point : tuple of float
        False- and true-positive rate at the threshold of the classifier.
    metric : Metric
        Metric that the classifier was trained for.
    limit : Boundary, optional
        Where a limit or quota of the metric is just kept.
    name : str
        Name of the classifier in the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    frontier_, line_, point_, limit_ : matplotlib artists
    """

    frontier: Roc
    line: Roc
    point: tuple[float, float]
    metric: Metric
    limit: Boundary | None
    name: str

    @classmethod
    def from_moments(
        cls,
        moments: Moments,
        metric: str | Metric = "auc",
        *,
        shrinkage: str | float = "oas",
        ax: Any = None,
        **how: Any,
    ) -> Self:
        """Draw the frontier of a summary and the best classifier for a metric, both predicted.

        Parameters
        ----------
        moments : Moments
            Summary of two classes.
        metric : str or Metric
        shrinkage : "oas" or float
            As in `directrix.Frontier`.
        ax, **how : as in `plot`
        """
        style.pyplot()
        resolved = resolve(metric)
        frontier = Frontier(moments, shrinkage)
        best = frontier.curve()
        scores = frontier.best(resolved).scores
        deviations = np.sqrt(scores.var_pos), np.sqrt(scores.var_neg)
        ahead = scores.mean_pos - scores.mean_neg + deviations[1] * ndtri(best.fpr)
        point = ndtr(scores.mean_neg / deviations[1]), ndtr(scores.mean_pos / deviations[0])
        return cls(
            Roc(best.fpr, best.tpr),
            Roc(best.fpr, ndtr(ahead / deviations[0])),
            (float(point[0]), float(point[1])),
            resolved,
            boundary_of(resolved, moments.prior, moments.weight),
            f"best for {resolved.label}, predicted",
        ).plot(ax, **how)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        metric: str | Metric | None = None,
        sample_weight: Any = None,
        ax: Any = None,
        **how: Any,
    ) -> Self:
        """Draw the ROC curve of a classifier on rows, under the frontier of linear classifiers.

        The frontier is that of the classifier if it stores one, as `MomentClassifier` does, or
        that of the given rows. For a pipeline it is that of the features of its last step.

        Parameters
        ----------
        estimator : fitted classifier of two classes
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
        metric : str or Metric, optional
            By default the metric that the classifier was trained for, or AUC.
        sample_weight : array of shape (n,), optional
            A row of weight k counts as k rows.
        ax, **how : as in `plot`
        """
        style.pyplot()
        rows = BinaryScores.by_estimator(estimator, X, y, sample_weight)
        resolved = metric_of(estimator, metric, "auc")
        frontier = getattr(last_step(estimator), "frontier_", None)
        if frontier is None:
            frontier = Frontier(Moments.of(before_last_step(estimator, X), y, sample_weight))
        best = frontier.curve()
        curve = Curve.of(rows.positive, rows.scores, rows.weight)
        above = rows.weight * rows.predicted
        return cls(
            Roc(best.fpr, best.tpr),
            Roc(curve.fpr, curve.tpr),
            (
                float(above @ ~rows.positive) / curve.negatives,
                float(above @ rows.positive) / curve.positives,
            ),
            resolved,
            boundary_of(resolved, curve.prior, curve.positives + curve.negatives),
            f"{rows.name}, on these rows",
        ).plot(ax, **how)

    def plot(
        self, ax: Any = None, *, name: str | None = None, xscale: str | None = None, **line: Any
    ) -> Self:
        """Draw the stored curves.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        name : str, optional
            Name of the classifier in the legend.
        xscale : "linear" or "log", optional
            By default "log" if the metric has a small limit on the false-positive rate.
        **line
            Passed to matplotlib, for the curve of the classifier.
        """
        (self.ax_,) = style.panels(ax, (1, 1), 4.4)
        self.figure_ = self.ax_.figure
        left, scale = self._left(xscale)
        best = {"color": style.BLUE, "linewidth": 2.2, "label": "all lines, from the moments"}
        (self.frontier_,) = self.ax_.plot(self.frontier.fpr, self.frontier.tpr, **best)
        one = {"color": style.VERMILION, "linewidth": 1.4, "label": name or self.name, **line}
        (self.line_,) = self.ax_.plot(
            np.where(self.line.fpr > 0, self.line.fpr, left), self.line.tpr, **one
        )
        self.limit_ = None
        if self.limit is not None:
            thin = {"color": style.GREY, "linewidth": 0.9, "linestyle": "--"}
            text = f"limit: {self.limit.limit.label}"
            (self.limit_,) = self.ax_.plot(self.limit.fpr, self.limit.tpr, label=text, **thin)
        at = max(self.point[0], left), self.point[1]
        self.point_ = style.mark(self.ax_, *at, clip_on=False)
        self.ax_.set(xscale=scale, xlim=(left, 1.0), ylim=(0.0, 1.02))
        style.finish(
            self.ax_, "false-positive rate (FPR)", "true-positive rate (recall)", columns=2
        )
        return self

    def _left(self, xscale: str | None) -> tuple[float, str]:
        """Return the left end of the axis and its scale; a rate of zero has no logarithm."""
        limit = None if self.limit is None else self.limit.limit
        highest = limit.value if limit is not None and limit.rate == "fpr" else 1.0
        scale = xscale or ("log" if highest <= _FAR_LEFT else "linear")
        if scale == "linear":
            return 0.0, scale
        rates = self.line.fpr[self.line.fpr > 0]
        lowest = max(rates.min() if len(rates) else 1e-3, 1e-4)
        return float(min(highest / 10.0, 1e-2, lowest)), scale


def boundary_of(metric: Metric, prior: float, n_rows: float) -> Boundary | None:
    """Return where a limit or quota of a metric is just kept; None if it has neither."""
    constraint = metric.constraint(prior, n_rows)
    return None if constraint is None else constraint.boundary(prior)
