"""Laws of the frontier of moments: nothing that descends finds a better line."""

import warnings
from unittest.mock import patch

import numpy as np
import pytest
from scipy.optimize import minimize

from benchmarks.studies.descents import objective_of, random_moments
from directrix.exceptions import OneClassPredictedWarning
from directrix.linear import Frontier
from directrix.linear import pencil as _standard_space
from directrix.metrics import PRBEP, BalancedError, Cost, PrecisionAtK, RecallAtFPR
from directrix.metrics.table import resolve
from directrix.moments.projection import project
from directrix.moments.risks import risk_of
from directrix.papers.ghanbari_li_scheinberg_2019 import wolfe_lbfgs
from directrix.papers.moment_risk import part_of_mean

METRICS = ("error", Cost(1, 20), BalancedError(), "auc", RecallAtFPR(0.01), PrecisionAtK(0.02))
PROBLEMS = 25
STARTS = 6


def problems(n=PROBLEMS, **options):
    rng = np.random.default_rng(2024)
    return [(random_moments(rng, **options), rng) for _ in range(n)]


def best_line(moments, metric):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassPredictedWarning)
        return Frontier(moments, shrinkage=0.0).best(metric)


def descended(moments, risk, rng):
    """Return where L-BFGS ends from several starts, to a small gradient."""
    objective = objective_of(moments, risk)
    for k in range(STARTS):
        w = (
            moments.positive.mean - moments.negative.mean
            if k == 0
            else rng.standard_normal(moments.n_features)
        )
        w = w / np.linalg.norm(w)
        spread = np.sqrt(w @ moments.negative.covariance @ w)
        middle = w @ (moments.positive.mean + moments.negative.mean) / 2
        start = np.append(w, -middle + (rng.normal() * spread if k > 1 else 0.0))
        yield minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 1000, "maxcor": 20, "gtol": 1e-10, "ftol": 1e-16},
        )


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_no_descent_ends_below_the_frontier(metric, figure):
    worst, beaten, papers = -np.inf, 0, 0
    for moments, rng in problems():
        risk = risk_of(resolve(metric), moments.weight)
        ours = best_line(moments, metric).risk
        descent = min(result.fun for result in descended(moments, risk, rng))
        worst = max(worst, ours - descent)
        beaten += descent - ours > 1e-6
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = np.append(part_of_mean(moments.positive.mean, moments.negative.mean), 0.0)
            single = wolfe_lbfgs(objective_of(moments, risk, penalty=1e-3), start)
        papers += risk.value(project(moments, single.coef)) - ours > 1e-4
    assert worst <= 1e-9
    figure(
        f"frontier, {metric}: at most {worst:.0e} above the best of {STARTS} descents on "
        f"{PROBLEMS} problems; below it by > 1e-6 in {beaten}, and below the papers' single start "
        f"by > 1e-4 in {papers}"
    )


@pytest.mark.parametrize("metric", ["error", "auc", RecallAtFPR(0.05), PRBEP()], ids=str)
def test_every_stationary_point_lies_on_the_frontier(metric):
    seen = 0
    for moments, rng in problems(8, most_features=8):
        risk = risk_of(resolve(metric), moments.weight)
        delta = moments.positive.mean - moments.negative.mean
        for result in descended(moments, risk, rng):
            scores = project(moments, result.x)
            slope = objective_of(moments, risk).risk.value_and_grad(scores)[1].mean_pos * np.sqrt(
                scores.var_pos
            )
            # Stationary; and not a constant predictor, where everything is flat.
            steep = np.linalg.norm(result.jac) * np.linalg.norm(result.x)
            if steep > 1e-6 * abs(slope) or abs(slope) < 1e-3:
                continue
            w = result.x[:-1]
            both = np.stack([moments.positive.covariance @ w, moments.negative.covariance @ w]).T
            share = np.linalg.lstsq(both, delta, rcond=None)[0]
            off = np.linalg.norm(both @ share - delta) / np.linalg.norm(delta)
            seen += 1
            assert off < 1e-3
    assert seen >= 5


@pytest.mark.parametrize("metric", [*METRICS, "f1", "mcc"], ids=str)
def test_the_line_has_the_risk_it_promises(metric):
    for moments, _ in problems(5):
        model = best_line(moments, metric)
        risk = risk_of(resolve(metric), moments.weight)
        scores = project(moments, np.append(model.coef, model.intercept))
        assert np.allclose(scores, model.scores, rtol=1e-6, atol=1e-9)
        if np.isfinite(model.scores.mean_pos):
            assert risk.value(scores) == pytest.approx(model.risk, abs=1e-9)


def test_auc_is_one_solve():
    for moments, _ in problems(5):
        both = moments.positive.covariance + moments.negative.covariance
        w = np.linalg.solve(both, moments.positive.mean - moments.negative.mean)
        coef = best_line(moments, "auc").coef
        assert coef / np.linalg.norm(coef) == pytest.approx(w / np.linalg.norm(w), abs=1e-8)


@pytest.mark.parametrize("metric", ["error", "auc", RecallAtFPR(0.01)], ids=str)
def test_units_of_the_features_do_not_matter(metric):
    for moments, rng in problems(5):
        scale = np.exp(rng.normal(0, 3, moments.n_features))
        offset = rng.normal(0, 100, moments.n_features)
        moved = moments.affine(scale, offset=offset)
        before, after = (best_line(m, metric) for m in (moments, moved))
        assert after.risk == pytest.approx(before.risk, abs=1e-9)


@pytest.mark.parametrize("metric", ["error", "auc", RecallAtFPR(0.01), PrecisionAtK(0.02)], ids=str)
def test_solving_for_each_angle_gives_the_same_line(metric):
    for moments, _ in problems(8):
        with patch.object(_standard_space, "_EIGEN_FEATURES", 0):
            solved = best_line(moments, metric)
        # The quadrant alone is searched, in fewer steps: never better, and seldom much worse.
        whole = best_line(moments, metric)
        assert solved.risk >= whole.risk - 1e-12
        assert solved.risk <= whole.risk + 0.02
