import numpy as np
import pytest
from margin_problems import Logistic, turned_rows
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from directrix.papers.zhang_saha_vishwanathan_2011 import nesterov


@pytest.fixture
def objective():
    return Logistic(turned_rows(np.random.default_rng(0), 200, 4) * [1, 10, 1, 0.1, 1], 1e-3)


def test_it_reaches_the_optimum(objective):
    best = minimize(objective, np.zeros(5), jac=True, method="BFGS", options={"gtol": 1e-9})
    solution = nesterov(objective, np.zeros(5), max_iter=20_000, tol=1e-7)
    assert solution.converged
    assert solution.value == pytest.approx(best.fun, abs=1e-9)
    assert solution.history[0] == pytest.approx(np.log(2.0))
    assert len(solution.history) == solution.n_iter + 1


def test_it_is_faster_than_descent_with_the_same_step(objective):
    steepness = np.linalg.norm(objective.rows, 2) ** 2 / (4 * len(objective.rows)) + 1e-3
    solution = nesterov(objective, np.zeros(5), lipschitz=steepness, max_iter=50_000)
    coef = np.zeros(5)
    for _ in range(solution.n_iter):
        coef -= objective(coef)[1] / steepness
    assert solution.converged
    assert objective(coef)[0] > solution.value + 1e-6


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_the_value_do_not_matter(objective, scale):
    def scaled(coef):
        value, grad = objective(coef)
        return scale * value, scale * grad

    solution = nesterov(scaled, np.zeros(5), tol=1e-6 * min(scale, 1.0), max_iter=10_000)
    assert solution.value / scale == pytest.approx(nesterov(objective, np.zeros(5)).value, abs=1e-6)


def test_few_iterations_are_said(objective):
    with pytest.warns(ConvergenceWarning, match=r"Nesterov's method stopped after 3"):
        assert not nesterov(objective, np.zeros(5), max_iter=3).converged


def test_a_negative_constant_is_refused(objective):
    with pytest.raises(ValueError, match="above zero"):
        nesterov(objective, np.zeros(5), lipschitz=-1.0)
