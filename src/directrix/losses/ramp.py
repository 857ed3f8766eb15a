"""The ramp of a convex loss: bounded, and tight."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isinf
from typing import TYPE_CHECKING, ClassVar

from directrix.losses.base import Loss, require_above_zero
from directrix.losses.margin import Hinge

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray


@dataclass(frozen=True)
class Ramp(Loss):
    r"""A loss with margin one, less the same loss without a margin.

    .. math:: L(s) = R_1(\gamma s) - R_0(\gamma s)

    Of the hinge it is the ramp loss of Collobert and others (2006), with its foot at zero:
    :math:`\min(1, (1 - \gamma z)_+)`; of a loss that maximises over labellings, the tighter bound
    of Chapelle and others (2008), :math:`\max_y [\Delta(y) + \gamma s \cdot y] - \max_y \gamma s
    \cdot y`. Either is at least the metric and, as γ grows, tends to it. A difference of two
    convex functions: `directrix.solve.cccp` descends it.

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
        """Return the difference of the two losses, and its partial by each score."""
        require_above_zero(gamma=self.gamma)
        convex, less = self.parts()
        (value, slope), (value_less, slope_less) = (
            part.value_and_grad(positive, self.gamma * scores, weight) for part in (convex, less)
        )
        return value - value_less, self.gamma * (slope - slope_less)

    def parts(self) -> tuple[Loss, Loss]:
        """Return the two convex losses, of scores times γ."""
        if not (hasattr(self.of, "margin") and hasattr(self.of, "kappa")):
            msg = f"{self.of!r} is no hinge with a margin, so it has no ramp; take one of a hinge"
            raise ValueError(msg)
        return self.of, replace(self.of, margin=0.0)  # type: ignore[type-var]

    def sharpen(self, level: float) -> Loss:
        """Return the loss with steeper sides: nearer the metric."""
        if isinf(level):
            msg = "a ramp of infinite sharpness is the metric itself, and has no slope"
            raise ValueError(msg)
        return self._with(gamma=self.gamma * level)

    @property
    def worst(self) -> float:
        """The margin of the loss it is made of."""
        return float(getattr(self.of, "margin", 1.0))

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        """Whether adding a number to all scores changes nothing, as of the loss it is made of."""
        return self.of.shift_invariant
