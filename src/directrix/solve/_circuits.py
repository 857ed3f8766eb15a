"""Circuits: minimal sets of rows that no hyperplane classifies all correctly (simplex method)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray

_ZERO = 1e-9
_PROHIBITIVE = 1e6  # cost of columns that must not be used
_REINVERT_EVERY = 25  # exchanges after which the inverse is computed afresh, to remove rounding


class Circuits:
    r"""Vertices of the polytope of convex combinations of rows that are zero.

    .. math:: \{ l \ge 0 : \textstyle\sum_i l_i z_i = 0,\ \sum_i l_i = 1 \}

    If :math:`z_i w > 0` for every i with :math:`l_i > 0`, then :math:`0 = \sum_i l_i z_i w > 0`, a
    contradiction. So every w misclassifies at least one row of a vertex, which has at most q + 1
    rows (Gordan 1873). A linear program over the polytope, with a cost for each row, searches for
    cheap circuits. Only the costs change between programs, so the last basis is a warm start for
    the next program, and every basis visited is a circuit as well.

    Parameters
    ----------
    rows : array of shape (n, q)
        Rows of length one; the matrix has full column rank.
    """

    def __init__(self, rows: FloatArray) -> None:
        n, q = rows.shape
        # The last q + 1 columns are artificial: an initial basis, too expensive to be used later.
        self._columns = np.column_stack([np.vstack([rows.T, np.ones(n)]), np.eye(q + 1)])
        self._n = n
        self._basis = np.arange(n, n + q + 1)
        self._inverse = np.eye(q + 1)
        for _ in self.minimize_cost(np.zeros(n), 100 * (q + 1)):
            pass
        #: Whether there is any circuit; without one, the rows are separable.
        self.exist = not (self._basis[self._inverse[:, -1] > 1e-7] >= n).any()

    def minimize_cost(self, costs: FloatArray, max_exchanges: int = 200) -> list[IntArray]:
        """Return the circuits visited by the simplex method, that of least cost last.

        Parameters
        ----------
        costs : array of shape (n,)
            Cost of each row, weighted by l in the objective.
        max_exchanges : int
            Number of basis exchanges after which to stop.
        """
        costs = np.append(costs, np.full(len(self._basis), _PROHIBITIVE))
        visited = []
        for k in range(max_exchanges):
            reduced = costs - (costs[self._basis] @ self._inverse) @ self._columns
            entering = int(reduced.argmin())
            if reduced[entering] > -_ZERO:
                break
            column = self._inverse @ self._columns[:, entering]
            may_leave = np.flatnonzero(column > _ZERO)
            if not len(may_leave):
                break
            ratio = np.maximum(self._inverse[may_leave, -1], 0.0) / column[may_leave]
            self._exchange(int(may_leave[ratio.argmin()]), entering, column, k)
            visited.append(self._support())
        self._reinvert()
        return [*visited, self._support()]

    def search_cheap_sets(
        self, costs: FloatArray, rng: np.random.Generator, max_exchanges: int = 60, stall: int = 20
    ) -> list[IntArray]:
        """Return the circuits visited by a tabu search for a set of rows of low total cost.

        The linear program weights costs by l, but a cover must hit the set of rows whatever their
        weights. All n exchanges of a basis are evaluated at once.

        Parameters
        ----------
        costs : array of shape (n,)
            Cost of each row.
        rng : Generator
            Breaks ties.
        max_exchanges, stall : int
            Number of exchanges after which to stop: in total, and without a cheaper set.
        """
        n, all_rows = self._n, np.arange(self._n)
        tabu_until = np.zeros(n + len(self._basis), dtype=np.int64)
        all_costs = np.append(costs, np.zeros(len(self._basis)))
        best, n_stalled, visited = np.inf, 0, []
        for k in range(max_exchanges):
            columns = self._inverse @ self._columns[:, :n]
            level = np.maximum(self._inverse[:, -1:], 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(columns > _ZERO, level / columns, np.inf)
            leaving_by_row = ratio.argmin(axis=0)
            basis_cost = all_costs[self._basis] * (level[:, 0] > _ZERO)
            cost_after = (
                basis_cost.sum() - basis_cost[leaving_by_row] + costs + 1e-3 * rng.random(n)
            )
            cost_after[(ratio[leaving_by_row, all_rows] == np.inf) | (tabu_until[:n] > k)] = np.inf
            cost_after[self._basis[self._basis < n]] = np.inf
            entering = int(cost_after.argmin())
            if cost_after[entering] == np.inf:
                break
            leaving = int(leaving_by_row[entering])
            tabu_until[self._basis[leaving]] = k + rng.integers(3, 8)
            self._exchange(leaving, entering, columns[:, entering], k)
            visited.append(self._support())
            cost = costs[visited[-1]].sum()
            n_stalled = 0 if cost < best - 1e-6 else n_stalled + 1
            best = min(best, cost)
            if n_stalled > stall:
                break
        self._reinvert()
        return visited

    def _exchange(self, leaving: int, entering: int, column: FloatArray, n_exchanges: int) -> None:
        """Replace the column at basis position ``leaving`` by the column ``entering``."""
        row = self._inverse[leaving] / column[leaving]
        self._inverse -= np.outer(column, row)
        self._inverse[leaving] = row
        self._basis[leaving] = entering
        if n_exchanges % _REINVERT_EVERY == _REINVERT_EVERY - 1:
            self._reinvert()

    def _reinvert(self) -> None:
        self._inverse = np.linalg.inv(self._columns[:, self._basis])

    def _support(self) -> IntArray:
        rows: IntArray = self._basis[self._inverse[:, -1] > _ZERO]
        circuit: IntArray = rows[rows < self._n]
        return circuit


def as_integers(rows: FloatArray) -> list[list[int]]:
    """Return each row times the power of two that makes it integer, which keeps its side."""
    whole = []
    for row in rows.tolist():
        ratios = [entry.as_integer_ratio() for entry in row]
        denominator = max(entry_denominator for _, entry_denominator in ratios)
        whole.append(
            [
                numerator * (denominator // entry_denominator)
                for numerator, entry_denominator in ratios
            ]
        )
    return whole


def cancel_exactly(rows: list[list[int]]) -> bool:
    """Return whether integer rows have exactly one dependence, with coefficients of one sign.

    Fraction-free elimination (Bareiss 1968): every quotient is an integer, nothing is rounded.
    """
    n = len(rows)
    equations = [list(column) for column in zip(*rows, strict=True)]
    free_unknown, last_pivot = n, 1  # the unknown without a pivot, and the previous pivot
    upper: list[tuple[int, list[int]]] = []
    for unknown in range(n):
        pivot_index = next((k for k, equation in enumerate(equations) if equation[unknown]), None)
        if pivot_index is None:
            if free_unknown < n:
                return False  # a second dependence
            free_unknown = unknown
            continue
        pivot_equation = equations.pop(pivot_index)
        pivot = pivot_equation[unknown]
        equations = [
            [
                (pivot * entry - equation[unknown] * pivot_entry) // last_pivot
                for entry, pivot_entry in zip(equation, pivot_equation, strict=True)
            ]
            for equation in equations
        ]
        last_pivot = pivot
        upper.append((unknown, pivot_equation))
    if free_unknown == n:
        return False
    coefficients = [0] * n
    coefficients[free_unknown] = (
        last_pivot  # the determinant, so that the other coefficients are integers (Cramer)
    )
    for unknown, equation in reversed(upper):
        rest = sum(a * b for a, b in zip(equation, coefficients, strict=True))
        coefficients[unknown] = -rest // equation[unknown]
    return all(a * last_pivot > 0 for a in coefficients)
