r"""Population stability from counts: how far the rows of a later period have moved between bins.

With the shares p and q of base and later rows in the K cells of a column that have rows in either,
a constant being added to each count,

.. math:: \mathrm{PSI} = \sum_k (q_k - p_k) \log \frac{q_k}{p_k}

the sum of both Kullback-Leibler divergences. If nothing has changed, PSI / (1/n + 1/m) is nearly
chi-squared with K − 1 degrees of freedom, for n base and m later rows.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtri

from directrix._printing import printable, text_table
from directrix._typing import AnyArray, FloatArray
from directrix.moments.counts.bin_counts import BinCounts, require_same_bins
from directrix.tables.bins import Bins

#: Conventional readings of a population stability index.
SOME_CHANGE, LARGE_CHANGE = 0.1, 0.25
NOTE = (
    f"by convention stable below {SOME_CHANGE}, a large change from {LARGE_CHANGE}; noise is what "
    "19 of 20 columns stay below if nothing has changed"
)
#: Name of a later period that is given alone.
LATER = "later"
#: Probability that a column in which nothing has changed stays below the noise level.
_LEVEL = 0.95
#: Columns and bins that are printed before the rest is only counted.
_PRINTED, _MOVED = 20, 2


class BinShift(NamedTuple):
    """Shares of a bin in both periods.

    ``base`` and ``later`` are the shares of the rows, without smoothing. ``psi`` is what the bin
    adds to the index of its column.
    """

    bin: str
    base: float
    later: float
    psi: float


class ColumnStability(NamedTuple):
    """Stability of a column between two periods.

    ``period`` is the name of the later period. ``psi`` is the population stability index,
    ``expected`` its expectation if nothing has changed, (K − 1) (1/n + 1/m), and ``noise`` the
    level that it stays below in 19 of 20 cases if nothing has changed. ``reading`` is "within
    noise", "stable" (below 0.1), "some change" (below 0.25) or "large change".
    """

    period: str
    column: str
    psi: float
    expected: float
    noise: float
    reading: str
    bins: tuple[BinShift, ...]


@dataclass(frozen=True, eq=False)
class Stability:
    """Population stability of the columns of a table, the least stable first.

    Parameters
    ----------
    columns : tuple of ColumnStability
        For each period and column.
    n_base : float
        Rows of the base period.
    n_later : dict
        Rows of each later period.
    """

    columns: tuple[ColumnStability, ...]
    n_base: float
    n_later: dict[str, float]

    def to_frame(self, *, bins: bool = False) -> Any:
        """Return a pandas data frame with a line for each period and column.

        Parameters
        ----------
        bins : bool
            Whether to return a line for each bin instead.
        """
        # By name: only this method needs pandas, and this room must not depend on it.
        pd = importlib.import_module("pandas")
        if not bins:
            fields = ColumnStability._fields[:-1]
            return pd.DataFrame([column[:-1] for column in self.columns], columns=fields)
        rows = [(c.period, c.column, *shift) for c in self.columns for shift in c.bins]
        return pd.DataFrame(rows, columns=["period", "column", *BinShift._fields])

    def __str__(self) -> str:
        later = ", ".join(f"{name} {rows:,.0f}" for name, rows in self.n_later.items())
        lines = [f"population stability against {self.n_base:,.0f} base rows; rows: {later}", NOTE]
        several = len(self.n_later) > 1
        rows: list[tuple[str, ...]] = [("PSI", "expected", "noise", "reading", "column")]
        for column in self.columns[:_PRINTED]:
            numbers = (f"{x:.4f}" for x in (column.psi, column.expected, column.noise))
            moved = _moved_text(column.bins) if column.psi > column.noise else ""
            where = f"{column.column} in {column.period}" if several else column.column
            rows.append((*numbers, column.reading, printable(where + moved)))
        lines += text_table(rows, (3, 4), indent="  ")
        if len(self.columns) > _PRINTED:
            lines.append(f"  and {len(self.columns) - _PRINTED} more in .columns")
        return "\n".join(lines)


def stability(
    base: BinCounts, later: BinCounts | Mapping[str, BinCounts], smoothing: float = 0.5
) -> Stability:
    """Compare the rows of one or several later periods with those of a base period.

    Only counts are needed. Labels do not matter: counts of rows without labels may have any.

    Parameters
    ----------
    base : BinCounts
        For instance those that a card was trained on.
    later : BinCounts, or dict of them by name
        Later months, or other segments, with the same bins.
    smoothing : float
        Number that is added to every count of a bin that has rows in either period.

    Examples
    --------
    >>> from directrix import Binner
    >>> from directrix.moments import BinCounts, stability
    >>> rows = [["a"]] * 60 + [["b"]] * 40
    >>> binner = Binner().fit(rows)
    >>> base = BinCounts.of(binner, rows, [0] * 100)
    >>> later = BinCounts.of(binner, rows[30:] + rows[70:], [0] * 100)
    >>> print(f"{stability(base, later).columns[0].psi:.2f}")
    0.37
    """
    periods = dict(later) if isinstance(later, Mapping) else {LATER: later}
    cells = [base.cells(k).sum(axis=0) for k in range(len(base.bins))]
    return compare_cells(base.bins, cells, effective_rows(base), periods, smoothing)


def compare_cells(
    bins: Sequence[Bins],
    base: Sequence[AnyArray],
    n_base: float,
    later: Mapping[str, Any],
    smoothing: float,
) -> Stability:
    """Compare the counts of single columns with later counts.

    ``base`` is the weight of the base rows in each cell of each column, ``n_base`` their number;
    with weights that are no numbers of rows, the effective one.
    """
    if not later:
        msg = "there is no later period to compare with: give BinCounts, or a dict of them by name"
        raise ValueError(msg)
    found, n_later = [], {}
    for period, counts in later.items():
        if not isinstance(counts, BinCounts):
            msg = f"later must be BinCounts or a dict of them by name, not {type(counts).__name__}"
            raise TypeError(msg)
        require_same_bins(bins, counts.bins)
        n_later[period] = effective_rows(counts)
        if not (n_base and n_later[period]):
            msg = f"there are no rows in {'the base period' if not n_base else period}"
            raise ValueError(msg)
        for index, column in enumerate(bins):
            cells = counts.cells(index).sum(axis=0)
            sizes = n_base, n_later[period]
            found.append(_column(period, column, (base[index], cells), sizes, smoothing))
    found.sort(key=lambda column: -column.psi)
    return Stability(tuple(found), n_base, n_later)


def stability_index(base: AnyArray, later: AnyArray, smoothing: float = 0.5) -> FloatArray:
    """Return what each cell adds to the population stability index; their sum is the index.

    ``smoothing`` is added to every count of a cell that has rows in either.
    """
    if not smoothing >= 0:
        msg = f"smoothing must be a number that is not negative, not {smoothing!r}"
        raise ValueError(msg)
    used = (base > 0) | (later > 0)
    p, q = (counts[used] + smoothing for counts in (base, later))
    if not (p.all() and q.all()):
        msg = "a cell has rows in one period only, so the index is infinite: use smoothing=0.5"
        raise ValueError(msg)
    p, q = p / p.sum(), q / q.sum()
    parts = np.zeros(len(used))
    parts[used] = (q - p) * np.log(q / p)
    return parts


def _column(
    period: str,
    bins: Bins,
    cells: tuple[AnyArray, AnyArray],
    sizes: tuple[float, float],
    smoothing: float,
) -> ColumnStability:
    parts = stability_index(*cells, smoothing)
    base, later = (counts / (counts.sum() or 1.0) for counts in cells)
    shifts = tuple(
        BinShift(label, *values)
        for label, *values in zip(
            bins.labels, base.tolist(), later.tolist(), parts.tolist(), strict=True
        )
    )
    psi = float(parts.sum())
    freedom = int(np.count_nonzero(cells[0] + cells[1])) - 1
    noise, reading = psi_reading(psi, freedom, sizes)
    expected = freedom * (1.0 / sizes[0] + 1.0 / sizes[1])
    return ColumnStability(period, bins.name, psi, expected, noise, reading, shifts)


def psi_reading(psi: float, freedom: int, sizes: tuple[float, float]) -> tuple[float, str]:
    """Return the level that a stability index stays below by chance, and its reading in words.

    Degrees of freedom are cells less one, or parameters of a distribution; ``sizes`` are the
    effective numbers of rows of both periods.
    """
    scale = 1.0 / sizes[0] + 1.0 / sizes[1]
    noise = float(chdtri(freedom, 1.0 - _LEVEL)) * scale if freedom > 0 else 0.0
    if psi <= noise:
        return noise, "within noise"
    if psi < LARGE_CHANGE:
        return noise, "stable" if psi < SOME_CHANGE else "some change"
    return noise, "large change"


def effective_rows(counts: BinCounts, chosen: AnyArray | None = None) -> float:
    """Return the number of rows; weights that are not whole numbers make it the effective one.

    ``chosen`` says which classes are counted, by default all.
    """
    kept = np.ones(len(counts.classes), dtype=bool) if chosen is None else chosen
    groups = [group for part in counts.parts for group in compress(part, kept)]
    weight = float(sum(group.weight for group in groups))
    squares = weight if counts.exact else float(sum(group.weight_sq for group in groups))
    return weight**2 / squares if squares else 0.0


def _moved_text(bins: Sequence[BinShift]) -> str:
    ranked = sorted(bins, key=lambda shift: -shift.psi)[:_MOVED]
    parts = (f"{s.bin} {100 * s.base:.1f} % to {100 * s.later:.1f} %" for s in ranked if s.psi > 0)
    return f": {', '.join(parts)}"
