"""Lower bounds of the zero-one loss over all hyperplanes, by implicit hitting sets."""

from __future__ import annotations

from math import ceil
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from directrix.solve._circuits import Circuits, as_integers, cancel_exactly
from directrix.solve._merged_rows import MergedRows, merge_rows

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

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
