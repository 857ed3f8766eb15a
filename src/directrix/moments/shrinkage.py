"""Shrinkage of a covariance towards a multiple of the identity, from moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.moments.class_moments import ClassMoments


def oas(group: ClassMoments) -> float:
    r"""Return the oracle approximating shrinkage ρ (Chen et al. 2010, eq. 23).

    .. math:: \rho = \frac{(1 - 2/d)\, \mathrm{tr}\,\Sigma^2 + (\mathrm{tr}\,\Sigma)^2}
              {(n + 1 - 2/d)\,(\mathrm{tr}\,\Sigma^2 - (\mathrm{tr}\,\Sigma)^2 / d)}

    clipped to [0, 1], with n the total weight: a row of weight k counts as k rows.
    """
    d = group.n_features
    squares = _sum_of_squares(group)
    trace = float(group.variance.sum())
    denominator = (group.weight + 1.0 - 2.0 / d) * (squares - trace**2 / d)
    if denominator <= 0:
        return 1.0
    return min(1.0, ((1.0 - 2.0 / d) * squares + trace**2) / denominator)


#: Random vectors of each of the two estimates below, and of their common subspace.
_PROBES = 6


def _sum_of_squares(group: ClassMoments) -> float:
    r"""Return tr Σ², estimated by random vectors if Σ is an operator.

    .. math:: \mathrm{tr}\,\Sigma^2 = \|\Sigma Q\|_F^2 + \mathrm{tr}\,(I - Q Q^\top) \Sigma^2
              (I - Q Q^\top)

    with Q an orthonormal basis of Σ times random signs, which holds the leading directions; the
    second trace is estimated by Hutchinson's method (Meyer et al. 2021, Hutch++).
    """
    covariance = group.covariance
    if isinstance(covariance, np.ndarray):
        return float(np.vdot(covariance, covariance))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (group.n_features, 3 * _PROBES))
    basis, _ = np.linalg.qr(covariance @ signs[:, :_PROBES])
    others = signs[:, _PROBES:]
    others -= basis @ (basis.T @ others)
    products = covariance @ np.concatenate([basis, others], axis=1)
    squares = np.sum(products**2, axis=0)
    leading, rest = squares[: basis.shape[1]], squares[basis.shape[1] :]
    return float(leading.sum() + rest.mean())


def shrunk(group: ClassMoments, share: float) -> FloatArray:
    r"""Return the covariance shrunk by a share ρ.

    .. math:: (1 - \rho) \Sigma + \rho\, (\mathrm{tr}\,\Sigma / d)\, I
    """
    covariance = (1.0 - share) * np.asarray(group.covariance)
    mean_variance = float(group.variance.mean())
    covariance.flat[:: group.n_features + 1] += share * mean_variance
    return covariance
