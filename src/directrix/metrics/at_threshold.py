"""Metrics of the predictions at a threshold: error, cost, F_β, MCC, G-mean, any function."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from directrix.metrics.base import Choice, Metric
from directrix.metrics.curve import checked
from directrix.risks import CostRisk, FBetaRisk, FunctionRisk, GMeanRisk, MCCRisk

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.metrics.curve import Curve, CurveStack
    from directrix.risks.base import RatesRisk


class ThresholdMetric(Metric):
    """Base class of functions of the true- and false-positive rate at a threshold."""

    #: Whether rows of both classes are needed; the error of one class is defined.
    needs_both: ClassVar[bool] = True

    @abstractmethod
    def risk(self, n_rows: float | None = None) -> RatesRisk:
        """Return the metric as a risk of the rates."""

    def score(self, y: Any, scores: Any, sample_weight: Any = None) -> float:
        """Return the metric of predicting positive where the score is above zero."""
        positive, scores, weight = checked(y, scores, sample_weight)
        positives, negatives = float(weight @ positive), float(weight @ ~positive)
        total = positives + negatives
        if not total or (self.needs_both and not (positives and negatives)):
            msg = "the labels are of one class only (by weight), so this metric is not defined"
            raise ValueError(msg)
        above = weight * (scores > 0)
        tpr = float(above @ positive) / positives if positives else 1.0
        fpr = float(above @ ~positive) / negatives if negatives else 0.0
        return float(self.of_loss(self.risk().of_rates(tpr, fpr, positives / total)))

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:
        """Return the metric at these rates: numbers, or arrays of them."""
        return self.of_loss(self.risk().of_rates(tpr, fpr, prior))

    def value_at(self, curve: Curve, index: int) -> float:
        """Return the metric at one threshold of a curve."""
        return float(self.at_rates(curve.tpr[index], curve.fpr[index], curve.prior))

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the best value of the metric on every curve, and the index of its threshold."""
        losses = self.risk().of_rates(curves.tpr, curves.fpr, curves.prior)
        index = losses.argmin(axis=-1)
        least = np.take_along_axis(losses, index[..., None], axis=-1)[..., 0]
        return self.of_loss(least), index

    def best(self, curve: Curve) -> Choice:
        """Return the threshold with the best metric on these rows, and the metric there."""
        losses = self.risk().of_rates(curve.tpr, curve.fpr, curve.prior)
        index = int(np.argmin(losses))
        return Choice(curve.threshold(index), float(self.of_loss(losses[index])), index)


@dataclass(frozen=True)
class Error(ThresholdMetric):
    """Share of rows predicted wrongly.

    One minus scikit-learn's ``accuracy_score``.
    """

    label = "error rate"
    greater_is_better = False
    needs_both = False

    def risk(self, n_rows: float | None = None) -> CostRisk:  # noqa: ARG002
        """Return the metric as a risk of the rates."""
        return CostRisk()

    def as_score(self, value: float) -> float:
        """Return the accuracy."""
        return 1.0 - value

    def break_even(self, prior: float) -> float:  # noqa: ARG002
        """Return one half: the more probable class has the smaller error."""
        return 0.5


@dataclass(frozen=True)
class Cost(ThresholdMetric):
    """Mean cost of a row.

    Parameters
    ----------
    fp, fn : float
        Cost of a false positive and of a false negative.
    """

    fp: float
    fn: float
    greater_is_better = False
    needs_both = False

    def __post_init__(self) -> None:
        if not (0 <= self.fp < np.inf and 0 <= self.fn < np.inf and self.fp + self.fn > 0):
            msg = f"costs must be finite, not negative, and not both zero: {self}"
            raise ValueError(msg)

    @property
    def label(self) -> str:
        """The metric in words."""
        return f"mean cost of a row (false positive {self.fp:g}, miss {self.fn:g})"

    def risk(self, n_rows: float | None = None) -> CostRisk:  # noqa: ARG002
        """Return the metric as a risk of the rates."""
        return CostRisk(self.fp, self.fn)

    @property
    def unit(self) -> float:
        """The greater of the two costs."""
        return max(self.fp, self.fn)

    @property
    def cost_ratio(self) -> float | None:
        """Cost of a miss divided by that of a false positive; None if one of them is zero."""
        return self.fn / self.fp if self.fp and self.fn else None

    def break_even(self, prior: float) -> float | None:  # noqa: ARG002
        """Return fp / (fp + fn), at which both predictions cost the same."""
        return self.fp / (self.fp + self.fn) if self.fp and self.fn else None


@dataclass(frozen=True)
class BalancedError(ThresholdMetric):
    """Mean of the error rates of both classes.

    One minus scikit-learn's ``balanced_accuracy_score``.
    """

    label = "balanced error"
    greater_is_better = False

    def risk(self, n_rows: float | None = None) -> CostRisk:  # noqa: ARG002
        """Return the metric as a risk of the rates."""
        return CostRisk(balanced=True)

    def as_score(self, value: float) -> float:
        """Return the balanced accuracy."""
        return 1.0 - value

    def break_even(self, prior: float) -> float:
        """Return the prior, at which both predictions have the same expected balanced error."""
        return prior


@dataclass(frozen=True)
class FBeta(ThresholdMetric):
    """F_β, the weighted harmonic mean of precision and recall.

    scikit-learn's ``fbeta_score``.

    Parameters
    ----------
    beta : float
        How many times as important recall is as precision.
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.beta < np.inf:
            msg = f"beta must be positive and finite, not {self.beta!r}"
            raise ValueError(msg)

    @property
    def label(self) -> str:
        """The metric in words."""
        return f"F{self.beta:g}"

    def risk(self, n_rows: float | None = None) -> FBetaRisk:  # noqa: ARG002
        """Return the metric as a risk of the rates."""
        return FBetaRisk(self.beta)


@dataclass(frozen=True)
class MCC(ThresholdMetric):
    """Matthews' correlation of label and prediction.

    scikit-learn's ``matthews_corrcoef``.
    """

    label = "Matthews' correlation"

    def risk(self, n_rows: float | None = None) -> MCCRisk:  # noqa: ARG002
        """Return the metric as a risk of the rates."""
        return MCCRisk()


@dataclass(frozen=True)
class GMean(ThresholdMetric):
    """Geometric mean of the recalls of both classes."""

    label = "G-mean"

    def risk(self, n_rows: float | None = None) -> GMeanRisk:  # noqa: ARG002
        """Return the metric as a risk of the rates."""
        return GMeanRisk()


@dataclass(frozen=True)
class FromRates(ThresholdMetric):
    """Any function of the true-positive rate, the false-positive rate and the prior.

    Parameters
    ----------
    function : callable
        Takes ``(tpr, fpr, prior)`` as NumPy numbers or arrays and returns the metric.
    maximize : bool
        Whether higher values are better.

    Examples
    --------
    >>> from directrix.metrics import FromRates
    >>> youden = FromRates(lambda tpr, fpr, prior: tpr - fpr)
    >>> youden.score([0, 0, 1, 1], [-1.0, 2.0, 1.0, 3.0])
    0.5
    """

    function: Callable[[Any, Any, float], Any]
    maximize: bool = True

    @property
    def label(self) -> str:
        """Name of the function."""
        name = getattr(self.function, "__name__", "<lambda>")
        return "function of the rates" if name == "<lambda>" else name.strip("_").replace("_", " ")

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        """Whether higher values are better."""
        return self.maximize

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:
        """Return the metric at these rates; the function takes one prior at a time."""
        if np.ndim(prior) == 0:
            return super().at_rates(tpr, fpr, prior)
        rates = np.broadcast_arrays(tpr, fpr, prior)
        points = zip(*(rate.ravel() for rate in rates), strict=True)
        values = [self.function(*point) for point in points]
        return np.array(values, dtype=np.float64).reshape(rates[0].shape)

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the best value of the metric on every curve, and the index of its threshold."""
        return Metric.best_of_each(self, curves)

    def of_loss(self, loss: Any) -> Any:
        """Return the value of the metric for a value of its risk."""
        return -loss if self.maximize else loss

    def risk(self, n_rows: float | None = None) -> FunctionRisk:  # noqa: ARG002
        """Return the metric as a risk of the rates."""
        return FunctionRisk(self.function, -1.0 if self.maximize else 1.0)
