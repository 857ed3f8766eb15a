"""Metrics of the rows with the highest scores: precision and recall at k, and break-even."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.metrics.base import BestThreshold, Curve, Metric, precision_of, require_share
from directrix.metrics.limit import percent


class QuotaMetric(Metric):
    """Base class of the metrics of the rows with the highest scores.

    Rows of equal score at the boundary count in part: the value is the mean over all orders in
    which ties could be broken.
    """

    response = ("decision_function", "predict_proba")
    fixes_threshold = True
    largest_gap = 1.0
    rate_label = "precision"

    @abstractmethod
    def quota(self, prior: float, n_rows: float | None = None) -> float:
        """Return the share of rows that are flagged."""

    @abstractmethod
    def _flagged(self, curve: Curve) -> float:
        """Return the weight of the rows that are flagged."""

    @abstractmethod
    def _value(self, caught: float, flagged: float, curve: Curve) -> float:
        """Return the metric for positives of weight ``caught`` among rows of weight ``flagged``."""

    def score(self, y: Any, scores: Any, sample_weight: Any = None) -> float:
        """Return the metric of the rows with the highest scores."""
        return self.best(Curve.of(y, scores, sample_weight)).value

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:
        """Return the precision at these rates."""
        return precision_of(tpr, fpr, prior)

    def at_thresholds(self, curve: Curve) -> tuple[FloatArray, AnyArray]:
        """Return the precision at every threshold; every threshold is allowed."""
        return curve.precision, np.ones(len(curve.true_positives), dtype=bool)

    def best(self, curve: Curve) -> BestThreshold:
        """Return the threshold nearest to the quota, and the metric at the quota itself."""
        flagged = self._flagged(curve)
        above = curve.true_positives + curve.false_positives
        caught = float(np.interp(flagged, above, curve.true_positives))
        index = int(np.argmin(np.abs(above - flagged)))
        return BestThreshold(curve.threshold(index), self._value(caught, flagged, curve), index)


@dataclass(frozen=True)
class _AtK(QuotaMetric):
    """Base class of the metrics of the top k rows.

    ``k`` is a whole number of rows, or a share of the rows between 0 and 1.
    """

    k: float

    def __post_init__(self) -> None:
        if isinstance(self.k, int | np.integer):
            if self.k < 1:
                msg = f"k must be at least one row, not {self.k}"
                raise ValueError(msg)
        else:
            require_share("k, where it is not a whole number,", self.k)

    @property
    def label(self) -> str:
        """The metric in words."""
        top = percent(self.k) if self.k < 1 else f"{self.k} rows"
        return f"{self.rate_label} of the top {top}"

    def quota(self, prior: float, n_rows: float | None = None) -> float:  # noqa: ARG002
        """Return the share of rows that are flagged."""
        return self.share(n_rows)

    def share(self, n_rows: float | None) -> float:
        """Return k as a share of the rows; raise ValueError if their number is needed."""
        if not isinstance(self.k, int | np.integer):
            return self.k
        if n_rows is None:
            msg = f"{self} counts rows: say how many there are, or give a share such as k=0.01"
            raise ValueError(msg)
        if not self.k < n_rows:
            msg = f"{self} asks for all of the {n_rows:g} rows there are, or more"
            raise ValueError(msg)
        return float(self.k) / n_rows

    def _flagged(self, curve: Curve) -> float:
        total = curve.positives + curve.negatives
        return self.share(total) * total


@dataclass(frozen=True)
class PrecisionAtK(_AtK):
    """Share of positives among the k rows with the highest scores.

    Parameters
    ----------
    k : int or float
        A whole number of rows, or a share of them between 0 and 1.
    """

    def _value(self, caught: float, flagged: float, curve: Curve) -> float:  # noqa: ARG002
        return caught / flagged


@dataclass(frozen=True)
class RecallAtK(_AtK):
    """Share of all positives that are among the k rows with the highest scores.

    Parameters
    ----------
    k : int or float
        A whole number of rows, or a share of them between 0 and 1.
    """

    rate_label = "recall"

    def _value(self, caught: float, flagged: float, curve: Curve) -> float:  # noqa: ARG002
        curve.require_both()
        return caught / curve.positives

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:  # noqa: ARG002
        """Return the recall."""
        return tpr

    def at_thresholds(self, curve: Curve) -> tuple[FloatArray, AnyArray]:
        """Return the recall at every threshold; every threshold is allowed."""
        return curve.tpr, np.ones(len(curve.true_positives), dtype=bool)


@dataclass(frozen=True)
class PRBEP(QuotaMetric):
    """Precision-recall break-even point: precision if as many rows are flagged as are positive."""

    label = "precision-recall break-even"

    def quota(self, prior: float, n_rows: float | None = None) -> float:  # noqa: ARG002
        """Return the share of positives: as many rows are flagged as are positive."""
        return prior

    def _flagged(self, curve: Curve) -> float:
        curve.require_both()
        return curve.positives

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:  # noqa: ARG002
        """Return the recall, which equals the precision at the break-even point."""
        return tpr

    def _value(self, caught: float, flagged: float, curve: Curve) -> float:  # noqa: ARG002
        return caught / flagged
