"""The hyperplanes through all but one of the points of a vertex, and the errors along them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

_ZERO = 1e-11  # of margins of rows and coefficients of length one


class Move(NamedTuple):
    """A neighbour of a vertex: ``points`` with ``released`` exchanged for another."""

    coef: FloatArray
    points: IntArray
    released: int
    promised: float


class Neighbours:
    r"""Every vertex that shares all but one point with this one.

    Releasing point r leaves the pencil :math:`w + t v_r`, where :math:`v_r` is column r of the
    inverse of the matrix of the points and w. Row j is met at :math:`t_{jr} = -z_j w / z_j v_r`;
    the errors change by its weight there, so a sum in the order of t gives them all.

    Parameters
    ----------
    rows : array of shape (n, q)
    weight : array of shape (n,)
    coef : array of shape (q,)
    points : array of shape (q - 1,)
        Rows of margin zero, linearly independent.
    """

    def __init__(
        self, rows: FloatArray, weight: FloatArray, coef: FloatArray, points: IntArray
    ) -> None:
        self._coef, self._points = coef, points
        along = np.linalg.inv(np.vstack([rows[points], coef]))[:, :-1].T
        self._along = along / np.sqrt(np.square(along).sum(axis=1, keepdims=True))
        margin = rows @ coef
        margin[np.abs(margin) < _ZERO] = 0.0
        margin[points] = 0.0
        slope = self._along @ rows.T
        slope[np.abs(slope) < _ZERO] = 0.0
        slope[:, points] = 0.0
        slope[np.arange(len(points)), points] = 1.0
        fixed = slope == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            met = -margin / slope
        met[fixed] = np.inf
        self._order = np.argsort(met, axis=1)
        flat = self._order + len(rows) * np.arange(len(points))[:, np.newaxis]
        self._met = met.ravel()[flat]
        np.sign(slope, out=slope)
        slope *= weight
        self._change = slope.ravel()[flat]
        fallen = np.cumsum(self._change, axis=1)
        still = fixed.astype(np.float64) @ np.column_stack(
            [weight, np.where(margin < 0, weight, 0.0), np.where(margin == 0, weight, 0.0)]
        )
        # Before the first breakpoint the rows of positive slope are wrong. Their weight is half
        # of: the weight of all that move, plus that of positive less negative slope.
        moving = weight.sum() - still[:, 0]
        first = 0.5 * (moving + fallen[:, -1]) + still[:, 1]
        self._after = first[:, np.newaxis] - fallen
        self._counted = weight.sum() - still[:, 2]
        self._here = (self._met == 0) | (self._met == np.inf)
        # A point of the vertex can be had on either side.
        self._errors = np.minimum(self._change, 0.0) + self._after
        self._errors[self._here] = np.inf

    def best(self, free: AnyArray, rng: np.random.Generator, aspired: float) -> Move | None:
        """Return a neighbour of least errors; None where there is none.

        Parameters
        ----------
        free : array of bool of shape (n,)
            Rows that may become points of the vertex.
        rng : Generator
            Chooses among equals.
        aspired : float
            Errors below which any row may.
        """
        errors, sign = self._errors, 1.0
        least = errors.min(initial=np.inf)
        if least >= aspired:
            errors = np.where(free[self._order], errors, np.inf)
            least = errors.min(initial=np.inf)
        # The other half of the pencil, beyond t = ∞, holds the same hyperplanes turned round.
        if (self._counted - self._after.max(axis=1, initial=0.0)).min(initial=np.inf) < least:
            turned = self._counted[:, np.newaxis] - self._after - np.maximum(self._change, 0.0)
            turned[self._here] = np.inf
            if turned.min() < least:
                errors, least, sign = turned, turned.min(), -1.0
        if least == np.inf:
            return None
        ways = np.flatnonzero(errors == least)
        r, k = divmod(int(ways[rng.integers(len(ways))]), errors.shape[1])
        coef = sign * (self._coef + self._met[r, k] * self._along[r])
        points = self._points.copy()
        points[r] = self._order[r, k]
        return Move(coef / np.linalg.norm(coef), points, int(self._points[r]), float(least))
