import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from sklearn.metrics import confusion_matrix

from directrix.fit.choice import limit_by_order, limit_caution, sizes_of
from directrix.fit.evidence import RowEvidence
from directrix.fit.finish import _no_better, few_rows_caution, one_class_caution, warn_of
from directrix.fit.normal_scores import predicted_rates
from directrix.fit.operating_point import (
    EffectiveCounts,
    Intervals,
    OnRows,
    OperatingPoint,
    Rates,
    intervals_of,
    ranking_variance,
    rates_of,
    slope_on_area,
)
from directrix.fit.shares import effective_rows, on_logit_scale, wilson
from directrix.fit.training_rows import Rows
from directrix.metrics import (
    AUC,
    AveragePrecision,
    Cost,
    Error,
    FBeta,
    PartialAUC,
    PrecisionAtK,
    RecallAtFPR,
)
from directrix.metrics.at_threshold import ThresholdMetric
from directrix.metrics.base import Curve
from directrix.metrics.table import TABLE
from directrix.moments.projection import ScoreMoments


def scored(n=1000, gap=1.5, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    return positive, rng.normal(size=n) + gap * positive


def on_rows(metric, positive, scores):
    curve = Curve.of(positive, scores)
    index = metric.best(curve).index
    return OnRows(curve, index, EffectiveCounts(float(positive.sum()), float((~positive).sum())))


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 30), (7, 30), (30, 30), (123, 45_678)])
def test_wilsons_interval_is_that_of_scipy(k, n):
    expected = binomtest(k, n).proportion_ci(confidence_level=0.95, method="wilson")
    assert wilson(k / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilsons_interval_of_no_rows_is_everything():
    assert wilson(1.0, 0.0) == (0.0, 1.0)


def test_wilsons_interval_narrows_as_rows_come():
    widths = [np.ptp(wilson(0.2, n)) for n in (0.5, 1.5, 10.0, 10.5, 1000.0)]
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
    threshold = seen.curve.threshold(seen.index)
    tn, fp, fn, tp = confusion_matrix(positive, scores > threshold).ravel()
    rates = seen.rates(row.example)
    assert rates.tpr == pytest.approx(tp / (tp + fn), abs=1e-15)
    assert rates.fpr == pytest.approx(fp / (tn + fp), abs=1e-15)
    assert rates.precision == pytest.approx(tp / (tp + fp), abs=1e-15)
    moved = isinstance(row.example, ThresholdMetric)
    expected = row.example.score(positive, scores - threshold if moved else scores)
    assert rates.metric == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_intervals_hold_what_was_measured(row):
    seen = on_rows(row.example, *scored())
    for (low, high), value in zip(
        seen.intervals(row.example), seen.rates(row.example), strict=True
    ):
        assert low <= value <= high
        assert low < high


def test_the_interval_of_precision_rests_on_the_rows_predicted_positive():
    positive, scores = scored()
    seen = on_rows(Error(), positive, scores)
    above = scores > seen.curve.threshold(seen.index)
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
def test_the_interval_covers_the_truth_nineteen_times_in_twenty(metric, truth, figure):
    covered, times = 0, 200
    for seed in range(times):
        rng = np.random.default_rng(seed)
        positive = rng.random(300) < 0.3  # the share of positives is not fixed
        scores = rng.normal(size=300) + 1.5 * positive
        curve = Curve.of(positive, scores)
        place = int((np.unique(scores) > 0.8).sum())  # a threshold that no row has chosen
        sizes = EffectiveCounts(float(positive.sum()), float((~positive).sum()))
        low, high = OnRows(curve, place, sizes).intervals(metric).metric
        covered += low <= truth <= high
    figure(f"operating point, {metric}: the 95 % interval covers {covered} of {times}")
    # Of 200 intervals that cover 95 %, fewer than 179 hold the truth once in 1,000 times.
    assert covered >= 179


NARROW = {
    "nothing is predicted positive": (FBeta(), 0.0, 0.0),
    "all is predicted positive": (FBeta(1e9), 1.0, 1.0),
    "no positive is missed, and nothing else costs": (Cost(fp=0, fn=1), 1.0, 0.4),
    "all are right": (Error(), 1.0, 0.0),
    "one row is taken, and it is positive": (PrecisionAtK(1), 1 / 90, 0.0),
    "every false positive is avoided": (RecallAtFPR(0.01), 0.0, 0.0),
}


#: Of 90 positives and 210 negatives.
CURVE = Curve.of(np.arange(300) < 90, np.random.default_rng(0).normal(size=300))


@pytest.mark.parametrize("case", NARROW)
def test_no_interval_is_of_no_width(case):
    metric, tpr, fpr = NARROW[case]
    rates = Rates(tpr, fpr, 1.0, float(metric.at_rates(tpr, fpr, 0.3)))
    found = intervals_of(metric, rates, CURVE, EffectiveCounts(90.0, 210.0))
    for (low, high), value in zip(found, rates, strict=True):
        assert low < high
        assert low <= value <= high


def test_the_interval_of_the_error_of_one_class_for_all_is_that_of_the_share():
    # All rows are predicted negative: the error is the share of positives, which other rows change.
    rates = Rates(0.0, 0.0, 1.0, 0.3)
    low, high = intervals_of(Error(), rates, CURVE, EffectiveCounts(90.0, 210.0)).metric
    expected = binomtest(90, 300).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.006)


def test_the_variance_of_auc_is_delongs():
    # Hanley and McNeil's exact variance for exponential scores is near DeLong's.
    rng = np.random.default_rng(0)
    areas, variances = [], []
    for _ in range(300):
        positive = np.arange(150) < 50
        curve = Curve.of(positive, rng.normal(size=150) + positive)
        areas.append(AUC().best_value(curve))
        variances.append(ranking_variance(curve, EffectiveCounts(50.0, 100.0), AUC()))
    assert np.mean(variances) == pytest.approx(np.var(areas), rel=0.2)


def test_the_variance_of_partial_auc_is_that_of_samples():
    rng = np.random.default_rng(1)
    metric, areas, variances = PartialAUC(0.2), [], []
    for _ in range(300):
        positive = np.arange(600) < 200
        curve = Curve.of(positive, rng.normal(size=600) + positive)
        areas.append(metric.best_value(curve))
        variances.append(ranking_variance(curve, EffectiveCounts(200.0, 400.0), metric))
    assert np.mean(variances) == pytest.approx(np.var(areas), rel=0.4)


@pytest.mark.parametrize("value", [0.0, 1e-6, 0.3, 0.5, 1.0])
def test_an_interval_on_the_scale_of_log_odds_stays_inside(value):
    low, high = on_logit_scale(value, 1e-4)
    assert 0.0 <= low <= value <= high <= 1.0
    assert low < high


def test_rows_of_a_group_count_as_one():
    weight = np.ones(12)
    assert effective_rows(weight, np.repeat([5, 6, 7], 4)) == pytest.approx(3.0)
    assert effective_rows(weight, np.arange(12)) == pytest.approx(12.0)


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


def training_rows(positive, weight=None):
    return Rows(None, positive, np.ones(len(positive)) if weight is None else weight)


def best_threshold(metric, rows, scores):
    evidence = RowEvidence(rows, scores)
    index = metric.best(evidence.whole).index
    return evidence.threshold(index), evidence.whole, index


def test_rows_are_cut_where_the_metric_is_best():
    positive, scores = scored()
    threshold, curve, place = best_threshold(Error(), training_rows(positive), scores)
    wrong = [np.mean((scores > t) != positive) for t in (-np.inf, *scores)]
    assert np.mean((scores > threshold) != positive) == min(wrong)
    assert Error().value_at(curve, place) == pytest.approx(min(wrong))


@pytest.mark.parametrize(
    ("cost", "label"), [(Cost(1e6, 1), "negative"), (Cost(1, 1e6), "positive")]
)
def test_where_one_class_for_all_is_best_it_is_said_and_the_threshold_is_finite(cost, label):
    positive, scores = scored(200, gap=0.0)
    scores[[3, 4]] = scores.max() + 1.0, scores.min() - 1.0
    positive[[3, 4]] = False, True
    rows = training_rows(positive)
    threshold, curve, index = best_threshold(cost, rows, scores)
    rates = rates_of(cost, float(curve.tpr[index]), float(curve.fpr[index]), curve.prior, None)
    point = OperatingPoint(cost, threshold, empirical=rates, rows="held-out rows")
    with pytest.warns(
        UserWarning, match=f"every row is predicted {label}.*mean cost of.*balanced_error"
    ):
        warn_of(one_class_caution(point))
    assert one_class_caution(replace(point, empirical=None)) is None  # of a summary
    assert np.isfinite(threshold)
    assert (scores > threshold).all() == (label == "positive")
    assert (scores > threshold).any() == (label == "positive")


@pytest.mark.parametrize("weighted", [False, True], ids=["few", "few by weight"])
def test_where_a_class_has_few_rows_it_is_said(weighted):
    positive = np.arange(200) < (100 if weighted else 9)
    weight = np.where(np.arange(200) < 9, 1.0, np.where(positive, 1e-6, 1.0))
    with pytest.warns(UserWarning, match=r"one class has 9 rows only.*operating_point_\.intervals"):
        warn_of(few_rows_caution(min(sizes_of(training_rows(positive, weight)))))


def test_it_reads_well():
    seen = on_rows(RecallAtFPR(0.1), *scored())
    rates = seen.rates(RecallAtFPR(0.1))
    ends = seen.intervals(RecallAtFPR(0.1))
    other = Rates(0.4, 0.12, 0.55, 0.4)
    point = OperatingPoint(RecallAtFPR(0.1), 1.25, None, rates, "held-out rows", other, ends)
    first, head, *lines = str(point).splitlines()
    assert first == "recall at FPR 10 %, threshold 1.25"
    assert " ".join(head.split()) == ("expected on new rows 95 % interval on held-out rows")
    names = ["recall ", "FPR ", "precision ", "recall at FPR 10 % "]
    assert all(line.startswith(name) for line, name in zip(lines, names, strict=True))
    assert len({len(line) for line in (head, *lines)}) == 1  # in columns
    low, high = ends.tpr
    assert " ".join(lines[0].split()) == (f"recall 0.4000 {low:.4f} to {high:.4f} {rates.tpr:.4f}")


def test_without_rows_it_has_no_intervals_and_says_what_is_predicted():
    point = OperatingPoint(Error(), 0.5, Rates(0.9, 0.1, 0.8, 0.1))
    assert point.intervals is None
    assert str(point).splitlines()[1].strip() == "if scores were normal"
    assert str(point).splitlines()[-1].split() == ["error", "rate", "0.1000"]


def test_what_is_not_known_is_left_empty():
    nothing = (float("nan"), float("nan"))
    rates = Rates(0.9, 0.1, float("nan"), 0.1)
    ends = Intervals((0.8, 1.0), (0.0, 0.2), nothing, (0.0, 0.2))
    point = OperatingPoint(Error(), 0.5, None, rates, "some rows of a long name", rates, ends)
    text = str(point)
    assert "nan" not in text
    assert text.splitlines()[4].split() == ["precision"]


def test_it_survives_a_pickle():
    seen = on_rows(Error(), *scored())
    rates = seen.rates(Error())
    ends = Intervals(*((0.1, 0.2),) * 4)
    point = OperatingPoint(Error(), 1.0, None, rates, "rows", rates, ends)
    again = pickle.loads(pickle.dumps(point))  # noqa: S301 - our own bytes
    assert again == point
    assert again.intervals == point.intervals


def test_no_more_is_expected_than_held_out_rows_showed():
    shown, better = Rates(0.6, 0.2, 0.5, 0.7), Rates(0.7, 0.1, 0.6, 0.8)
    assert _no_better(AUC(), shown, better, 0.3) == shown
    assert _no_better(AUC(), better, shown, 0.3) == better._replace(metric=0.7)
    error = Rates(0.6, 0.2, 0.5, 0.26)
    assert _no_better(Error(), Rates(0.7, 0.1, 0.6, 0.16), error, 0.3)[:2] == (0.6, 0.2)


def test_the_rate_that_a_limit_holds_may_be_higher_on_new_rows():
    metric, shown = RecallAtFPR(0.1), Rates(0.6, 0.05, 0.5, 0.6)
    expected = _no_better(metric, Rates(0.7, 0.12, 0.6, 0.7), shown, 0.3)
    assert (expected.tpr, expected.fpr, expected.metric) == (0.6, 0.12, 0.6)


def test_rates_that_were_corrected_count_as_fewer_rows():
    sizes, shown = EffectiveCounts(100.0, 400.0), Rates(0.6, 0.2, 0.5, 0.7)
    assert sizes.less_sure(shown, shown) == sizes
    # The variance of a recall of 0.5 in 100 rows is 0.05 squared: a correction by 0.1 adds four.
    corrected = sizes.less_sure(shown, Rates(0.5, 0.2, 0.5, 0.7))
    assert corrected == pytest.approx((20.0, 400.0))


def test_average_precision_rises_with_the_area_as_over_samples():
    areas, values, slopes = [], [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        curve = Curve.of(rng.random(500) < 0.3, rng.normal(size=500))
        areas.append(AUC().best_value(curve))
        values.append(AveragePrecision().best_value(curve))
        slopes.append(slope_on_area(AveragePrecision(), curve, EffectiveCounts(150.0, 350.0)))
    # Three standard errors of the slope of 300 samples.
    assert np.mean(slopes) == pytest.approx(np.polyfit(areas, values, 1)[0], abs=0.15)


def test_one_negative_too_few_for_a_limit_is_warned_of():
    """k + 1 of n + 1 at most 1 %: with none above, 99 negatives are enough."""
    limit = RecallAtFPR(0.01).limit
    caution = limit_caution(RecallAtFPR(0.01), EffectiveCounts(50.0, 98.0))
    assert "needs 99 negatives" in str(caution)
    assert "and there are 98" in str(caution)
    assert limit_caution(RecallAtFPR(0.01), EffectiveCounts(50.0, 99.0)) is None
    assert limit_by_order(limit, EffectiveCounts(50.0, 99.0)) == pytest.approx(0.0, abs=1e-6)
