"""Summaries of rows: one algebra for Moments, BinCounts and ScoreHistogram."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from numbers import Real
from os import PathLike
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np

from directrix._typing import AnyArray
from directrix.exceptions.columns import all_or_few
from directrix.rows import labels
from directrix.rows.labels import checked_factor
from directrix.rows.sums import tree_sum

Parts: TypeAlias = tuple[tuple[Any, ...], ...]

T = TypeVar("T")


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
            Not negative. A factor of zero yields an empty summary.
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

    def __mul__(self, factor: Any) -> Self:
        if not isinstance(factor, Real):
            return NotImplemented
        return self.scaled(checked_factor(factor))

    __rmul__ = __mul__


class ClasswiseSummary(Summary):
    """Base class of summaries that hold a group for each fold and class; groups add up.

    A group is the summary of some rows: ``ClassMoments`` or ``PairCounts``. Subclasses are frozen
    dataclasses with these fields among others: the sorted labels, one tuple of groups for each fold
    (a single tuple without folds), and whether the parts are folds.
    """

    classes: AnyArray
    parts: Parts
    folded: bool

    @abstractmethod
    def _empty_group(self) -> Any:
        """Return the group of no rows."""

    @abstractmethod
    def _kind(self) -> tuple[Any, ...]:
        """Return the fields that are equal in equal summaries, beside classes and parts."""

    @abstractmethod
    def _joint_fields(self, other: Self) -> dict[str, Any]:
        """Return the fields of a sum that may differ from these; raise where there is no sum."""

    @abstractmethod
    def _dimensions(self) -> list[str]:
        """Return what the columns are, for `repr`."""

    @property
    def count(self) -> int:
        """Number of rows with positive weight."""
        return sum(group.count for group in chain(*self.parts))

    @property
    def weight(self) -> float:
        """Total weight of all classes."""
        total: float = sum(group.weight for group in chain(*self.parts))
        return total

    @property
    def n_folds(self) -> int:
        """Number of folds; zero if rows have no folds."""
        return len(self.parts) if self.folded else 0

    @property
    def folds(self) -> tuple[Self, ...]:
        """One summary for each fold; empty if the summary has no folds."""
        if not self.folded:
            return ()
        return tuple(self._with(parts=(part,), folded=False) for part in self.parts)

    def unfolded(self) -> Self:
        """Return the summary with all folds merged."""
        return self._with(parts=(self._merged(self.parts),), folded=False)

    def without_fold(self, fold: int) -> Self:
        """Return the training summary for a fold, which is the sum of all other folds."""
        if not (self.folded and 0 <= fold < len(self.parts)):
            msg = f"there is no fold {fold}: this summary has {self.n_folds} folds"
            raise ValueError(msg)
        others = (*self.parts[:fold], *self.parts[fold + 1 :])
        return self._with(parts=(self._merged(others),), folded=False)

    def one_vs_rest(self, label: Any) -> Self:
        """Return the summary of ``label`` (True) against all other classes (False)."""
        index, nothing = self.class_index(label), self._empty_group()
        parts = tuple(
            (tree_sum([*part[:index], *part[index + 1 :]] or [nothing]), part[index])
            for part in self.parts
        )
        return self._with_classes(labels.distinct(np.array([False, True])), parts)

    def scaled(self, factor: float) -> Self:
        """Return the summary of the same rows with their weights multiplied by a factor."""
        return self._map_groups(lambda group: group * float(factor))

    def unlabelled(self) -> Self:
        """Return the summary of the same rows without their labels, as one class None."""
        nothing = self._empty_group()
        parts = tuple((tree_sum(part or [nothing]),) for part in self.parts)
        return self._with_classes(labels.UNLABELLED, parts)

    def class_index(self, label: Any) -> int:
        """Return the position of a label among the classes."""
        known: list[Any] = self.classes.tolist()
        if label not in known:
            msg = f"no class {label!r}; the classes are {all_or_few(known)}"
            raise ValueError(msg)
        return known.index(label)

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._combined(other, operator.add)

    def __sub__(self, other: Self) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._combined(other, operator.sub)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return (
            self._kind() == other._kind()
            and self.classes.dtype.kind == other.classes.dtype.kind
            and np.array_equal(self.classes, other.classes)
            and self.folded == other.folded
            and self.parts == other.parts
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        # Counts are summed over the folds, because merging the folds would cost far more.
        counts = ", ".join(
            f"{label!r}: {sum(part[index].count for part in self.parts):,}"
            for index, label in enumerate(self.classes.tolist())
        )
        parts = [f"{self.count:,} rows", *self._dimensions(), f"classes {{{counts}}}"]
        if self.weight != self.count:
            whole = isinstance(self.weight, int)
            parts.append(f"weight {self.weight:,}" if whole else f"weight {self.weight:,.6g}")
        parts += self._notes()
        if self.folded:
            parts.append(f"{len(self.parts)} folds")
        return f"<{type(self).__name__}: {'; '.join(parts)}>"

    def _notes(self) -> list[str]:
        return []

    def _with(self, **fields: Any) -> Self:
        return replace(self, **fields)  # type: ignore[type-var] # subclasses are dataclasses

    def _with_classes(self, classes: AnyArray, parts: Parts) -> Self:
        """Return the summary of the same rows with other classes."""
        return self._with(classes=classes, parts=parts)

    def _map_groups(self, function: Callable[[Any], Any]) -> Self:
        return self._with(parts=tuple(tuple(map(function, part)) for part in self.parts))

    def _merged(self, parts: Parts) -> tuple[Any, ...]:
        """Return the group of each class, summed over some folds."""
        if not parts:
            return (self._empty_group(),) * len(self.classes)
        return tuple(tree_sum(groups) for groups in zip(*parts, strict=True))

    def _combined(self, other: Self, operation: Callable[[Any, Any], Any]) -> Self:
        """Align two summaries to the same classes and folds, and combine them group by group."""
        fields, folded = self._joint_fields(other), self.folded or other.folded
        for side in (self, other):
            if folded and not side.folded and side.count:
                msg = (
                    "one summary has folds and the other has rows without a fold; give both `fold=`"
                )
                raise ValueError(msg)
        classes = labels.union(self.classes, other.classes)
        n_parts = max(len(self.parts), len(other.parts))
        mine, theirs = self._aligned(classes, n_parts), other._aligned(classes, n_parts)
        parts = tuple(tuple(map(operation, a, b)) for a, b in zip(mine, theirs, strict=True))
        return self._with(**fields, classes=classes, parts=parts, folded=folded)

    def _aligned(self, classes: AnyArray, n_parts: int) -> Parts:
        """Return the parts, padded with empty groups to these classes and folds."""
        if np.array_equal(self.classes, classes) and len(self.parts) == n_parts:
            return self.parts
        nothing, known = self._empty_group(), self.classes.tolist()
        parts = self.parts + ((nothing,) * len(known),) * (n_parts - len(self.parts))
        return tuple(
            tuple(part[known.index(c)] if c in known else nothing for c in classes.tolist())
            for part in parts
        )


def agreed(noun: str, left: T | None, right: T | None) -> T | None:
    """Return the value that both summaries state; None on one side agrees with any value."""
    if left is not None and right is not None and left != right:
        msg = f"the summaries have different {noun}: {left!r} and {right!r}"
        raise ValueError(msg)
    return right if left is None else left


def count_rows(rows: Any) -> int:
    """Return the number of rows of an array, data frame, Arrow table or list."""
    if hasattr(rows, "num_rows"):
        return int(rows.num_rows)
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)
