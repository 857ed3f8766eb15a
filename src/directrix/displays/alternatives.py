"""AlternativesDisplay: what a smaller gap between segments costs, as a frontier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from directrix.displays import style

if TYPE_CHECKING:
    from directrix.models.alternatives import Alternatives


@dataclass(eq=False)
class AlternativesDisplay:
    """The metric of alternatives against the gap between segments, with the delivered one marked.

    Vertical bars are 95 % intervals of the difference to the plain fit. The band is what one
    standard error of the plain fit allows, and gaps left of the dotted line are no larger than
    chance alone makes them. Create one with `from_estimator`.

    Parameters
    ----------
    alternatives : Alternatives

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    points_, chosen_, plain_, chance_, band_ : matplotlib artists
    """

    alternatives: Alternatives

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
        return cls(style.last_step(estimator).alternatives_).plot(ax)

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
        table = self.alternatives
        plain, others = table[0], [each for k, each in enumerate(table) if k]
        sign = 1.0 if table.metric.greater_is_better else -1.0
        self.points_ = None
        if others:
            reach = [(each.change.high - each.change.low) / 2.0 for each in others]
            how = {"fmt": "o", "color": style.BLUE, "markersize": 4, "linewidth": 1.0, **points}
            gaps, values = [each.gap.value for each in others], [each.metric for each in others]
            label = "alternatives, 95 % interval"
            self.points_ = self.ax_.errorbar(gaps, values, yerr=reach, label=label, **how)
        ends = plain.metric, plain.metric - sign * table.error
        shade = {"color": style.GREY, "alpha": 0.15, "linewidth": 0}
        label = "one standard error"
        self.band_ = self.ax_.axhspan(min(ends), max(ends), label=label, **shade)
        (self.plain_,) = self.ax_.plot(
            plain.gap.value, plain.metric, "s", color=style.GREY, markersize=6, label="plain fit"
        )
        self.chance_ = self.ax_.axvline(
            plain.gap.by_chance,
            color=style.GREY,
            linestyle=":",
            linewidth=1.1,
            label="gap by chance",
        )
        chosen = table[table.chosen]
        self.chosen_ = style.mark(self.ax_, chosen.gap.value, chosen.metric, label="delivered")
        self.ax_.set_xlim(left=0.0)
        rate = {"fpr": "false-positive rate", "alerts": "alerts"}.get(table.parity.rate, "recall")
        style.finish(self.ax_, f"gap between segments in {rate}", table.metric.label, columns=2)
        return self
