"""Sample weights and their sums: validation, and multiplication by a factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import FloatArray

#: Least total weight of a class, and the reciprocal of the greatest: the square of such a weight,
#: divided among 1e20 rows, is still a normal float.
_LEAST_WEIGHT = 1e-140


def checked_weight(weight: Any, n_rows: int) -> FloatArray:
    """Return one finite, non-negative weight for each row, or raise ValueError."""
    checked: FloatArray = np.asarray(weight, dtype=np.float64)
    if checked.shape != (n_rows,):
        msg = f"sample_weight must be one number for each of {n_rows} rows, not {checked.shape}"
        raise ValueError(msg)
    if not (np.isfinite(checked).all() and checked.min(initial=0.0) >= 0):
        msg = "sample_weight must be finite and not negative"
        raise ValueError(msg)
    return checked


def require_moderate_weight(weight: float, noun: str = "a class") -> None:
    """Raise ValueError for a total weight whose square overflows or underflows.

    Parameters
    ----------
    weight : float
        Sum of sample weights.
    noun : str
        The rows that were summed, for the error message.
    """
    if not _LEAST_WEIGHT <= weight <= 1.0 / _LEAST_WEIGHT:
        msg = (
            f"the weights of {noun} add up to {weight:.3g}, beyond the range from "
            f"{_LEAST_WEIGHT:g} to {1.0 / _LEAST_WEIGHT:g}: multiply all weights by one factor"
        )
        raise ValueError(msg)


def checked_factor(factor: Any) -> float:
    """Return a factor of weights as a float; raise ValueError unless it is finite and not negative.

    Parameters
    ----------
    factor : number
    """
    number = float(factor)
    if not (np.isfinite(number) and number >= 0):
        msg = f"weights are multiplied by a finite number that is not negative, not {factor!r}"
        raise ValueError(msg)
    return number


def scaled_weights(weight: float, weight_sq: float, factor: float) -> tuple[float, float]:
    """Return a sum of weights and of their squares after multiplication of each weight.

    Parameters
    ----------
    weight, weight_sq : float
    factor : float
        Positive.
    """
    scaled = factor * weight
    require_moderate_weight(scaled)
    # Dividing by the weight first keeps the squares in range: the share is at most the weight.
    return scaled, scaled * (factor * (weight_sq / weight))
