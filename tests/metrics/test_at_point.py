import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve, roc_curve

from directrix.metrics import FPRAtRecall, PrecisionAtRecall, RecallAtFPR, RecallAtPrecision
from directrix.metrics.base import Curve

LIMITS = [0.01, 0.1, 0.25, 0.5, 0.9, 0.999]
SLACK = 1e-12  # sums of weights are rounded


@pytest.mark.parametrize("limit", LIMITS)
def test_agrees_with_the_curves_of_scikit_learn(rows, weight, limit):
    options = {"sample_weight": weight, "drop_intermediate": False}
    fpr, tpr, _ = roc_curve(rows.y, rows.scores, **options)
    precision, recall, _ = precision_recall_curve(rows.y, rows.scores, sample_weight=weight)
    expected = {
        RecallAtFPR(limit): tpr[fpr <= limit + SLACK].max(),
        FPRAtRecall(limit): fpr[tpr >= limit - SLACK].min(),
        PrecisionAtRecall(limit): precision[recall >= limit - SLACK].max(),
        RecallAtPrecision(limit): recall[precision >= limit - SLACK].max(),
    }
    for metric, value in expected.items():
        assert metric.score(rows.y, rows.scores, weight) == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize("limit", LIMITS)
def test_threshold_keeps_the_limit_and_has_the_value(rows, weight, limit):
    curve = Curve.of(rows.y, rows.scores, weight)
    omega = np.ones(len(rows.y)) if weight is None else weight

    def at(threshold):
        above = rows.scores > threshold
        caught, wrong = omega[above & (rows.y == 1)].sum(), omega[above & (rows.y == 0)].sum()
        predicted = caught + wrong
        tpr, fpr = caught / omega[rows.y == 1].sum(), wrong / omega[rows.y == 0].sum()
        return tpr, fpr, caught / predicted if predicted else 1.0

    threshold, value, _ = RecallAtFPR(limit).best(curve)
    assert at(threshold)[0] == pytest.approx(value, abs=1e-14)
    assert at(threshold)[1] <= limit + SLACK
    threshold, value, _ = FPRAtRecall(limit).best(curve)
    assert at(threshold)[1] == pytest.approx(value, abs=1e-14)
    assert at(threshold)[0] >= limit - SLACK
    threshold, value, _ = PrecisionAtRecall(limit).best(curve)
    assert at(threshold)[2] == pytest.approx(value, abs=1e-14)
    assert at(threshold)[0] >= limit - SLACK
    threshold, value, _ = RecallAtPrecision(limit).best(curve)
    assert at(threshold)[0] == pytest.approx(value, abs=1e-14)
    assert at(threshold)[2] >= limit - SLACK


def test_limit_that_is_met_exactly_is_kept():
    y = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    s = np.arange(12.0)[::-1]
    assert RecallAtFPR(0.1).score(y, s) == 1.0  # one of ten
    assert RecallAtFPR(0.0999).score(y, s) == 0.5
    assert RecallAtPrecision(2 / 3).score(y, s) == 1.0
    assert FPRAtRecall(0.5).score(y, s) == 0.0
    assert PrecisionAtRecall(0.51).score(y, s) == 2 / 3


def test_limit_of_thirds_is_kept_whatever_the_weights_round_to():
    """0.1 + 0.2 > 0.3 in floats, and a limit is not broken by that."""
    y, s, w = [0, 0, 0, 1, 1], [5.0, 4.0, 1.0, 3.0, 2.0], [0.1, 0.2, 0.7, 1.0, 1.0]
    assert RecallAtFPR(0.3).score(y, s, w) == 1.0


def test_ties_are_above_together_or_not_at_all():
    assert RecallAtFPR(0.4).score([1, 0, 1, 0], [2.0, 2.0, 1.0, 0.0]) == 0.0
    assert RecallAtFPR(0.5).score([1, 0, 1, 0], [2.0, 2.0, 1.0, 0.0]) == 1.0


def test_nothing_is_caught_where_nothing_is_precise():
    y, s = [0, 1, 1], [3.0, 2.0, 1.0]
    assert RecallAtPrecision(0.9).score(y, s) == 0.0
    assert RecallAtPrecision(0.9).best(Curve.of(y, s)).threshold == np.inf


@pytest.mark.parametrize("kind", [RecallAtFPR, FPRAtRecall, PrecisionAtRecall, RecallAtPrecision])
@pytest.mark.parametrize("value", [2, 0, 1, -0.1, np.nan])
def test_refuses_what_is_no_share(kind, value):
    with pytest.raises(ValueError, match="must be a share between 0 and 1, not"):
        kind(value)


@pytest.mark.parametrize(
    "metric",
    [RecallAtFPR(0.1), FPRAtRecall(0.8), PrecisionAtRecall(0.7), RecallAtPrecision(0.5)],
    ids=str,
)
def test_ties_that_are_split_meet_the_limit_as_untied_scores_would(metric):
    rng = np.random.default_rng(0)
    y = rng.random(300_000) < 0.3
    scores = np.round(rng.normal(size=len(y)) + y)  # about ten different scores
    curve, untied = Curve.of(y, scores), Curve.of(y, scores + rng.random(len(y)) / 10)
    # Random scores within ties differ by the noise of 90,000 positives, a few thousandths; where a
    # limit on the precision is met, a change of the precision changes the recall twice as much.
    assert metric.ties_split(curve) == pytest.approx(metric.best_value(untied), abs=0.01)
    sign = 1.0 if metric.greater_is_better else -1.0
    assert sign * (metric.ties_split(curve) - metric.best_value(curve)) > 0.01


def test_without_ties_next_to_nothing_is_split():
    rng = np.random.default_rng(0)
    y, scores = rng.random(20_000) < 0.3, rng.normal(size=20_000)
    curve = Curve.of(y, scores + y)
    metric = RecallAtFPR(0.05)
    assert metric.ties_split(curve) == pytest.approx(metric.best_value(curve), abs=1e-3)
