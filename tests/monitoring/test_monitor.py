import json

import numpy as np
import pandas as pd
import pytest
from monitored_days import NAMES, Days
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import MomentClassifier, ScorecardClassifier
from directrix.export import load, save
from directrix.metrics import ScoreHistogram
from directrix.monitoring import DaySummaries, Monitor, summarize_day
from directrix.monitoring.day_check import DRIFT, PRIOR_SHIFT, UNCHANGED, UNCLEAR

METRIC = "recall@fpr=0.05"


def line(day):
    return MomentClassifier(METRIC, positive="bad").fit(*day(4000, 0.1))


def card(day):
    X, y = day(4000, 0.1)
    frame = pd.DataFrame(X, columns=NAMES)
    options = {"max_crosses": 0, "max_lines": None, "warn_baseline": False, "cv": 3}
    return ScorecardClassifier(METRIC, positive="bad", **options).fit(frame, y)


def other(day):
    X, y = day(4000, 0.1)
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y == "bad")


MODELS = {"line": line, "card": card, "other": other}


@pytest.fixture(scope="module", params=MODELS)
def trained(request):
    """Days, a model, a function that summarises a day, and a reference."""
    day = Days(0)
    model = MODELS[request.param](day)

    def of(n, share, drift=0.0, *, labelled=False):
        X, y = day(n, share, drift)
        rows = pd.DataFrame(X, columns=NAMES) if request.param == "card" else X
        y = y == "bad" if request.param == "other" else y
        return summarize_day(model, rows, y if labelled else None)

    reference = of(30_000, 0.1, labelled=True)
    return day, (request.param, model, of, reference)


@pytest.fixture
def watched(trained):
    """The name of a model, the model, a function that summarises a day, and a reference."""
    day, others = trained
    day.rng = np.random.default_rng(1)  # the same rows in whatever order tests run
    return others


@pytest.fixture
def monitor(watched):
    _, model, _, reference = watched
    point = getattr(model, "operating_point_", None)
    return Monitor(reference.scores, pair(model, reference.columns), operating_point=point)


def pair(model, columns):
    from directrix.monitoring.vectors import labelled_pair

    return None if columns is None else labelled_pair(columns, model.positive_)


def test_a_day_as_before_is_unchanged(watched, monitor):
    _, _, of, _ = watched
    checks = [monitor.check(of(2000, 0.1)) for _ in range(20)]
    assert sum(check.verdict == UNCHANGED for check in checks) >= 16
    assert sum(check.alarm for check in checks) <= 2


def test_prior_shift_is_told_from_drift(watched, monitor):
    name, _, of, _ = watched
    check = monitor.check(of(4000, 0.25), "2026-05-01")
    assert check.verdict == PRIOR_SHIFT
    assert not check.alarm
    assert check.prevalence.low <= 0.27
    assert check.prevalence.high >= 0.23
    # The interval is exceeded once in twenty times, twice its width hardly ever.
    reach = check.alerts.high - check.alerts.low
    assert abs(check.alerts.observed - check.alerts.expected) < reach
    assert check.alerts.expected > 1.5 * check.alerts.reference
    if name != "other":
        drifted = monitor.check(of(4000, 0.25, drift=0.3))
        assert drifted.verdict == DRIFT
        assert drifted.alarm
        assert drifted.columns[0].column in ("other", "x3")


def test_shares_and_alerts_are_covered(watched, monitor, figure):
    name, _, of, _ = watched
    rng = np.random.default_rng(0)
    shares = alerts = alarms = 0
    n_days = 60
    for _ in range(n_days):
        X = of(1500, rng.uniform(0.05, 0.2), labelled=True)
        realised = float(X.scores.weight[1] / X.scores.weight.sum())
        check = monitor.check(X)
        shares += check.prevalence.low <= realised <= check.prevalence.high
        alerts += check.alerts.low <= check.alerts.observed <= check.alerts.high
        alarms += check.verdict == DRIFT
    figure(f"monitor of a {name}: {shares}, {alerts} of {n_days} days covered, {alarms} alarms")
    # Of 60 days, 50 or fewer would be covered by 95 % intervals once in 1,000 times.
    assert min(shares, alerts) >= 51
    assert alarms <= 3


def test_promises_are_checked_on_labelled_days(watched, monitor):
    name, _, of, _ = watched
    check = monitor.check(of(5000, 0.1, labelled=True))
    assert [each.name for each in check.promises[:3]] == ["recall", "FPR", "precision"]
    assert not check.broken
    assert monitor.check(of(100, 0.1)).promises == ()
    if name == "other":
        assert all(np.isnan(each.promised) for each in check.promises)


def test_text_and_json_say_the_same(watched, monitor):
    _, _, of, _ = watched
    check = monitor.check(of(2000, 0.1, labelled=True), "2026-05-01")
    values = json.loads(json.dumps(check.to_dict(), allow_nan=False))
    assert values["verdict"] == check.verdict
    assert values["alerts"]["observed"] == check.alerts.observed
    assert f"{check.alerts.observed:,.0f}; expected" in str(check)
    assert str(check).startswith("2026-05-01: 2,000 rows")
    assert check.explanation() in str(check)


def test_days_that_differ_are_no_alarm(watched):
    name, model, of, reference = watched
    if name == "other":
        assert reference.columns is None  # only columns differ from day to day here
        return
    rng = np.random.default_rng(0)
    noisy = [of(1500, 0.1, drift=rng.normal(0, 0.3), labelled=True) for _ in range(20)]
    total = noisy[0]
    for each in noisy[1:]:
        total = total + each
    columns = pair(model, total.columns)
    days = [type(d)(d.scores, pair(model, d.columns)) for d in noisy]
    strict = Monitor(total.scores, columns)
    calm = Monitor(total.scores, columns, days=days)
    assert strict.effects["columns"].excess == 0.0
    assert 1500 * calm.effects["columns"].excess > 1.0
    new = [of(1500, 0.1, drift=rng.normal(0, 0.3)) for _ in range(20)]
    alarms = [sum(m.check(each).alarm for each in new) for m in (strict, calm)]
    assert alarms[0] >= 10
    assert alarms[1] <= 4


def test_days_that_differ_toward_the_positives_have_wider_intervals():
    day, rng = Days(1), np.random.default_rng(1)
    model = line(day)

    def rows():
        X, y = day(1500, rng.uniform(0.05, 0.2))
        X[:, 1] += rng.normal(0, 0.15)  # all rows of a day look more or less like positives
        return X, y

    def covered(monitor, days):
        shares = [(monitor.check(summarize_day(model, X)).prevalence, y) for X, y in days]
        return np.mean([p.low <= np.mean(y == "bad") <= p.high for p, y in shares])

    reference = [summarize_day(model, *rows()) for _ in range(28)]
    total = reference[0].scores
    for each in reference[1:]:
        total = total + each.scores
    strict, calm = Monitor(total), Monitor(total, days=reference)
    new = [rows() for _ in range(60)]
    assert covered(strict, new) < 0.85
    assert covered(calm, new) >= 0.88  # 95 %, less three standard errors
    # Where days do not differ, intervals are not wider than they need to be.
    same = [summarize_day(model, *day(1500, 0.1)) for _ in range(28)]
    assert (
        1500 * Monitor(total, days=same).effects["share"].excess
        < 1500 * calm.effects["share"].excess / 3
    )


def test_days_that_were_saved_are_the_reference(watched, tmp_path):
    name, model, of, _ = watched
    for k in range(1, 9):
        of(1000, 0.1, labelled=True).scores.save(tmp_path / f"2026-01-0{k}.scores")
    if name != "other":
        save(model, tmp_path / "model")
        model = load(tmp_path / "model")
    scores = {path.stem: ScoreHistogram.load(path) for path in sorted(tmp_path.glob("*.scores"))}
    monitor = Monitor.of_days(model, [DaySummaries(each, None) for each in scores.values()])
    assert monitor.scores.weight.sum() == 8000
    check = monitor.check(DaySummaries(scores["2026-01-01"], None), "2026-01-01")
    assert check.day == "2026-01-01"
    assert check.promises


def test_days_of_another_model_are_refused():
    day = Days(0)
    days = [summarize_day(line(day), *day(500, 0.2))]
    with pytest.raises(ValueError, match="summarise the days with this model"):
        Monitor.of_days(line(day), days)


def test_a_reference_without_positives_is_refused():
    day = Days(0)
    model = line(day)
    summaries = summarize_day(model, *day(50, 0.0))
    with pytest.raises(ValueError, match="labelled rows of both classes"):
        Monitor(summaries.scores)


def test_reference_days_without_labels_are_refused(watched):
    _, model, of, _ = watched
    days = [of(1000, 0.1, labelled=True), of(1000, 0.1)]
    with pytest.raises(ValueError, match="reference days need labels: give summarize_day"):
        Monitor.of_days(model, days)


def test_a_day_without_rows_tells_nothing_as_a_reference(watched):
    _, _, of, reference = watched
    empty = of(1, 0.1, labelled=True)
    empty = type(empty)(empty.scores - empty.scores, None)
    assert Monitor(reference.scores, days=[empty] * 7).effects["scores"].excess == 0


@pytest.mark.filterwarnings("error")
def test_a_constant_column_that_changes_is_unclear():
    rng = np.random.default_rng(0)

    def rows_of(n, value):
        y = rng.random(n) < 0.3
        return np.column_stack([rng.normal(size=n) + y, np.full(n, value)]), y

    model = MomentClassifier("auc").fit(*rows_of(2000, 5.0))
    model.coef_[0, 1] = 0.0  # whatever the column is, scores are the same
    monitor = Monitor.of_days(model, [summarize_day(model, *rows_of(3000, 5.0)) for _ in range(2)])
    same = monitor.check(summarize_day(model, rows_of(2000, 5.0)[0]))
    assert same.verdict == UNCHANGED
    check = monitor.check(summarize_day(model, rows_of(2000, 7.0)[0]))
    assert check.columns[0][:2] == ("x1", np.inf)
    assert check.columns[0].reading == "large change"
    assert (check.verdict, check.alarm) == (UNCLEAR, False)
    assert "PSI of column x1 inf), but in a column that was constant" in check.explanation()
    assert check.to_dict()["columns"][0]["psi"] is None
    assert "PSI inf, large change" in str(check)


@pytest.mark.parametrize("n_rows", [1, 50])
def test_a_day_of_few_rows_may_have_one_value_of_a_column(n_rows):
    rng = np.random.default_rng(0)

    def rows_of(n, share):
        y = rng.random(n) < 0.3
        return np.column_stack([rng.normal(size=n) + y, rng.random(n) < share]) * 1.0, y

    model = MomentClassifier("auc").fit(*rows_of(4000, 0.01))
    monitor = Monitor.of_days(model, [summarize_day(model, *rows_of(4000, 0.01))])
    check = monitor.check(summarize_day(model, rows_of(n_rows, 0.0)[0]))
    assert check.verdict in (UNCHANGED, "usual variation")
    assert all(np.isfinite(column.psi) for column in check.columns)


def test_a_day_without_rows_is_refused(watched, monitor):
    _, _, of, _ = watched
    day = of(5, 0.1)
    with pytest.raises(ValueError, match="the day has no rows"):
        monitor.check(type(day)(0.0 * day.scores, None))


def test_reference_days_of_few_rows_do_not_hide_drift(watched):
    _, model, of, _ = watched
    days = [of(n, 0.1, labelled=True) for n in (2000,) * 12 + (3,) * 6]
    total = days[0]
    for each in days[1:]:
        total += each
    monitor = Monitor(total.scores, pair(model, total.columns), days=days)
    assert max(each.excess for each in monitor.effects.values()) < 0.002


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alarm_rate": 0}, "alarm_rate must lie strictly between 0 and 1, not 0"),
        ({"alarm_rate": float("nan")}, "alarm_rate must lie"),
        ({"threshold": float("nan")}, "the threshold must be a finite score, not nan"),
    ],
)
def test_numbers_that_cannot_be_are_refused(watched, options, message):
    with pytest.raises(ValueError, match=message):
        Monitor(watched[-1].scores, **options)
