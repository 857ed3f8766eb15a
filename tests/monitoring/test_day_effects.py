"""Effects of days: their variance, how long they last, and the tests that follow."""

import numpy as np
import pytest
from monitored_days import Days
from scipy import stats

from directrix import MomentClassifier
from directrix.monitoring import Monitor, summarize_day
from directrix.monitoring.day_check import DayEffects, effects_of_days, mean_variance
from directrix.rows.sums import tree_sum

N_ROWS, D = 1000, 6


def days(rng, n_days, lasting, deviation):
    """Return effects of days, of variance one, times a deviation, with chance of variance one."""
    effects = np.empty((n_days, D))
    effects[0] = rng.normal(size=D)
    for t in range(1, n_days):
        noise = np.sqrt(1 - lasting**2) * rng.normal(size=D)
        effects[t] = lasting * effects[t - 1] + noise
    return deviation * effects + rng.normal(size=(n_days, D))


def found(reference):
    residuals = reference - reference.mean(axis=0)
    ratios = (residuals**2).sum(axis=1) / D * len(reference) / (len(reference) - 1)
    return effects_of_days(ratios, [N_ROWS] * len(reference), list(residuals))


def false_alarms(lasting, deviation, n_days, *, repeats=150):
    """Return the share of 60 later days in alarm at one per cent, with and without effects."""
    rng = np.random.default_rng(0)
    alarms = np.zeros(2)
    for _ in range(repeats):
        made = days(rng, n_days + 60, lasting, deviation)
        effects = found(made[:n_days])
        simple = max(effects.excess, 0.0)
        if simple:
            variance = mean_variance(effects.autocorrelation, n_days)
            simple *= (1 - variance) / (1 + variance)  # as the reference days differ
        later = ((made[n_days:] - made[:n_days].mean(axis=0)) ** 2).sum(axis=1)
        naive = stats.chi2.sf(later / (1 + N_ROWS * simple), D)
        scaled = later / (1 + N_ROWS * effects.excess)
        p_values = [effects.p_value(statistic, D, N_ROWS) for statistic in scaled]
        alarms += np.mean(naive < 0.01), np.mean(np.array(p_values) < 0.01)
    return alarms / repeats


@pytest.mark.parametrize("n_days", [14, 30])
def test_effects_that_last_raise_few_false_alarms(n_days):
    before, after = false_alarms(0.8, 3.0, n_days)
    assert before > 0.1
    assert after < 0.03


def test_independent_days_are_tested_as_before():
    before, after = false_alarms(0.0, 0.0, 30)
    assert before == pytest.approx(0.01, abs=0.005)
    assert after == pytest.approx(0.01, abs=0.005)


def test_a_shift_of_many_deviations_is_found():
    rng = np.random.default_rng(1)
    caught = []
    for _ in range(100):
        made = days(rng, 31, 0.8, 3.0)
        effects = found(made[:30])
        later = made[30] + np.array([40.0, 0, 0, 0, 0, 0]) - made[:30].mean(axis=0)
        statistic = later @ later / (1 + N_ROWS * effects.excess)
        caught.append(effects.p_value(statistic, D, N_ROWS) < 0.01)
    assert np.mean(caught) > 0.8


@pytest.mark.parametrize("n_days", [3, 10])
def test_drift_from_few_reference_days_says_so(n_days):
    draw = Days(4)
    model = MomentClassifier("error").fit(*draw(600, 0.3))
    reference = [summarize_day(model, *draw(400, 0.3)) for _ in range(n_days)]
    scores, columns = (
        tree_sum([getattr(each, name) for each in reference]) for name in ("scores", "columns")
    )
    check = Monitor(scores, columns, days=reference).check(
        summarize_day(model, draw(400, 0.3, drift=3.0)[0])
    )
    assert check.verdict == "drift"
    assert ("fewer than 7 reference days do not tell" in str(check)) == (n_days == 3)
    assert (check.to_dict()["day_effects"] is None) == (n_days == 3)


def test_the_variance_of_a_mean_is_that_of_its_covariances():
    lag = np.abs(np.subtract.outer(np.arange(12), np.arange(12)))
    assert mean_variance(0.7, 12) == pytest.approx((0.7**lag).mean())


def test_autocorrelation_is_estimated_without_that_of_chance():
    rng = np.random.default_rng(2)
    many = [found(days(rng, 60, 0.6, 2.0)).autocorrelation for _ in range(60)]
    assert np.mean(many) == pytest.approx(0.6, abs=0.08)
    none = [found(days(rng, 60, 0.0, 2.0)).autocorrelation for _ in range(60)]
    assert np.mean(none) < 0.12


def test_without_effects_the_test_is_chi_squared():
    assert DayEffects().p_value(12.0, 5, 1000.0) == pytest.approx(stats.chi2.sf(12.0, 5))
    assert DayEffects().p_value(12.0, 0, 1000.0) == 1.0
    assert effects_of_days([], []) == DayEffects()


@pytest.mark.parametrize("effects", [DayEffects(), DayEffects(0.01, 0.3, 12.0, 0.4)])
def test_the_critical_statistic_has_the_p_value_of_the_alarm_rate(effects):
    critical = effects.critical(0.005, 5, 1000.0)
    assert effects.p_value(critical, 5, 1000.0) == pytest.approx(0.005)
    assert effects.critical(0.005, 0, 1000.0) == np.inf


def test_usual_indices_are_those_of_each_reference_day_against_the_others():
    draw = Days(5)
    model = MomentClassifier("error").fit(*draw(600, 0.3))
    reference = [summarize_day(model, *draw(300, 0.3, drift=k / 3)) for k in range(4)]
    day = summarize_day(model, draw(300, 0.3)[0])
    check = Monitor.of_days(model, reference).check(day)
    alone = []
    for k, each in enumerate(reference):
        others = Monitor.of_days(model, reference[:k] + reference[k + 1 :]).check(each)
        alone.append([others.score_stability, *sorted(others.columns)])
    for now, *before in zip([check.score_stability, *sorted(check.columns)], *alone, strict=True):
        indices = [each.psi for each in before]
        assert now.usual == pytest.approx((min(indices), max(indices)))
    single = Monitor.of_days(model, reference[:1]).check(day)
    assert single.score_stability.usual is None


def test_days_of_large_effects_are_of_usual_variation_and_not_unchanged():
    draw, rng = Days(6), np.random.default_rng(6)
    model = MomentClassifier("error").fit(*draw(600, 0.3))
    made = [summarize_day(model, *draw(400, 0.3, drift=rng.normal())) for _ in range(30)]
    monitor = Monitor.of_days(model, made[:20])
    checks = [monitor.check(summarize_day(model, draw(400, 0.3, drift=1.0)[0])) for _ in range(5)]
    large = [check for check in checks if max(each.psi for each in check.columns) > 0.25]
    assert large
    assert all(check.verdict != "unchanged" for check in large)
    assert any(check.verdict == "usual variation" for check in large)
