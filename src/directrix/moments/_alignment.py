"""Two summaries brought to the same classes and folds, so that they can be combined."""

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


def combined(
    own: Moments,
    its: Moments,
    operation: Callable[[ClassMoments, ClassMoments], ClassMoments],
) -> dict[str, Any]:
    """Return the arguments of the Moments that ``operation`` makes of two, class by class."""
    if own.n_features != its.n_features:
        msg = (
            f"the summaries have {own.n_features} and {its.n_features} features; they must agree "
            "(`select` the common ones)"
        )
        raise ValueError(msg)
    folded = own.folded or its.folded
    for side in (own, its):
        if folded and not side.folded and side.count:
            msg = "one summary has folds and the other has rows in none; give both `fold=`"
            raise ValueError(msg)
    names = _agreed("feature names", own.feature_names, its.feature_names)
    prior = _agreed("stated priors", own.stated_prior, its.stated_prior)
    classes = labels.union(own.classes, its.classes)
    n_parts = max(len(own.parts), len(its.parts))
    both = (_laid_out(side, classes, n_parts) for side in (own, its))
    return {
        "n_features": own.n_features,
        "classes": classes,
        "parts": tuple(tuple(map(operation, a, b)) for a, b in zip(*both, strict=True)),
        "feature_names": names,
        "stated_prior": prior,
        "folded": folded,
    }


def _laid_out(moments: Moments, classes: AnyArray, n_parts: int) -> Parts:
    if np.array_equal(moments.classes, classes) and len(moments.parts) == n_parts:
        return moments.parts
    nothing = ClassMoments.empty(moments.n_features)
    known = moments.classes.tolist()
    blank = (nothing,) * len(known)
    parts = moments.parts + (blank,) * (n_parts - len(moments.parts))
    return tuple(
        tuple(part[known.index(label)] if label in known else nothing for label in classes.tolist())
        for part in parts
    )


def _agreed(what: str, own: T | None, its: T | None) -> T | None:
    """Return what both sides say; a side that says nothing agrees."""
    if own is not None and its is not None and own != its:
        msg = f"the summaries have different {what}: {own!r} and {its!r}"
        raise ValueError(msg)
    return its if own is None else own
