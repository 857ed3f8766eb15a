r"""Differentially private releases of counts, with noise and accounting by OpenDP.

Two tables are neighbours if one has one row more. Of each class, a release has three vectors of
whole numbers, each with discrete Gaussian noise: the number of rows; the rows in each cell of each
column; and, if there are enough rows, centred cross sums of the public codes of two columns. A row
belongs to one class, so that in the Euclidean norm it changes them by at most

.. math:: \Delta_1 = 1, \qquad \Delta_2 = \sqrt{d}, \qquad
          \Delta_3 = \Bigl(\sum_{j < k} b_j b_k\Bigr)^{1/2}, \qquad
          b_j = \max_{\text{cells } c} \sum_{f} (2 f(c) - Q)^2

with d columns and the codes f of column j, whole numbers from 0 to Q. With noise of scale
:math:`\sigma_i` the release is :math:`\rho`-zCDP for :math:`\rho = \sum_i \Delta_i^2 / (2
\sigma_i^2)` (Bun and Steinke 2016, Proposition 1.6 and Lemma 2.3; Canonne, Kamath and Steinke 2020
for the discrete Gaussian), which OpenDP converts into :math:`(\epsilon, \delta)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from math import inf, nextafter, sqrt
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import MissingLibraryError
from directrix.exceptions.releases import NotReleasableError
from directrix.tables.binner import Binner
from directrix.tables.counts.disclosure import CODE_RANGE, PublicCodes, PublishedClass, Queries

#: Shares of ρ of the number of rows, of cells and of cross sums.
_WITH_CROSS = {"rows": 0.02, "cells": 0.68, "cross": 0.3}
_CELLS_ONLY = {"rows": 0.02, "cells": 0.98}
#: Variance of a centred code of equally frequent bins.
_CODE_VARIANCE = CODE_RANGE**2 / 3.0
#: Standard deviation of the noise of a correlation below which cross sums are worth their share.
_WORTHWHILE = 0.1
#: Standard deviation of the noise of a cell, as a share of its rows, below which cells are useful.
_USEFUL = 0.25
#: Scales are larger by this share than the budget needs: the rounding of sums and roots.
_MARGIN = 1e-9

#: Beyond it the conversion of budgets overflows, and nothing would be private.
_LARGEST_EPSILON = 100.0

_CONTENTS = ("auto", "cells", "cross")
_NEIGHBOURS = "add or remove one row"

# ── Sensitivities ─────────────────────────────────────────────────────────────────────────────────


def centred_codes(codes: PublicCodes) -> IntArray:
    """Return 2 f − Q for the codes f of each column, and zero in the cells of other columns.

    Centred codes have half the largest size, so that the noise of cross sums is a quarter. Codes
    that private releases leave out are zero: squares of ranks would double the noise.
    """
    centred = np.zeros_like(codes.matrix)
    for k in range(len(codes.starts) - 1):
        own = slice(*codes.starts[k : k + 2]), slice(*codes.code_starts[k : k + 2])
        centred[own] = 2 * codes.matrix[own] - CODE_RANGE
    made: IntArray = np.where(codes.is_private, centred, 0)
    return made


def released_pairs(codes: PublicCodes) -> AnyArray:
    """Return which pairs of codes have cross sums in a private release."""
    kept = codes.is_private
    pairs: AnyArray = codes.of_two_columns.astype(bool) & kept[:, None] & kept
    return pairs


def centred_cross(queries: Queries, codes: PublicCodes) -> IntArray:
    """Return sums of products of centred codes of two columns, of shape (classes, codes, codes)."""
    sums = queries.cells @ codes.matrix
    rows = _rows_of(queries, codes)[:, None, None]
    both = sums[:, :, None] + sums[:, None, :]
    centred = 4 * queries.cross - 2 * CODE_RANGE * both + CODE_RANGE**2 * rows
    made: IntArray = np.where(released_pairs(codes), centred, 0)
    return made


def _rows_of(queries: Queries, codes: PublicCodes) -> IntArray:
    rows: IntArray = queries.cells[:, : int(codes.starts[1])].sum(axis=1)
    return rows


def squared_sensitivities(codes: PublicCodes) -> dict[str, int]:
    """Return the largest squared Euclidean change of rows, cells and cross sums by one row."""
    norms = (centred_codes(codes) ** 2).sum(axis=1)
    largest = [int(part.max()) for part in np.split(norms, codes.starts[1:-1])]
    cross = (sum(largest) ** 2 - sum(value**2 for value in largest)) // 2
    return {"rows": 1, "cells": len(largest), "cross": cross}


# ── Noise and accounting, by OpenDP ───────────────────────────────────────────────────────────────


def is_installed() -> bool:
    """Return whether OpenDP is installed."""
    return find_spec("opendp") is not None


def _opendp() -> Any:
    """Return OpenDP, which makes all noise and converts all budgets."""
    try:
        import opendp.prelude as opendp
    except ImportError:
        purpose = "the noise of private releases is made by OpenDP"
        raise MissingLibraryError(purpose, "opendp") from None
    opendp.enable_features("contrib")
    return opendp


def _gaussian(scale: float) -> Any:
    """Return OpenDP's discrete Gaussian mechanism for vectors of whole numbers."""
    opendp = _opendp()
    domain = opendp.vector_domain(opendp.atom_domain(T="i64"))
    return opendp.m.make_gaussian(domain, opendp.l2_distance(T="f64"), scale=scale)


def _above(squared: float) -> float:
    """Return a number that is not below the square root."""
    return nextafter(sqrt(squared), inf)


@dataclass(frozen=True)
class Budget:
    """Scales of the noise of a release, and what it costs.

    Parameters
    ----------
    epsilon, delta : float
        What the release costs at most, by neighbouring tables of which one has one row more.
    sensitivity, scale : dict
        Largest Euclidean change by one row, and scale of the noise, of the vectors that are
        released: "rows", "cells" and "cross".
    """

    epsilon: float
    delta: float
    sensitivity: Mapping[str, float]
    scale: Mapping[str, float]

    @classmethod
    def of(
        cls, codes: PublicCodes, epsilon: float, delta: float, shares: Mapping[str, float]
    ) -> Budget:
        """Return the smallest noise within a budget, of which each vector has a share."""
        unit, squared = _unit_scale(epsilon, delta), squared_sensitivities(codes)
        shares = {name: share for name, share in shares.items() if squared[name]}
        sensitivity = {name: _above(squared[name]) for name in shares}
        scale = {
            name: unit * sensitivity[name] / sqrt(share) * (1.0 + _MARGIN)
            for name, share in shares.items()
        }
        budget = cls(epsilon, delta, sensitivity, scale)
        if budget.spent() > epsilon:
            msg = f"the noise for ε = {epsilon:g} would cost {budget.spent():g}"
            raise ArithmeticError(msg)
        return budget

    def spent(self) -> float:
        """Return ε at this δ of all vectors together, as OpenDP accounts for it."""
        rho = sum(_gaussian(self.scale[k]).map(self.sensitivity[k]) for k in self.scale)
        opendp = _opendp()
        profile = opendp.c.make_zCDP_to_approxDP(_gaussian(1.0)).map(_above(2.0 * rho))
        return float(profile.epsilon(self.delta))

    def noisy(self, name: str, values: IntArray) -> IntArray:
        """Return whole numbers with the noise of one of the vectors."""
        if name not in self.scale or not values.size:
            return np.zeros_like(values)
        released = _gaussian(self.scale[name])(values.ravel().tolist())
        return np.array(released, dtype=np.int64).reshape(values.shape)

    def statement(self) -> dict[str, Any]:
        """Return what a file says of the release, as JSON."""
        return {
            "kind": "private",
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": _NEIGHBOURS,
            "mechanism": f"discrete Gaussian, OpenDP {_opendp().__version__}",
            "content": "cross" if "cross" in self.scale else "cells",
            **{f"sensitivity_{name}": value for name, value in self.sensitivity.items()},
            **{f"scale_{name}": value for name, value in self.scale.items()},
        }


def is_statement(control: Mapping[str, Any]) -> bool:
    """Return whether a control says all that `Budget.statement` does, as a file has it."""
    needed = {"kind", "epsilon", "delta", "neighbours", "mechanism", "content"}
    vectors = ["rows", "cells"] + ["cross"] * (control.get("content") == "cross")
    numbers = [f"{part}_{name}" for part in ("sensitivity", "scale") for name in vectors]
    if set(control) != needed.union(numbers) or control["content"] not in _CONTENTS[1:]:
        return False
    values = [control[name] for name in ("epsilon", "delta", *numbers)]
    return all(isinstance(value, int | float) and 0 < value < inf for value in values)


@lru_cache
def _unit_scale(epsilon: float, delta: float) -> float:
    """Return the scale of the noise of a vector that one row changes by at most one."""
    if not (0 < epsilon <= _LARGEST_EPSILON and 0 < delta < 1):
        msg = (
            f"epsilon must be a positive number up to {_LARGEST_EPSILON:g} and delta between 0 and "
            f"1, not {epsilon!r} and {delta!r}: epsilon=1.0, delta=1e-6 is a usual choice"
        )
        raise ValueError(msg)
    opendp = _opendp()

    def mechanism(scale: float) -> Any:
        return opendp.c.make_fix_delta(opendp.c.make_zCDP_to_approxDP(_gaussian(scale)), delta)

    return float(
        opendp.binary_search_param(mechanism, d_in=1.0, d_out=(float(epsilon), float(delta)))
    )


# ── What is released ──────────────────────────────────────────────────────────────────────────────


class PrivateVectors(NamedTuple):
    """The noisy numbers of a release, by class, and the statement of its control.

    ``cross`` has the centred cross sums of `centred_cross`, zero if they are not released.
    """

    rows: IntArray
    cells: IntArray
    cross: IntArray
    control: dict[str, Any]


def private_vectors(
    queries: Queries, codes: PublicCodes, epsilon: float, delta: float, content: str = "auto"
) -> PrivateVectors:
    """Return cells and cross sums with noise, within a budget.

    ``content`` is "cells", "cross" for cells and cross sums, or "auto": the noisy number of rows
    then says which, and nothing else does.
    """
    if content not in _CONTENTS:
        msg = f"content must be one of {', '.join(_CONTENTS)}, not {content!r}"
        raise ValueError(msg)
    shares = _CELLS_ONLY if content == "cells" else _WITH_CROSS
    budget = Budget.of(codes, epsilon, delta, shares)
    rows = budget.noisy("rows", _rows_of(queries, codes))
    if content == "auto" and rows.sum() < rows_for_cross(budget):
        budget = Budget.of(codes, epsilon, delta, _CELLS_ONLY)
    cells = budget.noisy("cells", queries.cells)
    cross, pairs = np.zeros_like(queries.cross), released_pairs(codes)
    cross[:, pairs] = budget.noisy("cross", centred_cross(queries, codes)[:, pairs])
    return PrivateVectors(np.maximum(rows, 0), cells, cross, budget.statement())


def require_rows_of_weight_one(counts: Any) -> None:
    """Refuse counts of weighted rows, which a single row may change without bound."""
    for part in counts.parts:
        for group in part:
            if not group.count == group.weight == group.weight_sq:
                problem = (
                    "a private release bounds what one row can change, and rows with weights "
                    "have no bound: count the rows without sample_weight"
                )
                raise NotReleasableError(problem)


# ── Expected numbers from noisy ones ──────────────────────────────────────────────────────────────


class NoisyClass(NamedTuple):
    """Sums over sites of what they released of a class, and the variances of their noise."""

    rows: float
    cells: FloatArray
    cross: FloatArray
    variance: Mapping[str, float]

    @classmethod
    def of(cls, parts: Sequence[tuple[float, AnyArray, AnyArray, Mapping[str, Any]]]) -> NoisyClass:
        """Add up rows, cells and cross sums; every site adds the variance of its noise."""
        controls = [control for *_, control in parts]
        variance = {
            name: float(sum(control.get(f"scale_{name}", 0.0) ** 2 for control in controls))
            for name in ("rows", "cells", "cross")
        }
        rows, cells, cross = (
            sum(np.asarray(part[k], dtype=np.float64) for part in parts) for k in range(3)
        )
        return cls(float(rows), np.asarray(cells), np.asarray(cross), variance)

    def expected(self, codes: PublicCodes) -> PublishedClass:
        """Return numbers that rows could have: not negative, with columns of one total.

        Least squares: the total is the mean of the noisy number of rows and of the sums of all
        columns by their precisions, and the cells of each column are projected onto those of this
        total that are not negative.
        """
        starts = codes.starts
        sizes = np.diff(starts)
        sums = np.add.reduceat(self.cells, starts[:-1])
        variances = np.append(sizes * self.variance["cells"], self.variance["rows"])
        total = float(_weighted_mean(np.append(sums, self.rows), variances))
        total = max(total, 1.0)
        cells = np.concatenate(
            [_projected(part, total) for part in np.split(self.cells, starts[1:-1])]
        )
        code_sums = cells @ codes.matrix
        both = code_sums[:, None] + code_sums[None, :]
        cross = (self.cross + 2 * CODE_RANGE * both - CODE_RANGE**2 * total) / 4.0
        known = released_pairs(codes) & bool(self.variance["cross"])
        cross = np.where(known, cross, np.outer(code_sums, code_sums) / total)
        groups = np.arange(len(cells))
        # Products of centred codes are four times as large as those of codes.
        noise = np.where(known, self.variance["cross"] / 16.0, 0.0)
        return PublishedClass(total, cells, groups, cross * codes.of_two_columns, noise)


def _weighted_mean(values: FloatArray, variances: FloatArray) -> float:
    """Return the mean of least variance; the plain mean if there is no noise."""
    precisions = np.ones(len(values)) if not variances.all() else 1.0 / variances
    return float(values @ precisions / precisions.sum())


def _projected(values: FloatArray, total: float) -> FloatArray:
    """Return the nearest numbers that are not negative and have this sum."""
    largest = np.sort(values)[::-1]
    excess = (np.cumsum(largest) - total) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(largest > excess)[-1]
    projected: FloatArray = np.maximum(values - excess[last], 0.0)
    return projected


# ── Advice before anything is released ────────────────────────────────────────────────────────────


def rows_for_cross(budget: Budget) -> float:
    """Return the rows from which on cross sums improve a card; without cross sums none do."""
    if "cross" not in budget.scale:
        return inf
    return float(budget.scale["cross"] / (_CODE_VARIANCE * _WORTHWHILE))


@dataclass(frozen=True)
class PrivateAdvice:
    """What a private release of some bins would be worth, before anything is released.

    Parameters
    ----------
    epsilon, delta : float
    n_columns, n_cells : int
    n_sites : int
        Number of sites whose releases are added up; each adds noise of its own.
    cell_noise : float
        Standard deviation of the noise of a cell in the sum of all sites.
    rows_for_cells : int
        Rows of the rarer class from which on the noise of a typical cell is below a quarter of it.
    rows_for_cross : int or None
        Rows of all classes and sites from which on cross sums improve a card; None for one column.
    """

    epsilon: float
    delta: float
    n_columns: int
    n_cells: int
    n_sites: int
    cell_noise: float
    rows_for_cells: int
    rows_for_cross: int | None

    def __str__(self) -> str:
        sites = "one site" if self.n_sites == 1 else f"{self.n_sites} sites"
        lines = [
            f"private release of {self.n_columns} columns with {self.n_cells} cells by {sites}",
            f"budget: ε = {self.epsilon:g}, δ = {self.delta:g}, to {_NEIGHBOURS}",
            f"noise of a cell: {self.cell_noise:.1f} rows (standard deviation)",
            f"cells are useful from about {self.rows_for_cells:,} rows of the rarer class on",
        ]
        if self.rows_for_cross is not None:
            rows = f"{self.rows_for_cross:,} rows of all classes and sites"
            lines.append(f"cross sums improve a card from about {rows} on")
        return "\n".join(lines)


def private_advice(
    binner: Binner, *, epsilon: float, delta: float, n_sites: int = 1
) -> PrivateAdvice:
    """Return how much noise a private release of some bins has, and from how many rows it pays.

    Nothing is released, and no row is looked at: noise depends on the bins and the budget alone.

    Parameters
    ----------
    binner : Binner
        The bins that the sites have agreed on.
    epsilon, delta : float
        The budget, as in ``BinCounts.release``.
    n_sites : int
        Number of sites whose releases will be added up.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import Binner
    >>> from directrix.tables import private_advice
    >>> binner = Binner(max_bins=8).fit(np.arange(6400).reshape(800, 8) % 97)
    >>> print(private_advice(binner, epsilon=1.0, delta=1e-6))  # doctest: +SKIP
    """
    codes = PublicCodes.of(binner.bins_)
    cells = Budget.of(codes, epsilon, delta, _CELLS_ONLY)
    squared = squared_sensitivities(codes)
    needed = None
    if squared["cross"]:
        one_site = rows_for_cross(Budget.of(codes, epsilon, delta, _WITH_CROSS))
        needed = _two_digits(one_site * sqrt(n_sites))
    noise = cells.scale["cells"] * sqrt(n_sites)
    n_columns, n_cells = len(binner.bins_), len(codes.weights)
    per_column = n_cells / n_columns
    rows = _two_digits(noise / _USEFUL * per_column)
    return PrivateAdvice(epsilon, delta, n_columns, n_cells, n_sites, noise, rows, needed)


def _two_digits(number: float) -> int:
    """Return a number of rows, rounded up to two digits."""
    unit = 10 ** max(len(str(int(number))) - 2, 0)
    return int(-(-number // unit) * unit)
