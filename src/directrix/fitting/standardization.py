"""Standardised features, and lines converted between the two units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray

#: Distance between the quartiles of a standard normal distribution.
_QUARTILES_OF_NORMAL = 1.349
_ROUNDING = 1e-12
#: Between its inverse and this, squares of deviations neither overflow nor underflow.
_SAFE = 1e140


@dataclass(frozen=True)
class Standardization:
    """Mean and scale of each feature; sparse features are only scaled, and stay sparse.

    Unlike scikit-learn's StandardScaler it also converts lines between the two units.
    """

    mean: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: Any, weight: FloatArray) -> Standardization:
        """Return the standardisation by mean and standard deviation."""
        share = weight / weight.sum()
        if sparse.issparse(X):
            scale = _positive(_sparse_deviation(share, X.astype(np.float64)))
            return cls(np.zeros(X.shape[1]), _invertible(scale))
        mean = share @ X
        with np.errstate(over="ignore"):  # values close to the largest float
            deviation = _dense_deviation(share, X - mean)
        # In a constant column of 1e12 the deviation is nothing but rounding.
        deviation[deviation <= 1e-13 * np.abs(mean)] = 0.0
        return cls(mean, _invertible(_positive(deviation)))

    @classmethod
    def robust(cls, X: Any, weight: FloatArray) -> Standardization:
        r"""Return the standardisation by median and quartiles, which outliers do not affect.

        .. math:: s = \max\left(\frac{q_{3/4} - q_{1/4}}{1.349},\ \frac{\sigma}{10}\right)

        which is the standard deviation of normal features; the standard deviation itself if the
        quartiles are equal. Sparse features, whose quartiles are zero, are divided by their largest
        absolute value: divided by their deviation, rare words would dominate.
        """
        if sparse.issparse(X):
            largest = abs(X).max(axis=0).toarray().ravel().astype(np.float64)
            return cls(np.zeros(X.shape[1]), _invertible(_positive(largest)))
        by_deviation = cls.of(X, weight)
        low, median, high = _quantiles(X, weight, (0.25, 0.5, 0.75))
        spread, deviation = (high - low) / _QUARTILES_OF_NORMAL, by_deviation.scale
        scale = np.where(spread > 0, np.maximum(spread, deviation / 10.0), deviation)
        return cls(median, _invertible(scale))

    def rows(self, X: Any) -> Any:
        """Return the rows standardised, as float64."""
        if sparse.issparse(X):
            return sparse.csr_array(X) @ sparse.diags_array(1.0 / self.scale)
        return (X - self.mean) / self.scale

    def line_there(self, line: FloatArray) -> FloatArray:
        """Convert a line of the features to the line of standardised features with equal scores."""
        return np.append(line[:-1] * self.scale, line[-1] + line[:-1] @ self.mean)

    def line_back(self, line: FloatArray) -> FloatArray:
        """Convert a line of standardised features to the line of the features with equal scores."""
        with np.errstate(over="ignore"):
            weight = line[:-1] / self.scale
        _require_finite(weight, self.scale)
        return np.append(weight, line[-1] - weight @ self.mean)

    def gradient_there(self, gradient: FloatArray) -> FloatArray:
        """Convert a gradient by lines of the features to one by lines of standardised features."""
        slope = gradient[-1]
        return np.append((gradient[:-1] - slope * self.mean) / self.scale, slope)


def _quantiles(X: FloatArray, weight: FloatArray, shares: Sequence[float]) -> list[FloatArray]:
    """Return weighted quantiles: the least value up to which at least the share of weight lies.

    By hand, because a row of weight two must count as two rows; NumPy breaks ties differently when
    weights do not add up exactly.
    """
    order = np.argsort(X, axis=0, kind="stable")
    below = np.cumsum(weight[order], axis=0)
    ranks = ((below < share * (1.0 - _ROUNDING) * below[-1]).sum(axis=0) for share in shares)
    columns = np.arange(X.shape[1])
    return [np.asarray(X[order[rank, columns], columns], dtype=np.float64) for rank in ranks]


def _dense_deviation(share: FloatArray, centred: FloatArray) -> FloatArray:
    """Return the root mean square of each column, even if its squares over- or underflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        deviation: FloatArray = np.sqrt(share @ np.square(centred))
    extreme = _extreme(deviation)
    if extreme.size:
        part = centred[:, extreme]
        largest = np.abs(part).max(axis=0)
        with np.errstate(invalid="ignore"):
            part = part / _positive(largest)
            deviation[extreme] = largest * np.sqrt(share @ np.square(part))
    return deviation


def _sparse_deviation(share: FloatArray, X: Any) -> FloatArray:
    """Return the root mean square of each sparse column, zeros included."""
    with np.errstate(over="ignore"):
        deviation: FloatArray = np.sqrt(np.asarray(share @ X.power(2)).ravel())
    extreme = _extreme(deviation)
    part = sparse.coo_array(sparse.csr_array(X)[:, extreme])
    if part.nnz:
        largest = abs(part).max(axis=0).toarray().ravel()
        row, column = part.coords
        squares = share[row] * np.square(part.data / _positive(largest)[column])
        total = np.bincount(column, weights=squares, minlength=len(extreme))
        deviation[extreme] = largest * np.sqrt(total)
    return deviation


def _extreme(deviation: FloatArray) -> Any:
    """Return the columns whose squares may have over- or underflowed."""
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(~((deviation > 1.0 / _SAFE) & (deviation < _SAFE)))


def _invertible(scale: FloatArray) -> FloatArray:
    """Return the scale; refuse a column whose scale coefficients cannot be divided by."""
    with np.errstate(over="ignore", invalid="ignore"):
        _require_finite(1.0 / scale + scale, scale)
    return scale


def _require_finite(coefficients: FloatArray, scale: FloatArray) -> None:
    """Refuse coefficients beyond the range of floats, and name the first column."""
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
