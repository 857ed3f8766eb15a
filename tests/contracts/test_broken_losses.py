"""A check that cannot fail checks nothing: every law is broken here by a loss made for it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from contracts.losses import declares_what_it_is, loss_laws

from directrix.linear.margin import Logistic, MarginLoss
from directrix.linear.pairwise import PairwiseHinge
from directrix.papers.hasan_pal_2015.losses import Sigmoid


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


class TwoLines(Broken):
    model_label = "logistic\nregression"


@dataclass
class NotFrozen(MarginLoss):
    name: ClassVar[str] = "not_frozen"
    gamma: float = 1.0

    of_margin = Logistic.of_margin

    def sharpen(self, level):  # noqa: ARG002
        return self

    __hash__ = object.__hash__


#: A loss, the law that it breaks, and what is said of it.
BROKEN = [
    (WrongGradient(), "gradient is the slope", {}),
    (WrongColumns(), "many columns are evaluated as one", {}),
    (OrderMatters(), "order of rows does not matter", {}),
    (WeightsIgnored(), "weight k is k rows", {}),
    (Logistic(), "common offset", {"of_pairs": True}),
    (PairwiseHinge(), "common offset", {}),
    (Sigmoid(), "convex: above its tangents", {"convex": True}),
    (Overflows(), "finite at any scores", {}),
    (WritesToItsInput(), "float32 input, left unchanged", {}),
    (SaysItIsSeparable(), "rows of one class", {"of_pairs": True}),
    (NeedsBothQuietly(), "rows of one class", {}),
    (Nameless(), "declares what it is", {}),
    (TwoLines(), "declares what it is", {}),
    (NotFrozen(), "is a value", {}),
]


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.filterwarnings("ignore:invalid value encountered")
@pytest.mark.parametrize(
    ("loss", "law", "said"), BROKEN, ids=[type(loss).__name__ for loss, *_ in BROKEN]
)
def test_a_loss_that_breaks_a_law_is_caught_by_it(loss, law, said):
    with pytest.raises(AssertionError):
        loss_laws(loss, **said)[law]()


def test_every_law_is_broken_once():
    assert {law for _, law, _ in BROKEN} == {*loss_laws(Logistic(), convex=True)}


def test_what_is_no_loss_is_told_so():
    with pytest.raises(AssertionError, match=r"subclass of directrix\.linear\.loss\.Loss"):
        declares_what_it_is(object())
