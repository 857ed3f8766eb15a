"""Ramp: the bounded, tight companion of a convex loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from directrix._typing import AnyArray, FloatArray
from directrix.linear.loss import Loss, require_above_zero
from directrix.linear.pairwise import PairwiseHinge


@dataclass(frozen=True)
class Ramp(Loss):
    r"""Ramp loss: a pairwise hinge with a margin, minus the same hinge without a margin.

    .. math:: L(s) = R_1(\gamma s) - R_0(\gamma s)

    after Collobert and others (2006). It is at least one minus the area under the ROC curve and, as
    γ grows, tends to it.

    Parameters
    ----------
    of : PairwiseHinge
    gamma : float
        γ, the sharpness.
    """

    name: ClassVar[str] = "ramp"
    of: PairwiseHinge = field(default_factory=PairwiseHinge)
    gamma: float = 1.0

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the difference of the two losses, and its partial derivative by every score."""
        require_above_zero(gamma=self.gamma)
        (value, slope), (value_less, slope_less) = (
            part.value_and_grad(positive, self.gamma * scores, weight) for part in self.parts()
        )
        return value - value_less, self.gamma * (slope - slope_less)

    def pair_kernel(self, difference: FloatArray) -> FloatArray:
        """Return the difference of the two kernels."""
        with_margin, without = (part.pair_kernel(self.gamma * difference) for part in self.parts())
        return with_margin - without

    def parts(self) -> tuple[PairwiseHinge, PairwiseHinge]:
        """Return the two convex losses, as functions of the scores times γ."""
        return self.of, PairwiseHinge(self.of.kappa, 0.0)

    def sharpen(self, level: float) -> Loss:
        """Return the loss with steeper sides, nearer to the metric."""
        return self._with(gamma=self.gamma * level)

    @property
    def model_label(self) -> str:
        """Name in reports of a linear model that is fitted with the loss."""
        return f"bounded {self.of.model_label}"
