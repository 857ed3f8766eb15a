import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from directrix import Moments
from directrix.moments.projection import ScoreMoments, project
from directrix.moments.risks import CostRisk


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("distance", [0.5, 2.0, 5.0])
def test_error_of_discriminant_analysis(prior, distance):
    """Classes of one covariance, Mahalanobis distance Δ apart (McLachlan 1992, eq. 3.3.5).

    π Φ(−Δ/2 + l/Δ) + (1 − π) Φ(−Δ/2 − l/Δ) with l = log((1 − π)/π).
    """
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 2
    for c in (0, 1):
        part = X[y == c] - X[y == c].mean(axis=0)
        white = np.linalg.solve(np.linalg.cholesky(part.T @ part / len(part)), part.T).T
        X[y == c] = white + np.array([c * distance, 0.0, 0.0])
    mixing = rng.normal(size=(3, 3))
    moments = Moments.of(X @ mixing.T, y).with_prior(prior)
    weight = np.linalg.solve(mixing @ mixing.T, mixing @ [distance, 0.0, 0.0])
    numbers = project(moments, np.append(weight, 0.0))
    risk, odds = CostRisk(), np.log((1 - prior) / prior)
    expected = prior * norm.cdf(-distance / 2 + odds / distance) + (1 - prior) * norm.cdf(
        -distance / 2 - odds / distance
    )
    best = risk.value(numbers.above(risk.threshold(numbers)))
    assert best == pytest.approx(expected, abs=1e-12)


def test_costs_weigh_the_tails():
    numbers = ScoreMoments(1.5, 4.0, -1.0, 0.25, 0.2)
    expected = 7.0 * 0.2 * norm.cdf(-0.75) + 3.0 * 0.8 * norm.sf(2.0)
    assert CostRisk(fp=3.0, fn=7.0).value(numbers) == pytest.approx(expected, rel=1e-14)


def test_balanced_is_the_prior_of_one_half():
    numbers = ScoreMoments(1.5, 4.0, -1.0, 0.25, 0.02)
    even = numbers._replace(prior=0.5)
    for fp, fn in ((1.0, 1.0), (2.0, 5.0)):
        balanced, plain = CostRisk(fp, fn, balanced=True), CostRisk(fp, fn)
        assert balanced.value_and_grad(numbers) == plain.value_and_grad(even)
        assert balanced.threshold(numbers) == plain.threshold(even)


def test_prior_and_costs_are_one_number():
    numbers = ScoreMoments(1.5, 4.0, -1.0, 0.25, 0.2)
    same = numbers._replace(prior=0.5)
    assert CostRisk(fp=0.8, fn=0.2).threshold(same) == pytest.approx(
        CostRisk().threshold(numbers), rel=1e-13
    )


@pytest.mark.parametrize("ratio", [1e-8, 1e-4, 1e-2, 1e2, 1e4, 1e8])
def test_best_threshold_between_very_different_variances(ratio):
    """The discriminant of the quadratic would lose its digits if it were not rearranged."""
    sd = np.sqrt(ratio)
    numbers = ScoreMoments(1.0, ratio, 0.0, 1.0, 0.5)
    risk = CostRisk()
    value = risk.value(numbers.above(risk.threshold(numbers)))
    narrow, width = (1.0, sd) if ratio < 1 else (0.0, 1.0)
    for centre in (narrow - 4 * width, narrow + 4 * width):
        solution = minimize_scalar(
            lambda t: risk.value(numbers.above(t)),
            bounds=(centre - 4 * width, centre + 4 * width),
            method="bounded",
            options={"xatol": 1e-12 * width},
        )
        assert value <= solution.fun + 1e-15


@pytest.mark.parametrize(("prior", "threshold"), [(0.1, np.inf), (0.9, -np.inf)])
def test_scores_that_tell_nothing_predict_the_class_of_the_greater_cost(prior, threshold):
    numbers = ScoreMoments(1.0, 4.0, 1.0, 4.0, prior)
    assert CostRisk().threshold(numbers) == threshold
    same, spread = np.zeros(1), np.full(1, 4.0)
    losses, thresholds = CostRisk().profile(same, spread, spread, prior)
    assert losses.tolist() == pytest.approx([0.1])
    assert thresholds.tolist() == [threshold]
