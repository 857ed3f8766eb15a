"""Summation in a fixed pairwise tree.

The shape of the tree depends only on the number of terms. So the same terms in the same order give
identical bits, and the rounding error grows with the logarithm of the number of terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class Addable(Protocol):
    """Protocol for types that support ``+``."""

    def __add__(self, other: Self) -> Self: ...


T = TypeVar("T", bound=Addable)


def tree_sum(terms: Iterable[T]) -> T:
    """Return the sum of at least one term, with at most log₂ n partial sums in memory.

    It works like a binary counter: a sum of 2ᵏ terms waits until the next 2ᵏ terms are summed.
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
