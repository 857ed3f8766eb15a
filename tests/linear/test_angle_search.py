"""The search over the angle against a very fine grid."""

import numpy as np
import pytest

from benchmarks.studies.descents import random_moments
from directrix.linear.moment_frontier import best_angle
from directrix.linear.pencil import EigenPencil, SolvedPencil, angle_at
from directrix.metrics import BalancedError, Cost, PrecisionAtK, RecallAtFPR
from directrix.metrics.table import resolve
from directrix.moments.risks import risk_of


def problem(seed):
    """Return the covariances and the difference of means of random moments, and their prior."""
    moments = random_moments(np.random.default_rng(seed), most_features=6)
    positive, negative = moments.positive, moments.negative
    return (positive.covariance, negative.covariance, positive.mean - negative.mean), moments.prior


def large_risk(metric):
    return risk_of(resolve(metric), 10_000.0)


METRICS = ["error", Cost(1, 20), BalancedError(), RecallAtFPR(0.01), PrecisionAtK(0.02)]


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_no_angle_of_a_fine_grid_has_less_risk(metric, seed):
    given, prior = problem(seed)
    pencil, risk = EigenPencil(*given), large_risk(metric)
    logits = np.linspace(-30.0, 30.0, 2001)
    angles = np.concatenate([angle_at(*arc, logits) for arc in pencil.arcs()])
    least = risk.profile(*pencil.scores(angles), prior)[0].min()
    angle = best_angle(pencil, risk, prior)
    assert risk.profile(*pencil.scores(np.array([angle])), prior)[0][0] <= least + 1e-12


@pytest.mark.parametrize("pencil", [EigenPencil, SolvedPencil])
def test_auc_needs_no_search(pencil):
    given, prior = problem(0)
    assert best_angle(pencil(*given), large_risk("auc"), prior) == np.pi / 4


@pytest.mark.parametrize("metric", ["error", RecallAtFPR(0.01)], ids=str)
@pytest.mark.parametrize("seed", range(1, 4))
def test_the_angle_depends_on_neither_the_grid_nor_rounding_errors(metric, seed, monkeypatch):
    (positive, negative, delta), prior = problem(seed)
    rng = np.random.default_rng(seed)
    search, angles = EigenPencil.search, []
    for first_arc, points in ((97, 33), (101, 33), (97, 29), (113, 41)):
        changed = search._replace(first_arc=first_arc, points=points)
        monkeypatch.setattr(EigenPencil, "search", changed)
        noise = 1.0 + 1e-15 * rng.standard_normal(delta.shape)
        pencil = EigenPencil(positive, negative, noise * delta)
        angles.append(best_angle(pencil, large_risk(metric), prior))
    assert np.ptp(angles) < 1e-9


def test_if_all_lines_are_equally_good_the_line_of_auc_is_taken():
    # Classes a hundred standard deviations apart: the error of every line is zero.
    covariance, delta = np.diag([1.0, 2.0]), np.array([100.0, 100.0])
    pencil = EigenPencil(covariance, covariance, delta)
    assert best_angle(pencil, large_risk("error"), 0.3) == np.pi / 4
