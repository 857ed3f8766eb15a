"""Sums over all pairs of a positive and a negative, in the time of sorting both classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

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
