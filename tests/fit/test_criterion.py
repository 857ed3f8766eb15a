"""The criterion of choice: its formula, its limits, and what it chooses from few and many rows."""

import numpy as np
import pytest

from directrix.fit.compare import OneStandardError, compare
from directrix.fit.criterion import Criterion
from directrix.fit.curves import ScoreCurves
from directrix.metrics import (
    AUC,
    AveragePrecision,
    Cost,
    FBeta,
    PrecisionAtK,
    RecallAtFPR,
)
from directrix.metrics.jitter import jittered

METRICS = [RecallAtFPR(0.05), Cost(1, 5), PrecisionAtK(0.05), FBeta()]


def candidates(n, k=6, share=0.2, gap=1.0, seed=0, noise=0.3, folds=5):
    """Return rows and held-out scores of candidates that are all as good; the first is simplest."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n) < share * n
    fold = np.arange(n) % folds
    common = rng.normal(size=n) + gap * positive
    scores = common[:, None] + noise * rng.normal(size=(n, k))
    return positive, scores, fold


def curves_of(positive, scores, fold, weight=None):
    weight = np.ones(len(positive)) if weight is None else weight
    return [ScoreCurves(positive, column, weight, fold) for column in scores.T]


def compared(metric, positive, scores, fold, complexities=None, weight=None):
    curves = curves_of(positive, scores, fold, weight)
    if complexities is None:
        complexities = [0.0] + [1.0] * (len(curves) - 1)
    return compare(metric, curves, curves[0].criterion(metric), complexities)


def chosen(metric, positive, scores, fold):
    found = compared(metric, positive, scores, fold)
    complexities = [0.0] + [1.0] * (scores.shape[1] - 1)
    return OneStandardError.of(found, complexities)(found.deciding)


def bent(n, seed=0, noise=0.05):
    """Return a better ranking first, and second scores that find a few positives without doubt."""
    rng = np.random.default_rng(seed)
    positive, scores, fold = candidates(n, k=2, seed=seed, noise=noise)
    found = positive & (rng.random(n) < 0.3)
    scores[:, 1] += 2.0 * rng.normal(size=n)
    scores[found, 1] = 10.0 + rng.random(found.sum())
    return positive, scores, fold


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_it_is_the_formula(metric):
    positive, scores, fold = candidates(1_000)
    curves = curves_of(positive, scores, fold)
    found = compared(metric, positive, scores, fold)
    sign = -1.0 if metric.greater_is_better else 1.0
    chance, perfect = metric.chance(0.2, 1_000.0), {0: 1.0, 1: 0.0}[sign == 1.0]
    if isinstance(metric, PrecisionAtK):
        perfect = 1.0
    of_metric, ranking = [], []
    for every in ((each.whole, *each.folds) for each in curves):
        sizes = [(200.0 / 4.0, 800.0 / 4.0)] + [(200.0 / 20.0, 800.0 / 20.0)] * 5
        values = [jittered(metric, curve, *size) for curve, size in zip(every, sizes, strict=True)]
        areas = np.array([AUC().best_value(curve) for curve in every])
        of_metric.append(sign * np.array(values))
        ranking.append(sign * (chance + (2.0 * areas - 1.0) * (perfect - chance)))
    of_metric, ranking = np.array(of_metric), np.array(ranking)
    beyond = of_metric - ranking - (of_metric - ranking)[0]
    means = (beyond[:, 0] + beyond[:, 1:].mean(axis=1)) / 2.0
    errors = beyond[:, 1:].std(axis=1, ddof=1) / np.sqrt(5)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.nan_to_num(np.maximum(0.0, 1.0 - 2.0 * errors**2 / means**2))
    expected = ranking + (of_metric - ranking)[0] + shares[:, None] * beyond
    np.testing.assert_allclose(found.pooled, expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(found.fold_deciding, expected[:, 1:], atol=1e-12)
    both = (expected[:, 0] + expected[:, 1:].mean(axis=1)) / 2.0
    np.testing.assert_allclose(found.deciding, both, atol=2e-7 * metric.unit)


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_with_ever_more_rows_it_is_the_metric(metric):
    far, near = (
        np.abs(found.deciding - found.losses).max()
        for found in (compared(metric, *bent(n)) for n in (500, 200_000))
    )
    assert near < far / 3.0
    assert near < 0.02 * metric.unit


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_with_few_positives_the_simplest_is_chosen(metric):
    # All candidates are as good; by the exact metric one of the others is the best, by luck.
    lucky = trained = 0
    for seed in range(60):
        rows = candidates(300, share=0.05, k=10, seed=seed)
        lucky += compare(metric, curves_of(*rows)).best != 0
        trained += chosen(metric, *rows) != 0
    assert lucky > 40
    assert trained <= 6


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_candidates_that_differ_by_luck_alone_have_small_shares(metric):
    shares = [
        compared(metric, *candidates(300, share=0.05, k=10, seed=seed)).criterion.shares[1:].mean()
        for seed in range(20)
    ]
    assert np.mean(shares) < 0.35


def test_a_metric_that_is_better_beyond_doubt_is_chosen_against_the_ranking():
    metric = RecallAtFPR(0.01)
    found = compared(metric, *bent(20_000))
    areas = compared(AUC(), *bent(20_000)).values
    assert areas[1] < areas[0]
    assert found.criterion.shares[1] > 0.9
    assert chosen(metric, *bent(20_000)) == 1


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_the_order_of_rows_does_not_matter(metric):
    positive, scores, fold = candidates(400)
    order = np.random.default_rng(5).permutation(400)
    found = compared(metric, positive, scores, fold)
    again = compared(metric, positive[order], scores[order], fold[order])
    np.testing.assert_allclose(again.deciding, found.deciding, rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_units_of_scores_weights_and_costs_do_not_matter(metric):
    positive, scores, fold = candidates(400)
    found = compared(metric, positive, scores, fold)
    weighted = compared(metric, positive, 4.0 * scores, fold, weight=np.full(400, 0.25))
    np.testing.assert_allclose(weighted.deciding, found.deciding, rtol=1e-12)
    cents = compared(Cost(100, 500), positive, scores, fold)
    euros = compared(Cost(1, 5), positive, scores, fold)
    np.testing.assert_allclose(cents.deciding, 100.0 * euros.deciding, rtol=1e-6)


@pytest.mark.parametrize("metric", [AUC(), AveragePrecision()], ids=str)
def test_a_ranking_is_its_own_criterion(metric):
    found = compared(metric, *candidates(400))
    np.testing.assert_array_equal(found.deciding, found.losses)


def test_with_two_folds_the_averaged_metric_decides():
    metric = RecallAtFPR(0.05)
    positive, scores, fold = candidates(400, folds=2)
    found = compared(metric, positive, scores, fold)
    assert found.criterion.shares is None
    whole = [
        -jittered(metric, each.whole, 80 / 4, 320 / 4) for each in curves_of(positive, scores, fold)
    ]
    np.testing.assert_allclose(found.pooled, whole)


def test_the_reference_is_the_best_ranking_of_the_simplest():
    positive, scores, fold = candidates(400)
    found = compared(FBeta(), positive, scores, fold, complexities=[1.0, 0.0, 0.0, 2.0, 2.0, 2.0])
    areas = compared(AUC(), positive, scores, fold).deciding
    assert found.criterion.reference == 1 + int(np.argmin(areas[1:3]))
    assert found.criterion.needed == [found.criterion.reference]


def test_among_some_candidates_each_keeps_its_share():
    criterion = compared(FBeta(), *bent(2_000)).criterion
    assert criterion.reference == 0
    kept = criterion.among(np.array([0, 1]))
    np.testing.assert_array_equal(kept.shares, criterion.shares)
    assert Criterion.of_rows(FBeta(), np.array([True, False]), np.ones(2)).among([0]).shares is None


def test_standard_errors_are_wider_where_rows_are_few():
    few, many = (compared(FBeta(), *candidates(n, share=0.1)) for n in (300, 3_000))
    assert few.criterion.caution == 2.0
    assert many.criterion.caution == 1.01
    by_folds = few.fold_deciding - few.fold_deciding[0]
    expected = 2.0 * by_folds.std(axis=1, ddof=1) / np.sqrt(5)
    np.testing.assert_allclose(few.standard_errors(0), expected)
    assert compared(AUC(), *candidates(300)).criterion.caution == 1.0


def test_rows_of_unequal_weight_count_as_fewer():
    positive = np.arange(100) < 50
    weight = np.where(np.arange(100) % 2, 1.0, 3.0)
    criterion = Criterion.of_rows(FBeta(), positive, weight)
    assert criterion.n_pos == pytest.approx(40.0)
    assert criterion.n_neg == pytest.approx(40.0)
