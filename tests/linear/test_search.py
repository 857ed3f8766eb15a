import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from directrix import Moments
from directrix.fit.compare import compare
from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.moment_frontier import SHRINKAGES, moment_candidates
from directrix.linear.recipes import coarse_sweep, logistic_path
from directrix.linear.row_frontier import RowFrontier
from directrix.linear.search import Search
from directrix.metrics import AUC, Error, PartialAUC, RecallAtFPR


def rows(n=600, d=5, seed=0, folds=3):
    """Two classes that a line tells apart, a tenth of the negatives far out; standardised."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, d))
    X[:, 0] += 2.0 * y
    far = ~y & (rng.random(n) < 0.1)
    X[far, 1] += 6.0
    X[far, 0] += 4.0
    return (X - X.mean(axis=0)) / X.std(axis=0), y, np.ones(n), np.arange(n) % folds


def from_moments(X, y, weight, fold):
    return moment_candidates(Moments.of(X, y, weight, fold=fold), X, y, weight, fold)


def test_logistic_regression_discriminants_and_the_robust_fit_are_candidates():
    given = rows(300)
    search = Search(RowFrontier(*given), Error(), from_moments(*given))
    comparison = search.run()
    keys = [recipe.key for recipe in search.rows.recipes.values()]
    assert {recipe.key for recipe in logistic_path()} <= set(keys)
    assert any(isinstance(loss, BetaBernoulli) and ratio is None for loss, _, ratio in keys)
    names = [candidate.name for candidate in search.candidates]
    discriminants = [name for name in names if "discriminant" in name]
    assert len(discriminants) >= len(SHRINKAGES)
    assert len(search.candidates) == len(comparison.losses)
    assert len({candidate.name for candidate in search.candidates}) == len(search.candidates)


def test_logistic_regression_is_scikit_learns():
    X, y, weight, fold = rows(400, folds=2)
    first = RowFrontier(X, y, weight, fold).plan(logistic_path())[0]
    theirs = LogisticRegression(C=1 / (400 * first.recipe.ridge), tol=1e-8).fit(X, y)
    first.frontier.solve_together([first], [None])
    line = first.frontier.solutions[first.recipe.key, None]
    np.testing.assert_allclose(line[:-1], theirs.coef_[0], rtol=0, atol=2e-3)


def test_rankings_continue_with_pairwise_losses_once():
    frontier = RowFrontier(*rows(300))
    search = Search(frontier, AUC())
    search.run()
    assert any("pairwise" in candidate.name for candidate in search.candidates)
    planned = [key for key in frontier.recipes if "pairwise" in key[0].name]
    Search(frontier, PartialAUC(0.1)).run()
    coarse = [key for key in planned if key in frontier.recipes]
    assert coarse == planned


def test_searches_for_two_metrics_share_what_they_fit():
    given = rows(300)
    shared, alone = RowFrontier(*given), RowFrontier(*given)
    Search(shared, Error()).run()
    search, single = Search(shared, RecallAtFPR(0.05)), Search(alone, RecallAtFPR(0.05))
    together, apart = search.run(), single.run()
    names = [[candidate.name for candidate in s.candidates] for s in (search, single)]
    assert names[0] == names[1]
    np.testing.assert_array_equal(together.losses, apart.losses)


@pytest.mark.parametrize(("n", "all_are_fitted"), [(300, True), (2000, False)])
def test_two_folds_tell_which_candidates_are_worth_all_folds(n, all_are_fitted, monkeypatch):
    # One alone, or those that it starts from might be kept for their own sake.
    monkeypatch.setattr("directrix.linear.search._KEPT", 1)
    frontier = RowFrontier(*rows(n, folds=5))
    search = Search(frontier, RecallAtFPR(0.05))
    search.run()
    fitted = {candidate.recipe.key for candidate in frontier.fitted}
    tried = {key for key, fold in frontier.solutions if fold == 0}
    assert (fitted == tried) == all_are_fitted
    # Whatever a candidate starts from is fitted too; so is logistic regression, with every ridge.
    starts = {frontier.recipes[key].start for key in fitted} - {None}
    assert {start.key for start in starts} <= fitted
    assert {recipe.key for recipe in logistic_path()} <= fitted
    if not all_are_fitted:
        # The best of those tried on two folds is fitted; one that is far behind is not.
        sweep = [c for c in frontier.plan(coarse_sweep()) if c.recipe.key in tried]
        curves = [candidate.trial([0, 1]) for candidate in sweep]
        losses = compare(search.metric, curves, curves[0].criterion(search.metric)).deciding
        assert sweep[int(losses.argmin())].recipe.key in fitted
        assert not {candidate.recipe.key for candidate in sweep} <= fitted
