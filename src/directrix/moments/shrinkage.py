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


_PROBES = 64


def _sum_of_squares(group: ClassMoments) -> float:
    """Return tr Σ², estimated by random probes (Hutchinson) if Σ is an operator."""
    covariance = group.covariance
    if isinstance(covariance, np.ndarray):
        return float(np.vdot(covariance, covariance))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (group.n_features, _PROBES))
    return float(np.sum((covariance @ signs) ** 2) / _PROBES)


def shrunk(group: ClassMoments, share: float) -> FloatArray:
    r"""Return the covariance shrunk by a share ρ.

    .. math:: (1 - \rho) \Sigma + \rho\, (\mathrm{tr}\,\Sigma / d)\, I
    """
    covariance = (1.0 - share) * np.asarray(group.covariance)
    mean_variance = float(group.variance.mean())
    covariance.flat[:: group.n_features + 1] += share * mean_variance
    return covariance
