"""Functions of the standard normal distribution, accurate in both tails and at infinity.

SciPy has the distribution function, its logarithm and its inverse (`scipy.special.ndtr`,
`log_ndtr`, `ndtri`); this module has the functions that SciPy lacks.
"""

import numpy as np
from scipy.special import ndtr

from directrix._typing import FloatArray

_LOG_ROOT_TWO_PI = 0.5 * np.log(2.0 * np.pi)


def density(z: float) -> float:
    """Return φ(z) = exp(−z²/2) / √(2π); 0 at ±∞."""
    return float(np.exp(-0.5 * z * z - _LOG_ROOT_TWO_PI))


def densities(z: FloatArray) -> FloatArray:
    """Return φ of each element of an array."""
    values: FloatArray = np.exp(-0.5 * z * z - _LOG_ROOT_TWO_PI)
    return values


def cdf(z: float) -> float:
    """Return Φ(z) as a float."""
    return float(ndtr(z))


def z_value(distance: float, variance: float) -> float:
    """Return distance / √variance, or its limit (±∞, or 0 at distance 0) at zero variance."""
    if variance > 0:
        return float(distance / np.sqrt(variance))
    return float(np.inf * np.sign(distance)) if distance else 0.0
