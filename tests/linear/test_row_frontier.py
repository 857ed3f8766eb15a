import weakref

import numpy as np
import pytest
from scipy import sparse
from sweeps import cost_sweep

from directrix.fit.compare import compare, scores_of
from directrix.linear.batch_solver import BatchSolver
from directrix.linear.lbfgs import lbfgs
from directrix.linear.row_frontier import RowFrontier
from directrix.metrics import MCC, PRBEP, Cost, Error, FBeta, RecallAtFPR


def rows(n=120, d=3, seed=0):
    """Return features, classes, weights and three folds with rows of both classes."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.2 * positive
    return X, positive, rng.uniform(0.5, 2.0, n), np.arange(n) % 3


def swept(*, fold=True, **options):
    X, positive, weight, folds = rows()
    frontier = RowFrontier(X, positive, weight, folds if fold else None, **options)
    fit(frontier, cost_sweep((1e-2, 1e-3), gammas=(1.0,)))
    return frontier


def without_fold(given, fold):
    """Return features, classes and weights of the rows of other folds."""
    X, *others, folds = given
    return X[folds != fold], *(each[folds != fold] for each in others)


def solved_alone(recipe, *training):
    """Return the solution of a recipe on some rows, by one descent after the other."""
    X = training[0]
    before = recipe.start
    start = np.zeros(X.shape[1] + 1) if before is None else solved_alone(before, *training)
    return lbfgs(recipe.objective(*training), start, ftol=1e-6).coef


def fit(frontier, recipes):
    """Plan recipes, fit their candidates, and return these."""
    candidates = frontier.plan(recipes)
    for candidate in candidates:
        candidate.fit()
    return candidates


def compared(frontier, metric):
    """Return the fitted candidates, and how they compare."""
    candidates = frontier.fitted
    return candidates, compare(metric, [candidate.curves for candidate in candidates])


@pytest.fixture
def solves(monkeypatch):
    """Return the list of the problems that are solved, as it grows."""
    seen, solve = [], BatchSolver.solve

    def counted(solver, problems, solutions):
        seen.extend(problems)
        return solve(solver, problems, solutions)

    monkeypatch.setattr(BatchSolver, "solve", counted)
    return seen


SIX = [Error(), Cost(1, 20), FBeta(), MCC(), RecallAtFPR(0.1), PRBEP()]


def test_one_sweep_serves_six_metrics(solves):
    frontier = swept()
    made = len(solves)
    assert made == 12 * 3  # once for each fold; the chosen line alone is fitted to all rows
    best = set()
    for metric in SIX:
        candidates, comparison = compared(frontier, metric)
        assert comparison.values.shape == (12,)
        chosen = comparison.best
        best.add(chosen)
        assert comparison.values[chosen] == metric.best_value(candidates[chosen].curves.whole)
    assert len(solves) == made
    assert len(best) > 1  # they do not all want the same


def test_a_recipe_that_is_planned_again_is_the_same_candidate(solves):
    frontier = swept()
    made = len(solves)
    again = fit(frontier, [recipe._replace(start=None) for recipe in cost_sweep((1e-2,))])
    assert len(solves) == made
    assert [candidate.recipe for candidate in again] == cost_sweep((1e-2,))
    assert len(frontier.fitted) == len(frontier.recipes) == 12


def test_what_a_recipe_starts_from_is_planned_with_it():
    frontier = RowFrontier(*rows())
    last = cost_sweep((1e-3,), (1.0,), (1.0, 4.0))[-1]
    (candidate,) = fit(frontier, [last])
    chain = [step.recipe for step in candidate.chain]
    assert chain == cost_sweep((1e-3,), (1.0,), (1.0, 4.0))
    assert [candidate.recipe for candidate in frontier.fitted] == [last]


def test_the_frontier_is_freed_with_its_last_candidate():
    frontier = swept()
    watched = weakref.ref(frontier)
    del frontier
    assert watched() is None  # no cycle keeps the rows


def test_overfitted_training_rows_do_not_count():
    # As many features as rows: every line separates its training rows, and knows nothing.
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(60, 60)), np.arange(60) % 2 == 0
    errors = []
    for fold in (np.arange(60) // 2 % 3, None):
        frontier = RowFrontier(X, positive, np.ones(60), fold)
        fit(frontier, cost_sweep((1e-3,), (1.0,), ()))
        errors.append(compared(frontier, Error())[1].values[0])
    assert errors[0] > 0.25
    assert errors[1] == 0.0


def test_progress_is_reported():
    reports = []
    swept(progress=lambda *counts: reports.append(counts))
    assert reports == [(done, 12) for done in range(1, 13)]


class TestSolveTogether:
    RECIPES = cost_sweep((1e-2, 1e-3), gammas=(1.0, 4.0))

    def solved(self, given, folds=(0, 1, 2), **options):
        frontier = RowFrontier(*given, **options)
        frontier.solve_together(frontier.plan(self.RECIPES), folds)
        return frontier

    def values(self, frontier, fold, given):
        """Return what each recipe's line of a fold comes to."""
        training = without_fold(given, fold)
        return np.array(
            [
                recipe.objective(*training)(frontier.solutions[recipe.key, fold])[0]
                for recipe in self.RECIPES
            ]
        )

    @pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_solutions_are_as_good_as_those_of_one_fit_at_a_time(self, holder):
        X, *others = rows()
        together = self.solved((holder(X), *others))
        assert len(together.solutions) == 3 * len(self.RECIPES)
        for recipe in self.RECIPES:
            for fold in range(3):
                training = without_fold((X, *others), fold)
                objective = recipe.objective(*training)
                value = objective(together.solutions[recipe.key, fold])[0]
                # A robust loss has several minima, of which neither finds the least every time.
                more = 1e-4 if recipe.loss.complexity == 0.0 else 1e-2
                assert value <= objective(solved_alone(recipe, *training))[0] * (1.0 + more)

    def test_labels_of_rows_held_out_have_no_say(self):
        X, positive, weight, fold = given = rows()
        frontier = self.solved(given)
        other = self.solved((X, positive ^ (fold == 1), weight, fold))
        # Sums over other numbers of rows round otherwise: that is all the difference.
        np.testing.assert_allclose(
            self.values(frontier, 1, given), self.values(other, 1, given), rtol=1e-4
        )

    def test_lines_and_held_out_scores_are_made_with_them(self):
        given = rows()
        frontier, alone = self.solved(given), RowFrontier(*given)
        alone.solutions |= frontier.solutions
        for recipe in self.RECIPES:
            for fold in range(3):
                line = alone.plan([recipe])[0].fold_lines[fold]
                np.testing.assert_allclose(frontier.lines[recipe.key, fold], line, rtol=1e-8)
                scores = scores_of(given[0][given[3] == fold], line[None])[:, 0]
                held_out = frontier.fold_scores[recipe.key, fold]
                np.testing.assert_allclose(held_out, scores, rtol=1e-8, atol=1e-10)
