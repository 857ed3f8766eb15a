"""The solution keeps its signs, and nothing that keeps them is lower."""

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directrix.linear.signed_quadratic import signed_quadratic


def problem(seed, p, rank):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(rank, p))
    return root.T @ root + 0.1 * np.eye(p), rng.normal(size=p), rng.integers(-1, 2, p)


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 15))
def test_the_conditions_of_a_minimum_hold(seed, p, rank):
    matrix, right, signs = problem(seed, p, rank)
    solution = signed_quadratic(matrix, right, signs)
    assert (signs * solution >= 0).all()
    gradient = matrix @ solution - right
    moves = (signs == 0) | (solution != 0)
    np.testing.assert_allclose(gradient[moves], 0.0, atol=1e-6)
    assert (signs * gradient >= -1e-6)[~moves].all()


@pytest.mark.parametrize("sign", [0, 1, -1])
def test_signs_that_are_not_needed_change_nothing(sign):
    matrix, _, _ = problem(0, 6, 10)
    wanted = np.abs(np.random.default_rng(1).normal(size=6)) * (sign or 1)
    solution = signed_quadratic(matrix, matrix @ wanted, np.full(6, sign))
    np.testing.assert_allclose(solution, wanted, rtol=1e-7)


def test_many_signs_have_the_same_minimum(monkeypatch):
    module = importlib.import_module("directrix.linear.signed_quadratic")
    matrix, right, signs = problem(3, 40, 60)
    exact = signed_quadratic(matrix, right, signs)
    monkeypatch.setattr(module, "_MOST_EXACT", 1)
    projected = signed_quadratic(matrix, right, signs)
    assert (signs * projected >= 0).all()

    def value(coef):
        return 0.5 * coef @ matrix @ coef - right @ coef

    assert value(projected) == pytest.approx(value(exact), rel=1e-9)
