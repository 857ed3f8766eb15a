import numpy as np
import pytest

from directrix.linear.lbfgs import batched_lbfgs


def quadratics(k=7, p=5, seed=0):
    """Return k convex quadratics, their minima and the preconditioner that solves them."""
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(k, p, p))
    hessians = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(p)
    minima = rng.normal(size=(k, p))

    def evaluate(coef, problems):
        off = coef - minima[problems]
        gradient = np.einsum("kij,kj->ki", hessians[problems], off)
        return 1.0 + 0.5 * np.einsum("ki,ki->k", off, gradient), gradient

    return evaluate, minima, hessians


def identity(vectors, problems):  # noqa: ARG001
    return vectors.copy()


def test_the_right_preconditioner_solves_quadratics_in_one_step():
    evaluate, minima, hessians = quadratics()

    def newton(vectors, problems):
        return np.linalg.solve(hessians[problems], vectors[..., None])[..., 0]

    solution = batched_lbfgs(evaluate, np.zeros_like(minima), newton, tol=1e-12, iterations=1)
    np.testing.assert_allclose(solution, minima, atol=1e-9)


def test_without_one_the_curvature_is_learnt():
    evaluate, minima, _ = quadratics()
    solution = batched_lbfgs(evaluate, np.zeros_like(minima), identity, tol=1e-14, iterations=200)
    np.testing.assert_allclose(solution, minima, atol=1e-5)


def test_problems_do_not_depend_on_each_other():
    evaluate, minima, _ = quadratics()
    together = batched_lbfgs(evaluate, np.zeros_like(minima), identity, tol=1e-10, iterations=100)
    for k in range(len(minima)):

        def alone(coef, problems, k=k):
            return evaluate(coef, np.full(len(problems), k))

        single = batched_lbfgs(alone, np.zeros((1, 5)), identity, tol=1e-10, iterations=100)
        np.testing.assert_allclose(single[0], together[k], rtol=1e-9)


def test_a_problem_that_has_ended_is_not_evaluated_again():
    evaluate, minima, _ = quadratics(k=3)
    asked = []

    def counted(coef, problems):
        asked.append(problems.tolist())
        return evaluate(coef, problems)

    start = np.zeros_like(minima)
    start[1] = minima[1]
    batched_lbfgs(counted, start, identity, tol=1e-10, iterations=50)
    assert asked[0] == [0, 1, 2]
    assert all(1 not in problems for problems in asked[1:])


def test_values_never_rise_and_steps_that_overshoot_are_shortened():
    # A preconditioner that makes steps a hundred times too long.
    evaluate, minima, _ = quadratics()
    start = np.zeros_like(minima)
    first, _ = evaluate(start, np.arange(7))

    def rash(vectors, problems):  # noqa: ARG001
        return 100.0 * vectors

    solution = batched_lbfgs(evaluate, start, rash, tol=1e-8, iterations=100)
    value, _ = evaluate(solution, np.arange(7))
    assert (value <= first).all()
    assert (value < 1.0 + 1e-3).all()


def test_rosenbrock_is_descended_into_its_valley():
    def evaluate(coef, problems):  # noqa: ARG001
        x, y = coef.T
        gradient = [-400.0 * x * (y - x**2) - 2.0 * (1.0 - x), 200.0 * (y - x**2)]
        gradient = np.stack(gradient, axis=1)
        return 100.0 * (y - x**2) ** 2 + (1.0 - x) ** 2, gradient

    start = np.array([[-1.2, 1.0], [0.0, 0.0], [2.0, -2.0]])
    solution = batched_lbfgs(evaluate, start, identity, tol=1e-14, iterations=500)
    np.testing.assert_allclose(solution, 1.0, atol=1e-3)


def test_a_value_that_is_not_finite_is_not_accepted():
    def evaluate(coef, problems):  # noqa: ARG001
        value = np.where(coef[:, 0] > 1.0, np.nan, (coef[:, 0] - 0.9) ** 2)
        return value, 2.0 * (coef - 0.9)

    def rash(vectors, problems):  # noqa: ARG001
        return 10.0 * vectors

    solution = batched_lbfgs(evaluate, np.zeros((1, 1)), rash, tol=1e-9, iterations=60)
    assert solution[0, 0] == pytest.approx(0.9, abs=1e-2)


def test_where_the_objective_bends_down_steps_grow():
    # −exp(−x² / 2) is concave beyond one: from 6 the gradient is next to nothing.
    def evaluate(coef, problems):  # noqa: ARG001
        bell = np.exp(-0.5 * coef[:, 0] ** 2)
        return 1.0 - bell, coef * bell[:, None]

    solution = batched_lbfgs(evaluate, np.array([[4.0]]), identity, tol=1e-9, iterations=40)
    assert abs(solution[0, 0]) < 1e-3
