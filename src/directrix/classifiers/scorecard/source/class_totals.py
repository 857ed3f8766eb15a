"""ClassTotals: the number and weight of the rows of each class and fold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.engines.block import Block


@dataclass(frozen=True)
class ClassTotals:
    """Number of rows and sum of their weights, by fold and label; totals add up.

    Rows of weight zero do not count.

    Parameters
    ----------
    by_group : dict
        From fold and label to the number of rows and their weight.
    """

    by_group: dict[tuple[int, Any], tuple[int, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, block: Block) -> ClassTotals:
        """Return the totals of a block."""
        labels, codes = np.unique(block.labels, return_inverse=True)
        weight = block.row_weight
        if not (np.isfinite(weight).all() and (weight >= 0.0).all()):
            msg = "weight= must be finite and not negative in all rows"
            raise ValueError(msg)
        group = block.row_fold.astype(np.int64) * len(labels) + codes
        counts = np.bincount(group, weight > 0.0)
        weights = np.bincount(group, weight)
        return cls(
            {
                (int(k) // len(labels), labels[int(k) % len(labels)].item()): (
                    int(counts[k]),
                    float(weights[k]),
                )
                for k in np.flatnonzero(counts)
            }
        )

    def __add__(self, other: ClassTotals) -> ClassTotals:
        total = dict(self.by_group)
        for group, (count, weight) in other.by_group.items():
            before = total.get(group, (0, 0.0))
            total[group] = before[0] + count, before[1] + weight
        return ClassTotals(total)

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""
        return np.unique(np.array([label for _, label in self.by_group]))

    def counts(self, *, without_fold: int | None = None) -> dict[Any, int]:
        """Return the number of rows of each class, without those of a fold."""
        counts = dict.fromkeys(self.classes.tolist(), 0)
        for (fold, label), (count, _) in self.by_group.items():
            counts[label] += count if fold != without_fold else 0
        return counts

    def weights(self, label: Any, without_folds: tuple[int | None, ...] = ()) -> FloatArray:
        """Return the weight of the rows of other classes, and that of a class.

        Parameters
        ----------
        label : label
        without_folds : tuple of int or None
            Folds that do not count.
        """
        total = np.zeros(2)
        for (fold, other), (_, weight) in self.by_group.items():
            if fold not in without_folds:
                total[int(other == label)] += weight
        return total
