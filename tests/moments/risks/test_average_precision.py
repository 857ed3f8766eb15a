import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from directrix.moments.projection import ScoreMoments
from directrix.moments.risks import AveragePrecisionRisk


def by_integration(moments):
    """Return the risk by adaptive quadrature over the thresholds, from SciPy's normal."""
    mean_pos, var_pos, mean_neg, var_neg, prior = moments
    sd_pos, sd_neg = np.sqrt(var_pos), np.sqrt(var_neg)

    def precision(x):
        threshold = mean_pos - sd_pos * x
        tpr, fpr = norm.cdf(x), norm.sf(threshold, mean_neg, sd_neg)
        return norm.pdf(x) * prior * tpr / (prior * tpr + (1.0 - prior) * fpr)

    fall = (mean_pos - mean_neg) / sd_pos
    points = sorted(
        {p for p in (fall - 5 * sd_neg / sd_pos, fall, fall + 5 * sd_neg / sd_pos) if -9 < p < 9}
    )
    return 1.0 - quad(precision, -9, 9, points=points, limit=200)[0]


@pytest.mark.parametrize("prior", [1e-4, 0.03, 0.5, 0.95])
@pytest.mark.parametrize("gap", [-1.0, 0.0, 1.5, 4.0])
@pytest.mark.parametrize("deviations", [(1.0, 1.0), (0.05, 1.0), (1.0, 0.05), (3.0, 1.0)])
def test_it_is_the_integral_of_the_precision(prior, gap, deviations):
    sd_pos, sd_neg = deviations
    moments = ScoreMoments(gap, sd_pos**2, 0.0, sd_neg**2, prior)
    assert AveragePrecisionRisk().value(moments) == pytest.approx(by_integration(moments), abs=2e-6)


def test_a_ranking_at_random_has_the_share_of_positives():
    risk = AveragePrecisionRisk().value(ScoreMoments(0.0, 1.0, 0.0, 1.0, 0.3))
    assert risk == pytest.approx(0.7, abs=1e-12)
