import numpy as np
import pytest

from directrix.papers.bundle import solve_qp


def test_the_program_is_solved_exactly():
    rng = np.random.default_rng(5)
    for _ in range(30):
        k, rank = rng.integers(2, 9), rng.integers(1, 5)
        factor = rng.standard_normal((k, rank))
        gram, gain = factor @ factor.T, rng.standard_normal(k)
        start = np.eye(k)[0]
        x, price = solve_qp(gram, gain, np.ones((1, k)), start)
        left = gain - gram @ x - price[0]  # the conditions of Karush, Kuhn and Tucker
        assert x.sum() == pytest.approx(1.0)
        assert (x >= 0).all()
        assert left.max() <= 1e-9
        assert np.abs(left[x > 1e-9]).max() <= 1e-9
