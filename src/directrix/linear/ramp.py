"""Ramp: the bounded, tight companion of a convex loss."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isinf
from typing import ClassVar

from directrix._typing import AnyArray, FloatArray
from directrix.linear.loss import Loss, require_above_zero
from directrix.linear.margin import Hinge


@dataclass(frozen=True)
class Ramp(Loss):
    r"""Ramp loss: a convex loss with a margin, minus the same loss without a margin.

    .. math:: L(s) = R_1(\gamma s) - R_0(\gamma s)

    For the hinge it is the ramp loss of Collobert and others (2006), with its foot at zero:
    :math:`\min(1, (1 - \gamma z)_+)`; for a loss that maximises over labellings, the tighter bound
    of Chapelle and others (2008), :math:`\max_y [\Delta(y) + \gamma s \cdot y] - \max_y \gamma s
    \cdot y`. Either is at least the metric and, as γ grows, tends to it.

    Parameters
    ----------
    of : Loss
        A convex loss with a ``margin``.
    gamma : float
        γ, the sharpness.
    """

    name: ClassVar[str] = "ramp"
    tight: ClassVar[bool] = True
    of: Loss = field(default_factory=Hinge)
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

    def pair_kernel(self, difference: FloatArray) -> FloatArray | None:
        """Return the difference of the two kernels, if the losses are of pairs."""
        with_margin, without = (part.pair_kernel(self.gamma * difference) for part in self.parts())
        return None if with_margin is None or without is None else with_margin - without

    def parts(self) -> tuple[Loss, Loss]:
        """Return the two convex losses, as functions of the scores times γ."""
        if not (hasattr(self.of, "margin") and hasattr(self.of, "kappa")):
            msg = f"{self.of!r} is not a hinge with a margin, so it has no ramp: give a hinge"
            raise ValueError(msg)
        return self.of, replace(self.of, margin=0.0)  # type: ignore[type-var]

    def sharpen(self, level: float) -> Loss:
        """Return the loss with steeper sides, nearer to the metric."""
        if isinf(level):
            msg = "a ramp of infinite sharpness is the metric itself, and has no slope"
            raise ValueError(msg)
        return self._with(gamma=self.gamma * level)

    @property
    def model_label(self) -> str:
        """What a report calls a linear model that is fitted with the loss."""
        return f"bounded {self.of.model_label}"

    @property
    def base(self) -> Loss:
        """The convex loss it is made of, which determines the metric."""
        return self.of.base

    @property
    def solvers(self) -> tuple[str, ...]:
        """Descent, and stochastic gradients of a mean over rows."""
        names = ("lbfgs", "descent")
        return (*names, "sgd") if self.separable else names

    @property
    def worst(self) -> float:
        """The margin of the loss it is made of."""
        return float(getattr(self.of, "margin", 1.0))

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        """Whether adding a constant to all scores changes nothing, as for `of`."""
        return self.of.shift_invariant

    @property
    def separable(self) -> bool:  # type: ignore[override]
        """Whether it is a mean over rows, as `of` is or is not."""
        return self.of.separable
