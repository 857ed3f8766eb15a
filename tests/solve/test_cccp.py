import warnings

import numpy as np
import pytest
from margin_problems import Hinge, errors, turned_rows
from sklearn.exceptions import ConvergenceWarning

from directrix.solve import cccp, lbfgs, nesterov


@pytest.fixture
def ramp():
    rows = turned_rows(np.random.default_rng(0), 150, 3)
    rows[:15] *= -20.0  # far outliers on the wrong side
    return rows, Hinge(rows, ridge=1e-3), Hinge(rows, foot=0.0)


def test_it_never_rises_and_beats_the_convex_loss_under_outliers(ramp):
    rows, convex, concave = ramp
    start = lbfgs(convex, np.zeros(4)).coef
    solution = cccp(convex, concave, start)
    assert solution.n_iter > 1
    assert (np.diff(solution.history) < 0).all()
    assert solution.value == convex(solution.coef)[0] - concave(solution.coef)[0]
    assert solution.value < solution.history[0] - 0.1
    assert errors(rows, solution.coef) < errors(rows, start)


def test_of_two_quadratics_the_minimum_is_found():
    def steep(x):
        return float(x @ x), 2.0 * x

    def flat(x):
        return float(x @ x) / 2 + float(x.sum()), x + 1.0

    solution = cccp(steep, flat, np.zeros(3), tol=1e-9)  # x·x/2 − Σx is least at one
    assert solution.coef == pytest.approx(np.ones(3), abs=1e-3)
    assert solution.converged


def test_another_inner_solver(ramp):
    _, convex, concave = ramp
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = cccp(
            convex, concave, np.zeros(4), inner=lambda f, x: nesterov(f, x, max_iter=50)
        )
    assert solution.value < solution.history[0]


def test_few_tangents_are_said(ramp):
    with pytest.warns(
        ConvergenceWarning, match="CCCP stopped after 1 iterations with a last decrease"
    ):
        cccp(*ramp[1:], lbfgs(ramp[1], np.zeros(4)).coef, max_iter=1, tol=0.0)
