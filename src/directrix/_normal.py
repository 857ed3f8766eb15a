"""Functions of the standard normal distribution, accurate in both tails and at infinity.

SciPy has the distribution function, its logarithm and its inverse (`scipy.special.ndtr`,
`log_ndtr`, `ndtri`); this module has the functions that SciPy lacks.
"""

import numpy as np
from scipy.special import erfcx, ndtr

from directrix._typing import FloatArray

_LOG_ROOT_TWO_PI = 0.5 * np.log(2.0 * np.pi)
_ROOT_TWO_OVER_PI = np.sqrt(2.0 / np.pi)
_ROOT_TWO = np.sqrt(2.0)
_FAR_BELOW = -100.0  # the series and the difference both have twelve digits here


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


def hazard(z: float) -> float:
    """Return φ(z) / Φ(z), the derivative of log Φ: about −z in the lower tail, 0 at +∞.

    The quotient would be 0/0 below z = −38, and the difference of logarithms has no correct digits
    below z = −1e7. The scaled complementary error function keeps all digits.
    """
    return float(_ROOT_TWO_OVER_PI / erfcx(-z / _ROOT_TWO)) if z > -np.inf else float("inf")


def hazard_slope(z: float) -> float:
    """Return the derivative of `hazard`, −h (z + h): −1 far in the lower tail, 0 in the upper.

    Far below zero z and h cancel, and the series z + h = −1/z + 2/z³ − 10/z⁵ + … takes their place.
    """
    if z < _FAR_BELOW:
        u = 1.0 / (z * z)
        above, below = (
            1.0 + u * (1.0 - u * (2.0 - 10.0 * u)),
            1.0 - u * (2.0 - u * (10.0 - 74.0 * u)),
        )
        return float(-above * below)
    h = hazard(z)
    return -h * (z + h)


def z_value(distance: float, variance: float) -> float:
    """Return distance / √variance, or its limit (±∞, or 0 at distance 0) at zero variance."""
    if variance > 0:
        return float(distance / np.sqrt(variance))
    return float(np.inf * np.sign(distance)) if distance else 0.0
