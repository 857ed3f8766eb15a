import numpy as np
import pytest
from scipy.stats import norm

from directrix.moments.projection import ScoreMoments
from directrix.moments.risks import CostRisk, MissAtFPR, PartialRankingRisk, RankingRisk

NUMBERS = ScoreMoments(1.2, 2.25, -0.5, 0.81, 0.15)


def test_loss_is_the_share_of_pairs_the_wrong_way_round():
    """A sign is printed wrongly in Ghanbari, Li and Scheinberg 2019, eq. 3.8: that is the AUC."""
    expected = norm.cdf(0.0, loc=1.7, scale=np.sqrt(2.25 + 0.81))
    assert RankingRisk().value(NUMBERS) == pytest.approx(expected, rel=1e-14)
    assert RankingRisk().value(ScoreMoments(9.0, 1.0, -9.0, 1.0, 0.5)) < 1e-30


def test_prior_does_not_count():
    for risk in (RankingRisk(), PartialRankingRisk(0.1)):
        assert risk.value(NUMBERS) == risk.value(NUMBERS._replace(prior=0.9))


def test_partial_loss_is_the_mean_miss_rate():
    levels = (np.arange(20_000) + 0.5) / 20_000 * 0.1
    mean = np.mean([MissAtFPR(u).value(NUMBERS) for u in levels])
    # The sum over 20,000 levels is off where the recall rises steeply, next to zero.
    assert PartialRankingRisk(0.1).value(NUMBERS) == pytest.approx(mean, abs=1e-6)


def test_a_sliver_is_the_miss_rate_there():
    """Below 1e-9 the recall is all but constant: it grows by less than the share of the end."""
    value = PartialRankingRisk(1e-9).value(NUMBERS)
    assert MissAtFPR(1e-9).value(NUMBERS) < value < MissAtFPR(1e-11).value(NUMBERS)


@pytest.mark.parametrize("max_fpr", [0.05, 0.5, 1.0])
def test_positives_that_are_all_alike(max_fpr):
    numbers = ScoreMoments(1.0, 0.0, 0.0, 4.0, 0.3)
    value = PartialRankingRisk(max_fpr).value(numbers)
    above = norm.sf(0.5)  # share of the negatives above them
    assert value == pytest.approx(min(1.0, above / max_fpr), rel=1e-14)


def test_threshold_is_that_of_the_balanced_error():
    wanted = CostRisk(balanced=True).threshold(NUMBERS)
    assert RankingRisk().threshold(NUMBERS) == wanted
    assert PartialRankingRisk(0.1).threshold(NUMBERS) == wanted
