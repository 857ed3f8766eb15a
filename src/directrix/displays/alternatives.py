"""AlternativesDisplay: what a smaller gap between segments costs, as a frontier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from directrix._typing import FloatArray
from directrix.displays import style

#: Names of rates in the label of the axis.
_NAMES = {"fpr": "false-positive rate", "alerts": "alerts", "recall": "recall"}


@dataclass(eq=False)
class AlternativesDisplay:
    """The metric of alternatives against the gap between segments, with the delivered one marked.

    Vertical bars are 95 % intervals of the difference to the plain fit. The band is what one
    standard error of the plain fit allows, and gaps left of the dotted line are no larger than
    chance alone makes them. Create one with `from_estimator`.

    Parameters
    ----------
    gaps, values, reach : arrays of shape (k,)
        Gap between segments, metric and half the width of the interval; the plain fit is first.
    chosen : int
        Index of the one that is delivered.
    band : tuple of float
        Metric of the plain fit, and that of one standard error less.
    chance : float
        Gap that chance alone makes.
    rate, label : str
        Names of the rate and of the metric.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    points_, chosen_, plain_, chance_, band_ : matplotlib artists
    """

    gaps: FloatArray
    values: FloatArray
    reach: FloatArray
    chosen: int
    band: tuple[float, float]
    chance: float
    rate: str
    label: str

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the alternatives of a classifier that was fitted with ``parity=``.

        Parameters
        ----------
        estimator : fitted classifier, or a pipeline that ends with one
        ax : as in `plot`
        """
        style.pyplot()
        check_is_fitted(estimator)
        table = style.last_step(estimator).alternatives_
        plain, sign = table[0], 1.0 if table.metric.greater_is_better else -1.0
        return cls(
            np.array([each.gap.value for each in table]),
            np.array([each.metric for each in table]),
            np.array([(each.change.high - each.change.low) / 2.0 for each in table]),
            table.chosen,
            (plain.metric, plain.metric - sign * table.error),
            plain.gap.by_chance,
            _NAMES[table.parity.rate],
            table.metric.label,
        ).plot(ax)

    def plot(self, ax: Any = None, **points: Any) -> Self:
        """Draw the stored alternatives.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        **points
            Passed to matplotlib, for the points and their intervals.
        """
        (self.ax_,) = style.panels(ax, (1, 1), 3.6)
        self.figure_ = self.ax_.figure
        gaps, values, grey = self.gaps, self.values, {"color": style.GREY}
        self.points_ = None
        if len(gaps) > 1:
            how = {"fmt": "o", "color": style.BLUE, "markersize": 4, "linewidth": 1.0, **points}
            label = "alternatives, 95 % interval"
            bars = {"yerr": self.reach[1:], "label": label, **how}
            self.points_ = self.ax_.errorbar(gaps[1:], values[1:], **bars)
        self.band_ = self.ax_.axhspan(
            min(self.band),
            max(self.band),
            alpha=0.15,
            linewidth=0,
            label="one standard error",
            **grey,
        )
        (self.plain_,) = self.ax_.plot(
            gaps[:1], values[:1], "s", markersize=6, label="plain fit", **grey
        )
        dotted = {"linestyle": ":", "linewidth": 1.1, **grey}
        self.chance_ = self.ax_.axvline(self.chance, label="gap expected by chance", **dotted)
        at = gaps[self.chosen], values[self.chosen]
        self.chosen_ = style.mark(self.ax_, *at, label="delivered")
        self.ax_.set_xlim(left=0.0)
        style.finish(self.ax_, f"gap between segments in {self.rate}", self.label)
        return self
