"""The normal distribution against constants to 28 digits, SciPy, and a continued fraction."""

from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import norm

from directrix._normal import cdf, density, hazard, hazard_slope, z_value
from directrix.checks.risks import CENTRAL

pytestmark = pytest.mark.every_case  # each is cheap

EPS = np.finfo(float).eps
Z = [-40.0, -37.5, -20.0, -8.0, -2.5, -1.0, -1e-9, 0.0, 1e-9, 0.3, 1.0, 2.5, 8.0, 20.0, 37.5]

#: Φ(z), as printed in tables to more digits than a float has.
KNOWN = {
    0.0: "0.5",
    1.0: "0.841344746068542948585232545632",
    -1.0: "0.158655253931457051414767454368",
    -2.0: "0.022750131948179207200282637166",
    -3.0: "0.001349898031630094526651814768",
    -5.0: "2.866515718791939116737523329e-7",
    -10.0: "7.619853024160526065973343252e-24",
}


def continued_fraction(z, depth=4000):
    """Return φ(z)/Φ(z) for z < 0 by Laplace's continued fraction, to 40 digits."""
    getcontext().prec = 40
    x = Decimal(-z)
    tail = x
    for k in range(depth, 0, -1):
        tail = x + Decimal(k) / tail
    return float(tail)


@pytest.mark.parametrize("z", KNOWN)
def test_distribution_function_of_known_values(z):
    assert cdf(z) == pytest.approx(float(KNOWN[z]), rel=8 * EPS)


@pytest.mark.parametrize("z", Z)
def test_density_is_that_of_scipy(z):
    assert density(z) == pytest.approx(norm.pdf(z), rel=1e-13)


def test_density_at_the_ends():
    assert density(np.inf) == density(-np.inf) == density(1e200) == 0.0
    assert cdf(np.inf) == 1.0
    assert cdf(-np.inf) == 0.0


@pytest.mark.parametrize("z", [-2.0, -3.0, -10.0, -38.5, -1e3, -1e5, -1e8, -1e12])
def test_hazard_in_the_lower_tail_keeps_its_digits(z):
    assert hazard(z) == pytest.approx(continued_fraction(z), rel=16 * EPS)


@pytest.mark.parametrize("z", [-8.0, -1.0, 0.0, 1.0, 5.0, 12.0, 30.0])
def test_hazard_is_the_quotient_where_that_has_digits(z):
    assert hazard(z) == pytest.approx(norm.pdf(z) / norm.cdf(z), rel=1e-12)


@pytest.mark.parametrize("z", [-30.0, -3.0, -0.5, 0.0, 0.5, 3.0])
def test_hazard_is_the_derivative_of_the_logarithm(z):
    step = 1e-3 * max(1.0, abs(z))
    weights = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
    slope = sum(w * log_ndtr(z + k * step) for k, w in weights.items()) / step
    assert hazard(z) == pytest.approx(slope, rel=1e-9)


def test_hazard_at_the_ends():
    assert hazard(-np.inf) == np.inf
    assert hazard(np.inf) == hazard(60.0) == 0.0
    assert hazard(0.0) == pytest.approx(np.sqrt(2 / np.pi), rel=2 * EPS)


@pytest.mark.parametrize(
    ("distance", "variance", "z"),
    [
        (3.0, 4.0, 1.5),
        (-3.0, 4.0, -1.5),
        (0.0, 4.0, 0.0),
        (2.0, 0.0, np.inf),
        (-1e-300, 0.0, -np.inf),
        (0.0, 0.0, 0.0),
        (np.inf, 1.0, np.inf),
        (-np.inf, 0.0, -np.inf),
        (1.0, float(Fraction(1, 2**100)), 2.0**50),
    ],
)
def test_distance_in_deviations(distance, variance, z):
    assert z_value(distance, variance) == z


@pytest.mark.parametrize("z", [-1e8, -1e3, -150.0, -101.0, -99.0, -30.0, -1.0, 0.0, 2.0, 9.0])
def test_hazard_slope_is_the_derivative_of_the_hazard(z):
    """By differences where they have digits; by the expansion −1 + 1/z² beyond."""
    if z < -100:
        assert hazard_slope(z) == pytest.approx(-1.0 + 1.0 / z**2, abs=7.0 / z**4 + 1e-15)
        return
    step = 1e-3
    slope = sum(f * hazard(z + k * step) for k, f in CENTRAL.items()) / step
    assert hazard_slope(z) == pytest.approx(slope, abs=1e-10)


def test_hazard_slope_has_limits():
    assert hazard_slope(-np.inf) == -1.0
    assert hazard_slope(40.0) == pytest.approx(0.0, abs=1e-300)
