"""FeatureMap: numeric features of a raw table, by a map that is fixed before the rows are read."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray

#: Ways to make features of a table.
MAPS = ("auto", "linear", "splines", "cosines")
#: Quantiles at which the pieces of a linear spline meet; it is constant beyond the outer ones.
_QUANTILES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
#: Rows of a level, and of missing values, without which it has no indicator.
_LEAST_ROWS = 10
_N_COSINES = 300
#: Rows between which the bandwidth of the cosines is the median distance.
_DISTANT_ROWS = 500


@dataclass(frozen=True)
class MappedColumn:
    """What a map makes of one column of a table.

    ``kind`` is that of the column: "number", "boolean", "date" or "text". ``median`` and
    ``deviation`` of its numbers fill missing values and scale it for cosines; ``knots`` are those
    of its spline; ``levels`` are the texts with an indicator; ``missing`` says whether missing
    values have one.
    """

    name: str
    kind: str
    median: float = 0.0
    deviation: float = 1.0
    knots: tuple[float, ...] = ()
    levels: tuple[str, ...] = ()
    missing: bool = False


@dataclass(frozen=True)
class FeatureMap:
    r"""Map of a raw table to numbers, learned from rows that are read before the pass.

    The features stand in blocks: ``raw`` (numbers and booleans as they are, dates as days, missing
    values as the median), ``levels`` (an indicator of each text with ten rows or more), ``missing``
    (an indicator of missing values), ``splines`` (hat functions, which are linear between quantiles
    of a number and constant beyond the outer ones), and ``cosines``:

    .. math:: \cos(\omega_j^\top z + b_j), \qquad \omega_j \sim N(0, I / h^2),\quad
              b_j \sim U(0, 2\pi)

    of the standardised raw features z, with h the median distance of rows (Rahimi and Recht, 2007).
    A text that was not seen has no indicator.

    Parameters
    ----------
    columns : tuple of MappedColumn
    n_rows : int
        Number of rows from which the map was learned.
    raw : bool
        Whether numbers are features as they are.
    bandwidth : float
        The bandwidth h of the cosines; 0 without cosines.
    seed : int
        Draws ω and b.
    n_folds : int
        Folds by hash that `summarize` gives the rows if none are asked for, so that a summary made
        ``like=`` another has the same; 0 for no folds.

    Examples
    --------
    >>> from directrix.moments import FeatureMap
    >>> from directrix.tables import Table
    >>> table = Table.of([[float(k), "ab"[k % 2]] for k in range(40)])
    >>> made = FeatureMap.learn(table, "linear")
    >>> made.feature_names
    ('x0', 'x1 = a', 'x1 = b')
    >>> made.transform(table)[:2]
    array([[0., 1., 0.],
           [1., 0., 1.]])
    """

    columns: tuple[MappedColumn, ...]
    n_rows: int
    raw: bool = True
    bandwidth: float = 0.0
    seed: int = 0
    n_folds: int = 0

    @classmethod
    def learn(cls, table: Any, features: str = "auto", seed: int = 0) -> FeatureMap:
        """Learn the map from the rows of a `Table`.

        ``features`` is "linear" for raw numbers, levels and missing values, "splines" for splines
        in place of raw numbers, "auto" for both, or "cosines" for both and cosines.
        """
        if features not in MAPS:
            msg = f"features must be one of {', '.join(map(repr, MAPS))}, not {features!r}"
            raise ValueError(msg)
        if not len(table.values):
            msg = "there are no rows to learn a feature map from"
            raise ValueError(msg)
        bent = features != "linear"
        pairs = zip(table.columns, table.values.T, strict=True)
        columns = tuple(_learned(column, values, bent=bent) for column, values in pairs)
        made = cls(columns, len(table.values), features != "splines", seed=seed)
        twice = [name for name, count in Counter(made.feature_names).items() if count > 1]
        if twice:
            msg = f"two features would be named {twice[0]!r}: rename the column of that name"
            raise ValueError(msg)
        if features != "cosines":
            return made
        z = made._scaled(table.values)
        rows = np.random.default_rng(seed).permutation(len(z))[: 2 * _DISTANT_ROWS]
        half = len(rows) // 2
        apart = np.linalg.norm(z[rows[:half]] - z[rows[half : 2 * half]], axis=1)
        bandwidth = float(np.median(apart)) if half else 0.0
        return cls(columns, len(table.values), bandwidth=bandwidth or 1.0, seed=seed)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, block by block."""
        numbers = [column for column in self.columns if column.kind != "text"]
        names = [column.name for column in numbers if self.raw]
        names += [f"{c.name} = {level}" for c in self.columns for level in c.levels]
        names += [f"{column.name} missing" for column in self.columns if column.missing]
        names += [f"{c.name} near {knot:.6g}" for c in numbers for knot in c.knots]
        return (*names, *(f"cosine {k}" for k in range(_N_COSINES if self.bandwidth else 0)))

    @property
    def blocks(self) -> dict[str, AnyArray]:
        """Indices of the features of each block that has any."""
        numbers = sum(column.kind != "text" for column in self.columns)
        sizes = {
            "raw": numbers * self.raw,
            "levels": sum(len(column.levels) for column in self.columns),
            "missing": sum(column.missing for column in self.columns),
            "splines": sum(len(column.knots) for column in self.columns),
            "cosines": _N_COSINES if self.bandwidth else 0,
        }
        ends = np.cumsum(list(sizes.values()))
        ranges = zip(sizes, ends, sizes.values(), strict=True)
        return {name: np.arange(end - size, end) for name, end, size in ranges if size}

    @property
    def sets(self) -> dict[str, IntArray]:
        """Indices of nested sets of features, from the smallest, by what each adds to it.

        The first has raw numbers, levels and missing values; then come splines, and cosines.
        """
        blocks = self.blocks
        richer = [name for name in ("splines", "cosines") if name in blocks and self.raw]
        n_least = len(self.feature_names) - sum(len(blocks[name]) for name in richer)
        sets = {"": np.arange(n_least)}
        for number, name in enumerate(richer, 1):
            sets[" and ".join(richer[:number])] = np.arange(blocks[name][-1] + 1)
        return sets

    def transform(self, table: Any) -> FloatArray:
        """Return the features of a `Table` whose columns are of the kinds of this map."""
        given = list(zip(self.columns, table.columns, table.values.T, strict=True))
        blocks = [self._numbers(table.values)] if self.raw else []
        for column, read, codes in given:
            level_of = {level: code for code, level in enumerate(read.levels)}
            wanted = [level_of.get(level, -1) for level in column.levels]
            blocks.append(codes[:, None] == np.array(wanted))
        blocks += [np.isnan(values)[:, None] for column, _, values in given if column.missing]
        blocks += [_hats(values, column.knots) for column, _, values in given if column.knots]
        if self.bandwidth:
            rng, z = np.random.default_rng(self.seed), self._scaled(table.values)
            frequencies = rng.normal(size=(_N_COSINES, z.shape[1])) / self.bandwidth
            blocks.append(np.cos(z @ frequencies.T + rng.uniform(0, 2 * np.pi, _N_COSINES)))
        return np.concatenate([np.zeros((len(table.values), 0)), *blocks], axis=1)

    def _numbers(self, values: FloatArray) -> FloatArray:
        """Return the columns that are not texts, with missing values filled."""
        numbers = [k for k, column in enumerate(self.columns) if column.kind != "text"]
        medians = np.array([self.columns[k].median for k in numbers])
        filled: FloatArray = np.where(np.isnan(values[:, numbers]), medians, values[:, numbers])
        return filled

    def _scaled(self, values: FloatArray) -> FloatArray:
        numbers = [column for column in self.columns if column.kind != "text"]
        center, scale = np.array([(c.median, c.deviation) for c in numbers]).reshape(-1, 2).T
        scaled: FloatArray = (self._numbers(values) - center) / scale
        return scaled

    def state(self) -> dict[str, Any]:
        """Return the map as JSON holds it."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: Any) -> FeatureMap:
        """Return the map with a state."""
        return cls(**{**state, "columns": tuple(map(_column, state["columns"]))})


def _learned(column: Any, values: FloatArray, *, bent: bool) -> MappedColumn:
    """Return what the rows of a table tell about a column."""
    present = values[~np.isnan(values)]
    missing = len(values) - len(present) >= _LEAST_ROWS
    if column.kind == "text":
        counts = np.bincount(present.astype(np.intp), minlength=len(column.levels))
        levels = zip(column.levels, counts, strict=True)
        kept = tuple(level for level, count in levels if count >= _LEAST_ROWS)
        return MappedColumn(column.name, "text", levels=kept, missing=missing)
    finite = present[np.isfinite(present)]
    if not len(finite):
        return MappedColumn(column.name, column.kind, missing=missing)
    median, deviation = float(np.median(finite)), float(finite.std())
    knots: tuple[float, ...] = ()
    if bent and column.kind != "boolean":
        knots = tuple(np.unique(np.quantile(finite, _QUANTILES)).tolist())
    knots = knots if len(knots) > 1 else ()
    return MappedColumn(column.name, column.kind, median, deviation or 1.0, knots, (), missing)


def _hats(values: FloatArray, knots: tuple[float, ...]) -> FloatArray:
    """Return the hat function of each knot; zeros where the value is missing."""
    hats = [np.interp(values, knots, unit) for unit in np.eye(len(knots))]
    return np.where(np.isnan(values), 0.0, hats).T


def _column(state: dict[str, Any]) -> MappedColumn:
    tuples = {name: tuple(state[name]) for name in ("knots", "levels")}
    return MappedColumn(**{**state, **tuples})
