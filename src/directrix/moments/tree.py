"""Sums in a fixed pairwise tree.

The shape of the tree depends on the number of terms only, so the same terms in the same order give
the same bits, and rounding grows with the logarithm of their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class Addable(Protocol):
    """Anything with ``+``."""

    def __add__(self, other: Self) -> Self: ...


T = TypeVar("T", bound=Addable)


def tree_sum(terms: Iterable[T]) -> T:
    """Return the sum of the terms (at least one), holding no more than log₂ n of them at a time.

    Works as a binary counter: a sum of 2ᵏ terms waits until its neighbour of 2ᵏ terms is complete.
    """
    waiting: list[tuple[int, T]] = []
    for term in terms:
        size, total = 1, term
        while waiting and waiting[-1][0] == size:
            total = waiting.pop()[1] + total
            size *= 2
        waiting.append((size, total))
    if not waiting:
        msg = "nothing to add up"
        raise ValueError(msg)
    result = waiting.pop()[1]
    while waiting:
        result = waiting.pop()[1] + result
    return result
