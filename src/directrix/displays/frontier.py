"""FrontierDisplay: the ROC curve of all lines together, of one of them, and where that cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.special import ndtr, ndtri

from directrix.displays import style
from directrix.displays.scored import Scored, before_last_step, last_step, own_metric
from directrix.displays.words import Limit, limit_of, words
from directrix.frontier import Frontier
from directrix.metrics import Curve, RecallAtFPR, resolve
from directrix.metrics.ranking import PartialAUC
from directrix.moments import Moments

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.metrics import Metric

#: Limits on the false-positive rate up to which the left of the picture matters: a log scale.
_FAR_LEFT = 0.1


class Roc(NamedTuple):
    """True-positive rate against false-positive rate."""

    fpr: FloatArray
    tpr: FloatArray


@dataclass(eq=False)
class FrontierDisplay:
    r"""The most recall of any line at each false-positive rate, and one line beside it.

    .. math:: t(f) = \max_\theta \Phi\left(\frac{\delta \cdot w(\theta) +
              \sqrt{v_-(\theta)}\, \Phi^{-1}(f)}{\sqrt{v_+(\theta)}}\right), \qquad
              w(\theta) = (\cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_-)^{-1} \delta

    with :math:`\delta = \mu_+ - \mu_-`: every Pareto-optimal pair of rates is one of this family,
    if the scores of each class are normal. A curve on rows that passes above shows that they
    are not. Make one with `from_estimator` or `from_moments`.

    Parameters
    ----------
    frontier : Roc
        Of all lines, predicted from the moments.
    line : Roc
        Of one line: on rows, or predicted.
    point : tuple of float
        False- and true-positive rate where the line cuts.
    metric : Metric
        What the line was chosen for.
    limit : Limit, optional
        What the metric must keep.
    name : str
        Of the line.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    frontier_, line_, point_, limit_ : matplotlib artists
    """

    frontier: Roc
    line: Roc
    point: tuple[float, float]
    metric: Metric
    limit: Limit | None
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
        """Draw the frontier of a summary, and the best line for a metric, both as predicted.

        Parameters
        ----------
        moments : Moments
            Of two classes.
        metric : str or Metric
        shrinkage : "oas" or float
            As in `directrix.Frontier`.
        ax, **how : as in `plot`
        """
        style.pyplot()
        wanted = resolve(metric)
        frontier = Frontier(moments, shrinkage)
        found = frontier.curve()
        scores = frontier.best(wanted).scores
        deviations = np.sqrt(scores.var_pos), np.sqrt(scores.var_neg)
        ahead = scores.mean_pos - scores.mean_neg + deviations[1] * ndtri(found.fpr)
        point = ndtr(scores.mean_neg / deviations[1]), ndtr(scores.mean_pos / deviations[0])
        return cls(
            Roc(found.fpr, found.tpr),
            Roc(found.fpr, ndtr(ahead / deviations[0])),
            (float(point[0]), float(point[1])),
            wanted,
            limit_of(wanted, moments.prior, moments.weight),
            f"best for {words(wanted)}, predicted",
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
        """Draw the ROC curve of a classifier on rows, under the frontier of all lines.

        The frontier is that of the classifier where it keeps one, as `MomentClassifier`; else of
        the rows given. At the end of a pipeline, it is of the features that arrive there.

        Parameters
        ----------
        estimator : fitted classifier of two classes
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
        metric : str or Metric, optional
            By default what the classifier was trained for, or AUC.
        sample_weight : array of shape (n,), optional
            A row of weight k counts as k rows.
        ax, **how : as in `plot`
        """
        style.pyplot()
        rows = Scored.by_estimator(estimator, X, y, sample_weight)
        wanted = own_metric(estimator, metric, "auc")
        family = getattr(last_step(estimator), "frontier_", None)
        if family is None:
            family = Frontier(Moments.of(before_last_step(estimator, X), y, sample_weight))
        found = family.curve()
        curve = Curve.of(rows.positive, rows.scores, rows.weight)
        above = rows.weight * rows.predicted
        return cls(
            Roc(found.fpr, found.tpr),
            Roc(curve.fpr, curve.tpr),
            (
                float(above @ ~rows.positive) / curve.negatives,
                float(above @ rows.positive) / curve.positives,
            ),
            wanted,
            limit_of(wanted, curve.prior, curve.positives + curve.negatives),
            f"{rows.name}, on these rows",
        ).plot(ax, **how)

    def plot(
        self, ax: Any = None, *, name: str | None = None, xscale: str | None = None, **line: Any
    ) -> Self:
        """Draw what is stored.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        name : str, optional
            What the legend calls the line.
        xscale : "linear" or "log", optional
            By default "log" where the metric has a small limit on the false-positive rate.
        **line
            To matplotlib, for the curve of the line.
        """
        (self.ax_,) = style.panels(ax, (1, 1), 4.4)
        self.figure_ = self.ax_.figure
        left, scale = self._left(xscale)
        every = {"color": style.BLUE, "linewidth": 2.2, "label": "all lines, from the moments"}
        (self.frontier_,) = self.ax_.plot(self.frontier.fpr, self.frontier.tpr, **every)
        own = {"color": style.VERMILLION, "linewidth": 1.4, "label": name or self.name, **line}
        (self.line_,) = self.ax_.plot(
            np.where(self.line.fpr > 0, self.line.fpr, left), self.line.tpr, **own
        )
        self.limit_ = None
        if self.limit is not None:
            thin = {"color": style.GREY, "linewidth": 0.9, "linestyle": "--"}
            text = f"limit: {self.limit.words}"
            (self.limit_,) = self.ax_.plot(self.limit.fpr, self.limit.tpr, label=text, **thin)
        at = max(self.point[0], left), self.point[1]
        self.point_ = style.mark(self.ax_, *at, clip_on=False)
        self.ax_.set(xscale=scale, xlim=(left, 1.0), ylim=(0.0, 1.02))
        style.finish(
            self.ax_, "false-positive rate (FPR)", "true-positive rate (recall)", columns=2
        )
        return self

    def _left(self, xscale: str | None) -> tuple[float, str]:
        """Return where the axis begins, and its scale. A rate of zero has no logarithm."""
        limit = getattr(self.metric, "fpr", getattr(self.metric, "max_fpr", 1.0))
        small = isinstance(self.metric, RecallAtFPR | PartialAUC) and limit <= _FAR_LEFT
        scale = xscale or ("log" if small else "linear")
        if scale == "linear":
            return 0.0, scale
        seen = self.line.fpr[self.line.fpr > 0]
        return float(min(limit / 10.0, 1e-2, max(seen.min() if len(seen) else 1e-3, 1e-4))), scale
