"""The normal distribution against constants to 28 digits and SciPy."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from directrix._normal import cdf, density, z_value

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
