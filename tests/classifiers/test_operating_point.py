import pickle

import numpy as np
import pytest
from directrix.classifiers.rows_at_hand import RowsAtHand, cut
from scipy.stats import binomtest, norm
from sklearn.metrics import confusion_matrix

from directrix.classifiers import operating_point
from directrix.classifiers.operating_point import (
    OnRows,
    OperatingPoint,
    Rates,
    effective_rows,
    predicted_rates,
    wilson,
)
from directrix.metrics import (
    AUC,
    TABLE,
    Cost,
    Curve,
    Error,
    FBeta,
    RecallAtFPR,
    resolve,
)
from directrix.metrics.at_threshold import ThresholdMetric
from directrix.moments.projection import ScoreMoments


def scored(n=1000, gap=1.5, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    return positive, rng.normal(size=n) + gap * positive


def on_rows(metric, positive, scores):
    curve = Curve.of(positive, scores)
    place = metric.best(curve).place
    return OnRows(curve, place, float(positive.sum()), float((~positive).sum()))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 30), (7, 30), (30, 30), (123, 45_678)])
def test_wilsons_interval_is_that_of_scipy(k, n, level):
    expected = binomtest(k, n).proportion_ci(confidence_level=level, method="wilson")
    assert wilson(k / n, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilsons_interval_of_no_rows_is_everything():
    assert wilson(1.0, 0.0, 0.95) == (0.0, 1.0)


def test_wilsons_interval_narrows_as_rows_come():
    widths = [np.ptp(wilson(0.2, n, 0.95)) for n in (0.5, 1.5, 10.0, 10.5, 1000.0)]
    assert (np.diff(widths) < 0).all()


def test_rows_of_unequal_weight_are_as_sure_as_fewer_equal_ones():
    assert effective_rows(np.full(7, 3.0)) == pytest.approx(7.0)
    assert effective_rows(np.array([1.0, 1e-9, 1e-9])) == pytest.approx(1.0)
    assert effective_rows(np.zeros(3)) == 0.0
    # The mean of rows of weight ω varies as that of so many equal rows.
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.1, 5.0, 50)
    means = rng.normal(size=(20_000, 50)) @ weight / weight.sum()
    assert 1.0 / means.var() == pytest.approx(effective_rows(weight), rel=0.05)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_rates_are_those_of_the_predictions(row):
    positive, scores = scored()
    seen = on_rows(row.example, positive, scores)
    threshold = seen.curve.threshold(seen.place)
    tn, fp, fn, tp = confusion_matrix(positive, scores > threshold).ravel()
    rates = seen.rates(row.example)
    assert rates.tpr == pytest.approx(tp / (tp + fn), abs=1e-15)
    assert rates.fpr == pytest.approx(fp / (tn + fp), abs=1e-15)
    assert rates.precision == pytest.approx(tp / (tp + fp), abs=1e-15)
    moved = isinstance(row.example, ThresholdMetric)
    expected = row.example.score(positive, scores - threshold if moved else scores)
    assert rates.metric == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_intervals_hold_what_was_measured(row, monkeypatch):
    monkeypatch.setattr(operating_point, "_RESAMPLES", 100)
    seen = on_rows(row.example, *scored())
    for (low, high), value in zip(
        seen.intervals(row.example), seen.rates(row.example), strict=True
    ):
        assert low <= value <= high
        assert low < high


def test_the_interval_of_precision_rests_on_the_rows_predicted_positive():
    positive, scores = scored()
    seen = on_rows(Error(), positive, scores)
    above = scores > seen.curve.threshold(seen.place)
    expected = binomtest(int((positive & above).sum()), int(above.sum())).proportion_ci(
        method="wilson"
    )
    found = seen.intervals(Error()).precision
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


TRUE_VALUES = {
    Error(): 0.7 * norm.sf(0.8) + 0.3 * norm.cdf(0.8, 1.5),
    AUC(): norm.cdf(1.5 / np.sqrt(2)),
    RecallAtFPR(0.1): norm.sf(norm.isf(0.1), 1.5),
}


@pytest.mark.parametrize(("metric", "truth"), TRUE_VALUES.items(), ids=str)
def test_the_bootstrap_interval_covers_the_truth_nineteen_times_in_twenty(
    metric, truth, figure, monkeypatch
):
    monkeypatch.setattr(operating_point, "_RESAMPLES", 100)  # enough here, and quicker
    covered, times = 0, 40
    for seed in range(times):
        rng = np.random.default_rng(seed)
        positive = np.arange(300) < 90
        scores = rng.normal(size=300) + 1.5 * positive
        curve = Curve.of(positive, scores)
        place = int((np.unique(scores) > 0.8).sum())  # a threshold that no row has chosen
        low, high = OnRows(curve, place, 90.0, 210.0).resampled(metric)
        covered += low <= truth <= high
    figure(f"operating point, {metric}: the 95 % bootstrap interval covers {covered} of {times}")
    # Of 40 intervals that cover 95 %, fewer than 33 hold the truth once in 1,500 times.
    assert covered >= 33


def test_the_bootstrap_interval_is_the_same_every_time_and_narrower_at_a_lower_level():
    seen = on_rows(AUC(), *scored())
    low, high = seen.resampled(AUC())
    assert (low, high) == seen.resampled(AUC())
    inner = seen.resampled(AUC(), level=0.5)
    assert low < inner[0] < inner[1] < high


@pytest.mark.parametrize("where", [0.0, 0.00013, 0.3, 0.99, 1.0])
def test_thinning_keeps_the_place_exactly_and_the_curve_nearly(where):
    positive, scores = scored(40_000)
    curve = Curve.of(positive, scores)
    place = int(where * (len(curve.tpr) - 1))
    thin, kept = OnRows(curve, place, 1.0, 1.0)._thinned()
    assert len(thin.levels) + 1 == len(thin.tpr) <= 1003
    assert thin.tpr[kept] == curve.tpr[place]
    assert thin.fpr[kept] == curve.fpr[place]
    assert thin.precision[kept] == curve.precision[place]
    for metric in (Error(), Cost(1, 20), FBeta(), resolve("mcc")):
        assert metric.value_at(thin, kept) == metric.value_at(curve, place)
    # A thousand trapezoids of the ROC curve.
    assert AUC().best_value(thin) == pytest.approx(AUC().best_value(curve), abs=1e-4)
    assert thin.positives == curve.positives
    assert thin.negatives == curve.negatives


def test_thinning_leaves_a_short_curve_as_it_is():
    positive, scores = scored(60)
    curve = Curve.of(positive, scores)
    thin, kept = OnRows(curve, 17, 1.0, 1.0)._thinned()
    np.testing.assert_array_equal(thin.levels, curve.levels)
    np.testing.assert_array_equal(thin.true_positives, curve.true_positives)
    np.testing.assert_array_equal(thin.false_positives, curve.false_positives)
    assert kept == 17


def test_predicted_rates_are_those_of_two_normal_distributions():
    numbers = ScoreMoments(0.8, 2.0, -1.1, 0.5, 0.2)
    rates = predicted_rates(numbers, Error(), 1000.0)
    tpr, fpr = norm.sf(0.0, 0.8, np.sqrt(2.0)), norm.sf(0.0, -1.1, np.sqrt(0.5))
    assert rates.tpr == pytest.approx(tpr, rel=1e-12)
    assert rates.fpr == pytest.approx(fpr, rel=1e-12)
    assert rates.precision == pytest.approx(0.2 * tpr / (0.2 * tpr + 0.8 * fpr), rel=1e-12)
    assert rates.metric == pytest.approx(0.2 * (1.0 - tpr) + 0.8 * fpr, rel=1e-12)
    auc = predicted_rates(numbers, AUC(), 1000.0).metric
    assert auc == pytest.approx(norm.cdf(1.9 / np.sqrt(2.5)), rel=1e-12)


def test_where_nothing_is_predicted_positive_the_precision_is_one():
    rates = predicted_rates(ScoreMoments(-1.0, 0.0, -1.0, 0.0, 0.2), Error(), 10.0)
    assert rates == Rates(0.0, 0.0, 1.0, pytest.approx(0.2))


def rows_at_hand(positive, weight=None):
    weight = np.ones(len(positive)) if weight is None else weight
    return RowsAtHand(None, positive, weight, None)


def test_rows_are_cut_where_the_metric_is_best():
    positive, scores = scored()
    threshold, seen = cut(Error(), rows_at_hand(positive), scores)
    wrong = [np.mean((scores > t) != positive) for t in (-np.inf, *scores)]
    assert np.mean((scores > threshold) != positive) == min(wrong)
    assert seen.rates(Error()).metric == pytest.approx(min(wrong))
    assert (seen.n_pos, seen.n_neg) == pytest.approx((positive.sum(), (~positive).sum()))


@pytest.mark.parametrize(
    ("cost", "label"), [(Cost(1e6, 1), "negative"), (Cost(1, 1e6), "positive")]
)
def test_where_one_class_for_all_is_best_it_is_said_and_the_threshold_is_finite(cost, label):
    positive, scores = scored(200, gap=0.0)
    scores[[3, 4]] = scores.max() + 1.0, scores.min() - 1.0
    positive[[3, 4]] = False, True
    with pytest.warns(UserWarning, match=f"every row is predicted {label}.*Cost.*balanced_error"):
        threshold, _ = cut(cost, rows_at_hand(positive), scores)
    assert np.isfinite(threshold)
    assert (scores > threshold).all() == (label == "positive")
    assert (scores > threshold).any() == (label == "positive")


@pytest.mark.parametrize("weighted", [False, True], ids=["few", "few by weight"])
def test_where_a_class_has_few_rows_it_is_said(weighted):
    positive = np.arange(200) < (100 if weighted else 9)
    weight = np.where(np.arange(200) < 9, 1.0, np.where(positive, 1e-6, 1.0))
    scores = np.random.default_rng(0).normal(size=200) + 5.0 * positive
    with pytest.warns(UserWarning, match=r"one class has 9 rows only.*operating_point_\.intervals"):
        cut(Error(), rows_at_hand(positive, weight), scores)


def test_it_reads_well():
    seen = on_rows(RecallAtFPR(0.1), *scored())
    rates = seen.rates(RecallAtFPR(0.1))
    point = OperatingPoint(RecallAtFPR(0.1), 1.25, Rates(0.5, 0.1, 0.6, 0.5), rates, "rows", seen)
    first, head, *lines = str(point).splitlines()
    assert first == "RecallAtFPR(fpr=0.1), threshold 1.25"
    assert head.split() == ["predicted", "on", "rows"]
    assert [line.split()[0] for line in lines] == ["tpr", "fpr", "precision", "metric"]
    low, high = point.intervals.tpr
    assert lines[0].split() == [
        "tpr",
        "0.5000",
        f"{rates.tpr:.4f}",
        f"{low:.4f}",
        "to",
        f"{high:.4f}",
    ]
    assert "OnRows" not in repr(point)


def test_without_rows_it_has_no_intervals_and_says_what_is_predicted():
    point = OperatingPoint(Error(), 0.5, Rates(0.9, 0.1, 0.8, 0.1))
    assert point.intervals is None
    assert str(point).splitlines()[-1].split() == ["metric", "0.1000"]


def test_it_survives_a_pickle():
    seen = on_rows(Error(), *scored())
    point = OperatingPoint(Error(), 1.0, seen.rates(Error()), seen.rates(Error()), "rows", seen)
    again = pickle.loads(pickle.dumps(point))  # noqa: S301 - our own bytes
    assert again == point
    assert again.intervals == point.intervals
