import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from directrix.metrics import AUC, BalancedError, PartialAUC
from directrix.metrics.base import Curve, CurveStack

COUNTS = ("true_positives", "false_positives")


def test_auc_is_that_of_scikit_learn(rows, weight):
    expected = roc_auc_score(rows.y, rows.scores, sample_weight=weight)
    assert AUC().score(rows.y, rows.scores, weight) == pytest.approx(expected, abs=1e-14)


def test_auc_is_the_share_of_pairs_with_ties_half(rows):
    pos, neg = rows.scores[rows.y == 1], rows.scores[rows.y == 0]
    right = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
    assert AUC().score(rows.y, rows.scores) == pytest.approx(right.mean(), abs=1e-14)


@pytest.mark.parametrize("max_fpr", [1e-3, 0.05, 0.1, 0.3, 0.77, 1.0])
def test_partial_auc_is_that_of_scikit_learn_through_the_affine_map(rows, weight, max_fpr):
    ours = PartialAUC(max_fpr).score(rows.y, rows.scores, weight)
    expected = roc_auc_score(rows.y, rows.scores, sample_weight=weight, max_fpr=max_fpr)
    if max_fpr == 1.0:  # where scikit-learn does not map
        assert ours == pytest.approx(expected, abs=1e-14)
    else:
        half = max_fpr / 2
        assert (1 + (ours - half) / (1 - half)) / 2 == pytest.approx(expected, abs=1e-13)


def test_partial_auc_averages_the_recall():
    rng = np.random.default_rng(0)
    y = np.arange(300) < 100
    s = rng.permutation(300) + 100.5 * y  # half: no ties
    curve = Curve.of(y, s)
    levels = (np.arange(200) + 0.5) / 200  # recall is constant between whole negatives
    recall = [curve.tpr[curve.fpr <= u].max() for u in levels]
    for limit in (0.1, 0.25, 1.0):
        expected = np.mean([r for r, u in zip(recall, levels, strict=True) if u < limit])
        assert PartialAUC(limit).score(y, s) == pytest.approx(expected, abs=1e-13)


def test_threshold_is_that_of_the_balanced_error(rows, weight):
    curve = Curve.of(rows.y, rows.scores, weight)
    wanted = BalancedError().best(curve)
    for metric in (AUC(), PartialAUC(0.2)):
        value = metric.score(rows.y, rows.scores, weight)
        assert metric.best(curve) == (wanted.threshold, value, wanted.index)


@pytest.mark.parametrize("value", [0, 1.0001, -0.5, np.nan])
def test_refuses_what_is_no_share(value):
    with pytest.raises(ValueError, match="max_fpr must be a share between 0 and 1, not"):
        PartialAUC(value)


@pytest.mark.parametrize("metric", [AUC(), PartialAUC(0.3)], ids=str)
def test_stacked_curves_have_the_areas_and_thresholds_of_each(metric):
    rng = np.random.default_rng(0)
    y = np.arange(60) < 20
    curves = [Curve.of(y, rng.permutation(60) + 15.5 * y) for _ in range(6)]  # half: no ties
    above = [np.stack([getattr(c, name) for c in curves]).reshape(2, 3, -1) for name in COUNTS]
    values, indices = metric.best_of_each(CurveStack(*above))
    assert values.shape == indices.shape == (2, 3)
    best = [metric.best(curve) for curve in curves]
    np.testing.assert_allclose(values.ravel(), [each.value for each in best], atol=1e-14)
    balanced = [curve.tpr - curve.fpr for curve in curves]
    for number, index in enumerate(indices.ravel()):
        assert balanced[number][index] == pytest.approx(balanced[number].max(), abs=1e-14)
