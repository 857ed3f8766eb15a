"""Losses over pairs of a positive and a negative row: a rounded hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.linear.loss import Loss, require_both, require_width

# ── Sums over all pairs of a positive and a negative, in the time of sorting both classes ─────────

_FEW = 100_000  # with fewer rows an indirect sort is as fast
_MOST_BITS = 30  # a float then has bits left for eight digits


class Hinges(NamedTuple):
    r"""The function :math:`x \mapsto \sum_k \omega_k (x - t_k)_+`, linear between its knots."""

    knots: FloatArray
    sums: FloatArray

    def __call__(self, at: FloatArray) -> FloatArray:
        """Return the function at sorted arguments, none beyond the last knot."""
        return np.interp(at, self.knots, self.sums)


@dataclass(frozen=True)
class Side:
    """Rows of one class, sorted by what they lack towards their margin.

    The shortfall of a pair is the sum of the ``lack`` of both rows; ``lack`` is descending.
    """

    rows: IntArray
    lack: FloatArray
    weight: FloatArray

    def hinges(self, most: float) -> Hinges:
        """Return the function that sums the shortfalls over these rows.

        Its argument is the lack of a row of the other side, ``most`` at most. The sums are made of
        terms that are never negative, so that small ones are as exact as large ones.
        """
        knots = np.empty(len(self.lack) + 1)
        np.negative(self.lack, out=knots[:-1])
        knots[-1] = max(knots[-2], most)
        sums = np.zeros(len(knots))
        step = np.diff(knots)
        step *= np.cumsum(self.weight)
        np.cumsum(step, out=sums[1:])
        return Hinges(knots, sums)

    def weight_short(self, lack: FloatArray) -> FloatArray:
        """Return the weight of the rows in short pairs with every lack of the other side."""
        weights = np.append(0.0, np.cumsum(self.weight))
        return weights[np.searchsorted(-self.lack, lack, side="left")]


def both_sides(
    positive: AnyArray, scores: FloatArray, weight: FloatArray, margin: float
) -> tuple[Side, Side]:
    """Sort positives and negatives; the shortfall of a pair is margin − s_i + s_j."""
    scores = np.asarray(scores, dtype=np.float64)
    # Sums of products would lose the digits that a common offset uses up.
    centre = float(scores.mean())
    lowest = float(weight.min())
    even = lowest == weight.max()
    sides = []
    for members, sign, start in (
        (positive, -1.0, margin + centre),
        (~positive, 1.0, -centre),
    ):
        rows = rising(-sign * scores, np.flatnonzero(members))
        lack = scores[rows]
        lack *= sign
        lack += start
        sides.append(Side(rows, lack, np.full(len(rows), lowest) if even else weight[rows]))
    return sides[0], sides[1]


def rising(values: FloatArray, rows: IntArray) -> IntArray:
    """Return the indices of some rows, sorted by value.

    A float that gives its last bits to the number of its row sorts like a whole number, three
    times as fast as an indirect sort; rows that only the lost bits tell apart are sorted again.
    """
    bits = (len(values) - 1).bit_length()
    if len(rows) < _FEW or bits > _MOST_BITS:
        return rows[np.argsort(values[rows])]
    keys = values[rows].view(np.int64)
    keys ^= (keys >> 63) & np.iinfo(np.int64).max  # negative floats fall as their bits rise
    keys >>= bits
    keys <<= bits
    keys |= rows
    keys.sort()
    rows = keys & ((1 << bits) - 1)
    keys >>= bits
    tied = np.append(False, keys[1:] == keys[:-1])
    tied[:-1] |= tied[1:]
    at = np.flatnonzero(tied)
    again = rows[at]
    rows[at] = again[np.argsort(values[again])]
    return rows


def scatter(
    above: Side, below: Side, slope_pos: FloatArray, slope_neg: FloatArray, pairs: float
) -> FloatArray:
    """Return the partial derivative by every score, given the summed slopes of its pairs."""
    gradient = np.empty(len(slope_pos) + len(slope_neg))
    slope_pos *= above.weight
    slope_pos /= -pairs
    slope_neg *= below.weight
    slope_neg /= pairs
    gradient[above.rows] = slope_pos
    gradient[below.rows] = slope_neg
    return gradient


# ── A convex bound of the area under the ROC curve: a rounded hinge of every pair ─────────────────

_EPSILON = 2.0**-52


@dataclass(frozen=True)
class PairwiseHinge(Loss):
    r"""One minus the area under the ROC curve, bounded by a rounded hinge of every pair.

    .. math:: L(s) = \frac{1}{n_+ n_-} \sum_{i \in P} \sum_{j \in N}
              \omega_i \omega_j\, h_\kappa(m - s_i + s_j), \qquad
              h_\kappa(u) = \begin{cases} 0 & u \le 0 \\ u^2 / 2\kappa & 0 \le u \le \kappa \\
              u - \kappa / 2 & u \ge \kappa \end{cases}

    The corner is rounded on its inner side, between m − κ and m, so that the loss is below the
    hinge by at most κ / 2. It takes two sorts and no pass over pairs.

    Its `Ramp` tends to one minus the area itself.

    Parameters
    ----------
    kappa : float
        κ, the width of the corner; 0 is the hinge itself, with one of its subgradients.
    margin : float
        m, by which a positive should be above a negative.
    """

    name: ClassVar[str] = "pairwise_hinge"
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
        return inside * (short - inside / 2.0) / self.kappa

    @property
    def model_label(self) -> str:
        """Name in reports of a linear model that is fitted with the loss."""
        return "pairwise ranking"

    @property
    def complexity(self) -> float:
        """Two, as a weighted logistic loss has: both are smooth and convex."""
        return 2.0
