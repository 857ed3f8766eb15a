import sys

import numpy as np
import pytest
from margin_problems import Hinge, turned_rows
from scipy.optimize import LinearConstraint, minimize
from sklearn.exceptions import ConvergenceWarning

from directrix.papers.bundle import bundle, solve_qp


def optimum(rows, ridge, held):
    """The same problem with slacks, by SciPy."""
    n, q = rows.shape

    def value(x):
        w = np.where(held, x[:q], 0.0)
        return x[q:].mean() + ridge / 2 * w @ w, np.append(ridge * w, np.full(n, 1 / n))

    short = LinearConstraint(np.column_stack([rows, np.eye(n)]), lb=1.0)
    start = np.append(np.zeros(q), np.ones(n))
    bounds = [(None, None)] * q + [(0, None)] * n
    options = {"maxiter": 1000, "ftol": 1e-12}
    return minimize(
        value, start, jac=True, method="SLSQP", constraints=short, bounds=bounds, options=options
    ).fun


@pytest.mark.parametrize("ridge", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_gap_closes_on_the_optimum(ridge, intercept):
    rows = turned_rows(np.random.default_rng(1), 40, 3, shift=0.5)
    held = np.array([True, True, True, intercept])
    solution = bundle(Hinge(rows), np.zeros(4), ridge=ridge, penalised=held, tol=1e-7)
    best = optimum(rows, ridge, held)
    assert solution.converged
    assert solution.lower_bound <= best + 1e-8
    assert solution.value >= best - 1e-8
    assert solution.value - solution.lower_bound <= 1e-7
    assert (np.diff(solution.history) <= 0).all()


def test_the_bound_holds_before_the_gap_closes():
    rows = turned_rows(np.random.default_rng(2), 60, 5, shift=0.3)
    best = bundle(Hinge(rows), np.zeros(6), ridge=1e-3, tol=1e-8).value
    for planes in (2, 5, 10, 20):
        with pytest.warns(ConvergenceWarning, match=rf"BMRM stopped after {planes} .* gap of"):
            early = bundle(Hinge(rows), np.zeros(6), ridge=1e-3, max_iter=planes, tol=1e-8)
        assert early.lower_bound <= best + 1e-12
        assert early.value >= best - 1e-8


@pytest.mark.parametrize("far", [-1234.0, 56.0])
def test_an_intercept_far_outside_the_first_box_is_found(far):
    def risk(coef):
        off = coef - [1.0, far]
        return float(np.abs(off) @ [2.0, 0.5]), np.sign(off) * [2.0, 0.5]

    solution = bundle(risk, np.zeros(2), ridge=1.0, tol=1e-9)
    assert solution.coef == pytest.approx([1.0, far])
    assert solution.value == pytest.approx(0.5)
    assert solution.lower_bound == pytest.approx(0.5)


def test_planes_that_idle_are_dropped(monkeypatch):
    sizes = []

    def noted(gram, *others):
        sizes.append(len(gram))
        return solve_qp(gram, *others)

    monkeypatch.setattr(sys.modules["directrix.papers.bundle"], "solve_qp", noted)
    rows = turned_rows(np.random.default_rng(4), 300, 8, shift=0.2)
    solution = bundle(Hinge(rows), np.zeros(9), ridge=1e-5, tol=1e-6, max_iter=3000)
    assert solution.n_iter > 100
    assert max(sizes) < solution.n_iter


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"ridge": 0.0}, "ridge must be"), ({"ridge": 1.0, "penalised": [1, 0]}, "truth values")],
)
def test_what_is_wrong_is_said(wrong, message):
    with pytest.raises(ValueError, match=message):
        bundle(Hinge(np.ones((3, 4))), np.zeros(4), **wrong)
