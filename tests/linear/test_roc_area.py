"""The hinge of every pair: cases known by hand, and the definition of the paper."""

import numpy as np
import pytest
from contracts.cases import draw_rows
from scipy.optimize import minimize

from directrix.linear import PairwiseHinge, Ramp, SmoothedROCArea, SquaredHinge

PAIR = np.array([True, False])


@pytest.mark.parametrize(
    ("apart", "value", "slope"),
    [(2.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.8, 0.05, 0.5), (0.6, 0.2, 1.0), (-1.0, 1.8, 1.0)],
)
def test_one_pair(apart, value, slope):
    loss, slopes = PairwiseHinge(kappa=0.4).value_and_grad(
        PAIR, np.array([apart, 0.0]), np.array([2.0, 3.0])
    )
    assert loss == pytest.approx(value, abs=1e-15)
    assert slopes == pytest.approx([-slope, slope], abs=1e-15)


def test_many_rows_take_the_fast_sort_and_agree():
    rng = np.random.default_rng(0)
    n = 300_000
    positive = rng.random(n) < 0.5
    scores = np.round(rng.normal(size=n) + positive, 1)  # few levels, of which all pairs are few
    levels, at = np.unique(scores, return_inverse=True)
    of_pos, of_neg = (
        np.bincount(at[members], minlength=len(levels)) for members in (positive, ~positive)
    )
    of_both = np.repeat([True, False], len(levels)), np.tile(levels, 2)
    few = PairwiseHinge().value_and_grad(*of_both, np.concatenate([of_pos, of_neg]).astype(float))
    value, slope = PairwiseHinge().value_and_grad(positive, scores, np.ones(n))
    assert value == pytest.approx(few[0], rel=1e-11)
    shared = np.bincount(at + len(levels) * ~positive, slope, 2 * len(levels))
    assert shared == pytest.approx(few[1], abs=1e-12)


def test_spread_that_drowns_the_corner():
    positive = np.array([True, True, False, False])
    for scale in (1e3, 1e6, 1e9):
        scores = scale * np.array([1.0, -1.0, 0.5, -3.0])
        value = PairwiseHinge().value_and_grad(positive, scores, np.ones(4))[0]
        # Off by rounding, or by what one pair inside the corner could be: κ / 8.
        truth = (1.5 * scale + 1.0 - 0.05) / 4.0
        assert value == pytest.approx(truth, rel=1e-14, abs=0.1 / 8.0)


@pytest.mark.parametrize("kappa", [-0.1, np.inf, np.nan])
def test_width_is_a_number_from_zero_up(kappa):
    with pytest.raises(ValueError, match="kappa must be a number from zero up"):
        PairwiseHinge(kappa).value_and_grad(PAIR, np.zeros(2), np.ones(2))


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
        loss = SmoothedROCArea.from_mu(mu, m)
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
        value, slope = SmoothedROCArea.from_mu(mu_m, pairs=1.0).value_and_grad(
            positive, scores, weight
        )
        hinge = PairwiseHinge(kappa=4.0 * mu_m, margin=1.0 + 2.0 * mu_m)
        other, half = hinge.value_and_grad(positive, 2.0 * scores, weight)
        assert value == pytest.approx(other - mu_m / 2.0, abs=1e-15)
        assert slope == pytest.approx(2.0 * half, abs=1e-15)


@pytest.mark.parametrize("epsilon", [-0.1, np.inf, np.nan])
def test_epsilon_is_a_number_from_zero_up(epsilon):
    with pytest.raises(ValueError, match="epsilon must be a number from zero up"):
        SmoothedROCArea(epsilon).value_and_grad(PAIR, np.zeros(2), np.ones(2))


def test_mu_needs_pairs():
    with pytest.raises(ValueError, match="pairs must be above zero, not 0"):
        SmoothedROCArea.from_mu(0.1, pairs=0)


@pytest.mark.parametrize("loss", [SmoothedROCArea(), SquaredHinge()])
def test_no_ramp_of_what_is_no_hinge(loss):
    with pytest.raises(ValueError, match="give a hinge"):
        Ramp(loss).value_and_grad(PAIR, np.zeros(2), np.ones(2))
