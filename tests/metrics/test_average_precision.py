import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from directrix.fit.operating_point import EffectiveCounts, ranking_variance
from directrix.fit.shares import on_logit_scale
from directrix.metrics import AveragePrecision
from directrix.metrics.base import Curve, CurveStack
from directrix.metrics.table import resolve


def rows(n, seed, *, ties=False, share=0.2):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    scores = rng.normal(size=n) + 1.2 * y
    return y, np.round(scores, 1) if ties else scores, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_that_of_scikit_learn(ties, weighted):
    y, scores, weight = rows(500, 0, ties=ties)
    weight = weight if weighted else None
    expected = average_precision_score(y, scores, sample_weight=weight)
    assert AveragePrecision().score(y, scores, weight) == pytest.approx(expected, rel=1e-12)
    assert resolve("average_precision") == AveragePrecision()


def test_a_stack_of_curves_has_the_values_of_each():
    curves = [Curve.of(*rows(300, seed)[:2]) for seed in range(4)]
    tp, fp = (
        np.stack([getattr(c, name) for c in curves])
        for name in ("true_positives", "false_positives")
    )
    values, _ = AveragePrecision().best_of_each(CurveStack(tp, fp))
    np.testing.assert_allclose(values, [AveragePrecision().best_value(c) for c in curves])


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_variance_is_that_of_repeated_samples(share):
    # 2,000 samples of 400 rows, with the class sizes fixed: as the formula has them.
    rng = np.random.default_rng(0)
    n_pos = int(400 * share)
    y = np.arange(400) < n_pos
    values, variances = [], []
    for _ in range(2000):
        scores = rng.normal(size=400) + 1.2 * y
        curve = Curve.of(y, scores)
        values.append(AveragePrecision().best_value(curve))
        variances.append(
            ranking_variance(curve, EffectiveCounts(n_pos, 400 - n_pos), AveragePrecision())
        )
    assert np.sqrt(np.mean(variances)) == pytest.approx(np.std(values), rel=0.08)
    inside = [
        low <= np.mean(values) <= high
        for low, high in (on_logit_scale(v, s) for v, s in zip(values, variances, strict=True))
    ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def test_rows_of_one_class_are_refused():
    with pytest.raises(ValueError, match="one class only"):
        AveragePrecision().score([1, 1], [0.2, 0.3])
