"""Accurate sums: double-double arithmetic, and summation in a fixed binary tree.

Terms whose numbers differ only in the last bit are added first, then sums whose numbers differ in
the last two bits, and so on. So the same numbered terms give identical bits, wherever and in
however many steps they are added, and the rounding error grows with the logarithm of their number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from directrix._typing import FloatArray

# ── Double-double arithmetic on vectors: ``value = high + low`` holds about 32 digits ─────────────

# Means are stored this way. At mean/std = 1e5 one float64 holds the mean to 1e-11 standard
# deviations, and the squared difference of two such means makes the eleventh digit of a merged
# scatter wrong. With the low part, differences of means are as accurate as if the rows had been
# centred first. The error-free sum is Knuth's and the error-free product Dekker's, written out
# because NumPy has neither of them, nor a fused multiply-add, for arrays.

_SPLITTER = 2.0**27 + 1.0  # Veltkamp's constant: splits 53 bits into two factors of 26


def exact_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``high, low`` with ``high = fl(a + b)`` and ``high + low = a + b`` exactly."""
    high = a + b
    b_rounded = high - a
    return high, (a - (high - b_rounded)) + (b - b_rounded)


def exact_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``high, low`` with ``high = fl(a b)`` and ``high + low = a b`` exactly.

    Exact for magnitudes between about 1e-140 and 1e290; outside, the low part is dropped.
    """
    high = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    low = ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low
    return high, np.where(np.isfinite(low), low, 0.0)


def affine(
    value: tuple[FloatArray, FloatArray], scale: FloatArray, center: FloatArray, offset: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return ``scale (value − center) + offset`` as a high and a low part."""
    high, low = value
    moved, moved_low = exact_sum(high, -center)
    scaled, scaled_low = exact_product(moved, scale)
    total, total_low = exact_sum(scaled, offset)
    return exact_sum(total, total_low + scaled_low + (moved_low + low) * scale)


def _split(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split floats into two halves of 26 bits each (Veltkamp)."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = _SPLITTER * a
        high = scaled - (scaled - a)
    return high, a - high


# ── Summation in a fixed binary tree over the numbers of the terms ────────────────────────────────


class Addable(Protocol):
    """Protocol for types that support ``+``."""

    def __add__(self, other: Self) -> Self: ...


T = TypeVar("T", bound=Addable)


class TreeSum(Generic[T]):
    """Running sum of terms that come in the order of their numbers.

    The sum of all terms whose numbers begin with the same bits is a subtree. A term with another
    beginning completes it, so at most one sum for each bit of the numbers is in memory. Numbers may
    be left out; a number that comes twice counts once.
    """

    def __init__(self) -> None:
        #: Sums, each with the height of the subtree that it shares with the sum before it.
        self._waiting: list[tuple[int, T]] = []
        self._last = -1

    def add(self, number: int, term: T) -> None:
        """Add the next term; it is ignored if it has the number of the last one."""
        if number < max(self._last, 0):
            msg = f"term {number} comes after term {self._last}: give terms in order"
            raise ValueError(msg)
        if number == self._last:
            return
        # No term before it, no subtree to share.
        height = (number ^ self._last).bit_length() if self._waiting else 0
        self._join(height - 1)
        self._waiting.append((height, term))
        # A number that ends with k ones is the last of a subtree of height k.
        self._join((~number & (number + 1)).bit_length() - 1)
        self._last = number

    def total(self) -> T:
        """Return the sum of all terms, of which there is at least one."""
        if not self._waiting:
            msg = "nothing to add up"
            raise ValueError(msg)
        self._join(self._last.bit_length())
        return self._waiting[0][1]

    def _join(self, height: int) -> None:
        """Add up the last subtrees, as far as those that they share are of at most this height."""
        while len(self._waiting) > 1 and self._waiting[-1][0] <= height:
            _, right = self._waiting.pop()
            before, left = self._waiting.pop()
            self._waiting.append((before, left + right))


def tree_sum(terms: Iterable[T]) -> T:
    """Return the sum of at least one term, numbered as they come, by a `TreeSum`."""
    running: TreeSum[T] = TreeSum()
    for number, term in enumerate(terms):
        running.add(number, term)
    return running.total()
