"""Least sets of rows that no hyperplane has all on their right side, by the simplex method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray

_ZERO = 1e-9
_SHUT = 1e6  # cost of what may not be used
_MADE_ANEW = 25  # exchanges after which rounding is taken out of the inverse


class Circuits:
    r"""The vertices of the polytope of ways to cancel rows.

    .. math:: \{ l \ge 0 : \textstyle\sum_i l_i z_i = 0,\ \sum_i l_i = 1 \}

    If :math:`z_i w > 0` for every i with :math:`l_i > 0`, then :math:`0 = \sum_i l_i z_i w > 0`: of
    the rows of a vertex, at most q + 1 in number, at least one is wrong whatever w (Gordan 1873).
    A linear program over the polytope, with a cost for each row, asks for cheap ones. Only costs
    ever change, so each basis found is a start for the next program, and each one on the way is a
    circuit as well.

    Parameters
    ----------
    rows : array of shape (n, q)
        Of full column rank and length one.
    """

    def __init__(self, rows: FloatArray) -> None:
        n, q = rows.shape
        # The last q + 1 columns are artificial: a first basis, too dear to be used later.
        self._columns = np.column_stack([np.vstack([rows.T, np.ones(n)]), np.eye(q + 1)])
        self._n = n
        self._basis = np.arange(n, n + q + 1)
        self._inverse = np.eye(q + 1)
        for _ in self.cheap(np.zeros(n), 100 * (q + 1)):
            pass
        #: Whether there is any: without one, the rows are separable.
        self.exist = not (self._basis[self._inverse[:, -1] > 1e-7] >= n).any()

    def cheap(self, costs: FloatArray, most: int = 200) -> list[IntArray]:
        """Return the circuits on the way to the one of least cost for each l, that one last.

        Parameters
        ----------
        costs : array of shape (n,)
        most : int
            Exchanges after which to stop.
        """
        costs = np.append(costs, np.full(len(self._basis), _SHUT))
        way = []
        for k in range(most):
            reduced = costs - (costs[self._basis] @ self._inverse) @ self._columns
            enters = int(reduced.argmin())
            if reduced[enters] > -_ZERO:
                break
            column = self._inverse @ self._columns[:, enters]
            may_leave = np.flatnonzero(column > _ZERO)
            if not len(may_leave):
                break
            ratio = np.maximum(self._inverse[may_leave, -1], 0.0) / column[may_leave]
            self._exchange(int(may_leave[ratio.argmin()]), enters, column, k)
            way.append(self._used())
        self._make_anew()
        return [*way, self._used()]

    def cheap_sets(
        self, costs: FloatArray, rng: np.random.Generator, most: int = 60, stall: int = 20
    ) -> list[IntArray]:
        """Return circuits met by a tabu search for one whose rows cost little together.

        The linear program weighs costs by l; what a cover must hit is a set. All n exchanges of a
        basis are tried at once.

        Parameters
        ----------
        costs : array of shape (n,)
        rng : Generator
            Breaks ties.
        most, stall : int
            Exchanges after which to stop, in all and without a cheaper set.
        """
        n, every = self._n, np.arange(self._n)
        away = np.zeros(n + len(self._basis), dtype=np.int64)
        all_costs = np.append(costs, np.zeros(len(self._basis)))
        best, since, way = np.inf, 0, []
        for k in range(most):
            columns = self._inverse @ self._columns[:, :n]
            level = np.maximum(self._inverse[:, -1:], 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(columns > _ZERO, level / columns, np.inf)
            leaves = ratio.argmin(axis=0)
            held = all_costs[self._basis] * (level[:, 0] > _ZERO)
            after = held.sum() - held[leaves] + costs + 1e-3 * rng.random(n)
            after[(ratio[leaves, every] == np.inf) | (away[:n] > k)] = np.inf
            after[self._basis[self._basis < n]] = np.inf
            enters = int(after.argmin())
            if after[enters] == np.inf:
                break
            place = int(leaves[enters])
            away[self._basis[place]] = k + rng.integers(3, 8)
            self._exchange(place, enters, columns[:, enters], k)
            way.append(self._used())
            cost = costs[way[-1]].sum()
            since = 0 if cost < best - 1e-6 else since + 1
            best = min(best, cost)
            if since > stall:
                break
        self._make_anew()
        return way

    def _exchange(self, place: int, enters: int, column: FloatArray, count: int) -> None:
        """Put a column into the basis."""
        row = self._inverse[place] / column[place]
        self._inverse -= np.outer(column, row)
        self._inverse[place] = row
        self._basis[place] = enters
        if count % _MADE_ANEW == _MADE_ANEW - 1:
            self._make_anew()

    def _make_anew(self) -> None:
        self._inverse = np.linalg.inv(self._columns[:, self._basis])

    def _used(self) -> IntArray:
        rows: IntArray = self._basis[self._inverse[:, -1] > _ZERO]
        kept: IntArray = rows[rows < self._n]
        return kept


def as_integers(rows: FloatArray) -> list[list[int]]:
    """Return each row times a power of two that makes it whole; that changes no side."""
    whole = []
    for row in rows.tolist():
        ratios = [entry.as_integer_ratio() for entry in row]
        common = max(below for _, below in ratios)
        whole.append([above * (common // below) for above, below in ratios])
    return whole


def cancel_exactly(rows: list[list[int]]) -> bool:
    """Return whether rows of integers have exactly one dependence, all of one sign.

    Elimination without fractions (Bareiss 1968): every quotient is whole, nothing is rounded.
    """
    n = len(rows)
    equations = [list(column) for column in zip(*rows, strict=True)]
    alone, last = n, 1  # the unknown without a pivot, and the pivot before
    upper: list[tuple[int, list[int]]] = []
    for unknown in range(n):
        place = next((k for k, equation in enumerate(equations) if equation[unknown]), None)
        if place is None:
            if alone < n:
                return False  # a second dependence
            alone = unknown
            continue
        chosen = equations.pop(place)
        pivot = chosen[unknown]
        equations = [
            [
                (pivot * entry - equation[unknown] * of_chosen) // last
                for entry, of_chosen in zip(equation, chosen, strict=True)
            ]
            for equation in equations
        ]
        last = pivot
        upper.append((unknown, chosen))
    if alone == n:
        return False
    share = [0] * n
    share[alone] = last  # the determinant, so that the other shares are whole (Cramer)
    for unknown, equation in reversed(upper):
        rest = sum(a * b for a, b in zip(equation, share, strict=True))
        share[unknown] = -rest // equation[unknown]
    return all(a * last > 0 for a in share)
