"""Sample weights and class weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from directrix.rows.labels import require_moderate_weight

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.moments import Moments


def checked_weight(sample_weight: Any, X: Any) -> FloatArray:
    """Return one finite weight per row; refuse negative and extreme weights.

    With a ``sample_weight`` of None, each row has weight one.
    """
    weight: FloatArray = _check_sample_weight(sample_weight, X, dtype=np.float64)
    row = int(weight.argmin())
    if weight[row] < 0:
        msg = (
            f"sample_weight must not be negative, and is {weight[row]:g} in row {row}: give zero "
            "to leave a row out"
        )
        raise ValueError(msg)
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if total > 0:
        require_moderate_weight(total, "all rows")
    return weight


def class_factors(class_weight: Any, moments: Moments) -> tuple[float, float]:
    """Return the class weights of the negatives and of the positives.

    scikit-learn's ``compute_class_weight`` counts rows; here "balanced" sums their weights, so
    that a row of weight k counts as k rows.

    ``class_weight`` is by label; a label that is not given has weight 1. ``moments`` are those of
    two classes.
    """
    weights = moments.negative.weight, moments.positive.weight
    negative, positive = _factors(class_weight, moments.classes.tolist(), weights)
    return negative, positive


def factors_of(class_weight: Any, classes: AnyArray, weights: FloatArray) -> FloatArray:
    """Return the weight of each class, as `class_factors` does, from the weight of its rows."""
    return np.array(_factors(class_weight, classes.tolist(), weights.tolist()))


def weights_by_class(
    class_weight: Any, classes: AnyArray, code: AnyArray, weight: FloatArray
) -> FloatArray:
    """Return the weights of rows times their class weights; ``code`` indexes ``classes``."""
    code = np.asarray(code, dtype=np.intp)
    totals = np.bincount(code, weights=weight, minlength=len(classes))
    factors = np.array(_factors(class_weight, classes.tolist(), totals.tolist()))
    weighted: FloatArray = weight * factors[code]
    return weighted


def _factors(class_weight: Any, labels: list[Any], weights: Sequence[float]) -> tuple[float, ...]:
    """Return the weight of each class; refuse extreme ones."""
    factors = _given_factors(class_weight, labels, weights)
    for weight, factor in zip(weights, factors, strict=True):
        if weight:
            require_moderate_weight(weight * factor)
    return factors


def _given_factors(
    class_weight: Any, labels: list[Any], weights: Sequence[float]
) -> tuple[float, ...]:
    if class_weight is None:
        return (1.0,) * len(labels)
    if isinstance(class_weight, str) and class_weight == "balanced":
        if not all(weights):
            return (1.0,) * len(labels)
        return tuple(sum(weights) / (len(labels) * total) for total in weights)
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
    return factors


def reweighted(moments: Moments, factors: tuple[float, float]) -> Moments:
    """Return the moments with the prior that class weights give; the classes stay the same."""
    if factors[0] == factors[1] or not (moments.positive.count and moments.negative.count):
        return moments
    odds = moments.prior / (1.0 - moments.prior) * factors[1] / factors[0]
    return moments.with_prior(odds / (1.0 + odds))
