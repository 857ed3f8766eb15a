"""Neighbours of a vertex: hyperplanes through all but one of its points, and their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

_ZERO = 1e-11  # smallest margin, for rows and coefficients of length one


class Move(NamedTuple):
    """Move to a neighbouring vertex.

    Parameters
    ----------
    coef : array of shape (q,)
        Coefficients of the neighbour.
    points : array of int
        Rows on its hyperplane.
    released : int
        The row that was exchanged for another.
    promised : float
        Weight of errors expected in the best cell next to the neighbour.
    """

    coef: FloatArray
    points: IntArray
    released: int
    promised: float


class Neighbours:
    r"""All vertices that share all but one point with a given vertex.

    Releasing point r leaves the pencil :math:`w + t v_r`, where :math:`v_r` is column r of the
    inverse of the matrix of the points and w. The pencil crosses row j at
    :math:`t_{jr} = -z_j w / z_j v_r`, where the errors change by the weight of the row, so a
    cumulative sum in the order of t gives the errors everywhere.

    Parameters
    ----------
    rows : array of shape (n, q)
        Rows of length one.
    weight : array of shape (n,)
        Sample weights.
    coef : array of shape (q,)
        Coefficients of the vertex.
    points : array of shape (q - 1,)
        Indices of linearly independent rows of margin zero.
    """

    def __init__(
        self, rows: FloatArray, weight: FloatArray, coef: FloatArray, points: IntArray
    ) -> None:
        self._coef, self._points = coef, points
        directions = np.linalg.inv(np.vstack([rows[points], coef]))[:, :-1].T
        self._directions = directions / np.sqrt(np.square(directions).sum(axis=1, keepdims=True))
        margin = rows @ coef
        margin[np.abs(margin) < _ZERO] = 0.0
        margin[points] = 0.0
        slope = self._directions @ rows.T
        slope[np.abs(slope) < _ZERO] = 0.0
        slope[:, points] = 0.0
        slope[np.arange(len(points)), points] = 1.0
        fixed = slope == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = -margin / slope
        crossing[fixed] = np.inf
        self._order = np.argsort(crossing, axis=1)
        flat = self._order + len(rows) * np.arange(len(points))[:, np.newaxis]
        self._crossing = crossing.ravel()[flat]
        np.sign(slope, out=slope)
        slope *= weight
        self._change = slope.ravel()[flat]
        cumulative_change = np.cumsum(self._change, axis=1)
        fixed_weight = fixed.astype(np.float64) @ np.column_stack(
            [weight, np.where(margin < 0, weight, 0.0), np.where(margin == 0, weight, 0.0)]
        )
        # Before the first crossing the rows of positive slope are misclassified. Their weight is
        # half the sum of two terms: the weight of all moving rows, and the weight of positive
        # minus that of negative slope.
        moving = weight.sum() - fixed_weight[:, 0]
        first = 0.5 * (moving + cumulative_change[:, -1]) + fixed_weight[:, 1]
        self._errors_after = first[:, np.newaxis] - cumulative_change
        self._counted_weight = weight.sum() - fixed_weight[:, 2]
        self._at_vertex = (self._crossing == 0) | (self._crossing == np.inf)
        # A step off the vertex can put each of its points on the right side.
        self._errors = np.minimum(self._change, 0.0) + self._errors_after
        self._errors[self._at_vertex] = np.inf

    def best(self, free: AnyArray, rng: np.random.Generator, aspiration: float) -> Move | None:
        """Return a neighbour of least errors, or None if there is no admissible neighbour.

        Parameters
        ----------
        free : array of bool of shape (n,)
            Rows that may become points of the vertex, because they are not tabu.
        rng : Generator
            Breaks ties.
        aspiration : float
            Aspiration level: below this weight of errors the tabu list is ignored.
        """
        errors, sign = self._errors, 1.0
        least = errors.min(initial=np.inf)
        if least >= aspiration:
            errors = np.where(free[self._order], errors, np.inf)
            least = errors.min(initial=np.inf)
        # The other half of the pencil, beyond t = ∞, has the same hyperplanes with sides reversed.
        if (self._counted_weight - self._errors_after.max(axis=1, initial=0.0)).min(
            initial=np.inf
        ) < least:
            reversed_errors = (
                self._counted_weight[:, np.newaxis]
                - self._errors_after
                - np.maximum(self._change, 0.0)
            )
            reversed_errors[self._at_vertex] = np.inf
            if reversed_errors.min() < least:
                errors, least, sign = reversed_errors, reversed_errors.min(), -1.0
        if least == np.inf:
            return None
        best_moves = np.flatnonzero(errors == least)
        r, k = divmod(int(best_moves[rng.integers(len(best_moves))]), errors.shape[1])
        coef = sign * (self._coef + self._crossing[r, k] * self._directions[r])
        points = self._points.copy()
        points[r] = self._order[r, k]
        return Move(coef / np.linalg.norm(coef), points, int(self._points[r]), float(least))
