import numpy as np
import pytest

from directrix.frontier._row_batch import RowBatch, _Problems, _SharedHessians
from directrix.frontier.recipes import Recipe, coarse_sweep, logistic_path
from directrix.losses import BetaBernoulli, Logistic
from directrix.solve import lbfgs

RECIPES = [
    Recipe(Logistic(), 1e-2),
    Recipe(Logistic(), 1e-3, 10.0),
    Recipe(Logistic(), 1e-3, 0.1),
    Recipe(BetaBernoulli(mixing=0.3), 1e-2),
    Recipe(BetaBernoulli(mixing=0.2, gamma=4.0), 1e-3, 50.0),
]
LEFT_OUT = [None, 0, 1, 2]


def rows(n=300, d=4, seed=0, *, weighted=True):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.5 * positive
    weight = rng.uniform(0.5, 2.0, n) if weighted else np.full(n, 3.0)
    return X, positive, weight, rng.integers(0, 3, n)


def objective(recipe, left_out, X, positive, weight, fold):
    kept = np.flatnonzero(fold != left_out) if left_out is not None else slice(None)
    return recipe.objective(X[kept], positive[kept], weight[kept])


@pytest.mark.parametrize("weighted", [True, False], ids=["weights", "equal weights"])
@pytest.mark.parametrize("scale", [0.3, 30.0, 1e4])
def test_values_and_gradients_are_those_of_each_problem_alone(weighted, scale):
    given = rows(weighted=weighted)
    recipes = [recipe for recipe in RECIPES for _ in LEFT_OUT]
    left_out = LEFT_OUT * len(RECIPES)
    problems = _Problems.of(RowBatch(*given), recipes, left_out)
    coef = scale * np.random.default_rng(1).normal(size=(5, len(recipes)))
    some = np.arange(0, len(recipes), 3)
    value, gradient = problems.evaluate(coef[:, some], some)
    for k, at in enumerate(some):
        alone = objective(recipes[at], left_out[at], *given)(coef[:, at])
        assert value[k] == pytest.approx(alone[0], rel=1e-12)
        np.testing.assert_allclose(gradient[:, k], alone[1], rtol=1e-10, atol=1e-12)


def test_rows_that_are_left_out_do_not_count():
    X, positive, weight, fold = rows()
    tested = fold == 1
    other = np.where(tested[:, None], 1e6, X), positive, weight, fold
    starts = np.zeros((5, 2))
    recipes, left_out = [RECIPES[0], RECIPES[0]], [1, 1]
    value = [
        _Problems.of(RowBatch(*given), recipes, left_out).evaluate(starts + 0.1, np.arange(2))
        for given in ((X, positive, weight, fold), other)
    ]
    np.testing.assert_array_equal(value[0][0], value[1][0])
    np.testing.assert_array_equal(value[0][1], value[1][1])


def test_the_hessian_of_the_logistic_loss_is_its_fisher_information():
    given = rows()
    batch = RowBatch(*given)
    problems = _Problems.of(batch, [RECIPES[0]], [None])
    start = np.full((5, 1), 0.3)
    precondition = _SharedHessians(batch, problems, [RECIPES[0]], start)
    vector = np.random.default_rng(2).normal(size=5)
    alone = objective(RECIPES[0], None, *given)
    step = 1e-6
    product = (alone(start[:, 0] + step * vector)[1] - alone(start[:, 0] - step * vector)[1]) / (
        2.0 * step
    )
    back = precondition(product[:, None], np.array([0]))[:, 0]
    np.testing.assert_allclose(back, vector, rtol=1e-6)


@pytest.mark.parametrize("weighted", [True, False], ids=["weights", "equal weights"])
def test_solutions_of_convex_problems_are_those_of_lbfgs(weighted):
    given = rows(weighted=weighted)
    recipes = [recipe for recipe in RECIPES[:3] for _ in LEFT_OUT]
    left_out = LEFT_OUT * 3
    coef = RowBatch(*given).solve(recipes, left_out, np.zeros((5, len(recipes))), 1e-12)
    for k, (recipe, number) in enumerate(zip(recipes, left_out, strict=True)):
        alone = objective(recipe, number, *given)
        value, gradient = alone(coef[:, k])
        # A predicted decrease of 1e-12 is the square of the gradient, over the curvature.
        np.testing.assert_allclose(gradient, 0.0, atol=1e-6)
        assert value <= lbfgs(alone, np.zeros(5), ftol=1e-15).value + 1e-12


def test_the_solution_of_a_problem_does_not_depend_on_its_company():
    given = rows()
    recipes = [*logistic_path(), *coarse_sweep()]
    together = RowBatch(*given).solve(
        recipes, [0] * len(recipes), np.zeros((5, len(recipes))), 1e-5
    )
    for k in (0, 5, len(recipes) - 1):
        alone = RowBatch(*given).solve([recipes[k]], [0], np.zeros((5, 1)), 1e-5)
        np.testing.assert_allclose(together[:, k], alone[:, 0], rtol=1e-6, atol=1e-9)
