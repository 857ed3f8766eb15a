"""Summary: scalar multiples and relabelling, which all summaries of rows share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from directrix.moments.class_moments import ClassMoments
from directrix.rows import labels
from directrix.rows.labels import checked_factor

if TYPE_CHECKING:
    from os import PathLike

    from directrix._typing import AnyArray

# ── Align two summaries to the same classes and folds, and combine them class by class ────────────

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


# ── Summary: scalar multiples and relabelling, which all summaries of rows share ──────────────────


class Summary(ABC):
    """Base class of the summaries of rows: ``Moments``, ``BinCounts`` and ``ScoreHistogram``.

    Summaries of one kind are added and subtracted, and multiplied by a number: ``0.99 * summary``
    is the summary of the same rows with 0.99 times their weights. The number of rows stays, and
    the effective sample size (Σω)² / Σω² does too; it falls when summaries of different factors are
    added.
    """

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """Return the summary of the same rows with their weights multiplied by a factor.

        Parameters
        ----------
        factor : float
            Not negative. Zero gives rows of weight zero, which are no rows.
        """

    @abstractmethod
    def unlabelled(self) -> Self:
        """Return the summary of the same rows without their labels, as one class None."""

    @abstractmethod
    def save(self, path: str | PathLike[str]) -> None:
        """Write this summary to a file."""

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    @abstractmethod
    def _of_rows(self, rows: Any, y: Any, sample_weight: Any, fold: Any) -> Self:
        """Return the summary of some rows in the form of this one."""

    def __mul__(self, factor: Any) -> Self:
        if not isinstance(factor, Real):
            return NotImplemented
        return self.scaled(checked_factor(factor))

    __rmul__ = __mul__

    def relabelled(
        self, rows: Any, from_: Any, to: Any, sample_weight: Any = None, *, fold: Any = None
    ) -> Self:
        """Return this summary after some of its rows got other labels.

        The rows are subtracted with the old labels and added with the new ones. The result is that
        of a new pass over all rows: exactly for counts, up to rounding for moments.

        Parameters
        ----------
        rows : array, data frame or table of shape (n, d)
            The rows to relabel, as they were summarised; for a score histogram their scores, of
            shape (n,).
        from_, to : label, or array of shape (n,)
            Old and new labels; a single label is that of all rows.
        sample_weight : array of shape (n,), optional
            Weights with which the rows were summarised.
        fold : array of int of shape (n,), optional
            Folds of the rows, if the summary has folds.
        """
        n_rows = count_rows(rows)
        old, new = (_repeated(label, n_rows) for label in (from_, to))
        removed = self._of_rows(rows, old, sample_weight, fold)
        return self - removed + self._of_rows(rows, new, sample_weight, fold)


def count_rows(rows: Any) -> int:
    """Return the number of rows of an array, data frame, Arrow table or list.

    Parameters
    ----------
    rows : array, data frame, table or list
    """
    if hasattr(rows, "num_rows"):
        return int(rows.num_rows)
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _repeated(label: Any, n_rows: int) -> AnyArray:
    """Return one label for each row."""
    if label is None:
        msg = (
            "rows without labels are in a summary of their own, `Moments.of(X, None)`: subtract "
            "them there, and add them to the summary of labelled rows"
        )
        raise ValueError(msg)
    if isinstance(label, str) or not np.ndim(label):
        return np.full(n_rows, label)
    return labels.as_labels(label)
