"""The metric averaged over its threshold's own uncertainty, against draws and quadrature."""

import numpy as np
import pytest
from scipy.special import ndtr

from directrix.metrics import (
    MCC,
    Cost,
    FBeta,
    FPRAtRecall,
    FromRates,
    PrecisionAtK,
    PrecisionAtRecall,
    RecallAtFPR,
    RecallAtPrecision,
)
from directrix.metrics.base import Curve, CurveStack
from directrix.metrics.jitter import jittered, threshold_chances


def _name(metric):
    return type(metric).__name__


METRICS = [
    RecallAtFPR(0.1),
    FPRAtRecall(0.8),
    PrecisionAtRecall(0.7),
    RecallAtPrecision(0.6),
    PrecisionAtK(0.2),
    Cost(1, 5),
    FBeta(),
    MCC(),
    FromRates(lambda tpr, fpr, prior: tpr - fpr - prior),
]


def scored(n=400, seed=0, gap=1.0, share=0.3):
    """Return which rows are positive, and scores that know something of it."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    return positive, (rng.normal(size=n) + gap * positive).round(2)


def drawn_shares(center, n, draws):
    """Return shares of rows around a center, whose arcsine is normal."""
    normal = np.random.default_rng(1).normal(size=draws)
    angle = np.clip(np.arcsin(np.sqrt(center)) + normal / (2.0 * np.sqrt(n)), 0.0, np.pi / 2)
    return np.sin(angle) ** 2


def test_a_recall_at_a_limit_is_its_mean_over_drawn_limits():
    positive, scores = scored()
    curve, n_neg = Curve.of(positive, scores), float((~positive).sum())
    limits = drawn_shares(0.1, n_neg, 20_000)
    recalls = curve.tpr[np.searchsorted(curve.fpr, limits, side="right") - 1]
    expected, error = recalls.mean(), recalls.std() / np.sqrt(len(recalls))
    assert jittered(RecallAtFPR(0.1), curve, 1.0, n_neg) == pytest.approx(expected, abs=4 * error)


@pytest.mark.parametrize(
    ("metric", "rate"), [(FPRAtRecall(0.8), "fpr"), (PrecisionAtRecall(0.8), "precision")]
)
def test_a_limit_on_recall_is_drawn_from_the_positives(metric, rate):
    positive, scores = scored()
    curve, n_pos = Curve.of(positive, scores), float(positive.sum())
    limits = drawn_shares(0.8, n_pos, 20_000)
    values = getattr(curve, rate)[np.searchsorted(curve.tpr, limits, side="left")]
    error = values.std() / np.sqrt(len(values))
    assert jittered(metric, curve, n_pos, 1.0) == pytest.approx(values.mean(), abs=4 * error)


def test_a_limit_on_precision_is_drawn_from_the_rows_that_are_flagged():
    positive, scores = scored()
    curve, metric = Curve.of(positive, scores), RecallAtPrecision(0.6)
    flagged = float((scores > metric.best(curve).threshold).sum())
    limits = drawn_shares(0.6, flagged, 2_000)
    values = np.array([curve.tpr[curve.precision >= limit].max() for limit in limits])
    error = values.std() / np.sqrt(len(values))
    sizes = float(positive.sum()), float((~positive).sum())
    assert jittered(metric, curve, *sizes) == pytest.approx(values.mean(), abs=4 * error)


@pytest.mark.parametrize(
    "metric", [Cost(1, 5), FBeta(), PrecisionAtK(0.2)], ids=lambda metric: type(metric).__name__
)
def test_other_thresholds_are_drawn_by_the_share_of_rows_above(metric):
    positive, scores = scored()
    curve = Curve.of(positive, scores)
    share = curve.prior * curve.tpr + (1.0 - curve.prior) * curve.fpr
    center = 0.2 if isinstance(metric, PrecisionAtK) else share[metric.best(curve).index]
    draws = drawn_shares(center, 400.0, 20_000)
    nearest = np.abs(share[:, None] - draws[:5_000]).argmin(axis=0)
    values = metric.at_rates(curve.tpr[nearest], curve.fpr[nearest], curve.prior)
    error = values.std() / np.sqrt(len(values))
    sizes = float(positive.sum()), float((~positive).sum())
    assert jittered(metric, curve, *sizes) == pytest.approx(values.mean(), abs=4 * error)


def test_a_recall_is_the_mean_chance_of_a_positive_to_be_let_through():
    positive, scores = scored()
    curve, n = Curve.of(positive, scores), 150.0
    distance = np.arcsin(np.sqrt(curve.fpr[1:])) - np.arcsin(np.sqrt(0.1))
    passes = 1.0 - ndtr(2.0 * np.sqrt(n) * distance)
    assert jittered(RecallAtFPR(0.1), curve, n, n) == pytest.approx(np.diff(curve.tpr) @ passes)


@pytest.mark.parametrize("metric", METRICS, ids=_name)
def test_chances_add_to_one_and_the_mean_is_among_the_values(metric):
    curve = Curve.of(*scored())
    values = np.asarray(metric.at_rates(curve.tpr, curve.fpr, curve.prior))
    chances = threshold_chances(metric, curve, values, 120.0, 280.0)
    assert chances.min() >= 0.0
    assert chances.sum() == pytest.approx(1.0)
    values = values[chances > 0]
    assert values.min() <= jittered(metric, curve, 120.0, 280.0) <= values.max()


@pytest.mark.parametrize("metric", METRICS, ids=_name)
def test_with_ever_more_rows_it_is_the_metric_itself(metric):
    curve = Curve.of(*scored(seed=3))
    exact = metric.best_value(curve)
    # The threshold nearest to a quota may be a row away, and a limit may lie on a threshold.
    assert jittered(metric, curve, 1e10, 1e10) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("metric", METRICS, ids=_name)
def test_scores_count_by_their_order_and_weights_by_their_ratio(metric):
    positive, scores = scored()
    expected = jittered(metric, Curve.of(positive, scores), 120.0, 280.0)
    same = Curve.of(positive[::-1], np.exp(scores[::-1]), np.full(400, 7.0))
    assert jittered(metric, same, 120.0, 280.0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: type(metric).__name__)
def test_a_stack_has_the_values_of_its_curves(metric):
    curves = [Curve.of(scored(seed=0)[0], np.arange(400.0) * sign) for sign in (1, -1)]
    stack = CurveStack(
        np.stack([curve.true_positives for curve in curves])[None],
        np.stack([curve.false_positives for curve in curves])[None],
    )
    expected = [jittered(metric, curve, 120.0, 280.0) for curve in curves]
    np.testing.assert_allclose(jittered(metric, stack, 120.0, 280.0), [expected], rtol=1e-12)
