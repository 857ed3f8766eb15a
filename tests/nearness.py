"""How far two summaries are apart."""

import numpy as np


def distance(a, b):
    """Return the worst difference of two summaries of the same rows, in its natural unit.

    Weights relative to themselves, means in standard deviations, S_ij in √(S_ii S_jj); where that
    unit is zero, equality. Classes, names, folds, counts and priors must be the same.
    """
    assert a.classes.dtype == b.classes.dtype
    assert a.classes.tolist() == b.classes.tolist()
    for attribute in ("n_features", "feature_names", "folded", "stated_prior"):
        assert getattr(a, attribute) == getattr(b, attribute), attribute
    assert len(a.parts) == len(b.parts)
    pairs = [
        pair for parts in zip(a.parts, b.parts, strict=True) for pair in zip(*parts, strict=True)
    ]
    return max((group_distance(left, right) for left, right in pairs), default=0.0)


def group_distance(a, b):
    """Return the worst difference of the summaries of one class."""
    assert a.count == b.count
    assert a.n_features == b.n_features
    if not b.count:
        assert a == b
        return 0.0
    spread = np.sqrt(b.scatter.diagonal())
    gap = (a.mean - b.mean) + (a.mean_tail - b.mean_tail)
    return max(
        abs(a.weight / b.weight - 1.0),
        abs(a.weight_sq / b.weight_sq - 1.0),
        worst_ratio(gap, spread / np.sqrt(b.weight)),
        worst_ratio(a.scatter - b.scatter, np.multiply.outer(spread, spread)),
    )


def worst_ratio(difference, unit):
    """Return the largest |difference| / unit; infinity where zero is not met exactly."""
    difference = np.abs(difference)
    ratio = np.where(difference > 0, np.inf, 0.0)
    np.divide(difference, unit, out=ratio, where=unit > 0)
    return float(ratio.max(initial=0.0))
