"""A line of a sample, corrected by gradients over all rows, is that of all rows."""

from dataclasses import replace

import numpy as np
import pytest

from directrix.frontier.compare import scaled_lines, scores_of
from directrix.frontier.recipes import Recipe, balance_factor
from directrix.frontier.row_frontier import CorrectedCandidate, RowFrontier, TiltedObjective
from directrix.losses import BetaBernoulli, Logistic
from directrix.solve import lbfgs

N, SAMPLED, N_FOLDS = 5000, 500, 2
PLAIN = Recipe(Logistic(), 1e-2)
COSTLY = Recipe(Logistic(), 1e-3, 4.0)
ROBUST = Recipe(BetaBernoulli(mixing=0.3), 1e-2, None, PLAIN)


def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 6))
    positive = X @ [1.0, -1.0, 0.5, 0.0, 0.0, 0.3] + rng.logistic(size=N) > 1.0
    return X, positive, 0.5 + rng.random(N), rng.integers(0, N_FOLDS, N)


def sample_of(recipe, **options):
    """Return the candidate of the first rows."""
    frontier = RowFrontier(*(each[:SAMPLED] for each in rows()), **options)
    return CorrectedCandidate.of(frontier.plan([recipe])[0])


def training(fold):
    X, positive, weight, folds = rows()
    kept = folds != fold if fold is not None else np.ones(N, dtype=bool)
    return X[kept], positive[kept], weight[kept]


def gradients(candidate):
    """Return the gradients of the mean loss over all rows, without the penalty."""
    found = {}
    for fold, coef in candidate.coefs.items():
        objective = candidate.recipe.objective(*training(fold))
        found[fold] = objective(coef)[1] - np.append(candidate.ridge * coef[:-1], 0.0)
    return found


def optimum(recipe, fold):
    start = np.zeros(7) if recipe.start is None else optimum(recipe.start, fold)
    return lbfgs(recipe.objective(*training(fold)), start, ftol=1e-15).coef


def errors(candidate):
    return np.array(
        [
            np.linalg.norm(coef - optimum(candidate.recipe, fold))
            for fold, coef in candidate.coefs.items()
        ]
    )


@pytest.mark.parametrize("recipe", [PLAIN, COSTLY, ROBUST], ids=["plain", "costs", "robust"])
def test_corrections_lead_to_the_optimum_of_all_rows(recipe, figure):
    candidate = sample_of(recipe)
    assert set(candidate.coefs) == {0, 1, None}
    before = errors(candidate)
    once = candidate.corrected(gradients(candidate))
    assert (errors(once) < 0.6 * before).all()
    assert errors(once).mean() < 0.4 * before.mean()
    last = once
    for _ in range(8):
        last = last.corrected(gradients(last))
    assert (errors(last) < 0.02 * before).all()
    ratios = [after.mean() / before.mean() for after in (errors(once), errors(last))]
    figure(f"{recipe.name}: error after one correction {ratios[0]:.3f}, after nine {ratios[1]:.1g}")


def test_the_optimum_of_all_rows_stays():
    candidate = sample_of(PLAIN)
    coefs = {fold: optimum(PLAIN, fold) for fold in candidate.coefs}
    there = replace(candidate, coefs=coefs)
    again = there.corrected(gradients(there))
    for fold, coef in coefs.items():
        np.testing.assert_allclose(again.coefs[fold], coef, atol=1e-3)


def test_the_gradient_of_the_sample_itself_changes_nothing():
    candidate = sample_of(PLAIN)
    own = {}
    for fold, coef in candidate.coefs.items():
        objective = PLAIN.objective(*candidate.frontier.training_rows(fold))
        own[fold] = objective(coef)[1] - np.append(PLAIN.ridge * coef[:-1], 0.0)
    again = candidate.corrected(own)
    for fold, coef in candidate.coefs.items():
        np.testing.assert_allclose(again.coefs[fold], coef, atol=0.01)


def test_lines_are_scaled_as_those_of_the_sample():
    candidate = sample_of(COSTLY)
    once = candidate.corrected(gradients(candidate))
    for fold, line in [(None, once.line), *enumerate(once.fold_lines)]:
        X, positive, weight = once.frontier.training_rows(fold)
        coef = once.coefs[fold][None]
        expected = scaled_lines(coef, scores_of(X, coef), positive, weight)[0]
        np.testing.assert_allclose(line, expected)
    other = sample_of(COSTLY, to_features=lambda line: 3.0 * line)
    np.testing.assert_allclose(other.line, 3.0 * candidate.line)


def test_signs_are_kept():
    signs = np.array([1, 0, -1, 1, 1, 1, 0])  # the third coefficient would be positive
    candidate = sample_of(PLAIN, signs=signs)
    once = candidate.corrected(gradients(candidate))
    for coef in once.coefs.values():
        assert (signs * coef >= 0.0).all()
        assert coef[2] == 0.0


def test_it_says_what_it_is():
    candidate = sample_of(COSTLY)
    once = candidate.corrected(gradients(candidate))
    twice = once.corrected(gradients(once))
    assert once.name == f"{COSTLY.name}, one correction by all rows"
    assert twice.name == f"{COSTLY.name}, 2 corrections by all rows"
    assert (once.complexity, once.ridge, once.recipe) == (COSTLY.complexity, COSTLY.ridge, COSTLY)


def test_a_tilted_objective_has_a_tilted_gradient():
    rng = np.random.default_rng(0)
    objective, tilt, coef = PLAIN.objective(*training(None)), rng.normal(size=7), rng.normal(size=7)
    value, gradient = objective(coef)
    tilted_value, tilted_gradient = TiltedObjective(objective, tilt)(coef)
    assert tilted_value == pytest.approx(value + tilt @ coef)
    np.testing.assert_allclose(tilted_gradient, gradient + tilt)


def test_costs_are_those_of_all_rows():
    _, positive, weight, _ = rows()
    negatives, positives = weight[~positive].sum(), weight[positive].sum()
    factor = balance_factor(negatives, positives, 4.0)
    assert factor * negatives == pytest.approx(4.0 * positives)
