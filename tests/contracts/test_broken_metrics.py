"""A check that cannot fail checks nothing: every law is broken here by a metric made for it."""

from dataclasses import dataclass

import numpy as np
import pytest
from contracts.metrics import metric_laws

from directrix.metrics import AUC, FBeta, GMean, PrecisionAtK, RecallAtFPR
from directrix.metrics import Error as ErrorRate
from directrix.metrics.at_threshold import ThresholdMetric
from directrix.metrics.base import BestThreshold
from directrix.moments.risks import CostRisk, MissAtFPR, RankingRisk
from directrix.moments.risks.of_metrics import RISKS


@dataclass(frozen=True)
class Jaccard(ThresholdMetric):
    """A metric that is not ours: true positives among rows that are or are called positive."""

    label = "Jaccard index"

    def at_rates(self, tpr, fpr, prior):
        return prior * tpr / (prior + (1.0 - prior) * fpr)


class WrongDirection(ErrorRate):
    greater_is_better = True

    def of_loss(self, loss):
        return loss


class OrderMatters(GMean):
    def score(self, y, scores, sample_weight=None):
        weight = np.linspace(1.0, 2.0, len(scores))
        return super().score(y, scores, weight if sample_weight is None else weight * sample_weight)


class WeightsIgnored(ErrorRate):
    def score(self, y, scores, sample_weight=None):  # noqa: ARG002
        return super().score(y, scores)


class TextLabelsMisread(AUC):
    def score(self, y, scores, sample_weight=None):
        y = np.asarray(y)
        return super().score(y if y.dtype.kind != "U" else y == "no", scores, sample_weight)


class ThresholdAtOne(ErrorRate):
    def score(self, y, scores, sample_weight=None):
        return super().score(y, np.asarray(scores) - 1.0, sample_weight)


class SecondBest(FBeta):
    def best(self, curve):
        best = super().best(curve)
        index = min(best.index + 1, len(curve.true_positives) - 1)
        return BestThreshold(curve.threshold(index), self.value_at(curve, index), index)


class WorstAmong(FBeta):
    def best_among(self, curve, indices):
        return int(indices[np.argmin(self.at_rates(curve.tpr, curve.fpr, curve.prior)[indices])])


class LimitIgnored(RecallAtFPR):
    def at_thresholds(self, curve):
        return curve.tpr, np.ones(curve.tpr.shape, dtype=bool)


class ChanceIsZero(AUC):
    def chance(self, prior, n_rows=None):  # noqa: ARG002
        return 0.0


class WrongStack(AUC):
    def best_of_each(self, curves):
        values, indices = super().best_of_each(curves)
        return values + 1e-9, indices


class OtherRates(ErrorRate):
    def at_rates(self, tpr, fpr, prior):
        return CostRisk().of_rates(tpr, fpr, 1.0 - prior)


class NoLabel(ErrorRate):
    label = ""


@dataclass
class NotFrozen(ThresholdMetric):
    factor: float = 1.0
    greater_is_better = False

    def at_rates(self, tpr, fpr, prior):
        return CostRisk().of_rates(tpr, fpr, prior)

    __hash__ = object.__hash__


class AwareOfScale(RankingRisk):
    def value(self, scores):
        return super().value(scores) * (1.0 + 1e-6 * np.sqrt(scores.var_pos))


class AwareOfShift(RankingRisk):
    def value(self, scores):
        return super().value(scores) + 1e-3 * np.tanh(scores.mean_neg / np.sqrt(scores.var_neg))


class OutOfRange(RankingRisk):
    def value(self, scores):
        return super().value(scores) - 0.1


class NotFinite(RankingRisk):
    def value(self, scores):
        far = abs(scores.mean_pos) > 1e7 * np.sqrt(scores.var_pos)
        return np.nan if far else super().value(scores)


class JumpsWithoutSpread(RankingRisk):
    def value(self, scores):
        return 0.5 if scores.var_pos == 0 else super().value(scores)


class OtherConstant(CostRisk):
    def value(self, scores):
        return super().value(scores) if np.isfinite(scores.mean_pos) else 0.1


class PoorThreshold(CostRisk):
    def threshold(self, scores):
        return super().threshold(scores) + 0.5 * np.sqrt(scores.var_pos + scores.var_neg)


class PoorThresholdWithoutSpread(CostRisk):
    def threshold(self, scores):
        shift = 1.0 if scores.var_pos == 0 or scores.var_neg == 0 else 0.0
        return super().threshold(scores) + shift


class OtherProfile(RankingRisk):
    def profile(self, gap, var_pos, var_neg, prior):
        values, thresholds = super().profile(gap, var_pos, var_neg, prior)
        return values[::-1], thresholds


class OtherThreshold(MissAtFPR):
    def threshold(self, scores):
        return MissAtFPR(2.0 * self.fpr).threshold(scores)


class Optimistic(RankingRisk):
    def value(self, scores):
        return 0.9 * super().value(scores)


def carrying(base, risk, *parameters):
    """Return a metric with another risk."""
    name = f"{base.__name__}With{type(risk).__name__}"
    kind = type(name, (base,), {})
    RISKS[kind] = lambda *_: risk
    return kind(*parameters)


BROKEN = [
    (WrongDirection(), "direction"),
    (OrderMatters(), "order of rows does not matter"),
    (WeightsIgnored(), "weight k is k rows"),
    (TextLabelsMisread(), "labels of any type"),
    (ThresholdAtOne(), "scale of the scores does not count"),
    (SecondBest(), "best threshold"),
    (WorstAmong(), "best of some thresholds"),
    (LimitIgnored(0.1), "limit is kept"),
    (ChanceIsZero(), "value of chance"),
    (WrongStack(), "many curves are evaluated as one"),
    (OtherRates(), "function of the rates"),
    (NoLabel(), "declares what it is"),
    (NotFrozen(), "is a value"),
    (carrying(AUC, AwareOfScale()), "risk: scale"),
    (carrying(AUC, AwareOfShift()), "risk: shift"),
    (carrying(AUC, OutOfRange()), "risk: range"),
    (carrying(AUC, NotFinite()), "risk: finite however far apart"),
    (carrying(AUC, JumpsWithoutSpread()), "risk: class without spread"),
    (carrying(ErrorRate, OtherConstant()), "risk: constant predictor"),
    (carrying(ErrorRate, PoorThreshold()), "risk: best threshold"),
    (carrying(ErrorRate, PoorThresholdWithoutSpread()), "risk: best threshold without spread"),
    (carrying(AUC, OtherProfile()), "risk: profile"),
    (carrying(RecallAtFPR, OtherThreshold(0.1), 0.1), "risk: constraint"),
    (carrying(AUC, Optimistic()), "risk: metric of normal scores"),
]


@pytest.mark.parametrize(
    ("metric", "law"), BROKEN, ids=[type(metric).__name__ for metric, _ in BROKEN]
)
def test_a_metric_that_breaks_a_law_is_caught_by_it(metric, law):
    with pytest.raises(AssertionError):
        metric_laws(metric)[law]()


def test_every_law_is_broken_once():
    assert {law for _, law in BROKEN} == set(metric_laws(AUC()))


@pytest.mark.parametrize("metric", [Jaccard(), PrecisionAtK(50)], ids=str)
def test_a_metric_that_is_not_in_the_table_keeps_the_laws(metric):
    for law in metric_laws(metric).values():
        law()
