"""NetBenefitDisplay: the net benefit of acting on a model's risks, as a decision curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from directrix._typing import FloatArray
from directrix.displays import style
from directrix.estimators.risk_validation import NetBenefit, RiskCounts, net_benefit
from directrix.rows.classes import positive_of

#: Depth of the frame below zero, and its height, relative to the greatest net benefit.
_BELOW, _ABOVE = 0.25, 1.12


@dataclass(eq=False)
class NetBenefitDisplay:
    r"""Decision curve: the net benefit of a model by the risk above which one acts.

    .. math:: \frac{TP}{n} - \frac{FP}{n} \cdot \frac{t}{1 - t}

    of n rows, for the risk t (Vickers and Elkin 2006). The curve is compared with acting on all
    rows and on none. A model is worth using at the thresholds where it is above both. The band is a
    95 % interval. Create one with `from_estimator` or `from_predictions`, and give rows that the
    model was not fitted to.

    Parameters
    ----------
    curve : NetBenefit
    name : str
        Name of the curve in the legend.
    cutoff : float, optional
        Probability at the cutoff of the model.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    line_, interval_, all_, none_ : matplotlib artists
    """

    curve: NetBenefit
    name: str = "model"
    cutoff: float | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        thresholds: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the decision curve of a fitted classifier of two classes with probabilities.

        Parameters
        ----------
        estimator : fitted classifier with ``predict_proba``
        X : array or data frame of shape (n, d)
        y : array of shape (n,)
        thresholds : array, optional
            Risks from which on one acts; by default a hundred.
        sample_weight : array of shape (n,), optional
        name : str, optional
            Name of the curve; by default that of the class.
        ax : as in `plot`
        """
        style.pyplot()
        check_is_fitted(estimator)
        last = style.last_step(estimator)
        classes = np.asarray(estimator.classes_).tolist()
        if len(classes) != 2:
            msg = f"net benefit is of two classes, and {type(last).__name__} has {len(classes)}"
            raise ValueError(msg)
        label = positive_of(last)
        probability = np.asarray(estimator.predict_proba(X))[:, classes.index(label)]
        cutoff = probability_at_cutoff(last)
        name = type(last).__name__ if name is None else name
        made = _risk_counts(np.asarray(y) == label, probability, sample_weight)
        return cls(net_benefit(made, thresholds), name, cutoff).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        probability: Any,
        *,
        pos_label: Any = None,
        thresholds: Any = None,
        sample_weight: Any = None,
        name: str = "model",
        ax: Any = None,
    ) -> Self:
        """Draw the decision curve of given probabilities.

        Parameters
        ----------
        y_true : array of shape (n,)
        probability : array of shape (n,)
            Of the positive label.
        pos_label : optional
            The positive label; by default True, 1, or the last of two.
        thresholds, sample_weight, name, ax : as in `from_estimator`
        """
        style.pyplot()
        made = _risk_counts(y_true, probability, sample_weight, pos_label)
        return cls(net_benefit(made, thresholds), name).plot(ax)

    def plot(self, ax: Any = None, *, name: str | None = None, **line: Any) -> Self:
        """Draw the stored curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure. In given ones that have a curve already, acting on all
            and on none is not drawn again.
        name : str, optional
            Name of the curve in the legend.
        **line
            Passed to matplotlib, for the curve.
        """
        (self.ax_,) = style.panels(ax, (1, 1), 3.6)
        self.figure_ = self.ax_.figure
        curve = self.curve
        first = not self.ax_.lines
        how = {"color": style.BLUE if first else style.VERMILION, "linewidth": 1.8, **line}
        (self.line_,) = self.ax_.plot(
            curve.thresholds, curve.values, label=name or self.name, zorder=3, **how
        )
        color = self.line_.get_color()
        shown: dict[str, Any] = {"label": "95 % interval"} if first else {}
        self.interval_ = self.ax_.fill_between(
            curve.thresholds, curve.low, curve.high, color=color, alpha=0.15, linewidth=0, **shown
        )
        self.all_ = self.none_ = None
        if first:
            thin = {"color": style.GREY, "linewidth": 1.1}
            (self.all_,) = self.ax_.plot(
                curve.thresholds, curve.treat_all, linestyle="--", label="act on all rows", **thin
            )
            self.none_ = self.ax_.axhline(0.0, linestyle=":", label="act on none", **thin)
        if self.cutoff is not None and curve.thresholds[0] <= self.cutoff <= curve.thresholds[-1]:
            at = float(np.interp(self.cutoff, curve.thresholds, curve.values))
            label = "risk at the cutoff" if first else "_"  # in the legend once
            style.mark(self.ax_, self.cutoff, at, label=label)
        # Acting on all rows falls far below zero, which says nothing.
        top = float(max(np.max(curve.high), np.max(curve.treat_all), 1e-9))
        low, high = -_BELOW * top, _ABOVE * top
        before = (0.0, 0.0) if first else self.ax_.get_ylim()
        self.ax_.set_ylim(min(low, before[0]), max(high, before[1]))
        style.finish(self.ax_, "threshold probability", "net benefit (true positives per row)")
        return self


def probability_at_cutoff(classifier: Any) -> float | None:
    """Return the probability of the positive label at the threshold of a model, if it has one."""
    calibration: Any = getattr(classifier, "calibration_", None)
    if calibration is None:
        return None
    at_zero: FloatArray = calibration(np.zeros(1))
    is_last = positive_of(classifier) == classifier.classes_.tolist()[-1]
    return float(at_zero[0] if is_last else 1.0 - at_zero[0])


def _risk_counts(y: Any, probability: Any, weight: Any, pos_label: Any = None) -> RiskCounts:
    """Return the counts of checked rows of both classes."""
    rows = style.BinaryScores.by_predictions(y, probability, weight, pos_label, 0.5)
    if rows.scores.min() < 0 or rows.scores.max() > 1:
        msg = "probabilities must be between 0 and 1: give those of the positive label"
        raise ValueError(msg)
    return RiskCounts.of_rows(rows.positive, rows.scores, rows.weight)
