"""Calibration line, net benefit and sample size against brute force and simulated truth."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from directrix.estimators.risk_validation import (
    RiskCounts,
    SampleSize,
    calibration_line,
    net_benefit,
)
from directrix.fit.report import UNKNOWN, Estimate


def drawn(rng, n=3000, intercept=0.0, slope=1.0):
    """Return outcomes, and predictions whose calibration line is known."""
    z = rng.normal(-1.0, 1.3, n)
    y = rng.random(n) < expit(intercept + slope * z)
    return y, expit(z)


def test_the_line_is_the_maximum_of_the_likelihood():
    y, p = drawn(np.random.default_rng(0), 500, 0.4, 0.7)
    weight = np.random.default_rng(1).integers(1, 4, 500).astype(float)
    found = calibration_line(RiskCounts.of_rows(y, p, weight))

    def loss(coef):
        eta = coef[0] + coef[1] * logit(p)
        return -np.sum(weight * np.where(y, log_expit(eta), log_expit(-eta)))

    both = minimize(loss, [0.0, 1.0], tol=1e-12).x
    large = minimize(lambda a: loss([a[0], 1.0]), [0.0], tol=1e-12).x
    # The tolerance is that of the quasi-Newton method of the oracle.
    assert found.slope.value == pytest.approx(both[1], abs=1e-5)
    assert found.intercept.value == pytest.approx(large[0], abs=1e-5)


def test_intervals_cover_the_truth():
    rng = np.random.default_rng(2)
    covered = np.zeros(2)
    for _ in range(200):
        y, p = drawn(rng, 1000, 0.0, 0.8)
        line = calibration_line(RiskCounts.of_rows(y, p))
        covered[0] += line.slope.low <= 0.8 <= line.slope.high
        y, p = drawn(rng, 1000, 0.3, 1.0)
        line = calibration_line(RiskCounts.of_rows(y, p))
        covered[1] += line.intercept.low <= 0.3 <= line.intercept.high
    # Binomial with 200 draws: four standard deviations are 12 draws.
    assert (covered >= 178).all()


def test_counts_of_equal_probabilities_are_rows():
    rng = np.random.default_rng(3)
    y, p = drawn(rng, 800)
    p = np.round(p, 1).clip(0.05, 0.95)
    by_row = RiskCounts.of_rows(y, p)
    levels, index = np.unique(p, return_inverse=True)
    grouped = RiskCounts(levels, np.bincount(index, y), np.bincount(index, ~y))
    np.testing.assert_allclose(
        np.ravel(calibration_line(by_row)), np.ravel(calibration_line(grouped)), atol=1e-9
    )
    one, other = (net_benefit(counts, [0.1, 0.3, 0.5]) for counts in (by_row, grouped))
    np.testing.assert_allclose(one.values, other.values, atol=1e-12)
    np.testing.assert_allclose(one.low, other.low, atol=1e-12)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ((0.5, 1.0), "too low on the whole; their spread is right"),
        ((-0.5, 1.0), "too high on the whole"),
        ((0.0, 0.5), "predictions are too extreme"),
        ((0.0, 2.0), "not extreme enough"),
    ],
)
def test_the_verdict_says_what_the_line_is(line, words):
    y, p = drawn(np.random.default_rng(4), 20_000, *line)
    assert words in calibration_line(RiskCounts.of_rows(y, p)).verdict


@pytest.mark.filterwarnings("error")
def test_separated_classes_and_one_class_have_no_line():
    p = np.linspace(0.01, 0.99, 50)
    assert calibration_line(RiskCounts.of_rows(p > 0.5, p)).slope == UNKNOWN
    line = calibration_line(RiskCounts.of_rows(p > 2, p))
    assert line.slope == line.intercept == UNKNOWN
    assert line.verdict.startswith("The rows are too few")


def test_net_benefit_is_the_mean_over_rows():
    rng = np.random.default_rng(5)
    y, p = drawn(rng, 400)
    p[:50] = 0.3  # ties at a threshold: rows that reach it are acted on
    thresholds = np.array([0.05, 0.3, 0.6, 0.95])
    curve = net_benefit(RiskCounts.of_rows(y, p), thresholds)
    for k, t in enumerate(thresholds):
        rows = np.where(p >= t, np.where(y, 1.0, -t / (1.0 - t)), 0.0)
        assert curve.values[k] == pytest.approx(rows.mean(), abs=1e-12)
        reach = 1.959964 * rows.std() / np.sqrt(len(rows))
        assert curve.high[k] - curve.values[k] == pytest.approx(reach, abs=1e-12)
        every = np.where(y, 1.0, -t / (1.0 - t))
        assert curve.treat_all[k] == pytest.approx(every.mean(), abs=1e-12)


def test_a_whole_weight_is_as_many_rows():
    rng = np.random.default_rng(6)
    y, p = drawn(rng, 200)
    weight = rng.integers(1, 4, 200)
    weighted = net_benefit(RiskCounts.of_rows(y, p, weight.astype(float)), [0.2, 0.4])
    repeated = net_benefit(
        RiskCounts.of_rows(np.repeat(y, weight), np.repeat(p, weight)), [0.2, 0.4]
    )
    np.testing.assert_allclose(weighted.values, repeated.values, atol=1e-12)
    # Weights are not rows: fewer are known than repeated ones would be.
    assert (weighted.high - weighted.low > repeated.high - repeated.low).all()


def test_where_a_model_is_useful():
    y, p = drawn(np.random.default_rng(7), 5000)
    curve = net_benefit(RiskCounts.of_rows(y, p))
    low, high = curve.useful
    assert 0 < low < y.mean() < high < 1
    surely = curve.surely_useful
    assert low <= surely[0] < surely[1] <= high
    noise = np.full(5000, y.mean())
    assert net_benefit(RiskCounts.of_rows(y, noise), [0.01, 0.9]).useful is None
    frame = pytest.importorskip("pandas") and curve.to_frame()
    assert frame.columns.tolist() == ["threshold", "net_benefit", "low", "high", "treat_all"]
    assert len(frame) == 100


def test_they_print_for_readers():
    y, p = drawn(np.random.default_rng(0), 500)
    counts = RiskCounts.of_rows(y, p)
    line, curve = calibration_line(counts), net_benefit(counts, [0.1, 0.25])
    assert str(line).startswith(f"slope {line.slope.value:.2f} ({line.slope.low:.2f} to ")
    assert str(line).endswith(line.verdict)
    header, first, second = str(curve).splitlines()
    assert "net benefit" in header
    assert first.split()[:2] == ["10.0%", f"{curve.values[0]:.3f}"]
    assert second.split()[0] == "25.0%"


@pytest.mark.parametrize("thresholds", [[], [0.0], [0.5, 1.0]])
def test_thresholds_are_risks(thresholds):
    with pytest.raises(ValueError, match="thresholds must be risks between 0 and 1"):
        net_benefit(RiskCounts.of_rows([True, False], [0.2, 0.3]), thresholds)


def test_sample_size_in_words():
    size = SampleSize(1000, 90, 30, "'bad'", "AUC", Estimate(0.7, 0.64, 0.76))
    assert size.events_per_line == 3.0
    assert size.rows_for(size.half_width / 2) == pytest.approx(4000)
    counts, few, known, wish = size.advice
    assert "1,000 rows, 90 of them 'bad'" in counts
    assert "30 printed lines: 3.0 events a line" in counts
    assert "10 or more events" in few
    assert "±0.060 (0.640 to 0.760)" in known
    assert "±0.03 takes about 4,000 rows" in wish
    enough = size._replace(events=400, expected=UNKNOWN)
    assert len(enough.advice) == 1
