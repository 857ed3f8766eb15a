import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from directrix.moments.projection import ScoreMoments
from directrix.moments.risks import (
    AlarmAtRecall,
    ImprecisionAtQuota,
    ImprecisionAtRecall,
    MissAtFPR,
    MissAtPrecision,
    MissAtQuota,
)

NUMBERS = ScoreMoments(1.2, 2.25, -0.5, 0.81, 0.15)
POS, NEG = norm(1.2, 1.5), norm(-0.5, 0.9)


@pytest.mark.parametrize("fpr", [1e-6, 0.01, 0.3, 0.9])
def test_neyman_pearson(fpr):
    threshold = NEG.isf(fpr)
    assert MissAtFPR(fpr).threshold(NUMBERS) == pytest.approx(threshold, rel=1e-13)
    assert MissAtFPR(fpr).value(NUMBERS) == pytest.approx(POS.cdf(threshold), rel=1e-12)


@pytest.mark.parametrize("recall", [0.05, 0.5, 0.9, 0.999])
def test_alarms_and_precision_at_a_recall(recall):
    fpr = NEG.sf(POS.isf(recall))
    assert AlarmAtRecall(recall).value(NUMBERS) == pytest.approx(fpr, rel=1e-11)
    precision = 0.15 * recall / (0.15 * recall + 0.85 * fpr)
    assert ImprecisionAtRecall(recall).value(NUMBERS) == pytest.approx(1 - precision, rel=1e-11)
    assert ImprecisionAtRecall(recall).threshold(NUMBERS) == pytest.approx(POS.isf(recall))


@pytest.mark.parametrize("share", [0.001, 0.02, 0.3, 0.95, None])
def test_quota(share):
    quota = 0.15 if share is None else share
    threshold = brentq(lambda t: 0.15 * POS.sf(t) + 0.85 * NEG.sf(t) - quota, -20, 20, xtol=1e-14)
    assert MissAtQuota(share).threshold(NUMBERS) == pytest.approx(threshold, abs=1e-12)
    assert MissAtQuota(share).value(NUMBERS) == pytest.approx(POS.cdf(threshold), abs=1e-13)
    precision = 0.15 * POS.sf(threshold) / quota
    assert ImprecisionAtQuota(share).value(NUMBERS) == pytest.approx(1 - precision, abs=1e-12)


def test_break_even_is_where_precision_equals_recall():
    assert MissAtQuota().value(NUMBERS) == pytest.approx(
        ImprecisionAtQuota().value(NUMBERS), abs=1e-15
    )


@pytest.mark.parametrize("precision", [0.2, 0.6, 0.95])
def test_recall_at_a_precision(precision):
    def short(t):
        return 0.15 * POS.sf(t) * (1 - precision) - 0.85 * NEG.sf(t) * precision

    threshold = brentq(short, -1.0, 5.0, xtol=1e-14)
    risk = MissAtPrecision(precision)
    assert risk.threshold(NUMBERS) == pytest.approx(threshold, abs=1e-12)
    assert risk.value(NUMBERS) == pytest.approx(POS.cdf(threshold), abs=1e-12)


def test_precision_no_more_than_the_prior_catches_all():
    risk = MissAtPrecision(0.15)
    assert risk.threshold(NUMBERS._replace(prior=0.2)) == -np.inf
    assert risk.value(NUMBERS._replace(prior=0.2)) == 0.0


def test_precision_out_of_reach_catches_none():
    """Wide negatives are above everything: no threshold has more than so much precision."""
    numbers = ScoreMoments(0.5, 1.0, 0.0, 9.0, 0.1)
    assert MissAtPrecision(0.9).threshold(numbers) == np.inf
    assert MissAtPrecision(0.9).value(numbers) == 1.0


@pytest.mark.parametrize("deviation", [1e-3, 1e-6])
def test_narrow_positives_among_wide_negatives_are_found(deviation):
    """A grid of the wide class would step over them: a precision of 0.76 just below their mean."""
    numbers = ScoreMoments(2.0, deviation**2, 0.0, 1.0, 0.07)
    most = 0.07 / (0.07 + 0.93 * norm.sf(2.0 - 3 * deviation))
    assert MissAtPrecision(most - 0.002).value(numbers) < 0.01


@pytest.mark.parametrize("prior", [0.05, 0.4])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.6, 0.97, None])
def test_positives_that_are_all_alike_fill_what_is_left(prior, share):
    numbers = ScoreMoments(0.3, 0.0, 0.0, 1.0, prior)
    quota = prior if share is None else share
    left = quota - (1 - prior) * norm.sf(0.3)
    expected = 1 - np.clip(left / prior, 0, 1)
    assert MissAtQuota(share).value(numbers) == pytest.approx(expected, abs=1e-14)
