"""A proof that no hyperplane makes fewer errors: an implicit hitting set."""

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

_HIT = 1.0 - 1e-4  # a set is hit by a fractional cover from here on
_INFEASIBLE = 2  # status of SciPy's solvers


class Certificate(NamedTuple):
    """What a search for a lower bound ended with.

    Parameters
    ----------
    lower_bound : float
        No hyperplane has less weight of rows at margin zero or less.
    optimal : bool
        Whether that is the upper bound given.
    n_sets : int
        Sets of rows, each checked exactly, that the bound rests on.
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
    r"""Return a lower bound of the zero-one loss of any hyperplane.

    .. math:: \min_{e \in \{0, 1\}^n} \sum_i \omega_i e_i \quad \text{where} \quad
              \sum_{i \in S} e_i \ge 1 \text{ for every circuit } S

    The rows of a circuit cannot all be on their right side, so the wrong rows hit every circuit.
    Circuits are added where the best cover of those known so far misses them: first of the linear
    program, whose dual is a bound by itself, then, if weights are whole numbers, of the question
    whether a cover of weight K exists, for one K after the other. Each circuit is checked in exact
    arithmetic before it counts. That no cover of weight K exists is HiGHS's word.

    Parameters
    ----------
    rows : array of shape (n, q)
        Each row with its constant, times its label of −1 or 1. Separability does not depend on
        units, so give features as they are: whole numbers are checked fastest.
    weight : array of shape (n,), optional
    upper : float
        A loss that is reached, as by `vertex_search`; the search ends when the bound meets it.
    seconds : float
        Of processor time, after which to stop with the bound so far.
    rng : Generator or int

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
    until = process_time() + seconds
    bound, n_sets = merged.always_wrong, 0
    if merged.rows.shape[1]:
        cover = _Cover(merged, np.random.default_rng(rng))
        if cover.circuits.exist:
            bound += cover.bound(upper - merged.always_wrong, until)
            n_sets = len(cover.sets)
    return Certificate(bound, bound >= upper, n_sets)


class _Cover:
    """The circuits known so far."""

    def __init__(self, merged: MergedRows, rng: np.random.Generator) -> None:
        self.circuits = Circuits(np.ascontiguousarray(merged.rows))
        self.sets: dict[tuple[int, ...], None] = {}
        self._refused: set[tuple[int, ...]] = set()
        self._weight, self._rng = merged.weight, rng
        self._whole = as_integers(merged.raw)

    def bound(self, upper: float, until: float) -> float:
        """Return a lower bound of the weight of a cover."""
        bound = self._fractional(upper, until)
        if (self._weight != np.round(self._weight)).any():
            return bound
        # Losses are whole numbers.
        bound = float(ceil(bound - 1e-9))
        while bound < upper and process_time() < until:
            if not self._none_of_weight(bound, until):
                break
            bound += 1.0
        return bound

    def _fractional(self, upper: float, until: float) -> float:
        """Add circuits that the best fractional cover misses, as long as that raises it."""
        part, bound, stalled = np.zeros(len(self._weight)), 0.0, 0
        while process_time() < until and bound < upper and stalled <= 8:
            found = self._missed_by(part, until)
            if not self.sets:
                break
            table = self._table()
            solved = linprog(self._weight, A_ub=-table, b_ub=-np.ones(len(self.sets)))
            if solved.status != 0:
                break
            # By weak duality, with the multipliers made feasible first.
            price = np.maximum(-solved.ineqlin.marginals, 0.0)
            raised = float(price.sum() / max(1.0, float((table.T @ price / self._weight).max())))
            stalled = stalled + 1 if raised < bound + 0.005 else 0
            bound, part = max(bound, raised), solved.x
            if not found:
                break
            # Circuits hit many times over would only slow down what follows.
            loose = (table @ part > 1.5) & (len(self.sets) > 3000)
            self.sets = {s: None for s, drop in zip(self.sets, loose, strict=True) if not drop}
        return bound

    def _missed_by(self, part: FloatArray, until: float) -> int:
        """Add circuits that a fractional cover hits by less than one; return how many."""
        found = 0
        for k in range(30):
            if process_time() >= until:
                break
            blur = 0.02 if k == 0 else 0.3 * self._rng.random()
            costs = part + blur * self._rng.random(len(part))
            for _ in range(6):
                way = self.circuits.cheap(costs)
                ends = way[-1]
                fresh = sum(self._add(s) for s in way if part[s].sum() < _HIT)
                found += fresh
                if part.any():
                    sets = self.circuits.cheap_sets(part, self._rng)
                    found += sum(self._add(s) for s in sets if part[s].sum() < _HIT)
                if not fresh:
                    break
                costs[ends] += self._rng.random(len(ends))
        return found

    def _none_of_weight(self, most: float, until: float) -> bool:
        """Return whether no cover of this weight exists; False also where time is up."""
        while process_time() < until:
            table = self._table()
            if self._missed_by_greedy(table, most + 1.0):
                continue
            answer = milp(
                self._weight,
                constraints=[
                    LinearConstraint(table, lb=1.0),
                    LinearConstraint(self._weight[np.newaxis], ub=most),
                ],
                integrality=np.ones(len(self._weight)),
                bounds=Bounds(0.0, 1.0),
                # Any cover will do, so the first one ends the search.
                options={"mip_rel_gap": 1.0, "time_limit": max(until - process_time(), 0.1)},
            )
            if answer.status == _INFEASIBLE:
                return True
            if answer.x is None or not self._missed_by_cover(np.round(answer.x), 30):
                return False
        return False

    def _missed_by_greedy(self, table: sparse.csr_array, most: float) -> int:
        """Add circuits that covers made greedily miss; return how many, zero if but a few."""
        found = 0
        columns = table.T.tocsr()
        for _ in range(20):
            cover = _greedy(table, columns, self._weight, self._rng)
            if self._weight[cover].sum() <= most:
                found += self._missed_by_cover(cover.astype(np.float64), 10)
        return found if found > 20 else 0

    def _missed_by_cover(self, cover: FloatArray, tries: int) -> int:
        """Add circuits without any row of a cover; return how many."""
        found = 0
        costs = 1e4 * cover + self._rng.random(len(cover))
        for _ in range(tries):
            way = self.circuits.cheap(costs, 500)
            ends = way[-1]
            if cover[ends].any():
                break
            found += sum(self._add(s) for s in way[-6:] if not cover[s].any())
            costs[ends] += 3.0 * self._rng.random(len(ends))
        return found

    def _add(self, circuit: IntArray) -> bool:
        """Add a circuit if it is new, and one indeed."""
        name = tuple(sorted(circuit.tolist()))
        if name in self.sets or name in self._refused:
            return False
        if not cancel_exactly([self._whole[i] for i in name]):
            self._refused.add(name)
            return False
        self.sets[name] = None
        return True

    def _table(self) -> sparse.csr_array:
        """Return a row for each circuit, a column for each row it is made of."""
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
    """Return a cover: the row that hits most, by weight and with some chance, time after time."""
    cover = np.zeros(len(weight), dtype=bool)
    hits = np.zeros(table.shape[0], dtype=np.int64)
    members = np.split(columns.indices, columns.indptr[1:-1])
    while not hits.all():
        worth = (columns @ (hits == 0)) / weight * (1.0 + 0.3 * rng.random(len(weight)))
        taken = int(worth.argmax())
        cover[taken] = True
        hits[members[taken]] += 1
    for i in rng.permutation(np.flatnonzero(cover)):
        if (hits[members[i]] > 1).all():
            hits[members[i]] -= 1
            cover[i] = False
    return cover
