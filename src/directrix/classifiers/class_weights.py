"""Class weights: how much a row of each class counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    if class_weight is None:
        return 1.0, 1.0
    weights = moments.negative.weight, moments.positive.weight
    if isinstance(class_weight, str) and class_weight == "balanced":
        if not all(weights):
            return 1.0, 1.0
        return sum(weights) / (2.0 * weights[0]), sum(weights) / (2.0 * weights[1])
    labels = moments.classes.tolist()
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
