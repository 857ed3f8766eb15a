from itertools import permutations

import numpy as np
import pytest

from directrix.metrics import PRBEP, PrecisionAtK, RecallAtK
from directrix.metrics.base import Curve
from directrix.moments.risks import risk_of


@pytest.mark.parametrize("seed", range(12))
def test_ties_at_the_boundary_are_the_mean_over_all_orders(seed):
    rng = np.random.default_rng(seed)
    y = np.array([0, 1, *rng.integers(0, 2, 4)])
    s = rng.integers(0, 3, 6).astype(float)
    orders = np.array(list(permutations(range(6))))
    # Every order breaks the ties differently; a stable sort keeps the rest.
    ranked = np.array([order[np.argsort(-s[order], kind="stable")] for order in orders])
    for k in range(1, 6):
        caught = y[ranked[:, :k]].sum(axis=1)
        assert PrecisionAtK(k).score(y, s) == pytest.approx(np.mean(caught / k), abs=1e-14)
        assert RecallAtK(k).score(y, s) == pytest.approx(np.mean(caught / y.sum()), abs=1e-14)
        if k == y.sum():
            assert PRBEP().score(y, s) == pytest.approx(np.mean(caught / k), abs=1e-14)


def test_top_of_the_list_without_ties():
    rng = np.random.default_rng(1)
    y, s = rng.integers(0, 2, 100), rng.permutation(100).astype(float)
    top = y[np.argsort(-s)]
    for k in (1, 7, 50, 99):
        assert PrecisionAtK(k).score(y, s) == pytest.approx(top[:k].mean(), abs=1e-15)
        assert RecallAtK(k).score(y, s) == pytest.approx(top[:k].sum() / y.sum(), abs=1e-15)
        assert PrecisionAtK(k / 100).score(y, s) == pytest.approx(top[:k].mean(), abs=1e-14)
        assert RecallAtK(k / 100).score(y, s) == pytest.approx(RecallAtK(k).score(y, s), abs=1e-14)


def test_precision_equals_recall_at_break_even(rows, weight):
    positives = rows.y @ (np.ones(len(rows.y)) if weight is None else weight)
    total = len(rows.y) if weight is None else weight.sum()
    value = PRBEP().score(rows.y, rows.scores, weight)
    for metric in (PrecisionAtK(positives / total), RecallAtK(positives / total)):
        assert metric.score(rows.y, rows.scores, weight) == pytest.approx(value, abs=1e-13)


def test_threshold_is_the_nearest_to_the_quota(rows):
    curve = Curve.of(rows.y, rows.scores)
    for k in (1, 20, 150):
        threshold = RecallAtK(k).best(curve).threshold
        off = [abs(np.sum(rows.scores > t) - k) for t in (-np.inf, *np.unique(rows.scores))]
        assert abs(np.sum(rows.scores > threshold) - k) == min(off)


def test_whole_number_of_numpy_counts_rows():
    y, s = [0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0]
    assert PrecisionAtK(np.int64(2)).score(y, s) == 0.5


@pytest.mark.parametrize("metric_class", [PrecisionAtK, RecallAtK])
def test_refuses_what_is_neither_rows_nor_a_share(metric_class):
    for k in (0, -3):
        with pytest.raises(ValueError, match=f"k must be at least one row, not {k}"):
            metric_class(k)
    for k in (0.0, 1.0, 5.0, np.nan):
        with pytest.raises(ValueError, match="k, where it is not a whole number, must be a share"):
            metric_class(k)


@pytest.mark.parametrize("metric_class", [PrecisionAtK, RecallAtK])
def test_rows_are_a_share_of_rows_that_must_be_known(metric_class):
    assert (
        risk_of(metric_class(50), 1000)
        == risk_of(metric_class(0.05))
        == risk_of(metric_class(0.05), 1000)
    )
    with pytest.raises(ValueError, match=r"\(k=50\) counts rows: say how many.*or give a share"):
        risk_of(metric_class(50))
    with pytest.raises(ValueError, match=r"\(k=50\) asks for all of the 50 rows"):
        risk_of(metric_class(50), 50)
    with pytest.raises(ValueError, match="all of the 3 rows"):
        metric_class(3).score([0, 1, 1], [1.0, 2.0, 3.0])
