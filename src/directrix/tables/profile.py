"""TableProfile: what each column was in the rows of a fit, and what has changed in new rows.

A column has changed where a share of values that the fit hardly had (missing, far outside of the
range, nearer to zero, levels that are new) is impossible by chance, and large. Mild drift is left
to `directrix.monitoring`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from scipy.stats import hypergeom

from directrix.exceptions.columns import ColumnChange
from directrix.tables.bins import LevelBins

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.tables.table import Column, Table

#: Rows that are looked at: of larger tables so many that are evenly spread.
_FITTED_ROWS, _NEW_ROWS = 10_000, 4_096
#: Rows of numbers, and of tables with cells, that tell whether to look at so many; also a 64th.
_FIRST_NUMBERS, _FIRST_CELLS, _FIRST_SHARE = 128, 256, 64
#: Fewer new rows say nothing, as they may be of one customer; nor do fewer values with a problem.
_FEWEST_ROWS, _FEWEST = 20, 10
#: Probability of any warning about a table of exchangeable rows.
_LEVEL = 1e-6
#: The golden ratio: its multiples, modulo one, are spread evenly and have no period.
_GOLDEN = (5.0**0.5 - 1.0) / 2.0
#: Share of the values in each tail of the usual range.
_TAIL = 0.005
#: Values within these limits are never counted as outside of the range.
_UNLIMITED = float(np.finfo(np.float64).max)

#: What is counted in a column, and how much larger than in the fit its share must be. Values that
#: drift do not get far outside of the range, so that few of them are news.
PROBLEMS = {"missing": 0.1, "below": 0.04, "above": 0.04, "near zero": 0.04, "new": 0.1}
_MARGINS = np.array([*PROBLEMS.values()])[:, None]
#: Those that other units cause, of which zeros and missing values say nothing.
_OF_UNITS = slice(1, 4)
_HALF_OF_NEWS = 0.5 * float(_MARGINS[_OF_UNITS].min())
#: How much larger than in the fit the share of these is where a closer look may find a change.
_SUSPICIOUS = 0.002
#: Rows of the array of a profile: limits of usual values, the usual range, counts of the problems,
#: and numbers of rows.
_FLOOR, _CEILING, _LEAST, _LOW, _HIGH = range(5)
_COUNTS = slice(5, 5 + len(PROBLEMS))
_N_ROWS, _N_SIZED, _LEVEL_ROWS = range(_COUNTS.stop, _COUNTS.stop + 3)
N_SEEN = _LEVEL_ROWS + 1


@dataclass(frozen=True, eq=False)
class TableProfile:
    """What each column was in the rows of a fit.

    Parameters
    ----------
    seen : array of shape (N_SEEN, d)
        For each column: the limits far below and far above the usual range, and the distance from
        zero below which there are hardly values but zeros; the range of 99 % of the values; how
        many rows had each of the `PROBLEMS`; the number of rows, of those with a value that is not
        zero, and of those with which a level is no longer rare.
    """

    seen: FloatArray

    @classmethod
    def of_numbers(cls, X: Any, weight: Any = None) -> Self | None:
        """Return the profile of an array of numbers; None for sparse rows."""
        if sparse.issparse(X):
            return None
        return cls._of(np.asarray(X), weight, ["number"] * X.shape[1])

    @classmethod
    def of_bins(cls, binner: Any, table: Table, weight: Any = None) -> Self:
        """Return the profile of a table that was read by a fitted binner.

        Levels without a bin count as new: rare ones that the rows of the binner had say how many
        there are in new rows. A level is without a bin if the *other* rows of the fit have it too
        rarely, as in new rows, so that those with one row too many count.
        """
        made = cls._of(table.values, weight, [bins.kind for bins in binner.bins_])
        new, n_rows = made.seen[_COUNTS][-1], made.seen[_N_ROWS]
        for k, bins in enumerate(binner.bins_):
            if isinstance(bins, LevelBins) and sum(bins.weights) > 0:
                of_levels = np.array(bins.weights[2:])
                scarce = of_levels[of_levels < binner.min_level_rows + 1].sum()
                new[k] = n_rows[k] * (bins.weights[1] + scarce) / sum(bins.weights)
        made.seen[_LEVEL_ROWS] = max(1.0, binner.min_level_rows)
        return made

    @classmethod
    def _of(cls, values: FloatArray, weight: Any, kinds: Sequence[str]) -> Self:
        kept = _spread(len(values), _FITTED_ROWS)
        values = values[kept]
        weight = np.ones(len(values)) if weight is None else np.asarray(weight)[kept]
        seen = np.zeros((N_SEEN, len(kinds)))
        seen[_N_ROWS], seen[_LEVEL_ROWS] = len(values), 1.0
        for k, kind in enumerate(kinds):
            seen[: _COUNTS.start, k] = _limits(values[:, k], kind)
        made = cls(seen)
        share = weight / (weight.sum() or 1.0)
        seen[_COUNTS][-1] = len(values)  # more could not be
        problems = made._problems(values, None)
        seen[_COUNTS][:-1] = [len(values) * (share @ each) for each in problems[:-1]]
        seen[_N_SIZED] = len(values) * (share @ _sized(values, problems))
        return made

    @property
    def is_valid(self) -> bool:
        """Whether there are rows, and no more of them with a problem."""
        n_rows, counts = self.seen[_N_ROWS], self.seen[_COUNTS]
        possible = (counts >= 0.0) & (counts <= n_rows * (1.0 + 1e-9))
        rows = n_rows.min() >= 1.0 and self.seen[_N_SIZED].min() >= 0.0
        return bool(possible.all() and rows and self.seen[_LEVEL_ROWS].min() > 0.0)

    def changes(
        self, values: Any, column_of: Callable[[int], Column], cells: AnyArray | None = None
    ) -> list[ColumnChange]:
        """Return the columns of new rows that have changed, those that have changed most first.

        Parameters
        ----------
        values : array of shape (n, d)
        column_of : callable
            Returns the column at a position.
        cells : array of shape (n, d), optional
            Cells of a binner, for its levels.
        """
        n_rows = values.shape[0]
        if n_rows < _FEWEST_ROWS or sparse.issparse(values):
            return []
        first = max(_FIRST_NUMBERS if cells is None else _FIRST_CELLS, n_rows // _FIRST_SHARE)
        kept = _spread(n_rows, first)
        suspects = self._suspects(values[kept], None if cells is None else cells[kept])
        level = _LEVEL / (len(PROBLEMS) * len(suspects))
        found = []
        for k in np.flatnonzero(suspects).tolist():
            column, of_cells = slice(k, k + 1), None if cells is None else cells[:, k : k + 1]
            profile = TableProfile(self.seen[:, column])
            worst = profile._worst_problem(values[:, column], of_cells, level)
            if worst is not None:
                made = profile._change(k, worst[0], values[:, column], column_of(k), of_cells)
                found.append((worst[1], made))
        if found and self._is_one_row(values[kept], [made.position for _, made in found]):
            return []
        return [change for _, change in sorted(found, key=lambda each: -each[0])]

    def _suspects(self, values: Any, cells: AnyArray | None) -> AnyArray:
        """Return in which columns a closer look may find a change."""
        if cells is not None:
            ones = np.ones(len(values), np.float32)
            counts = ones @ self._problems(values, cells).astype(np.float32)
            large = counts >= np.maximum(len(values) * self._suspicious, 3.0)
            return np.asarray(large.any(axis=0))
        floor, ceiling, least = self.seen[:_LOW]
        outside = np.abs(values) < least
        outside &= (values != 0.0) | self._without_zeros
        outside |= values < floor
        outside |= values > ceiling
        if not outside.any():
            return np.zeros(len(least), dtype=bool)
        often = np.where(self.seen[_COUNTS][_OF_UNITS].any(axis=0), 3, 2)
        often = np.maximum(often, _HALF_OF_NEWS * len(values))
        return np.asarray(np.add.reduce(outside, axis=0) >= often)

    def _is_one_row(self, values: AnyArray, changed: Sequence[int]) -> bool:
        """Return whether rows are one row in variations, as an explanation of its score makes them.

        Half of the columns beside those that have changed, and at least two, then have one value,
        which is not the zero of many columns of numbers.
        """
        is_text = self.seen[_FLOOR] == -_UNLIMITED
        same = (values == values[0]).all(axis=0) & ((values[0] != 0.0) | is_text)
        n_same, n_others = np.delete(same, changed).sum(), len(same) - len(changed)
        return bool(n_same >= max(2, n_others / 2))

    def _worst_problem(
        self, values: Any, cells: AnyArray | None, level: float
    ) -> tuple[int, float] | None:
        """Return the position of the worst of the `PROBLEMS` of one column, and its excess.

        None if none of them is both large and beyond chance.
        """
        kept = _spread(len(values), _NEW_ROWS)
        part = values[kept]
        problems = self._problems(part, None if cells is None else cells[kept])
        counts = problems.sum(axis=1).ravel()
        totals, fitted = np.full(len(counts), len(part)), np.full(len(counts), self.seen[_N_ROWS])
        totals[_OF_UNITS], fitted[_OF_UNITS] = _sized(part, problems).sum(), self.seen[_N_SIZED, 0]
        before = self.seen[_COUNTS][:, 0]
        excess = counts / np.maximum(totals, 1) - before / np.maximum(fitted, 1.0)
        changed = np.flatnonzero((excess >= _MARGINS[:, 0]) & (counts >= _FEWEST)).tolist()
        beyond = [k for k in changed if self._chance(k, counts[k], fitted[k], totals[k]) < level]
        worst = max(beyond, key=lambda k: float(excess[k]), default=None)
        return None if worst is None else (worst, float(excess[worst]))

    @property
    def _without_zeros(self) -> AnyArray:
        """Columns in which all values of the fit have a size: zeros are news there."""
        n_known = self.seen[_N_ROWS] - self.seen[_COUNTS][0]
        return np.asarray(self.seen[_N_SIZED] >= np.maximum(n_known * (1.0 - 1e-9), _FEWEST_ROWS))

    @cached_property
    def _suspicious(self) -> FloatArray:
        """Shares of values with each problem that are a reason to look at more rows."""
        more = 0.8 * _MARGINS
        more[_OF_UNITS] = _SUSPICIOUS
        shares: FloatArray = self.seen[_COUNTS] / self.seen[_N_ROWS] + more
        return shares

    def _problems(self, values: Any, cells: AnyArray | None) -> AnyArray:
        """Return for each of the `PROBLEMS` which values have it."""
        floor, ceiling, least = self.seen[:_LOW]
        near = np.abs(values) < least
        near &= (values != 0.0) | self._without_zeros
        new = np.zeros_like(near)
        if cells is not None:
            new = (cells == 1) & (self.seen[_COUNTS][-1] < self.seen[_N_ROWS])
        return np.array([np.isnan(values), values < floor, values > ceiling, near, new])

    def _chance(self, index: int, count: float, n_fitted: float, n_new: float) -> float:
        """Return the probability of so many problems in new rows, given all rows of both.

        It is hypergeometric if rows are exchangeable. Levels become rare with all of their rows, so
        that for new ones the number of levels counts, not that of rows.
        """
        before = self.seen[_COUNTS][index, 0]
        if index == len(PROBLEMS) - 1:
            run = self.seen[_LEVEL_ROWS, 0]
            run_of_new = max(1.0, n_new * run / n_fitted)
            before, n_fitted = before / run, n_fitted / run
            count, n_new = count / run_of_new, n_new / run_of_new
        known, many, new = int(np.ceil(before)), int(count), int(n_new)
        return float(hypergeom.sf(many - 1, max(int(n_fitted), known) + new, known + many, new))

    def _change(
        self, k: int, index: int, values: Any, column: Column, cells: AnyArray | None
    ) -> ColumnChange:
        """Return a change of a column, counted in all rows."""
        has_it = self._problems(values, cells)[index].ravel()
        problem, seen = [*PROBLEMS][index], self.seen.ravel()
        limits: tuple[Any, ...] = (None, *seen[:_LOW].tolist(), None)
        limit = limits[index]
        if problem == "new":
            codes = values[has_it].ravel()
            limit = next((column.levels[int(code)] for code in codes[codes >= 0.0]), "missing")
        return ColumnChange(
            k,
            column.name,
            problem,
            limit,
            int(has_it.sum()),
            len(has_it),
            float(seen[_COUNTS][index] / seen[_N_ROWS]),
            (float(seen[_LOW]), float(seen[_HIGH])),
        )


def _sized(values: AnyArray, problems: AnyArray) -> AnyArray:
    """Return which values have a size that depends on units: all but zero, unless that is news."""
    missing, below, above, near = problems[:4]
    sized: AnyArray = ~missing & ((values != 0.0) | below | above | near)
    return sized


def _limits(values: AnyArray, kind: str) -> tuple[float, ...]:
    """Return the limits of a column and its usual range; without limits for texts."""
    usual = values[np.isfinite(values)]
    if kind == "text" or not len(usual):
        return -_UNLIMITED, _UNLIMITED, 0.0, 0.0, 0.0
    low, high = _tails(usual)
    # Half the range on both sides, which drift does not cross; a new sign is news in any case.
    rounding = 1e-6 * max(abs(low), abs(high))
    step = 0.5 * (high - low) + rounding
    floor = max(low - step, -rounding) if low >= 0.0 else low - step
    ceiling = min(high + step, rounding) if high <= 0.0 else high + step
    sizes = np.abs(usual[usual != 0.0])
    least = 0.5 * _tails(sizes)[0] if len(sizes) else 0.0
    if kind == "date":  # which are later every day
        ceiling, least = _UNLIMITED, 0.0
    return floor, ceiling, least, low, high


def _tails(values: AnyArray) -> tuple[float, float]:
    """Return the values that few are below, and above."""
    last = len(values) - 1
    k = int(_TAIL * last)
    ordered = np.partition(values, (k, last - k))
    return float(ordered[k]), float(ordered[last - k])


def _spread(n_rows: int, most: int) -> Any:
    """Return the position of one row in each of some parts, always the same; of few rows all."""
    if n_rows <= most:
        return slice(None)
    parts = np.arange(most)
    places = parts + parts * _GOLDEN % 1.0  # one in each part, without a period
    return (places * (n_rows / most)).astype(np.intp)
