import warnings

import numpy as np
import pytest
from margin_problems import Hinge, Logistic, turned_rows
from scipy.optimize import minimize

from directrix.linear.lbfgs import lbfgs, stop_after
from directrix.papers.bundle import bundle
from directrix.papers.ghanbari_scheinberg_2018 import descent
from directrix.papers.zhang_saha_vishwanathan_2011 import nesterov


@pytest.fixture
def objective():
    return Logistic(turned_rows(np.random.default_rng(0), 200, 4), 1e-3)


def test_it_reaches_the_optimum_with_one_evaluation_a_point(objective):
    best = minimize(objective, np.zeros(5), jac=True, method="BFGS", options={"gtol": 1e-9})
    objective.calls = 0
    solution = lbfgs(objective, np.zeros(5), tol=1e-8, ftol=0.0)
    assert solution.value == pytest.approx(best.fun, abs=1e-12)
    assert solution.grad_norm <= 1e-8
    assert objective.calls < 2 * solution.n_iter + 5


def test_a_small_relative_fall_ends_it_in_any_unit(objective):
    def tiny(coef):
        value, grad = objective(coef)
        return 1e-9 * value, 1e-9 * grad

    plain = lbfgs(objective, np.zeros(5), tol=0.0, ftol=1e-3)
    scaled = lbfgs(tiny, np.zeros(5), tol=0.0, ftol=1e-3)
    last, before = plain.history[-1], plain.history[-2]
    assert plain.converged
    assert before - last <= 1e-3 * before
    assert plain.history[-3] - before > 1e-3 * before
    assert scaled.value == pytest.approx(1e-9 * plain.value, rel=1e-2)
    assert scaled.n_iter > 2


def test_a_gradient_counts_as_small_relative_to_that_at_the_start():
    curvature = np.array([1.0, 100.0])

    def bowl(coef):
        return float(curvature @ coef**2) / 2.0, curvature * coef

    solution = lbfgs(bowl, np.array([1e4, 1e4]), tol=1e-3, ftol=0.0)
    start = float(np.linalg.norm(curvature * 1e4))
    assert solution.converged
    assert 1.0 < solution.grad_norm <= 1e-3 * start


def test_a_start_at_the_optimum_is_kept():
    solution = lbfgs(lambda x: (float(x @ x), 2 * x), np.zeros(2))
    assert solution.converged
    assert solution.n_iter == 0


def test_a_corner_is_no_reason_to_warn():
    rows = turned_rows(np.random.default_rng(1), 50, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lbfgs(Hinge(rows), np.zeros(3), tol=0.0, ftol=0.0).converged


def hinge_bundle(objective, start, callback):
    return bundle(objective, start, ridge=1e-3, callback=callback)


@pytest.mark.parametrize("solver", [lbfgs, descent, nesterov, hinge_bundle])
def test_a_callback_sees_each_iteration_and_stops_without_a_warning(objective, solver):
    seen = []

    def callback(coef, value):
        seen.append((coef.copy(), value))
        return len(seen) == 2

    solution = solver(objective, np.zeros(5), callback=callback)
    assert solution.n_iter == len(seen) == 2
    assert not solution.converged
    assert solution.history[1:] == tuple(value for _, value in seen)
    assert (solution.coef == seen[-1][0]).all()


def test_stop_after_counts_down():
    count = stop_after(3)
    assert [count(np.zeros(1), float(k)) for k in range(3)] == [False, False, True]


def test_signs_are_kept_and_the_gradient_is_that_of_free_coefficients(objective):
    free = lbfgs(objective, np.zeros(5), tol=1e-9, ftol=0.0)
    signs = np.append(-np.sign(free.coef[:2]), [0, 0, 0]).astype(int)
    solution = lbfgs(objective, free.coef, tol=1e-7, ftol=0.0, signs=signs)
    np.testing.assert_array_equal(solution.coef[:2], 0.0)
    assert solution.converged
    assert solution.grad_norm <= 1e-7
    rest = lbfgs(lambda coef: held(objective, coef), np.zeros(3), tol=1e-8, ftol=0.0)
    np.testing.assert_allclose(solution.coef[2:], rest.coef, atol=1e-5)


def held(objective, coef):
    value, grad = objective(np.concatenate([np.zeros(2), coef]))
    return value, grad[2:]
