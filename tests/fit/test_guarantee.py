import numpy as np
import pandas as pd
import pytest
from few_cases import examples
from scipy.stats import binom

from directrix import DirectClassifier
from directrix.exceptions import OutOfReachError
from directrix.fit.guarantee import (
    Guarantee,
    limit_of,
    most_above,
    precision_grid,
    rows_needed,
)
from directrix.metrics import (
    AUC,
    Error,
    FPRAtRecall,
    PrecisionAtRecall,
    RecallAtFPR,
    RecallAtPrecision,
)
from directrix.metrics.base import Curve
from directrix.metrics.limit import Limit

pytestmark = pytest.mark.filterwarnings("ignore:logistic regression is as good:UserWarning")


def threshold(metric, positive, scores, confidence, limits=None, grid=()):
    guarantee = Guarantee.of(metric, limits, confidence)
    return guarantee.threshold(metric, Curve.of(positive, scores), grid)


@pytest.mark.parametrize("n", [59, 100, 1000, 20_000])
@pytest.mark.parametrize("limit", [0.05, 0.2])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_one_more_above_would_not_be_sure_enough(n, limit, confidence):
    k = most_above(n, limit, confidence)
    if k >= 0:
        assert binom.cdf(k, n, limit) <= 1 - confidence
    assert binom.cdf(k + 1, n, limit) > 1 - confidence


def test_with_one_row_fewer_than_needed_nothing_is_sure():
    n = rows_needed(0.05, 0.95)
    assert n == 59  # 0.95 ** 59 < 0.05
    assert most_above(n, 0.05, 0.95) == 0
    assert most_above(n - 1, 0.05, 0.95) == -1


@pytest.mark.parametrize(
    "metric", [RecallAtFPR(0.1), FPRAtRecall(0.9), PrecisionAtRecall(0.9)], ids=str
)
def test_the_limit_is_broken_as_often_as_said_and_no_more(metric, figure):
    """Scores uniform on (0, 1): above a threshold t is a share 1 - t of new rows, exactly."""
    rng = np.random.default_rng(0)
    n, draws, confidence = 200, 2000, 0.9
    of_positives = limit_of(metric).rate == "tpr"
    times = 0
    for _ in range(draws):
        positive = np.repeat([of_positives, not of_positives], [n, 5])
        t = threshold(metric, positive, rng.random(n + 5), confidence)
        times += 1 - t < 0.9 if of_positives else 1 - t > 0.1
    share = times / draws
    figure(f"{metric}, guarantee 0.9: broken in {share:.3f} of draws of 200 rows")
    error = 3 * np.sqrt(0.1 * 0.9 / draws)
    assert share <= 0.1 + error
    # The bound is exact but for whole numbers of rows, and for the gap between two scores, half
    # of which is left: it is not much too careful either.
    k = most_above(n, 0.1, 0.9)
    assert share >= 0.1 - binom.pmf([k + 1, k], n, 0.1).sum() - error


def sample(n, rng):
    """Return rows whose rates above a threshold are known: normal scores, three tenths positive."""
    positive = rng.random(n) < 0.3
    return positive, rng.normal(size=n) + 2.0 * positive


TOGETHER = {
    "two": {"fpr": 0.1, "recall": 0.6},
    "with a precision": {"fpr": 0.1, "precision": 0.7},
    "alerts": {"alerts": 0.3, "recall": 0.5},
    "precision alone": {"precision": 0.75},
}


@pytest.mark.parametrize("limits", TOGETHER.values(), ids=TOGETHER)
def test_several_limits_are_kept_together_as_often_as_said(limits, figure):
    from scipy.stats import norm

    rng = np.random.default_rng(1)
    draws, confidence, broken = 600, 0.9, 0
    for _ in range(draws):
        other, apart = sample(800, rng), sample(1500, rng)
        grid = precision_grid(Curve.of(*other), limits.get("precision", 0.5))
        t = threshold(Error(), *apart, confidence, limits, grid)
        tpr, fpr = norm.sf(t - 2.0), norm.sf(t)
        flagged = 0.3 * tpr + 0.7 * fpr
        rates = {"fpr": fpr, "recall": tpr, "alerts": flagged, "precision": 0.3 * tpr / flagged}
        kept = {
            rate: rates[rate] <= value if rate in ("fpr", "alerts") else rates[rate] >= value
            for rate, value in limits.items()
        }
        broken += not all(kept.values())
    figure(f"limits {limits}, guarantee 0.9: one is broken in {broken / draws:.3f} of draws")
    assert broken / draws <= 0.1 + 2 * np.sqrt(0.09 / draws)


def test_rows_on_the_threshold_are_on_the_safe_side():
    positive = np.repeat([False, True], [100, 10])
    scores = np.zeros(110)
    assert not (scores[~positive] > threshold(RecallAtFPR(0.1), positive, scores, 0.9)).any()
    positive = ~positive
    assert (scores[positive] > threshold(FPRAtRecall(0.9), positive, scores, 0.9)).all()


def test_the_threshold_is_strictly_between_two_scores():
    positive, scores = sample(500, np.random.default_rng(0))
    scores = np.round(scores, 1)  # many ties
    t = threshold(RecallAtFPR(0.1), positive, scores, 0.9)
    assert not (scores == t).any()
    assert np.abs(scores - t).min() > 0.01


def test_too_few_rows_are_told_how_many_are_needed():
    positive = np.repeat([False, True], [50, 10])
    with pytest.raises(OutOfReachError, match=r"needs 59 negatives .* there are 50") as caught:
        threshold(RecallAtFPR(0.05), positive, np.arange(60.0), 0.95)
    assert caught.value.limit == Limit("fpr", 0.05, at_most=True)
    assert (caught.value.rows, caught.value.needed) == (50, 59)


def test_limits_that_more_rows_would_keep_say_how_many():
    positive, scores = sample(400, np.random.default_rng(3))
    limits = {"fpr": 0.1, "recall": 0.75}  # true together: at an FPR of 10 % the recall is 76 %
    with pytest.raises(OutOfReachError, match=r"no threshold keeps recall >= 0.75 together") as out:
        threshold(Error(), positive, scores, 0.95, limits)
    assert out.value.needed is None or out.value.needed > 400


def test_limits_that_no_number_of_rows_keeps_say_so():
    positive, scores = sample(2000, np.random.default_rng(3))
    with pytest.raises(OutOfReachError, match="no number of rows would do") as out:
        threshold(Error(), positive, scores, 0.95, {"fpr": 0.01, "recall": 0.9})
    assert out.value.needed is None


def test_a_metric_without_a_limit_is_refused():
    with pytest.raises(ValueError, match="has none: leave it out, or give limits="):
        limit_of(AUC())
    assert limit_of(RecallAtPrecision(0.6)) == Limit("precision", 0.6, at_most=False)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({}, "must map some of fpr, alerts, recall, precision"),
        ({"tpr": 0.5}, "must map some of"),
        ({"fpr": 0.0}, "must be a share between 0 and 1"),
        ({"fpr": 1.5}, "must be a share between 0 and 1"),
    ],
)
def test_limits_that_are_none_are_refused(limits, words):
    with pytest.raises(ValueError, match=words):
        Guarantee.of(Error(), limits, 0.9)


def test_limits_need_a_confidence():
    with pytest.raises(ValueError, match="limits= needs guarantee="):
        DirectClassifier(limits={"fpr": 0.1}).fit(np.eye(8), np.arange(8) % 2)


# ── in a fit ──────────────────────────────────────────────────────────────────────────────────────

COLUMNS = {
    "continuous": lambda rng, y: rng.normal(size=(len(y), 3)) + y[:, None],
    "one-hot of 12": lambda rng, y: np.eye(12)[np.clip(rng.poisson(3 + 2 * y), 0, 11)],
    "four binary columns": lambda rng, y: (rng.random((len(y), 4)) < 0.3 + 0.3 * y[:, None]) * 1.0,
    "30 ordinal levels": lambda rng, y: np.clip(rng.poisson(10 + 5 * y), 0, 29)[:, None] * 1.0,
}


@pytest.mark.parametrize("columns", COLUMNS)
def test_predictions_and_operating_point_agree_on_every_row(columns):
    rng = np.random.default_rng(0)
    y = rng.random(1200) < 0.4
    X = COLUMNS[columns](rng, y)
    ours = DirectClassifier("recall@fpr=0.2", guarantee=0.9, cv=3).fit(X, y)
    point = ours.operating_point_
    assert point.guarantee == "fpr <= 0.2, with confidence 0.9"
    assert "kept on new rows: fpr <= 0.2" in str(point)
    # The rows set apart are some of these; all rows of a value are predicted alike.
    scores = ours.decision_function(X)
    assert np.abs(scores).min() > 1e-9
    np.testing.assert_array_equal(ours.predict(X), scores > 0)
    assert point.expected.fpr > point.empirical.fpr
    assert point.empirical.fpr <= 0.2


def test_several_limits_in_a_fit():
    rng = np.random.default_rng(0)
    y = rng.random(6000) < 0.3
    X = rng.normal(size=(6000, 3)) + 1.5 * y[:, None]
    limits = {"fpr": 0.1, "precision": 0.7, "recall": 0.5}
    ours = DirectClassifier("f1", guarantee=0.9, limits=limits, cv=3).fit(X, y)
    new = rng.random(50_000) < 0.3
    above = ours.decision_function(rng.normal(size=(50_000, 3)) + 1.5 * new[:, None]) > 0
    assert above[~new].mean() <= 0.1
    assert new[above].mean() >= 0.7
    assert above[new].mean() >= 0.5


def frame(n, seed, columns="continuous"):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = COLUMNS[columns](rng, y)
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]).assign(y=y)


@pytest.mark.parametrize("columns", COLUMNS)
def test_a_guarantee_in_two_passes(columns):
    broken, fits = 0, max(10, examples(20))
    new = frame(30_000, 10**6, columns)
    for seed in range(fits):
        rows = frame(3000, seed, columns)
        ours = DirectClassifier("recall@fpr=0.2", guarantee=0.8, cv=2).fit_source(rows, target="y")
        above = ours.decision_function(new.drop(columns="y")) > 0
        broken += above[~new["y"]].mean() > 0.2
        assert ours.operating_point_.guarantee == "fpr <= 0.2, with confidence 0.8"
    # One in five of so many fits is broken: more than that once in a thousand.
    assert broken <= binom.isf(1e-3, fits, 0.2)


def test_two_passes_with_weights_and_a_guarantee_are_refused():
    rows = frame(500, 0).assign(w=2.0)
    with pytest.raises(ValueError, match="counts rows, each once"):
        DirectClassifier("recall@fpr=0.2", guarantee=0.8).fit_source(rows, target="y", weight="w")


def test_the_rows_that_would_do_are_more_than_there_are():
    # The best 60 of 667 rows are all positive, but the test begins at a threshold that fails.
    positive = np.arange(667) < 60
    curve = Curve.of(positive, -np.arange(667.0))
    guarantee = Guarantee((Limit("precision", 0.9, at_most=False),), 0.95)
    grid = [-200.5]
    with pytest.raises(OutOfReachError, match=r"about 840 rows .* and there are 667") as out:
        guarantee.threshold(Error(), curve, grid)
    assert (out.value.rows, out.value.needed) == (667, 840)
