import numpy as np
import pytest
from scipy.stats import binom

from directrix.classifiers.guarantee import (
    guaranteed_threshold,
    limit_of,
    most_above,
    rows_needed,
)
from directrix.metrics import AUC, FPRAtRecall, PrecisionAtRecall, RecallAtFPR


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
    of_positives = limit_of(metric)[1]
    times = 0
    for _ in range(draws):
        positive = np.repeat([of_positives, not of_positives], [n, 5])
        t = guaranteed_threshold(metric, positive, rng.random(n + 5), confidence)
        times += 1 - t < 0.9 if of_positives else 1 - t > 0.1
    share = times / draws
    figure(f"{metric}, guarantee 0.9: broken in {share:.3f} of draws of 200 rows")
    error = 3 * np.sqrt(0.1 * 0.9 / draws)
    assert share <= 0.1 + error
    # The bound is exact but for whole numbers of rows: it is not much too careful either.
    assert share >= 0.1 - binom.pmf(most_above(n, 0.1, 0.9) + 1, n, 0.1) - error


def test_rows_on_the_threshold_are_on_the_safe_side():
    positive = np.repeat([False, True], [100, 10])
    scores = np.zeros(110)
    assert not (
        scores[~positive] > guaranteed_threshold(RecallAtFPR(0.1), positive, scores, 0.9)
    ).any()
    positive = ~positive
    assert (scores[positive] > guaranteed_threshold(FPRAtRecall(0.9), positive, scores, 0.9)).all()


def test_too_few_rows_are_told_how_many_are_needed():
    positive = np.repeat([False, True], [50, 10])
    with pytest.raises(ValueError, match=r"needs 59 negatives .* there are 50"):
        guaranteed_threshold(RecallAtFPR(0.05), positive, np.arange(60.0), 0.95)


def test_a_metric_without_a_limit_is_refused():
    with pytest.raises(ValueError, match="has none: leave it out"):
        limit_of(AUC())
