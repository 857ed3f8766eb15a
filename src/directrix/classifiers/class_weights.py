"""Class weights: how much a row of each class counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.moments import Moments


def class_factors(class_weight: Any, moments: Moments) -> tuple[float, float]:
    """Return the factor of the negative and of the positive class.

    scikit-learn's ``compute_class_weight`` counts rows; here "balanced" is by their weights, so
    that a row of weight k is k rows.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        By label; a label that is not named has factor 1.
    moments : Moments
        Of two classes.
    """
    weights = moments.negative.weight, moments.positive.weight
    return _factors(class_weight, moments.classes.tolist(), weights)


def weights_by_class(
    class_weight: Any, classes: AnyArray, positive: AnyArray, weight: FloatArray
) -> FloatArray:
    """Return weights of rows, each times the factor of its class."""
    weights = float(weight[~positive].sum()), float(weight[positive].sum())
    negative, of_positive = _factors(class_weight, classes.tolist(), weights)
    return weight * np.where(positive, of_positive, negative)


def _factors(
    class_weight: Any, labels: list[Any], weights: tuple[float, float]
) -> tuple[float, float]:
    if class_weight is None:
        return 1.0, 1.0
    if isinstance(class_weight, str) and class_weight == "balanced":
        if not all(weights):
            return 1.0, 1.0
        return sum(weights) / (2.0 * weights[0]), sum(weights) / (2.0 * weights[1])
    if not isinstance(class_weight, Mapping) or set(class_weight) - set(labels):
        msg = (
            f"class_weight must be 'balanced' or a dict with the labels {labels} as keys, not "
            f"{class_weight!r}"
        )
        raise ValueError(msg)
    factors = tuple(float(class_weight.get(label, 1.0)) for label in labels)
    if not all(0 < factor < float("inf") for factor in factors):
        msg = f"class weights must be positive and finite, not {class_weight!r}"
        raise ValueError(msg)
    return factors[0], factors[1]


def reweighted(moments: Moments, factors: tuple[float, float]) -> Moments:
    """Return the moments with the prior that the factors give: within a class nothing changes."""
    if factors[0] == factors[1] or not (moments.positive.count and moments.negative.count):
        return moments
    odds = moments.prior / (1.0 - moments.prior) * factors[1] / factors[0]
    return moments.with_prior(odds / (1.0 + odds))
