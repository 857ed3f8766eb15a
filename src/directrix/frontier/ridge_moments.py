r"""Lines of class moments under a ridge in the units of the features.

.. math:: w(\lambda, \theta) \propto
          (\cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_- + \lambda I)^{-1} (\mu_+ - \mu_-)

With signs of coefficients, w is the minimum of
:math:`\frac12 w^\top (\cdot)\, w - (\mu_+ - \mu_-)^\top w` among those that keep them.

For bins the moments are counts, and the units of their features are a prior that shrinkage towards
standardised features would undo: a rare bin divided by its deviation escapes every ridge.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from directrix.solve import signed_quadratic
from directrix.tables.coding.coded_rows import CodedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray

#: Features whose covariances are kept as matrices.
_MOST_FEATURES = 5_000
#: Smallest eigenvalue of a covariance that counts, as a share of the largest.
_LEAST = 1e-12
#: Ridges that are solved one by one; for more of them one decomposition takes less time.
_FEW = 6


@dataclass(frozen=True)
class RidgeMoments:
    """Means and covariances of two classes.

    Parameters
    ----------
    delta : array of shape (p,)
        Difference of the class means.
    mean_neg : array of shape (p,)
    cov_pos, cov_neg : arrays of shape (p, p)
    signs : array of int of shape (p,), optional
        1 where a coefficient may not be negative, −1 where it may not be positive, 0 elsewhere.
    """

    delta: FloatArray
    mean_neg: FloatArray
    cov_pos: FloatArray
    cov_neg: FloatArray
    signs: IntArray | None = None

    #: The angle of equal weights of both covariances.
    equal_angle = np.pi / 4

    @classmethod
    def of(
        cls, X: Any, positive: AnyArray, weight: FloatArray, signs: IntArray | None = None
    ) -> RidgeMoments:
        """Summarise rows; those of weight zero do not count.

        Parameters
        ----------
        X : CodedRows, array or sparse matrix of shape (n, p)
        positive, weight : arrays of shape (n,)
        signs : array of shape (p,), optional
            Of coefficients of an array; coded rows have their own.
        """
        if X.shape[1] > _MOST_FEATURES:
            msg = (
                f"{X.shape[1]:,} bins are too many for a closed form, which solves for all of them "
                f"at once (up to {_MOST_FEATURES:,}): use train_on='rows', or a Binner with fewer "
                "bins and a larger min_level_rows"
            )
            raise ValueError(msg)
        means, covariances = [], []
        for side in (positive, ~positive):
            rows = np.flatnonzero(side & (weight > 0))
            share = weight[rows] / weight[rows].sum()
            mean, second = _moments(X[rows], share)
            means.append(mean)
            covariances.append(second - np.outer(mean, mean))
        if isinstance(X, CodedRows) and X.coding.signs is not None:
            signs = X.coding.signs[:-1]
        delta = means[0] - means[1]
        return cls(delta, means[1], covariances[0], covariances[1], signs)

    def lines(self, settings: Sequence[tuple[float, float]]) -> FloatArray:
        """Return the lines of pairs of ridge and angle, of shape (k, p + 1), intercept last.

        Their scores have mean 0 for the negatives and variance 1, averaged over both classes.
        """
        by_angle: dict[float, list[int]] = {}
        for index, (_, angle) in enumerate(settings):
            by_angle.setdefault(angle, []).append(index)
        coef = np.empty((len(settings), len(self.delta)))
        for angle, members in by_angle.items():
            mixed = np.cos(angle) * self.cov_pos + np.sin(angle) * self.cov_neg
            ridges = [settings[index][0] for index in members]
            coef[members] = self._solved(mixed, ridges)
        within = (self.cov_pos + self.cov_neg) / 2.0
        spread = np.sqrt(
            np.maximum(np.einsum("kp,pq,kq->k", coef, within, coef, optimize=True), 0.0)
        )
        gap = np.abs(coef @ self.delta)
        gap[gap == 0.0] = 1.0
        coef /= np.where(spread > 0.0, spread, gap)[:, None]
        return np.column_stack([coef, -(coef @ self.mean_neg)])

    def _solved(self, matrix: FloatArray, ridges: Sequence[float]) -> FloatArray:
        if self.signs is None:
            return _solved(matrix, ridges, self.delta)
        unit = np.eye(len(matrix))
        return np.array(
            [signed_quadratic(matrix + ridge * unit, self.delta, self.signs) for ridge in ridges]
        )

    def line_scores(self, lines: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return for each line the gap between the class means of its scores, and their variances.

        Parameters
        ----------
        lines : array of shape (k, p + 1)
        """
        coef = lines[:, :-1]
        variances = [
            np.maximum(np.einsum("kp,kp->k", coef @ covariance, coef), 0.0)
            for covariance in (self.cov_pos, self.cov_neg)
        ]
        return coef @ self.delta, variances[0], variances[1]


def _moments(X: Any, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weighted sum of the rows, and of their products with themselves."""
    if isinstance(X, CodedRows):
        return X.moments(share)
    scaled = X.multiply(share[:, None]) if sparse.issparse(X) else X * share[:, None]
    second = X.T @ scaled
    return np.asarray(X.T @ share), np.asarray(second.toarray() if sparse.issparse(X) else second)


def _solved(matrix: FloatArray, ridges: Sequence[float], right: FloatArray) -> FloatArray:
    """Return the solutions for several ridges: from one decomposition if there are many."""
    if not len(right):  # all columns are constant
        return np.zeros((len(ridges), 0))
    if len(ridges) <= _FEW:
        # Sums in single precision may leave a covariance with eigenvalues below minus the ridge.
        with suppress(LinAlgError):
            return np.array([_by_cholesky(matrix, ridge, right) for ridge in ridges])
    size, vectors = eigh(matrix, check_finite=False)
    turned = vectors.T @ right
    least = _LEAST * max(float(size[-1]), 0.0)
    shifted = np.maximum(size, 0.0) + np.array(ridges)[:, None]
    solved: FloatArray = (turned / np.maximum(shifted, least)) @ vectors.T
    return solved


def _by_cholesky(matrix: FloatArray, ridge: float, right: FloatArray) -> FloatArray:
    shifted = matrix + ridge * np.eye(len(matrix))
    solved: FloatArray = cho_solve(cho_factor(shifted, check_finite=False), right)
    return solved
