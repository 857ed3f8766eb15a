"""The tree in which engines add the results of partitions, on the workers that have them.

Results of consecutive partitions form groups. A group is a subtree of `TreeSum`, and its sum is
numbered by the group, so sums of groups are added in the same way, level by level, until one is
left for the driver. Since the tree is fixed by the partition numbers, neither the size of the
groups, the number of levels, the order in which workers finish nor a task that runs twice changes a
bit of the sum.
"""

from __future__ import annotations

import pickle
from itertools import groupby
from typing import TYPE_CHECKING, Any

from directrix.rows.sums import TreeSum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Largest number of parts that the driver adds itself, because another level would take longer.
MOST_PARTS = 4


def group_counts(n_parts: int, fan_in: int) -> list[int]:
    """Return the number of groups on each level of the tree; no level if there are few parts.

    Parameters
    ----------
    n_parts : int
        Number of partitions.
    fan_in : int
        Number of parts in a group, a power of two.
    """
    counts: list[int] = []
    while n_parts > (1 if counts else MOST_PARTS):
        n_parts = -(-n_parts // fan_in)
        counts.append(n_parts)
    return counts


def group_sums(parts: Iterable[tuple[int, bytes]], fan_in: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each group and the sum of its parts, with few parts in memory.

    Parameters
    ----------
    parts : iterable of (int, bytes)
        Numbers and pickled parts of whole groups, in the order of the numbers. A number that comes
        twice counts once.
    fan_in : int
        As in `group_counts`.
    """
    for group, members in groupby(parts, key=lambda part: part[0] // fan_in):
        running: TreeSum[Any] = TreeSum()
        for number, part in members:
            running.add(number, unpacked(part))
        yield group, packed(running.total())


def packed(part: Any) -> bytes:
    """Return a result of a task as it is sent between workers."""
    return pickle.dumps(part, protocol=pickle.HIGHEST_PROTOCOL)


def unpacked(part: bytes) -> Any:
    """Return a result that `packed` has written."""
    return pickle.loads(part)  # noqa: S301 - sent by a worker of the same job
