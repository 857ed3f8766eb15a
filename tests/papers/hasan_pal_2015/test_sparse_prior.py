import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import laplace, norm

from directrix.papers.hasan_pal_2015.sparse_prior import GaussianLaplace

PRIOR = GaussianLaplace(0.4, 2.0, 0.1)


class TestPrior:
    def test_it_is_a_mixture_of_densities(self):
        a = np.array([-3.0, -0.2, 0.0, 0.01, 1.0])
        density = 0.4 * norm.pdf(a, scale=2.0**0.5) + 0.6 * laplace.pdf(a, scale=0.1)
        np.testing.assert_allclose(PRIOR(np.abs(a))[0], -np.log(density), rtol=1e-13)

    def test_its_slope_is_that_of_finite_differences(self):
        for size in (1e-3, 0.1, 0.4, 0.6, 3.0):
            expected = approx_fprime([size], lambda at: PRIOR(at)[0][0], 1e-8)
            assert PRIOR(np.array([size]))[1] == pytest.approx(expected, rel=1e-5)
