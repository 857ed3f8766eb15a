import numpy as np
import pytest
from scipy import sparse

from directrix.linear import batch_solver
from directrix.linear.batch_solver import BatchSolver
from directrix.linear.lbfgs import lbfgs
from directrix.linear.pairwise import PairwiseHinge
from directrix.linear.ramp import Ramp
from directrix.linear.recipes import Recipe, logistic_path
from tests.linear.test_row_batch import rows
from tests.linear.test_sigmoid_problems import LEFT_OUT, PLAIN, ROBUST, objective

PAIRS = [Recipe(PairwiseHinge(), 1e-2), Recipe(Ramp(PairwiseHinge()), 1e-2)]


def solved(given, recipes, folds=LEFT_OUT, tol=1e-5, **options):
    problems = [(recipe, fold) for recipe in recipes for fold in folds]
    return BatchSolver(*given, tol, **options).solve(problems, {})


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [True, False], ids=["weights", "equal weights"])
@pytest.mark.parametrize("recipe", PLAIN, ids=lambda recipe: recipe.name)
def test_convex_problems_are_solved(recipe, weighted, holder):
    given = rows(weighted=weighted)
    lines = solved((holder(given[0]), *given[1:]), [recipe])
    for fold in LEFT_OUT:
        alone = objective(recipe, fold, *given)
        least = lbfgs(alone, np.zeros(5), ftol=1e-15).value
        assert alone(lines[recipe.key, fold])[0] <= least * (1.0 + 1e-4)


@pytest.mark.parametrize("recipe", PAIRS, ids=lambda recipe: recipe.name)
def test_pairs_are_nearly_solved(recipe):
    given = rows(n=1000)
    lines = solved(given, [recipe])
    for fold in LEFT_OUT:
        alone = objective(recipe, fold, *given)
        least = lbfgs(alone, np.array([0.5, 0, 0, 0, 0]), ftol=1e-12).value
        assert alone(lines[recipe.key, fold])[0] <= least * 1.01


def test_a_problem_starts_where_its_recipe_says_in_its_fold():
    given = rows()
    path = logistic_path()[:2]
    starts = {(path[0].key, fold): np.full(5, 10.0 * fold + 0.1) for fold in (0, 1)}
    # A tolerance that any start meets: what comes back is one step away from it.
    solver = BatchSolver(*given, 1e9)
    lines = solver.solve([(path[1], 0), (path[1], 1)], starts)
    again = solver.solve([(path[1], 1)], starts)
    np.testing.assert_allclose(lines[path[1].key, 1], again[path[1].key, 1], rtol=1e-5)
    assert not np.allclose(lines[path[1].key, 0], lines[path[1].key, 1], rtol=0.1)


@pytest.mark.parametrize("recipes", [PLAIN, ROBUST, PAIRS], ids=["plain", "robust", "pairs"])
def test_labels_of_rows_held_out_have_no_say(recipes):
    X, positive, weight, fold = rows()
    # Rows that are held out swap their labels in pairs, so that blocks stay where they are.
    other = positive.copy()
    for side in (True, False):
        inside = np.flatnonzero((fold == 1) & (positive == side))
        other[inside[:10]] = not side
    one, two = (solved((X, y, weight, fold), recipes, folds=[1]) for y in (positive, other))
    for key, line in one.items():
        np.testing.assert_allclose(line, two[key], rtol=1e-4, atol=1e-5)


def test_a_solution_does_not_depend_on_its_company():
    given = rows()
    together = solved(given, PLAIN + ROBUST + PAIRS)
    for recipe in PLAIN + ROBUST + PAIRS:
        alone = solved(given, [recipe], folds=[1])
        value = objective(recipe, 1, *given)
        # Sums of another size round otherwise, so steps differ in their last digits; pairs have
        # corners at the nodes of their grid, where that makes more of a difference.
        assert value(together[recipe.key, 1])[0] == pytest.approx(
            value(alone[recipe.key, 1])[0], rel=1e-3 if recipe in PAIRS else 1e-5
        )


def test_the_number_of_jobs_changes_nothing(monkeypatch):
    monkeypatch.setattr(batch_solver, "_MOST_PROBLEMS", 3)
    given = rows()
    one, two = (solved(given, PLAIN + ROBUST + PAIRS, n_jobs=jobs) for jobs in (1, 2))
    assert one.keys() == two.keys()
    for key, line in one.items():
        np.testing.assert_array_equal(line, two[key])
