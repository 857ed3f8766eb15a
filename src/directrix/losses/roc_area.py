"""Pairwise hinge: a convex bound of the area under the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from directrix.losses._ranked import both_sides, scatter
from directrix.losses.base import Loss, require_both, require_width

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

_EPSILON = 2.0**-52


@dataclass(frozen=True)
class PairwiseHinge(Loss):
    r"""One minus the area under the ROC curve, bounded by a rounded hinge of every pair.

    .. math:: L(s) = \frac{1}{n_+ n_-} \sum_{i \in P} \sum_{j \in N}
              \omega_i \omega_j\, h_\kappa(m - s_i + s_j), \qquad
              h_\kappa(u) = \begin{cases} 0 & u \le 0 \\ u^2 / 2\kappa & 0 \le u \le \kappa \\
              u - \kappa / 2 & u \ge \kappa \end{cases}

    (Zhang, Saha and Vishwanathan 2012, eq. 3 and 13, in units of the score.) Their eq. 3 lacks
    the term of the right labels, without which pairs that are in order are charged as well; this
    is the loss with it. It is below the hinge by at most κ / 2. It takes two sorts and
    no pass over pairs.

    Its `Ramp` tends to one minus the area itself.

    Parameters
    ----------
    kappa : float
        κ, the width of the corner; 0 is the hinge itself, with one of its subgradients.
    margin : float
        m, by which a positive should be above a negative.
    """

    name: ClassVar[str] = "pairwise_hinge"
    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    runtime: ClassVar[str] = "O(n log n)"
    kappa: float = 0.1
    margin: float = 1.0

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the mean over pairs, and its partial derivative by every score."""
        require_width(self.kappa)
        n_pos, n_neg = require_both(positive, weight)
        above, below = both_sides(positive, scores, weight, self.margin)
        short_of_pos = below.hinges(above.lack[0])
        pairs = n_pos * n_neg
        if self.kappa == 0:
            value = float(above.weight @ short_of_pos(above.lack)) / pairs
            slope_pos, slope_neg = below.weight_short(above.lack), above.weight_short(below.lack)
            return value, scatter(above, below, slope_pos, slope_neg, pairs)
        # h = ((u)_+² − (u − κ)_+²) / 2κ, whose slope is ((u)_+ − (u − κ)_+) / κ.
        short_of_neg = above.hinges(below.lack[0])
        slope_pos = short_of_pos(above.lack)
        at_corner = float(above.weight @ slope_pos)
        beyond = short_of_pos(above.lack - self.kappa)
        past_corner = float(above.weight @ beyond)
        slope_pos -= beyond
        slope_pos /= self.kappa
        slope_neg = short_of_neg(below.lack)
        slope_neg -= short_of_neg(below.lack - self.kappa)
        slope_neg /= self.kappa
        value = 0.5 * (at_corner + past_corner)
        # h is the mean of its two hinges, minus what pairs inside the corner are short of it: half
        # of (u)_+ − u h′(u), where u is the sum of the lacks of a positive and a negative. That is
        # a difference of large numbers; where it is only rounding, hardly a pair is inside.
        widest = max(abs(float(side.lack[end])) for side in (above, below) for end in (0, -1))
        if _EPSILON * widest**2 < (self.kappa / 8.0) * self.kappa:
            value -= 0.5 * at_corner
            value += 0.5 * float((above.weight * above.lack) @ slope_pos)
            value += 0.5 * float((below.weight * below.lack) @ slope_neg)
        return value / pairs, scatter(above, below, slope_pos, slope_neg, pairs)

    def pair_kernel(self, difference: FloatArray) -> FloatArray:
        """Return the rounded hinge of the difference of two scores."""
        short = np.maximum(self.margin - difference, 0.0)
        if self.kappa == 0:
            return short
        inside = np.minimum(short, self.kappa)
        kernel: FloatArray = inside * (short - inside / 2.0) / self.kappa
        return kernel

    def sharpen(self, level: float) -> PairwiseHinge:
        """Return the loss with a narrower corner."""
        return self._with(kappa=self.kappa / level)

    def gap(self, positive: AnyArray, weight: FloatArray) -> float:  # noqa: ARG002
        """Return how far below the pairwise hinge it may be: κ / 2."""
        return self.kappa / 2.0

    @property
    def model_label(self) -> str:
        """What a report calls a linear model that is fitted with the loss."""
        return "pairwise ranking"

    @property
    def complexity(self) -> float:
        """Two, as a weighted logistic loss has: both are smooth and convex."""
        return 2.0

    @property
    def worst(self) -> float:
        """The margin: the hinge of a pair that is tied."""
        return self.margin
