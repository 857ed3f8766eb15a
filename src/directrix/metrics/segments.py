"""Limits that hold in each segment of the rows, such as each country."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.rows.labels import numbered_names, pooled_names


@dataclass(frozen=True)
class InEverySegment:
    """Limits that are kept in every segment of the rows; for ``limits=`` of a classifier.

    The segment of each row is given to `fit` as ``segment=``. It is not needed to predict: one
    threshold keeps the limits in all segments, with the confidence that ``guarantee=`` asks for.

    Parameters
    ----------
    limits : dict
        Shares by the names of rates: ``"fpr"`` and ``"alerts"`` from above, ``"recall"`` from
        below.
    pool : dict, optional
        New names of segments. Segments of one new name are one segment: use it where one has too
        few rows to say anything about it.

    Examples
    --------
    >>> from directrix.metrics import InEverySegment
    >>> InEverySegment({"fpr": 0.05}, pool={"MT": "islands", "CY": "islands"}).label
    'fpr <= 0.05 in every segment'
    """

    limits: Mapping[str, float]
    pool: Mapping[Any, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The limits in words."""
        signs = {name: ">=" if name == "recall" else "<=" for name in self.limits}
        texts = (f"{name} {signs[name]} {value:g}" for name, value in self.limits.items())
        return f"{', '.join(texts)} in every segment"


class Segments(NamedTuple):
    """The segment of each row: its position among the names."""

    number: IntArray
    names: tuple[Any, ...]

    @classmethod
    def of(cls, values: Any, n_rows: int, pool: Mapping[Any, Any] | None = None) -> Segments:
        """Return the segments of rows, checked; ``pool`` gives new names to some."""
        names, number = numbered_names(values, n_rows)
        if pool:
            names, position = pooled_names(names, pool)
            number = position[number]
        return cls(number, names)

    def take(self, rows: Any) -> Segments:
        """Return the segments of some rows; names stay as they are."""
        return self._replace(number=self.number[rows])

    def set_apart(
        self, positive: AnyArray, weight: FloatArray, share: int
    ) -> tuple[IntArray, FloatArray]:
        """Return fold zero for rows that are set apart, and by what weights are multiplied.

        Of all rows one in ``share`` is set apart, the first of each segment: in random order they
        are a sample. Within a segment both classes have the same share in it, or rates of all rows
        would change.
        """
        sizes = np.bincount(self.number, minlength=len(self.names))
        shares = level_shares(sizes, len(self.number) // share) / np.maximum(sizes, 1)
        fold, factor = np.full(len(self.number), share - 1), np.ones(len(self.number))
        for number, part in enumerate(shares):
            for side in (positive, ~positive):
                inside = np.flatnonzero(side & (self.number == number))
                n_apart = round(part * len(inside))
                parts = inside[:n_apart], inside[n_apart:]
                fold[parts[0]] = 0
                for rows in parts if n_apart else ():
                    factor[rows] = weight[inside].sum() / weight[rows].sum()
        return fold, factor


def level_shares(sizes: IntArray, total: int) -> IntArray:
    """Return how many of each size are taken: a common number, or half of a size that is smaller.

    The common number is the largest with which no more than ``total`` are taken.
    """
    halves = sizes // 2
    levels = np.arange(int(halves.max(initial=0)) + 1)
    order = np.sort(halves)
    below = np.searchsorted(order, levels, side="right")
    sums = np.concatenate([[0], np.cumsum(order)])[below] + levels * (len(order) - below)
    level = int(levels[np.searchsorted(sums, total, side="right") - 1])
    return np.minimum(halves, level)
