"""Rows that a kernel is needed for, and the objective of a kernel model written independently."""

import numpy as np


def rings(n=120, seed=0):
    """Return two classes that no line separates."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    radius = np.where(y, 2.0, 1.0) + 0.2 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def counts(n=90, d=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    return rng.poisson(np.where(y[:, None], 3.0, 1.5), (n, d)).astype(float), y


def cost(K, y, plateaus, alpha, point):
    """Return eq. 37 and 39 of Hasan and Pal 2015 with the norm of the function as penalty."""
    a, b = plateaus
    mu = a + b / (1.0 + np.exp(-(K @ point[:-1] + point[-1])))
    return -np.log(np.where(y, mu, 1.0 - mu)).sum() + alpha / 2 * point[:-1] @ K @ point[:-1]
