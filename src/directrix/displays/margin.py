"""MarginDisplay: how close to normal the scores of each class are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import ndtr, ndtri

from directrix._typing import FloatArray
from directrix.classifiers.evaluation import normality
from directrix.displays import style
from directrix.displays.style import BinaryScores

_BINS = 40
_GRID = 201
#: Most points of a Q–Q plot, evenly spaced in normal quantiles.
_POINTS = 200
#: Standard deviations from the mean; rows farther out count in the outermost bins.
_REACH = 5.0


class Side(NamedTuple):
    """The scores of one class, and the normal distribution of the same mean and variance.

    ``name`` is the label of the class. ``heights`` is the density of the scores in each bin, and
    ``density`` that of the normal distribution on the grid of the display. ``expected`` and
    ``seen`` are the quantiles of the standard normal distribution and of the standardised scores.
    ``distance`` is the Kolmogorov distance between the two distributions.
    """

    name: str
    mean: float
    deviation: float
    heights: FloatArray
    density: FloatArray
    expected: FloatArray
    seen: FloatArray
    distance: float


@dataclass(eq=False)
class MarginDisplay:
    r"""Scores of each class and the normal distributions of the same mean and variance.

    .. math:: s = w^\top x + b, \qquad s \mid c \approx N(m_c, v_c)

    Ghanbari, Li and Scheinberg 2019, §3: this is all that training from moments assumes. Left,
    histograms, the fitted densities and the threshold; right, quantiles of the standardised scores
    against those of the normal distribution, on the diagonal where the assumption holds. Create one
    with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    edges : array
        Edges of the bins. Scores beyond the first and the last count in the outermost bins.
    grid : array
        Scores at which the densities are evaluated.
    positive, negative : Side
    threshold : float

    Attributes
    ----------
    ax_ : array of two matplotlib axes
    figure_ : matplotlib figure
    bars_, curves_, quantiles_ : lists of matplotlib artists
        For the negative class, then for the positive.
    threshold_ : matplotlib artist
    """

    edges: FloatArray
    grid: FloatArray
    positive: Side
    negative: Side
    threshold: float

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Draw the scores of a classifier, preferably on rows that it was not fitted to.

        Parameters
        ----------
        estimator : fitted classifier of two classes
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            A row of weight k counts as k rows.
        ax : as in `plot`
        """
        style.pyplot()
        return cls._of(BinaryScores.by_estimator(estimator, X, y, sample_weight)).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        threshold: float = 0.0,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw given scores.

        Parameters
        ----------
        y_true : array of shape (n,)
            Labels of two classes.
        y_score : array of shape (n,)
            Higher scores mean that the positive class is more likely.
        threshold : float
            Rows above it are predicted positive.
        pos_label : label, optional
            By default True, 1, or the last of two.
        sample_weight : array of shape (n,), optional
        ax : as in `plot`
        """
        style.pyplot()
        rows = BinaryScores.by_predictions(y_true, y_score, sample_weight, pos_label, threshold)
        return cls._of(rows).plot(ax)

    @classmethod
    def _of(cls, rows: BinaryScores) -> Self:
        if not np.isfinite(rows.scores).all():
            msg = "a score is infinite, which a histogram cannot show: give finite scores"
            raise ValueError(msg)
        members = (~rows.positive, rows.positive)
        groups = [(rows.scores[rows_of], rows.weight[rows_of]) for rows_of in members]
        means = [float(np.average(s, weights=w)) for s, w in groups]
        deviations = [
            float(np.sqrt(np.average((s - mean) ** 2, weights=w)))
            for (s, w), mean in zip(groups, means, strict=True)
        ]
        ends = []
        for name, (scores, _), mean, deviation in zip(
            rows.classes, groups, means, deviations, strict=True
        ):
            if not deviation:
                msg = (
                    f"all scores of class {name} are equal, so there is no normal distribution to "
                    "compare with: give more rows of it"
                )
                raise ValueError(msg)
            ends.append(max(float(scores.min()), mean - _REACH * deviation))
            ends.append(min(float(scores.max()), mean + _REACH * deviation))
        edges = np.linspace(min(ends), max(ends), _BINS + 1)
        grid = np.linspace(min(ends), max(ends), _GRID)
        negative, positive = (
            _side(name, s, w, mean, deviation, edges, grid)
            for name, (s, w), mean, deviation in zip(
                rows.classes, groups, means, deviations, strict=True
            )
        )
        return cls(edges, grid, positive, negative, rows.cut)

    def plot(self, ax: Any = None) -> Self:
        """Draw the stored distributions.

        Parameters
        ----------
        ax : two matplotlib axes, optional
            For the histograms and for the quantiles. By default those of a new figure.
        """
        self.ax_ = style.panels(ax, (1, 2), 3.4)
        self.figure_ = self.ax_[0].figure
        self.bars_, self.curves_, self.quantiles_ = [], [], []
        left, right = self.ax_
        for side, colour, marker in (
            (self.negative, style.NEGATIVE, "o"),
            (self.positive, style.POSITIVE, "^"),
        ):
            self.bars_.append(
                left.stairs(side.heights, self.edges, fill=True, color=colour, alpha=0.35)
            )
            text = f"class {side.name}"
            self.curves_ += left.plot(
                self.grid, side.density, color=colour, linewidth=1.6, label=text
            )
            points = {"color": colour, "marker": marker, "markersize": 3, "linestyle": "none"}
            text = f"class {side.name}, D = {side.distance:.2f}"
            self.quantiles_ += right.plot(side.expected, side.seen, label=text, **points)
        line = {"color": style.BLACK, "linewidth": 1.0, "linestyle": "--"}
        self.threshold_ = left.axvline(self.threshold, label="threshold", **line)
        ends = [
            float(end)
            for side in (self.negative, self.positive)
            for end in (side.expected[0], side.expected[-1])
        ]
        right.plot(
            [min(ends), max(ends)],
            [min(ends), max(ends)],
            color=style.GREY,
            linewidth=1.0,
            zorder=0,
        )
        style.finish(left, "score", "density within the class", columns=1)
        style.finish(right, "normal quantile (deviations)", "score (deviations)", columns=1)
        return self


def _side(
    name: str,
    scores: FloatArray,
    weight: FloatArray,
    mean: float,
    deviation: float,
    edges: FloatArray,
    grid: FloatArray,
) -> Side:
    inside = np.clip(scores, edges[0], edges[-1])
    heights = np.histogram(inside, edges, weights=weight, density=True)[0]
    z = (grid - mean) / deviation
    density = np.exp(-0.5 * z * z) / (deviation * np.sqrt(2.0 * np.pi))
    order = np.argsort(scores)
    below = np.cumsum(weight[order])
    # The middle of the weight that a row stands for.
    middle = (below - weight[order] / 2.0) / below[-1]
    if len(middle) > _POINTS:
        first, last = ndtri(middle[[0, -1]])
        wanted = ndtr(np.linspace(float(first), float(last), _POINTS))
        indices = np.searchsorted(middle, wanted[1:-1])
        kept = np.unique(np.array([0, *indices, len(middle) - 1]))
        order, middle = order[kept], middle[kept]
    seen = (scores[order] - mean) / deviation
    distance = normality(scores, weight).distance
    return Side(name, mean, deviation, heights, density, ndtri(middle), seen, distance)
