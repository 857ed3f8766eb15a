"""Features of mean zero and deviation one, and lines between both units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from directrix._typing import FloatArray


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


def _positive(deviation: FloatArray) -> FloatArray:
    return np.where(deviation > 0, deviation, 1.0)
