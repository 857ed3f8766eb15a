import numpy as np
import pytest
from scipy.stats import binomtest

from directrix import MomentClassifier
from directrix.metrics import ScoreHistogram
from directrix.monitoring import summarize_day
from directrix.monitoring.day_check import check_promises, exact_interval


@pytest.mark.parametrize(("hits", "n"), [(0, 20), (20, 20), (7, 50), (1, 3)])
def test_rates_have_exact_intervals(hits, n):
    exact = binomtest(hits, n).proportion_ci(method="exact")
    assert exact_interval(hits / n, n) == pytest.approx((exact.low, exact.high))


def draw(rng, n, gap):
    y = rng.random(n) < 0.2
    return rng.normal(size=(n, 2)) + gap * y[:, None], y


def test_kept_and_broken_promises():
    rng = np.random.default_rng(0)
    model = MomentClassifier("recall@fpr=0.1").fit(*draw(rng, 3000, 1.0))
    point = model.operating_point_
    kept = check_promises(point, summarize_day(model, *draw(rng, 3000, 1.0)).scores)
    assert all(each.kept for each in kept)
    assert [each.promised for each in kept[:2]] == [point.expected.tpr, point.expected.fpr]
    broken = check_promises(point, summarize_day(model, *draw(rng, 3000, 0.3)).scores)
    assert [each.name for each in broken if not each.kept] == [
        "recall",
        "precision",
        "recall at FPR 10 %",
    ]


def test_a_ranking_is_that_of_all_rows_and_not_a_mean_over_days():
    rng = np.random.default_rng(0)
    model = MomentClassifier("auc").fit(*draw(rng, 3000, 1.0))
    # Each day ranks its rows perfectly, and the days differ by an offset.
    y = np.arange(200) % 2 == 0
    days = [ScoreHistogram.of_scores(y, 2.0 * offset + np.where(y, 0.5, -0.5)) for offset in (0, 1)]
    auc = check_promises(model.operating_point_, days[0] + days[1])[-1]
    assert auc.name == "AUC"
    assert auc.realised == pytest.approx(0.75)


def test_without_an_operating_point_nothing_was_promised():
    y = np.arange(200) % 2 == 0
    checks = check_promises(None, ScoreHistogram.of_scores(y, y - 0.5))
    assert [each.name for each in checks] == ["recall", "FPR", "precision"]
    assert all(np.isnan(each.promised) and each.kept for each in checks)


def test_a_metric_with_a_limit_is_realised_at_the_delivered_threshold():
    rng = np.random.default_rng(0)
    model = MomentClassifier("recall@fpr=0.1").fit(*draw(rng, 3000, 1.0))
    X, y = draw(rng, 3000, 1.0)
    scores = summarize_day(model, X + 0.5, y).scores  # more false positives than promised
    recall, fpr, _, metric = check_promises(model.operating_point_, scores)
    assert fpr.realised > 0.15
    assert metric.realised == recall.realised
