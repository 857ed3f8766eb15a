import numpy as np
import pytest

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.margin import Logistic
from directrix.linear.pairwise import PairwiseHinge
from directrix.linear.ramp import Ramp
from directrix.linear.recipes import (
    RIDGES,
    Recipe,
    balanced,
    coarse_sweep,
    logistic_path,
    ranking_continuation,
)


def rows(n=120, d=3, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.2 * positive
    return X, positive, rng.uniform(0.5, 2.0, n), np.arange(n) % 3


@pytest.mark.parametrize("ratio", [1.0, 0.1, 50.0])
def test_balanced_weights_have_the_ratio_and_leave_the_positives(ratio):
    _, positive, weight, _ = rows()
    given = balanced(positive, weight, ratio)
    assert given[~positive].sum() == pytest.approx(ratio * given[positive].sum(), rel=1e-12)
    np.testing.assert_array_equal(given[positive], weight[positive])
    assert np.ptp(given[~positive] / weight[~positive]) < 1e-12
    # Twice the weights are the same costs.
    assert balanced(positive, 2.0 * weight, ratio) == pytest.approx(2.0 * given, rel=1e-12)


@pytest.mark.parametrize("ratio", [None, 10.0])
def test_a_recipe_weighs_the_rows_by_its_ratio(ratio):
    X, positive, weight, _ = rows()
    objective = Recipe(Logistic(), 0.3, ratio).objective(X, positive, weight)
    expected = weight if ratio is None else balanced(positive, weight, ratio)
    np.testing.assert_array_equal(objective.weight, expected)
    assert (objective.ridge, objective.loss) == (0.3, Logistic())


def test_the_coarse_sweep_starts_from_logistic_regression_of_the_same_ridge():
    plain = logistic_path()
    assert [recipe.ridge for recipe in plain] == list(RIDGES)
    assert [recipe.start for recipe in plain] == [None, *plain[:-1]]
    for recipe in coarse_sweep():
        first = recipe
        while first.start is not None and first.start.ridge == recipe.ridge:
            first = first.start
        assert first.key == (Logistic(), recipe.ridge, None)


def test_a_ranking_continues_with_pairwise_losses_convex_and_then_tight():
    start = logistic_path()[1]
    recipes = ranking_continuation(start)
    losses = [PairwiseHinge()] * 4 + [Ramp(PairwiseHinge())] * 4
    assert [recipe.loss for recipe in recipes] == losses
    assert [recipe.ridge for recipe in recipes] == [*RIDGES, *RIDGES]
    assert [recipe.start for recipe in recipes] == [*[start] * 4, *recipes[:4]]


@pytest.mark.parametrize(
    ("recipe", "steps"),
    [
        (Recipe(Logistic(), 1e-2), 2),
        (Recipe(Logistic(), 1e-2, 10.0), 4),
        (Recipe(BetaBernoulli(), 1e-2, 10.0), 6),
        (Recipe(PairwiseHinge(), 1e-2), 2),
        (Recipe(Ramp(PairwiseHinge()), 1e-2), 2),
    ],
    ids=lambda given: getattr(given, "name", str(given)),
)
def test_neighbours_are_one_step_away_and_start_here(recipe, steps):
    neighbours = recipe.neighbours
    assert len({other.key for other in neighbours}) == len(neighbours) == steps
    for other in neighbours:
        assert other.start == recipe
        assert sum(a != b for a, b in zip(other.key, recipe.key, strict=True)) == 1


def test_names_and_complexities_put_plain_logistic_regression_first():
    recipes = [*logistic_path(), *coarse_sweep(), *ranking_continuation(logistic_path()[0])]
    assert len({recipe.name for recipe in recipes}) == len(recipes)
    for recipe in recipes:
        plain = recipe.loss == Logistic() and recipe.ratio is None
        assert (recipe.complexity == 0.0) == plain
        assert f"ridge {recipe.ridge:.2g}" in recipe.name


def test_a_ranking_begins_with_equal_costs():
    ratios = [recipe.ratio for recipe in coarse_sweep(ranking=True)]
    assert set(ratios) == {None, 1.0}
    assert set(coarse_sweep(ranking=True)) < set(coarse_sweep())
