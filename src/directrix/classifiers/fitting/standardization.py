"""Features of mean zero and deviation one, and lines between both units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray

#: Between the quartiles of a normal feature of deviation one.
_QUARTILES_OF_NORMAL = 1.349
_ROUNDING = 1e-12
#: Between one over this and this, squares of deviations neither overflow nor vanish.
_SAFE = 1e140


@dataclass(frozen=True)
class Standardization:
    """How features are standardised; sparse ones are scaled alone, and stay sparse.

    scikit-learn's StandardScaler would do, but for the lines, which must go there and back.

    Parameters
    ----------
    mean, scale : array of shape (d,)
    """

    mean: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: Any, weight: FloatArray) -> Standardization:
        """Take mean and deviation of some rows."""
        share = weight / weight.sum()
        if sparse.issparse(X):
            scale = _positive(_sparse_deviation(share, X.astype(np.float64)))
            return cls(np.zeros(X.shape[1]), _invertible(scale))
        mean = share @ X
        with np.errstate(over="ignore"):  # of values next to the greatest float
            deviation = _dense_deviation(share, X - mean)
        # What is left of a constant column of 1e12 is rounding, and no feature.
        deviation[deviation <= 1e-13 * np.abs(mean)] = 0.0
        return cls(mean, _invertible(_positive(deviation)))

    @classmethod
    def robust(cls, X: Any, weight: FloatArray) -> Standardization:
        r"""Take median and quartiles of some rows, so that rows far out do not set the units.

        .. math:: s = \max\left(\frac{q_{3/4} - q_{1/4}}{1.349},\ \frac{\sigma}{10}\right)

        which is the deviation of normal features; the deviation itself where the quartiles are
        equal. Sparse features, whose quartiles are zero, are divided by their greatest size: by
        their deviation, rare words would count for more than all others.
        """
        if sparse.issparse(X):
            greatest = abs(X).max(axis=0).toarray().ravel().astype(np.float64)
            return cls(np.zeros(X.shape[1]), _invertible(_positive(greatest)))
        usual = cls.of(X, weight)
        low, median, high = _quantiles(X, weight, (0.25, 0.5, 0.75))
        spread = (high - low) / _QUARTILES_OF_NORMAL
        scale = np.where(spread > 0, np.maximum(spread, usual.scale / 10.0), usual.scale)
        return cls(median, _invertible(scale))

    def rows(self, X: Any) -> Any:
        """Return rows, standardised, as float64."""
        if sparse.issparse(X):
            return sparse.csr_array(X) @ sparse.diags_array(1.0 / self.scale)
        return (X - self.mean) / self.scale

    def line_there(self, line: FloatArray) -> FloatArray:
        """Return the line of standardised features with the scores of this one."""
        return np.append(line[:-1] * self.scale, line[-1] + line[:-1] @ self.mean)

    def line_back(self, line: FloatArray) -> FloatArray:
        """Return the line of the features themselves with the scores of this one."""
        with np.errstate(over="ignore"):
            weight = line[:-1] / self.scale
        _require_finite(weight, self.scale)
        return np.append(weight, line[-1] - weight @ self.mean)


def _quantiles(X: FloatArray, weight: FloatArray, shares: Sequence[float]) -> list[FloatArray]:
    """Return for each share the least value that at least this share of the weight is up to.

    NumPy has weights in `quantile` only from 2.0 on, and its own ties for weights that do not add
    up exactly; a row of weight two is two rows here.
    """
    order = np.argsort(X, axis=0, kind="stable")
    below = np.cumsum(weight[order], axis=0)
    places = ((below < share * (1.0 - _ROUNDING) * below[-1]).sum(axis=0) for share in shares)
    columns = np.arange(X.shape[1])
    return [np.asarray(X[order[place, columns], columns], dtype=np.float64) for place in places]


def _dense_deviation(share: FloatArray, centred: FloatArray) -> FloatArray:
    """Return the root mean square of each column, also where its squares are no floats."""
    with np.errstate(over="ignore", invalid="ignore"):
        deviation: FloatArray = np.sqrt(share @ np.square(centred))
    extreme = _extreme(deviation)
    if extreme.size:
        part = centred[:, extreme]
        greatest = np.abs(part).max(axis=0)
        with np.errstate(invalid="ignore"):
            part = part / _positive(greatest)
            deviation[extreme] = greatest * np.sqrt(share @ np.square(part))
    return deviation


def _sparse_deviation(share: FloatArray, X: Any) -> FloatArray:
    """Return the root mean square of each sparse column, zeros included."""
    with np.errstate(over="ignore"):
        deviation: FloatArray = np.sqrt(np.asarray(share @ X.power(2)).ravel())
    extreme = _extreme(deviation)
    part = sparse.coo_array(sparse.csr_array(X)[:, extreme])
    if part.nnz:
        greatest = abs(part).max(axis=0).toarray().ravel()
        row, column = part.coords
        squares = share[row] * np.square(part.data / _positive(greatest)[column])
        total = np.bincount(column, weights=squares, minlength=len(extreme))
        deviation[extreme] = greatest * np.sqrt(total)
    return deviation


def _extreme(deviation: FloatArray) -> Any:
    """Return the columns whose squares may have overflowed or vanished."""
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(~((deviation > 1.0 / _SAFE) & (deviation < _SAFE)))


def _invertible(scale: FloatArray) -> FloatArray:
    """Return the scale of each column, or refuse one that coefficients cannot be divided by."""
    with np.errstate(over="ignore", invalid="ignore"):
        _require_finite(1.0 / scale + scale, scale)
    return scale


def _require_finite(coefficients: FloatArray, scale: FloatArray) -> None:
    """Refuse coefficients that are no floats, and name the first column."""
    bad = np.flatnonzero(~np.isfinite(coefficients))
    if bad.size:
        msg = (
            f"column {bad[0]} varies by {scale[bad[0]]:.3g}: in its units the coefficient is "
            "beyond the range of floats. Rescale it, for instance with StandardScaler or by a "
            "power of ten."
        )
        raise ValueError(msg)


def _positive(deviation: FloatArray) -> FloatArray:
    return np.where(deviation == 0, 1.0, deviation)
