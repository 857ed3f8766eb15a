"""Kernel expansions as rows of SmoothClassifier: coordinates before the fit, coefficients after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.classifiers.fitting.standardization import Standardization
from directrix.classifiers.kernels.expansion import KernelExpansion
from directrix.classifiers.kernels.scoring import kernel_units

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.classifiers.fitting.training_rows import KeyedRows, TrainingRows
    from directrix.classifiers.kernels.kernel import Kernel
    from directrix.solve import Solution

# Share of the trace that is added to a kernel matrix, so that nearly equal rows do no harm.
_LEAST_EIGENVALUE = 1e-12


def expand(kernel: Kernel, rows: TrainingRows) -> tuple[Standardization, KernelExpansion]:
    """Return the units of the features, and the kernel expansion of the rows in these units.

    The coordinates of all rows serve for the fits without a fold too. A ridge keeps coefficients in
    the span of the rows of the fit, by the representer theorem, so that the rows left out have no
    influence.
    """
    units = kernel_units(kernel, rows.X, rows.weight)
    return units, KernelExpansion.from_rows(kernel, units.rows(rows.X))


def identity_units(X: FloatArray) -> Standardization:
    """Return units that leave coordinates as they are: their norm is that of the function."""
    return Standardization(np.zeros(X.shape[1]), np.ones(X.shape[1]))


def check_kernel_start(start: Any) -> None:
    """Raise ValueError for a start that is a line of the features."""
    if not (isinstance(start, str) and start in ("moments", "zero")):
        shown = repr(start) if isinstance(start, str) else "a line"
        msg = (
            f"start={shown} is for classifiers without a kernel; with one every descent starts "
            "from zero: do not give a start"
        )
        raise ValueError(msg)


def expansion_model(
    space: KernelExpansion, solution: Solution, line: FloatArray, keyed: KeyedRows
) -> tuple[FloatArray, IntArray]:
    """Return the coefficients of rows that are not zero, and the indices of these rows.

    Parameters
    ----------
    space : KernelExpansion
    solution : Solution
        Its coefficients of the rows are used if it has them: those of a support vector machine are
        zero for most rows.
    line : array of shape (r,)
        A multiple of the solution's coefficients, without intercept.
    keyed : KeyedRows
        Its entries are the rows of the solution.
    """
    if solution.dual is None:
        coefficients = space.coefficients(line)
        kept = np.flatnonzero(coefficients)
    else:
        weight = solution.coef[:-1]
        length = float(weight @ weight)
        factor = float(line @ weight) / length if length else 0.0
        center = space.center_index[keyed.index]
        sums = np.bincount(center, solution.dual, len(space.centers))
        coefficients = factor * sums.astype(np.float64)
        kept = np.flatnonzero(coefficients)
        coefficients[kept] += _correction(space, kept, coefficients[kept], line)
    kept = kept[np.argsort(space.centers[kept])]
    return coefficients[kept], space.centers[kept]


def _correction(
    space: KernelExpansion, kept: IntArray, coefficients: FloatArray, line: FloatArray
) -> FloatArray:
    """Return what coefficients of rows lack of a line: slopes in a narrow corner lose digits."""
    centers = space.X[space.centers[kept]]
    matrix = space.matrix[np.ix_(kept, kept)].copy()
    matrix[np.diag_indices(len(kept))] += _LEAST_EIGENVALUE * float(np.trace(matrix))
    lacking = centers @ (line - coefficients @ centers)
    return np.asarray(np.linalg.solve(matrix, lacking), dtype=np.float64)
