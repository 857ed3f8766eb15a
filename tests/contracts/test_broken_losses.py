"""A check that cannot fail checks nothing: every law is broken here by a loss made for it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from contracts.losses import declares_what_it_is, loss_laws

from directrix.linear import Hinge, Logistic, PairwiseHinge, Sigmoid, ZeroOne
from directrix.linear.margin import MarginLoss


@dataclass(frozen=True)
class Savage(MarginLoss):
    """A loss that is not ours: 1 / (1 + exp(γz))²."""

    name: ClassVar[str] = "savage"
    tight: ClassVar[bool] = True
    gamma: float = 1.0

    def of_margin(self, z):
        below = 1.0 / (1.0 + np.exp(np.clip(self.gamma * z, -500, 500)))
        return below**2, -2.0 * self.gamma * below**2 * (1.0 - below)

    def sharpen(self, level):
        return ZeroOne() if np.isinf(level) else self._with(gamma=self.gamma * level)


class Broken(Logistic):
    """Logistic regression, of which the subclasses break one law each."""


class WrongGradient(Broken):
    def value_and_grad(self, positive, scores, weight):
        value, slope = super().value_and_grad(positive, scores, weight)
        return value, 1.001 * slope


class WrongColumns(Broken):
    def values(self, positive, scores, weight):
        return super().values(positive, scores, weight)[::-1]


class OrderMatters(Broken):
    def value_and_grad(self, positive, scores, weight):
        return super().value_and_grad(positive, scores, weight * np.linspace(1.0, 2.0, len(weight)))


class WeightsIgnored(Broken):
    def value_and_grad(self, positive, scores, weight):
        return super().value_and_grad(positive, scores, np.ones_like(weight))


class SaysItIsShiftInvariant(Broken):
    shift_invariant = True


class HidesItsInvariance(PairwiseHinge):
    shift_invariant = False


class SaysItIsConvex(Sigmoid):
    convex = True


class BelowTheMetric(Broken):
    def of_margin(self, z):
        value, slope = super().of_margin(z)
        return 0.1 * value, 0.1 * slope

    worst = float(np.log(2.0))


class TendsElsewhere(Sigmoid):
    def of_margin(self, z):
        value, slope = super().of_margin(z - 0.5)
        return value, slope


class GapTooSmall(Hinge):
    def gap(self, positive, weight):
        return 0.5 * super().gap(positive, weight)


class AnotherEnd(Hinge):
    def sharpen(self, level):
        return Hinge(0.0, 2.0) if np.isinf(level) else super().sharpen(level)


class Overflows(Broken):
    def of_margin(self, z):
        with np.errstate(over="ignore"):
            return np.exp(-z), -np.exp(-z)


class WritesToItsInput(Broken):
    def value_and_grad(self, positive, scores, weight):
        result = super().value_and_grad(positive, scores, weight)
        scores += 1.0
        return result


class SaysItIsSeparable(PairwiseHinge):
    separable = True


class NeedsBothQuietly(Broken):
    separable = False


class Nameless(Broken):
    name = None


class NeitherConvexNorTight(Broken):
    convex = False


class TwoLines(Broken):
    label = "logistic\nregression"


@dataclass
class NotFrozen(MarginLoss):
    name: ClassVar[str] = "not_frozen"
    convex: ClassVar[bool] = True
    gamma: float = 1.0

    of_margin = Logistic.of_margin

    def sharpen(self, level):  # noqa: ARG002
        return self

    __hash__ = object.__hash__


BROKEN = {
    WrongGradient(): "gradient is the slope",
    WrongColumns(): "many columns are evaluated as one",
    OrderMatters(): "order of rows does not matter",
    WeightsIgnored(): "weight k is k rows",
    SaysItIsShiftInvariant(): "common offset",
    HidesItsInvariance(): "common offset",
    SaysItIsConvex(): "convex: above its tangents",
    BelowTheMetric(): "convex: never below the metric",
    TendsElsewhere(): "tight: tends to the metric",
    GapTooSmall(kappa=0.5): "within the gap of what it smooths",
    AnotherEnd(): "infinitely sharp is the end of the path",
    Overflows(): "finite at any scores",
    WritesToItsInput(): "float32 input, left unchanged",
    SaysItIsSeparable(): "rows of one class",
    NeedsBothQuietly(): "rows of one class",
    Nameless(): "declares what it is",
    NeitherConvexNorTight(): "declares what it is",
    TwoLines(): "declares what it is",
    NotFrozen(): "is a value",
}


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.filterwarnings("ignore:invalid value encountered")
@pytest.mark.parametrize(
    ("loss", "law"), BROKEN.items(), ids=[type(loss).__name__ for loss in BROKEN]
)
def test_a_loss_that_breaks_a_law_is_caught_by_it(loss, law):
    with pytest.raises(AssertionError):
        loss_laws(loss)[law]()


def test_every_law_is_broken_once():
    assert set(BROKEN.values()) == {*loss_laws(Logistic()), *loss_laws(Sigmoid())}


def test_a_loss_that_is_not_in_the_table_keeps_the_laws():
    for law in loss_laws(Savage()).values():
        law()


def test_what_is_no_loss_is_told_so():
    with pytest.raises(AssertionError, match=r"subclass of directrix\.losses\.Loss"):
        declares_what_it_is(object())
