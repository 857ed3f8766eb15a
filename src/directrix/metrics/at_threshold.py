"""Metrics of the predictions at a threshold: error, cost, F_β, MCC, G-mean, any function."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from directrix.exceptions import CostColumnError
from directrix.metrics.base import BestThreshold, Metric, checked

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.metrics.base import Curve, CurveStack


class ThresholdMetric(Metric):
    """Base class of functions of the true- and false-positive rate at a threshold.

    A subclass writes `at_rates`.
    """

    #: Whether rows of both classes are needed; the error of one class is defined.
    needs_both: ClassVar[bool] = True

    @abstractmethod
    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:
        """Return the metric at these rates: numbers, or arrays of them."""

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
        return float(self.at_rates(tpr, fpr, positives / total))

    def value_at(self, curve: Curve, index: int) -> float:
        """Return the metric at one threshold of a curve."""
        return float(self.at_rates(curve.tpr[index], curve.fpr[index], curve.prior))

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the best value of the metric on every curve, and the index of its threshold."""
        losses = self.of_loss(self.at_rates(curves.tpr, curves.fpr, curves.prior))
        index = losses.argmin(axis=-1)
        least = np.take_along_axis(losses, index[..., None], axis=-1)[..., 0]
        return self.of_loss(least), index

    def best(self, curve: Curve) -> BestThreshold:
        """Return the threshold with the best metric on these rows, and the metric there."""
        losses = self.of_loss(self.at_rates(curve.tpr, curve.fpr, curve.prior))
        index = int(np.argmin(losses))
        return BestThreshold(curve.threshold(index), float(self.of_loss(losses[index])), index)


class _CostMetric(ThresholdMetric):
    """Base class of mean costs, whose best threshold has a closed form."""

    greater_is_better = False

    @abstractmethod
    def _costs(self, prior: Any) -> tuple[Any, Any]:
        """Return what it costs a row to miss all positives, and to flag all negatives."""

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:
        """Return the metric at these rates: numbers, or arrays of them."""
        miss, alarm = self._costs(prior)
        return miss * (1.0 - tpr) + alarm * fpr


@dataclass(frozen=True)
class Error(_CostMetric):
    """Share of rows predicted wrongly.

    One minus scikit-learn's ``accuracy_score``.
    """

    label, largest_gap = "error rate", 1.0
    needs_both = False

    def _costs(self, prior: Any) -> tuple[Any, Any]:
        return prior, 1.0 - prior

    def as_score(self, value: float) -> float:
        """Return the accuracy."""
        return 1.0 - value

    def break_even(self, prior: float) -> float:  # noqa: ARG002
        """Return one half: the more probable class has the smaller error."""
        return 0.5


@dataclass(frozen=True)
class Cost(_CostMetric):
    """Mean cost of a row.

    Parameters
    ----------
    fp, fn : float or str
        Cost of a false positive and of a false negative: a number, or the name of a column with
        the cost of each row. The column is given to `fit`, `predict` and `score` by its name
        (``fit(X, y, amount=amounts)``), or is a column of the table.
    known : bool
        Whether the columns are known when rows are decided about. If so, each row is decided about
        by its own costs and its calibrated probability, and the model is trained for these;
        otherwise the model is trained with the cost of a row's own error as its weight, and one
        threshold decides. Without an effect if both costs are numbers.
    """

    fp: float | str
    fn: float | str
    known: bool = field(default=True, repr=False)
    needs_both = False

    def __repr__(self) -> str:
        known = "" if self.known else ", known=False"
        return f"Cost(fp={self.fp!r}, fn={self.fn!r}{known})"

    def __post_init__(self) -> None:
        numbers = [cost for cost in (self.fp, self.fn) if not isinstance(cost, str)]
        valid = all(0 <= cost < np.inf for cost in numbers)
        if not valid or (len(numbers) == 2 and not sum(numbers)):
            msg = f"costs must be finite, not negative, and not both zero: {self}"
            raise ValueError(msg)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that are costs, each once; empty if both costs are numbers."""
        return tuple(dict.fromkeys(cost for cost in (self.fp, self.fn) if isinstance(cost, str)))

    @property
    def by_row(self) -> bool:
        """Whether each row is decided about by its own costs."""
        return self.known and bool(self.columns)

    @property
    def label(self) -> str:
        """The metric in words."""
        fp, fn = (cost if isinstance(cost, str) else f"{cost:g}" for cost in (self.fp, self.fn))
        return f"mean cost of a row (false positive {fp}, miss {fn})"

    def _costs(self, prior: Any) -> tuple[Any, Any]:
        fp, fn = self.numbers()
        return fn * prior, fp * (1.0 - prior)

    @property
    def unit(self) -> float:
        """The greater of the two costs; one if a cost is a column."""
        return 1.0 if self.columns else max(self.numbers())

    @property
    def cost_ratio(self) -> float | None:
        """Cost of a miss divided by that of a false positive; None if one is zero or a column."""
        fp, fn = (0.0, 0.0) if self.columns else self.numbers()
        return fn / fp if fp and fn else None

    def break_even(self, prior: float) -> float | None:  # noqa: ARG002
        """Return fp / (fp + fn), at which both predictions cost the same, if costs are numbers."""
        fp, fn = (0.0, 0.0) if self.columns else self.numbers()
        return fp / (fp + fn) if fp and fn else None

    def numbers(self) -> tuple[float, float]:
        """Return both costs.

        Raises CostColumnError if one is a column: rates do not tell which rows are wrong.
        """
        if isinstance(self.fp, str) or isinstance(self.fn, str):
            raise CostColumnError(self.columns[0])
        return self.fp, self.fn


@dataclass(frozen=True)
class BalancedError(_CostMetric):
    """Mean of the error rates of both classes.

    One minus scikit-learn's ``balanced_accuracy_score``.
    """

    label, largest_gap = "balanced error", 1.0

    def _costs(self, prior: Any) -> tuple[Any, Any]:  # noqa: ARG002
        return 0.5, 0.5

    def as_score(self, value: float) -> float:
        """Return the balanced accuracy."""
        return 1.0 - value

    def break_even(self, prior: float) -> float:
        """Return the prior, at which both predictions have the same expected balanced error."""
        return prior


@dataclass(frozen=True)
class FBeta(ThresholdMetric):
    r"""F_β, the weighted harmonic mean of precision and recall.

    .. math:: F_\beta = \frac{(1 + \beta^2)\, \pi t}{\beta^2 \pi + \pi t + (1 - \pi) f}

    scikit-learn's ``fbeta_score``.

    Parameters
    ----------
    beta : float
        How many times as important recall is as precision.
    """

    largest_gap = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.beta < np.inf:
            msg = f"beta must be positive and finite, not {self.beta!r}"
            raise ValueError(msg)

    @property
    def label(self) -> str:
        """The metric in words."""
        return f"F{self.beta:g}"

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:
        """Return the metric at these rates: numbers, or arrays of them."""
        below = self.beta**2 * prior + prior * tpr + (1.0 - prior) * fpr
        return (1.0 + self.beta**2) * prior * tpr / below


@dataclass(frozen=True)
class MCC(ThresholdMetric):
    r"""Matthews' correlation of label and prediction.

    .. math:: \frac{\sqrt{\pi (1 - \pi)}\, (t - f)}{\sqrt{q (1 - q)}}, \qquad
              q = \pi t + (1 - \pi) f

    A predictor that is constant (q = 0 or 1) has correlation 0. scikit-learn's
    ``matthews_corrcoef``.
    """

    label = "Matthews' correlation"
    largest_gap = 2.0

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:
        """Return the metric at these rates: numbers, or arrays of them."""
        share = prior * tpr + (1.0 - prior) * fpr
        spread = np.sqrt(np.maximum(share * (1.0 - share), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(spread > 0, (tpr - fpr) / spread, 0.0)
        return np.sqrt(prior * (1.0 - prior)) * ratio


@dataclass(frozen=True)
class GMean(ThresholdMetric):
    r"""Geometric mean of the recalls of both classes, :math:`\sqrt{t (1 - f)}`."""

    label, largest_gap = "G-mean", 1.0

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:  # noqa: ARG002
        """Return the metric at these rates: numbers, or arrays of them."""
        return np.sqrt(tpr * (1.0 - fpr))


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
            return self.function(tpr, fpr, prior)
        tprs, fprs, priors = np.broadcast_arrays(tpr, fpr, prior)
        values = np.empty(priors.shape)
        for each in np.unique(priors):
            at = priors == each
            values[at] = self.function(tprs[at], fprs[at], float(each))
        return values

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the best value of the metric on every curve, and the index of its threshold."""
        return Metric.best_of_each(self, curves)

    def of_loss(self, loss: Any) -> Any:
        """Return the value of the metric for a value of its risk."""
        return -loss if self.maximize else loss
