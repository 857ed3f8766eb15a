import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from directrix.checks.risks import CENTRAL
from directrix.metrics import MCC, FBeta, GMean
from directrix.moments.projection import ScoreMoments
from directrix.risks import (
    AveragePrecisionRisk,
    CostRisk,
    ImprecisionAtQuota,
    MissAtFPR,
    MissAtPrecision,
    MissAtQuota,
    PartialRankingRisk,
    RankingRisk,
)
from directrix.risks.base import RatesRisk, Risk
from directrix.risks.curvature import by_differences, of_log_rate, of_quantile, of_rate

NUMBERS = ScoreMoments(1.2, 2.25, -0.5, 0.81, 0.15)


def derivatives(function, mean, variance, step=2e-3):
    """Return gradient and Hessian of a function of two numbers by differences of differences."""
    unit = step * np.array([np.sqrt(variance), variance])

    def slope(k, mean, variance):
        moves = unit * np.eye(2)[k]
        here = np.array([mean, variance])
        ends = ((factor, here + offset * moves) for offset, factor in CENTRAL.items())
        return sum(factor * function(*near) for factor, near in ends) / unit[k]

    gradient = np.array([slope(k, mean, variance) for k in range(2)])
    hessian = np.zeros((2, 2))
    for j in range(2):
        for offset, factor in CENTRAL.items():
            near = np.array([mean, variance]) + offset * unit * np.eye(2)[j]
            hessian[j] += factor * np.array([slope(k, *near) for k in range(2)]) / unit[j]
    return gradient, hessian


@pytest.mark.parametrize("mean", [-3.0, -0.4, 0.0, 0.7, 2.5])
@pytest.mark.parametrize("variance", [0.04, 1.0, 9.0])
@pytest.mark.parametrize(
    ("ours", "function"),
    [
        (of_rate, lambda m, v: ndtr(m / np.sqrt(v))),
        (of_log_rate, lambda m, v: log_ndtr(m / np.sqrt(v))),
    ],
    ids=["rate", "log rate"],
)
def test_of_normal_rates(ours, function, mean, variance):
    mean *= np.sqrt(variance)
    gradient, hessian = derivatives(function, mean, variance)
    exact = ours(mean / np.sqrt(variance), variance)
    units = np.array([np.sqrt(variance), variance])
    assert exact.gradient * units == pytest.approx(gradient * units, abs=1e-11, rel=1e-11)
    scale = np.outer(units, units)
    assert exact.hessian * scale == pytest.approx(hessian * scale, abs=1e-8, rel=1e-8)


def test_of_a_quantile():
    gradient, hessian = derivatives(lambda m, v: m - 1.7 * np.sqrt(v), 0.3, 2.0)
    exact = of_quantile(1.7, 2.0)
    assert exact.gradient == pytest.approx(gradient, abs=1e-11)
    assert exact.hessian == pytest.approx(hessian, abs=1e-8)


def test_a_class_without_spread_has_no_curvature():
    assert not of_rate(np.inf, 0.0).hessian.any()
    assert not of_rate(0.0, 0.0).gradient.any()
    assert of_quantile(1.7, 0.0).gradient.tolist() == [1.0, 0.0]
    assert not of_quantile(1.7, 0.0).hessian.any()


RISKS = [
    *(CostRisk(), RankingRisk(), PartialRankingRisk(0.2), MissAtFPR(0.1), MissAtQuota(0.3)),
    *(ImprecisionAtQuota(), MissAtPrecision(0.4), AveragePrecisionRisk(), MCC().risk()),
]


@pytest.mark.parametrize("risk", RISKS, ids=lambda risk: type(risk).__name__)
def test_a_risk_without_a_closed_form_has_differences(risk):
    exact = risk.hessian(NUMBERS)
    assert by_differences(risk.value_and_grad, NUMBERS) == pytest.approx(exact, abs=1e-8)
    assert Risk.hessian(risk, NUMBERS) == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize(
    "risk", [CostRisk(fn=3.0), FBeta(2.0).risk(), MCC().risk(), GMean().risk()], ids=str
)
def test_bends_without_a_closed_form_are_differences_of_slopes(risk):
    for rates in ((0.7, 0.2, 0.15), (0.99999, 0.5, 0.6), (0.3, 1e-6, 0.5)):
        exact = risk.bends(*rates)
        size = np.abs(exact).max() + 1.0
        near = 1e-4 if min(rates) < 1e-5 or max(rates) > 0.9999 else 1e-8
        # At the edge of the unit square the differences have one side.
        assert RatesRisk.bends(risk, *rates) == pytest.approx(exact, abs=near * size)


@pytest.mark.parametrize(
    "risk",
    [
        PartialRankingRisk(0.6),
        MissAtQuota(0.3),
        ImprecisionAtQuota(0.3),
        MissAtFPR(0.2),
        RankingRisk(),
    ],
    ids=str,
)
@pytest.mark.parametrize("flat", ["var_pos", "var_neg"])
def test_without_spread_the_hessian_is_that_of_the_other_numbers(risk, flat):
    """Differences by the numbers that are not at their limit."""
    numbers = ScoreMoments(0.2, 1.0, -0.3, 1.0, 0.4)._replace(**{flat: 0.0})
    hessian = risk.hessian(numbers)
    assert np.isfinite(hessian).all()
    fixed = ScoreMoments._fields.index(flat)
    for k in {0, 1, 2, 3} - {fixed}:
        change = np.zeros(4)
        for offset, factor in CENTRAL.items():
            near = list(numbers)
            near[k] += offset * 1e-3
            change += factor * np.array(risk.value_and_grad(ScoreMoments(*near))[1]) / 1e-3
        others = [j for j in range(4) if j != fixed]
        assert hessian[k][others] == pytest.approx(change[others], abs=1e-9)
