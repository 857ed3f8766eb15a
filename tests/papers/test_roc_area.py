"""The smoothed ROC area: the definition of the paper."""

import numpy as np
import pytest
from contracts.cases import draw_rows
from scipy.optimize import minimize

from directrix.linear.pairwise import PairwiseHinge
from directrix.papers.zhang_saha_vishwanathan_2011 import SmoothedROCArea

PAIR = np.array([True, False])


def maximum_over_box(positive, scores, weight, mu):
    """Return eq. 11 with the prox-function of §2.2.1, β of its maximum, and the pairs.

    Each pair's maximum over [−1, 1] is found among the points where one can be: both ends, and
    where the derivative is zero. A row of weight k is k rows.
    """
    apart = np.subtract.outer(scores[positive], scores[~positive])
    copies = np.multiply.outer(weight[positive], weight[~positive])
    m = copies.sum()
    free = np.clip((apart - 0.5) / (mu * m), -1.0, 1.0) if mu else np.zeros_like(apart)
    points = np.stack([np.full_like(apart, -1.0), np.full_like(apart, 1.0), free])
    gains = points * (apart - 0.5) / m - mu / 2.0 * points**2
    at = gains.argmax(axis=0)[None]
    beta = np.take_along_axis(points, at, axis=0)[0]
    printed = 0.5 + (copies * np.take_along_axis(gains, at, axis=0)[0]).sum()
    return printed, copies * beta / m, apart, copies / m


@pytest.mark.parametrize("times", [0.0, 1.0, 100.0, 1000.0])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_smoothed_roc_area_is_the_definition_of_the_paper(times, ties, whole):
    for seed in range(20):
        rows = draw_rows(seed, 60, ties=ties, whole=whole, spread=(0.2, 1.5)[seed % 2])
        positive, _, weight = rows
        m = weight[positive].sum() * weight[~positive].sum()
        mu = times * 0.001 / (m / 2.0)  # so many times μ̂ = ε / D
        printed, beta, apart, share = maximum_over_box(*rows, mu)
        loss = SmoothedROCArea(mu * m / 2.0)
        value, slope = loss.value_and_grad(*rows)
        # The right labels, which eq. 3 lacks, take away the mean of w·(x_i − x_j).
        assert value == pytest.approx(printed - (share * apart).sum(), abs=1e-10)
        if times or not (apart == 0.5).any():  # a corner has many subgradients
            of_pairs = beta - share
            assert slope[positive] == pytest.approx(of_pairs.sum(axis=1), abs=1e-10)
            assert slope[~positive] == pytest.approx(-of_pairs.sum(axis=0), abs=1e-10)


def test_a_general_solver_has_the_same_maximum_over_the_box():
    positive, scores, weight = draw_rows(3, 9, ties=True, whole=True)
    m = weight[positive].sum() * weight[~positive].sum()
    mu = 0.3 / m
    printed, _, apart, share = maximum_over_box(positive, scores, weight, mu)
    apart, share = apart.ravel(), share.ravel()

    def loss(beta):
        gain = share * (beta * (apart - 0.5) - mu * m / 2.0 * beta**2)
        return -gain.sum(), -share * (apart - 0.5 - mu * m * beta)

    box = [(-1.0, 1.0)] * len(apart)
    solution = minimize(loss, np.zeros(len(apart)), jac=True, bounds=box, options={"ftol": 1e-15})
    assert printed == pytest.approx(0.5 - solution.fun, abs=1e-10)


def test_smoothed_roc_area_is_a_pairwise_hinge_of_doubled_scores():
    for seed in range(10):
        positive, scores, weight = draw_rows(seed, ties=seed % 2 == 1)
        mu_m = 10.0 ** (-seed / 2.0)
        value, slope = SmoothedROCArea(mu_m / 2.0).value_and_grad(positive, scores, weight)
        hinge = PairwiseHinge(kappa=4.0 * mu_m, margin=1.0 + 2.0 * mu_m)
        other, half = hinge.value_and_grad(positive, 2.0 * scores, weight)
        assert value == pytest.approx(other - mu_m / 2.0, abs=1e-15)
        assert slope == pytest.approx(2.0 * half, abs=1e-15)


@pytest.mark.parametrize("epsilon", [-0.1, np.inf, np.nan])
def test_epsilon_is_a_number_from_zero_up(epsilon):
    with pytest.raises(ValueError, match="epsilon must be a number from zero up"):
        SmoothedROCArea(epsilon).value_and_grad(PAIR, np.zeros(2), np.ones(2))
