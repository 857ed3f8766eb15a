"""Align two summaries to the same classes and folds, and combine them class by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from directrix.moments import labels
from directrix.moments.class_moments import ClassMoments

if TYPE_CHECKING:
    from collections.abc import Callable

    from directrix._typing import AnyArray
    from directrix.moments.moments import Moments

    Parts = tuple[tuple[ClassMoments, ...], ...]

T = TypeVar("T")


def combine(
    left: Moments,
    right: Moments,
    operation: Callable[[ClassMoments, ClassMoments], ClassMoments],
) -> dict[str, Any]:
    """Apply ``operation`` to two summaries class by class.

    Parameters
    ----------
    left, right : Moments
    operation : callable
        Takes the two ClassMoments of a class and fold, and returns their combination.

    Returns
    -------
    dict
        Constructor arguments of the combined Moments.
    """
    if left.n_features != right.n_features:
        msg = (
            f"the summaries have {left.n_features} and {right.n_features} features; they must "
            "agree (`select` the common ones)"
        )
        raise ValueError(msg)
    folded = left.folded or right.folded
    for side in (left, right):
        if folded and not side.folded and side.count:
            msg = "one summary has folds and the other has rows without a fold; give both `fold=`"
            raise ValueError(msg)
    names = _require_equal("feature names", left.feature_names, right.feature_names)
    prior = _require_equal("stated priors", left.stated_prior, right.stated_prior)
    classes = labels.union(left.classes, right.classes)
    n_parts = max(len(left.parts), len(right.parts))
    aligned = (_aligned_parts(side, classes, n_parts) for side in (left, right))
    return {
        "n_features": left.n_features,
        "classes": classes,
        "parts": tuple(tuple(map(operation, a, b)) for a, b in zip(*aligned, strict=True)),
        "feature_names": names,
        "stated_prior": prior,
        "folded": folded,
    }


def _aligned_parts(moments: Moments, classes: AnyArray, n_parts: int) -> Parts:
    """Return the parts of a summary, padded with empty ones to these classes and folds."""
    if np.array_equal(moments.classes, classes) and len(moments.parts) == n_parts:
        return moments.parts
    empty_group = ClassMoments.empty(moments.n_features)
    present_labels = moments.classes.tolist()
    empty_part = (empty_group,) * len(present_labels)
    parts = moments.parts + (empty_part,) * (n_parts - len(moments.parts))
    return tuple(
        tuple(
            part[present_labels.index(label)] if label in present_labels else empty_group
            for label in classes.tolist()
        )
        for part in parts
    )


def _require_equal(noun: str, left: T | None, right: T | None) -> T | None:
    """Return the value that both summaries state; None on one side agrees with any value."""
    if left is not None and right is not None and left != right:
        msg = f"the summaries have different {noun}: {left!r} and {right!r}"
        raise ValueError(msg)
    return right if left is None else left
