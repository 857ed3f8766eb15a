"""Random moments of two classes: problems for the frontier."""

from __future__ import annotations

import numpy as np

from directrix import Moments
from directrix._typing import FloatArray
from directrix.moments import ClassMoments


def random_moments(
    rng: np.random.Generator, most_features: int = 30, rows: float = 10_000.0
) -> Moments:
    """Return moments of two classes: any prior, covariances of very different scale and shape."""
    d = int(rng.integers(2, most_features + 1))
    prior = float(np.exp(rng.uniform(np.log(0.005), np.log(0.5))))
    negative, positive = (random_covariance(rng, d) for _ in range(2))
    positive = positive * np.exp(rng.normal())
    # Between hardly any separation and a clear one.
    gap = rng.standard_normal(d)
    gap *= rng.uniform(0.2, 2.5) / np.sqrt(gap @ np.linalg.solve(positive + negative, gap))
    shares = (1.0 - prior, prior)
    groups = tuple(
        ClassMoments(
            int(rows), rows * share, rows * share**2, mean, rows * share * cov, np.zeros(d)
        )
        for share, mean, cov in zip(shares, (np.zeros(d), gap), (negative, positive), strict=True)
    )
    return Moments(d, np.array([0, 1]), (groups,))


def random_covariance(rng: np.random.Generator, d: int) -> FloatArray:
    """Return a covariance whose directions have very different scale."""
    factors = rng.standard_normal((d, d)) * np.exp(rng.normal(0, rng.choice([0.2, 1.0, 2.0]), d))
    covariance = factors @ factors.T / d + 1e-3 * np.eye(d)
    return (covariance + covariance.T) / 2
