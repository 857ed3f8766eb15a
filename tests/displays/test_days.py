import numpy as np
import pytest
from monitored_days import Days

from directrix import MomentClassifier
from directrix.monitoring import Monitor, summarize_day
from directrix.monitoring.day_check import DriftTest, PromiseCheck

pytest.importorskip("matplotlib").use("agg")


@pytest.fixture(scope="module")
def checks():
    day = Days(0)
    model = MomentClassifier("recall@fpr=0.05", positive="bad").fit(*day(2000, 0.2))
    reference = summarize_day(model, *day(8000, 0.2))
    monitor = Monitor(reference.scores)
    return [
        monitor.check(summarize_day(model, day(800, 0.1 * k)[0]), f"2026-01-0{k}")
        for k in range(1, 6)
    ]


def test_it_draws_what_the_checks_say(checks):
    from directrix.displays import DaysDisplay

    realised = np.array([0.1, 0.2, np.nan, 0.4, 0.5])
    display = DaysDisplay.from_checks(checks, realised=realised)
    assert display.prevalence[:, 0].tolist() == [check.prevalence.share for check in checks]
    assert display.alerts[:, 0].tolist() == [check.alerts.observed for check in checks]
    assert len(display.ax_) == 3
    drawn = display.ax_[0].lines[0].get_ydata()
    assert drawn == pytest.approx(100 * display.prevalence[:, 0])
    again = display.plot(display.ax_, color="k")
    assert again.figure_ is display.figure_


def test_checks_need_dates(checks):
    from dataclasses import replace

    from directrix.displays import DaysDisplay

    for wrong in ([], [replace(checks[0], day=None)]):
        with pytest.raises(ValueError, match="each with its date"):
            DaysDisplay.from_checks(wrong)


def test_a_promise_that_is_not_kept_is_told_from_drift(checks):
    from dataclasses import replace

    from directrix.displays import DaysDisplay

    broken = PromiseCheck("FPR", 0.05, 0.04, 0.06, 0.2, 0.15, 0.25, kept=False, rises=False)
    drift = replace(checks[3], tests=(DriftTest("scores", 90.0, 5, 1e-9),))
    days = [
        replace(checks[0], tests=(DriftTest("scores", 5.0, 5, 0.4),), promises=(broken,)),
        drift,
    ]
    lines = {line.get_label(): line for line in DaysDisplay.from_checks(days).ax_[2].lines}
    assert lines["promise not kept"].get_ydata().tolist() == [0.4]
    assert lines["alarm"].get_ydata().tolist() == [1e-9]
    only_drift = DaysDisplay.from_checks([checks[0], drift]).ax_[2].lines
    assert "promise not kept" not in {line.get_label() for line in only_drift}
