import numpy as np
import pytest
from scipy.stats import norm

from directrix.metrics import MCC, FBeta, FromRates, GMean
from directrix.moments.projection import ScoreMoments
from directrix.moments.risks import risk_of

NUMBERS = ScoreMoments(0.9, 2.25, -0.7, 0.81, 0.15)
TPR, FPR = norm.cdf(0.6), norm.cdf(-0.7 / 0.9)
TP, FN, FP, TN = 0.15 * TPR, 0.15 * (1 - TPR), 0.85 * FPR, 0.85 * (1 - FPR)


@pytest.mark.parametrize("beta", [0.1, 1.0, 2.0, 30.0])
def test_f_beta_of_the_confusion_matrix(beta):
    expected = 1 - (1 + beta**2) * TP / ((1 + beta**2) * TP + beta**2 * FN + FP)
    assert risk_of(FBeta(beta)).value(NUMBERS) == pytest.approx(expected, rel=1e-13)


def test_correlation_of_the_confusion_matrix():
    below = np.sqrt((TP + FP) * (TP + FN) * (TN + FP) * (TN + FN))
    expected = 1 - (TP * TN - FP * FN) / below
    assert risk_of(MCC()).value(NUMBERS) == pytest.approx(expected, rel=1e-13)


def test_geometric_mean_of_both_recalls():
    expected = 1 - np.sqrt(TPR * (1 - FPR))
    assert risk_of(GMean()).value(NUMBERS) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("rates", [(0.0, 0.0), (1.0, 1.0)])
def test_constant_predictors(rates):
    assert risk_of(MCC()).of_rates(*rates, 0.2) == 1.0
    assert risk_of(GMean()).of_rates(*rates, 0.2) == 1.0


def test_best_of_two_separate_minima_is_found():
    """A function with a dip at two rates, the deeper of which a coarse grid sees as the higher."""

    def dips(tpr, fpr, prior):  # noqa: ARG001
        shallow = 0.5 * np.exp(-(((fpr - 0.2) / 0.05) ** 2))
        deep = 0.501 * np.exp(-(((fpr - 0.7) / 0.02) ** 2))
        return -shallow - deep

    risk = risk_of(FromRates(dips, maximize=False))
    numbers = ScoreMoments(1.0, 1.0, 0.0, 1.0, 0.5)
    assert risk.threshold(numbers) == pytest.approx(norm.isf(0.7), abs=1e-4)


def test_constant_function_has_some_threshold():
    metric = FromRates(lambda tpr, fpr, prior: 0.25, maximize=False)  # noqa: ARG005
    risk = risk_of(metric)
    assert not np.isnan(risk.threshold(NUMBERS))
    assert risk.value(NUMBERS) == 0.25
