"""The bounds of F_β, against each other and against all labellings."""

import numpy as np
import pytest
from loss_oracle import all_labellings, one_minus_f

from directrix.losses import FBetaEnvelope, FBetaIsotonic


@pytest.mark.parametrize("beta", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_ordered_positives_are_between_all_labellings_and_the_envelope(seed, beta):
    rng = np.random.default_rng(seed)
    positive = np.arange(9) < rng.integers(2, 7)
    scores = rng.normal(positive - 0.5, (0.2, 1.0, 3.0, 0.0)[seed])
    exact = all_labellings(beta, positive, scores)
    ordered, envelope = (
        loss_class(beta, kappa=0.0).value_and_grad(positive, scores, np.ones(9))[0]
        for loss_class in (FBetaIsotonic, FBetaEnvelope)
    )
    assert exact - 1e-12 <= ordered <= envelope + 1e-12


@pytest.mark.parametrize("loss_class", [FBetaEnvelope, FBetaIsotonic])
def test_perfect_scores_lose_nothing_and_the_worst_lose_all(loss_class):
    positive = np.array([True, True, False, False, False])
    for kappa in (0.0, 0.01):
        far = loss_class(kappa=kappa).value_and_grad(
            positive, np.where(positive, 9.0, -9.0), np.ones(5)
        )
        assert far[0] == pytest.approx(0.0, abs=1e-12)
        assert far[1] == pytest.approx(np.zeros(5), abs=1e-12)
    wrong = loss_class(kappa=0.0).value_and_grad(
        positive, np.where(positive, -9.0, 9.0), np.ones(5)
    )
    assert wrong[0] == pytest.approx(1.0 + 9.0 * 5 / 2)


@pytest.mark.parametrize("beta", [0.3, 1.0, 3.0])
def test_the_envelope_is_above_one_minus_f_and_meets_it_at_its_edges(beta):
    loss = FBetaEnvelope(beta)
    n_pos, n_neg = 4.0, 7.0
    for misses in range(5):
        for alarms in range(8):
            value = loss._envelope(1.0 - misses / n_pos, alarms / n_pos, n_neg / n_pos)
            truth = one_minus_f(beta, n_pos, misses, alarms)
            assert value >= truth - 1e-15
            if misses in {0, 4}:
                assert value == pytest.approx(truth, abs=1e-15)


@pytest.mark.parametrize("loss_class", [FBetaEnvelope, FBetaIsotonic])
def test_beta_is_above_zero(loss_class):
    with pytest.raises(ValueError, match="beta must be above zero, not 0"):
        loss_class(beta=0.0).value_and_grad(np.array([True, False]), np.zeros(2), np.ones(2))
