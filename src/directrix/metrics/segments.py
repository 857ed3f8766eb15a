"""Limits that hold in each segment of the rows, such as each country, and rates that agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.rows.labels import numbered_names, pooled_names, shape_text


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


#: Rates that may be asked to agree in all segments, and the rule that chooses how far.
PARITY_RATES, PARITY_RULES = ("fpr", "alerts", "recall"), ("one_se", "parity")


@dataclass(frozen=True)
class Parity:
    """A rate that is to agree between segments, and how much may be paid for it; for ``parity=``.

    A classifier that is fitted with it looks for alternatives of its model in which the rate
    differs less between the segments of the rows, given as ``segment=`` to its `fit` or
    `fit_source`. They are compared on held-out rows (``alternatives_``), and one of them is
    delivered. The segment is not needed to predict. If the rate differs by no more than chance
    makes it, the plain fit is delivered.

    Parameters
    ----------
    rate : {"fpr", "alerts", "recall"}
        Share of the negatives that are flagged, of all rows, or of the positives.
    rule : {"one_se", "parity"} or float
        Which alternative is delivered. "one_se": that of the smallest gap between segments whose
        metric is at most one standard error behind that of the plain fit. "parity": that of the
        smallest gap. A number: the best by the metric of those with no larger gap.

    Examples
    --------
    >>> from directrix.metrics import Parity
    >>> Parity("fpr").rule
    'one_se'
    """

    rate: str
    rule: float | str = "one_se"

    @classmethod
    def of(cls, given: Any) -> Parity | None:
        """Return what a classifier's parameter asks for, checked; a text is the rate."""
        if given is None:
            return None
        made = cls(given) if isinstance(given, str) else given
        if not isinstance(made, Parity) or made.rate not in PARITY_RATES:
            rates = ", ".join(map(repr, PARITY_RATES))
            msg = f"parity must be one of {rates}, a Parity of one of them, or None, not {given!r}"
            raise ValueError(msg)
        rule = made.rule
        known = rule in PARITY_RULES if isinstance(rule, str) else 0 <= rule < 1
        if not known:
            rules = ", ".join(map(repr, PARITY_RULES))
            msg = f"the rule of a Parity must be {rules}, or a gap from 0 to 1, not {rule!r}"
            raise ValueError(msg)
        return made

    def rows(self, positive: AnyArray) -> AnyArray:
        """Return which rows the rate is a share of."""
        return {"fpr": ~positive, "recall": positive}.get(self.rate, np.ones_like(positive))


class Segments(NamedTuple):
    """The segment of each row: its position among the names."""

    number: IntArray
    names: tuple[Any, ...]

    @classmethod
    def of(cls, values: Any, n_rows: int, pool: Mapping[Any, Any] | None = None) -> Segments:
        """Return the segments of rows, checked; ``pool`` gives new names to some."""
        given = np.asarray(values)
        if given.shape != (n_rows,):
            msg = f"segment must be the segment of each of {n_rows} rows, not {shape_text(given)}"
            raise ValueError(msg)
        names, number = numbered_names(given)
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
