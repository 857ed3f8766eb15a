"""Lower bounds of the zero-one loss over all hyperplanes, by implicit hitting sets."""

from __future__ import annotations

from math import ceil
from time import process_time
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.solve.papers.vertex import MergedRows, merge_rows

# ── Circuits: minimal sets of rows that no hyperplane classifies all correctly, by the simplex ────

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

    ``rows``, of shape (n, q), have length one; the matrix has full column rank.
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

        ``costs``, of shape (n,), are the costs of the rows, which the objective weights by l. The
        method stops after ``max_exchanges`` basis exchanges.
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

        ``costs``, of shape (n,), are the costs of the rows. ``rng`` breaks ties. The search stops
        after ``max_exchanges`` exchanges in total, or after ``stall`` exchanges without a cheaper
        set.
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


# ── Lower bounds of the zero-one loss over all hyperplanes, by implicit hitting sets ──────────────

_HIT_BY_FRACTIONS = 1.0 - 1e-4  # total from which a fractional cover counts as hitting a set
_INFEASIBLE = 2  # status of SciPy's solvers


class Certificate(NamedTuple):
    """Result of `zero_one_lower_bound`.

    Parameters
    ----------
    lower_bound : float
        Every hyperplane has at least this weight of rows with margin zero or less.
    optimal : bool
        Whether the bound equals the given upper bound.
    n_sets : int
        Number of circuits, each checked exactly, on which the bound is based.
    """

    lower_bound: float
    optimal: bool
    n_sets: int


def zero_one_lower_bound(
    rows: AnyArray,
    *,
    weight: AnyArray | None = None,
    upper: float,
    seconds: float = 60.0,
    rng: np.random.Generator | int = 0,
) -> Certificate:
    r"""Return a lower bound of the zero-one loss over all hyperplanes.

    .. math:: \min_{e \in \{0, 1\}^n} \sum_i \omega_i e_i \quad \text{where} \quad
              \sum_{i \in S} e_i \ge 1 \text{ for every circuit } S

    The rows of a circuit cannot all be classified correctly, so the misclassified rows hit every
    circuit. Circuits that the best cover of the known circuits misses are added: first for the
    linear program, whose dual is itself a bound; then, if the weights are whole numbers, for the
    question whether a cover of weight K exists, for increasing K. Each circuit is checked in exact
    arithmetic. That no cover of weight K exists relies on the HiGHS solver.

    Parameters
    ----------
    rows : array of shape (n, q)
        Each row with its constant, times its label of −1 or 1. Separability does not depend on
        units, so do not scale the features: whole numbers are checked fastest.
    weight : array of shape (n,), optional
        Sample weights.
    upper : float
        A loss that some hyperplane attains, for instance from `vertex_search`; the search ends when
        the bound reaches it.
    seconds : float
        Budget of processor time; then the bound so far is returned.
    rng : Generator or int
        Random generator or seed.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix.solve import zero_one_lower_bound
    >>> x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
    >>> y = np.array([-1, -1, 1, -1, 1, 1])
    >>> rows = y[:, np.newaxis] * np.column_stack([x, np.ones(6)])
    >>> zero_one_lower_bound(rows, upper=1)
    Certificate(lower_bound=1.0, optimal=True, n_sets=...)
    """
    merged = merge_rows(rows, weight)
    deadline = process_time() + seconds
    bound, n_sets = merged.always_wrong, 0
    if merged.rows.shape[1]:
        cover = _Cover(merged, np.random.default_rng(rng))
        if cover.circuits.exist:
            bound += cover.bound(upper - merged.always_wrong, deadline)
            n_sets = len(cover.sets)
    return Certificate(bound, bound >= upper, n_sets)


class _Cover:
    """The known circuits, and bounds of the weight of a set of rows that hits them all."""

    def __init__(self, merged: MergedRows, rng: np.random.Generator) -> None:
        self.circuits = Circuits(np.ascontiguousarray(merged.rows))
        self.sets: dict[tuple[int, ...], None] = {}
        self._refused: set[tuple[int, ...]] = set()
        self._weight, self._rng = merged.weight, rng
        self._integer_rows = as_integers(merged.raw)

    def bound(self, upper: float, deadline: float) -> float:
        """Return a lower bound of the weight of a cover of all circuits."""
        bound = self._fractional_bound(upper, deadline)
        if (self._weight != np.round(self._weight)).any():
            return bound
        # With whole-number weights the loss is a whole number.
        bound = float(ceil(bound - 1e-9))
        while bound < upper and process_time() < deadline:
            if not self._no_cover_of_weight(bound, deadline):
                break
            bound += 1.0
        return bound

    def _fractional_bound(self, upper: float, deadline: float) -> float:
        """Add circuits that the best fractional cover misses; return the bound of the cover."""
        fractions, bound, stalled = np.zeros(len(self._weight)), 0.0, 0
        while process_time() < deadline and bound < upper and stalled <= 8:
            n_added = self._add_missed_by_fractions(fractions, deadline)
            if not self.sets:
                break
            table = self._table()
            solved = linprog(self._weight, A_ub=-table, b_ub=-np.ones(len(self.sets)))
            if solved.status != 0:
                break
            # A bound by weak duality, after scaling the multipliers to be feasible.
            price = np.maximum(-solved.ineqlin.marginals, 0.0)
            raised = float(price.sum() / max(1.0, float((table.T @ price / self._weight).max())))
            stalled = stalled + 1 if raised < bound + 0.005 else 0
            bound, fractions = max(bound, raised), solved.x
            if not n_added:
                break
            # Circuits that are hit by a wide margin only slow down the later programs.
            loose = (table @ fractions > 1.5) & (len(self.sets) > 3000)
            self.sets = {s: None for s, drop in zip(self.sets, loose, strict=True) if not drop}
        return bound

    def _add_missed_by_fractions(self, fractions: FloatArray, deadline: float) -> int:
        """Add circuits on which a fractional cover is below one; return their number."""
        n_added = 0
        for k in range(30):
            if process_time() >= deadline:
                break
            noise = 0.02 if k == 0 else 0.3 * self._rng.random()
            costs = fractions + noise * self._rng.random(len(fractions))
            for _ in range(6):
                visited = self.circuits.minimize_cost(costs)
                cheapest = visited[-1]
                n_new = sum(self._add(s) for s in visited if fractions[s].sum() < _HIT_BY_FRACTIONS)
                n_added += n_new
                if fractions.any():
                    sets = self.circuits.search_cheap_sets(fractions, self._rng)
                    n_added += sum(
                        self._add(s) for s in sets if fractions[s].sum() < _HIT_BY_FRACTIONS
                    )
                if not n_new:
                    break
                costs[cheapest] += self._rng.random(len(cheapest))
        return n_added

    def _no_cover_of_weight(self, max_weight: float, deadline: float) -> bool:
        """Return whether no cover of this weight exists; False if the time ran out."""
        while process_time() < deadline:
            table = self._table()
            if self._add_missed_by_greedy(table, max_weight + 1.0):
                continue
            result = milp(
                self._weight,
                constraints=[
                    LinearConstraint(table, lb=1.0),
                    LinearConstraint(self._weight[np.newaxis], ub=max_weight),
                ],
                integrality=np.ones(len(self._weight)),
                bounds=Bounds(0.0, 1.0),
                # Any cover answers the question, so the first ends the search.
                options={"mip_rel_gap": 1.0, "time_limit": max(deadline - process_time(), 0.1)},
            )
            if result.status == _INFEASIBLE:
                return True
            if result.x is None or not self._add_missed_by_cover(np.round(result.x), 30):
                return False
        return False

    def _add_missed_by_greedy(self, table: sparse.csr_array, max_weight: float) -> int:
        """Add circuits that greedy covers miss; return their number, or zero if it is small."""
        n_added = 0
        columns = table.T.tocsr()
        for _ in range(20):
            cover = _greedy(table, columns, self._weight, self._rng)
            if self._weight[cover].sum() <= max_weight:
                n_added += self._add_missed_by_cover(cover.astype(np.float64), 10)
        return n_added if n_added > 20 else 0

    def _add_missed_by_cover(self, cover: FloatArray, tries: int) -> int:
        """Add circuits that contain no row of a cover; return their number."""
        n_added = 0
        costs = 1e4 * cover + self._rng.random(len(cover))
        for _ in range(tries):
            visited = self.circuits.minimize_cost(costs, 500)
            cheapest = visited[-1]
            if cover[cheapest].any():
                break
            n_added += sum(self._add(s) for s in visited[-6:] if not cover[s].any())
            costs[cheapest] += 3.0 * self._rng.random(len(cheapest))
        return n_added

    def _add(self, circuit: IntArray) -> bool:
        """Add a circuit if it is new and passes the exact check; return whether it was added."""
        rows = tuple(sorted(circuit.tolist()))
        if rows in self.sets or rows in self._refused:
            return False
        if not cancel_exactly([self._integer_rows[i] for i in rows]):
            self._refused.add(rows)
            return False
        self.sets[rows] = None
        return True

    def _table(self) -> sparse.csr_array:
        """Return the incidence matrix: a row for each circuit, a column for each data row."""
        sizes = [len(s) for s in self.sets]
        members = np.fromiter((i for s in self.sets for i in s), np.int64, sum(sizes))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        shape = (len(sizes), len(self._weight))
        return sparse.csr_array((np.ones(len(members)), members, starts), shape=shape)


def _greedy(
    table: sparse.csr_array,
    columns: sparse.csr_array,
    weight: FloatArray,
    rng: np.random.Generator,
) -> AnyArray:
    """Return a minimal cover, built from the rows that hit the most circuits per weight.

    The choice is randomised, and redundant rows are removed at the end.
    """
    cover = np.zeros(len(weight), dtype=bool)
    hits = np.zeros(table.shape[0], dtype=np.int64)
    members = np.split(columns.indices, columns.indptr[1:-1])
    while not hits.all():
        gain = (columns @ (hits == 0)) / weight * (1.0 + 0.3 * rng.random(len(weight)))
        chosen = int(gain.argmax())
        cover[chosen] = True
        hits[members[chosen]] += 1
    for i in rng.permutation(np.flatnonzero(cover)):
        if (hits[members[i]] > 1).all():
            hits[members[i]] -= 1
            cover[i] = False
    return cover
