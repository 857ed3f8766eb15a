"""The zero-one loss itself, by tabu search over the vertices of the arrangement of rows."""

from __future__ import annotations

from math import inf, nan
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from directrix.solve._merged_rows import MergedRows, merge_rows
from directrix.solve._vertex_pencil import Neighbours
from directrix.solve.solution import Callback, Path, Solution

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

_MADE_ANEW = 50  # steps after which rounding is taken out of the coefficients


def vertex_search(
    rows: AnyArray,
    start: FloatArray,
    *,
    weight: AnyArray | None = None,
    max_steps: int = 2000,
    seconds: float = inf,
    rng: np.random.Generator | int = 0,
    tenure: tuple[int, int] = (5, 14),
    stall: int = 300,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise the weight of rows of margin zero or less.

    .. math:: \min_w \sum_i \omega_i\, [z_i w \le 0], \qquad z_i = y_i\, (x_i, 1)

    The hyperplanes :math:`z_i w = 0` cut the space of w into cells of constant loss. Every cell has
    a vertex, where q − 1 independent rows have margin zero, and a step into the cell puts those
    rows on their right side. So the least loss is the least over vertices of the weight of the
    *other* rows with a negative margin. The search goes from vertex to vertex:

    1. release one row, slide along the hyperplanes through the others, and take the neighbour of
       least errors, equal ones by lot, uphill if need be; the row released may not come back for
       some steps, unless that makes for fewer errors than any vertex yet;
    2. where a vertex promises less than the best known, step into the cell and count all rows;
       only that count is believed, as more rows than q − 1 may lie on a hyperplane;
    3. after `stall` steps without a better one begin anew, from the best with noise.

    Equal rows are merged, dependent columns dropped, and units do not matter. It is a search: the
    loss of the result is exact, that there is no lower one is not proved. See
    `zero_one_lower_bound`.

    A step costs O(q n log n): a millisecond for 1,000 rows of 10 features, 0.1 seconds for 100,000.

    Parameters
    ----------
    rows : array of shape (n, q)
        Each row with its constant, times its label of −1 or 1.
    start : array of shape (q,)
        The line of a logistic regression is a good one.
    weight : array of shape (n,), optional
    max_steps : int
        The same steps give the same result.
    seconds : float
        Of processor time, after which to stop even so.
    rng : Generator or int
    tenure : pair of int
        Least and most steps for which a row released stays away.
    stall : int
    callback : callable, optional
        Is given the best coefficients and their loss after each step; True stops.

    Returns
    -------
    Solution
        Its value is a sum of weights, and its coefficients have length one.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix.solve import vertex_search
    >>> x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
    >>> y = np.array([-1, -1, 1, -1, 1, 1])
    >>> rows = y[:, np.newaxis] * np.column_stack([x, np.ones(6)])
    >>> vertex_search(rows, np.array([1.0, -10.0]), max_steps=50).value
    1.0
    """
    merged = merge_rows(rows, weight)
    if np.shape(start) != (merged.raw.shape[1],):
        msg = f"start must have {merged.raw.shape[1]} coefficients, one for each column of rows"
        raise ValueError(msg)
    if not (1 <= tenure[0] <= tenure[1] and stall >= 1):
        msg = f"tenure must be two numbers of steps in order, and stall one, not {tenure}, {stall}"
        raise ValueError(msg)
    search = _Search(merged, np.asarray(start, dtype=np.float64), np.random.default_rng(rng))
    path = Path(search.value, callback)
    until = process_time() + seconds
    since = 0
    away = np.zeros(len(merged.rows), dtype=np.int64)
    aspired = search.value
    # Of one column there are two lines, and the start is the better one.
    most = max_steps if merged.rows.shape[1] > 1 else 0
    while search.value > merged.always_wrong and path.n_iter < most:
        before = search.value
        promised, released = search.step(away <= path.n_iter, aspired)
        aspired = min(aspired, promised)
        if released is not None:
            away[released] = path.n_iter + 1 + search.rng.integers(tenure[0], tenure[1] + 1)
        since = 0 if search.value < before else since + 1
        if not path.goes_on(search.best, search.value) or process_time() >= until:
            break
        if since >= stall or released is None:
            since = 0
            away[:] = 0
            search.begin_anew()
        elif path.n_iter % _MADE_ANEW == 0:
            search.take_out_rounding()
    return Solution(search.best, search.value, nan, path.n_iter, True, tuple(path.values))  # noqa: FBT003


class _Search:
    """A vertex, and the best coefficients met so far."""

    def __init__(self, merged: MergedRows, start: FloatArray, rng: np.random.Generator) -> None:
        self.merged, self.rng = merged, rng
        self._coef: FloatArray
        self._points: IntArray
        self.best = start / (float(np.linalg.norm(start)) or 1.0)
        self.value = self._loss(self.best)
        self._keep_if_better(-self.best)
        self._place(self._inner(self.best))

    def step(self, free: AnyArray, aspired: float) -> tuple[float, int | None]:
        """Go to the best neighbour; return what it promises, and the row released for it."""
        merged = self.merged
        try:
            neighbours = Neighbours(merged.rows, merged.weight, self._coef, self._points)
            move = neighbours.best(free, self.rng, aspired - merged.always_wrong)
        except np.linalg.LinAlgError:  # rounding has made the points dependent
            move = None
        if move is None:
            return inf, None
        self._coef, self._points = move.coef, move.points
        promised = move.promised + merged.always_wrong
        if promised < self.value:
            self._step_inside()
        return promised, move.released

    def begin_anew(self) -> None:
        """Go to a vertex near the best coefficients, noise added."""
        best = self.best * self.merged.scale
        noise = self.rng.standard_normal(len(best)) * np.linalg.norm(best) / np.sqrt(len(best))
        self._place(self._inner((best + 0.3 * self.rng.random() * noise) / self.merged.scale))

    def take_out_rounding(self) -> None:
        """Compute the coefficients from the points of the vertex alone."""
        self._coef = _through(self.merged.rows[self._points], self._coef)

    def _place(self, coef: FloatArray) -> None:
        """Go to the vertex of the independent rows nearest a hyperplane."""
        rows = self.merged.rows
        nearest = np.argsort(np.abs(rows @ coef), kind="stable")
        self._points = _independent(rows, nearest)
        self._coef = _through(rows[self._points], coef)
        margin, weight = rows @ self._coef, self.merged.weight
        margin[self._points] = 0.0
        if weight[margin < 0].sum() > weight[margin > 0].sum():
            self._coef = -self._coef
        self._step_inside()

    def _step_inside(self) -> None:
        """Step from the vertex to where its own rows are on their right side, and count."""
        rows = self.merged.rows
        inside = np.linalg.lstsq(rows[self._points], np.ones(len(self._points)), rcond=None)[0]
        margin, change = rows @ self._coef, rows @ inside
        shrinks = (margin > 1e-9) & (change < 0)
        step = float(np.min(margin[shrinks] / -change[shrinks], initial=2.0)) / 2.0
        self._keep_if_better(self.merged.back @ (self._coef + step * inside))

    def _keep_if_better(self, coef: FloatArray) -> None:
        value = self._loss(coef)
        if value < self.value:
            self.value, self.best = value, coef / np.linalg.norm(coef)

    def _loss(self, coef: FloatArray) -> float:
        wrong = self.merged.raw @ coef <= 0
        return float(self.merged.weight[wrong].sum()) + self.merged.always_wrong

    def _inner(self, coef: FloatArray) -> FloatArray:
        inner = self.merged.forth @ coef
        length = float(np.linalg.norm(inner))
        return inner / length if length else np.ones(len(inner)) / np.sqrt(max(len(inner), 1))


def _independent(rows: FloatArray, order: IntArray) -> IntArray:
    """Return the first rows of an order that span a hyperplane: one fewer than columns."""
    basis = np.zeros((0, rows.shape[1]))
    points: list[int] = []
    for j in order:
        if len(points) == rows.shape[1] - 1:
            break
        rest = rows[j] - basis.T @ (basis @ rows[j])
        length = np.linalg.norm(rest)
        if length > 1e-6:
            points.append(j)
            basis = np.vstack([basis, rest / length])
    return np.array(points, dtype=np.int64)


def _through(points: FloatArray, towards: FloatArray) -> FloatArray:
    """Return the normal of length one of the hyperplane through some rows."""
    normal: FloatArray = np.linalg.svd(points)[2][-1]
    return normal if normal @ towards >= 0 else -normal
