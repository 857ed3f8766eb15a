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
            square = np.asarray(share @ X.astype(np.float64).power(2)).ravel()
            return cls(np.zeros(X.shape[1]), _positive(np.sqrt(square)))
        mean = share @ X
        deviation = np.sqrt(share @ np.square(X - mean))
        # What is left of a constant column of 1e12 is rounding, and no feature.
        deviation[deviation <= 1e-13 * np.abs(mean)] = 0.0
        return cls(mean, _positive(deviation))

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
            return cls(np.zeros(X.shape[1]), _positive(greatest))
        usual = cls.of(X, weight)
        low, median, high = _quantiles(X, weight, (0.25, 0.5, 0.75))
        spread = (high - low) / _QUARTILES_OF_NORMAL
        scale = np.where(spread > 0, np.maximum(spread, usual.scale / 10.0), usual.scale)
        return cls(median, scale)

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
        weight = line[:-1] / self.scale
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


def _positive(deviation: FloatArray) -> FloatArray:
    return np.where(deviation > 0, deviation, 1.0)
