from itertools import groupby

import numpy as np
import pytest

from directrix.engines import spark
from directrix.engines.column_roles import MOST_PARTS, group_counts, group_sums, packed, unpacked
from directrix.exceptions import WorkerLibraryError
from directrix.rows.sums import tree_sum


class Term(str):
    """A term that remembers in which tree it was added up."""

    __slots__ = ()

    def __add__(self, other):
        return Term(f"({self} {other})")


def terms(n):
    return [Term(k) for k in range(n)]


def in_levels(parts, fan_in, counts):
    """Add packed parts level by level, each group by itself, and return what is left."""
    for count in counts:
        groups = [list(group) for _, group in groupby(parts, key=lambda part: part[0] // fan_in)]
        assert len(groups) == count
        parts = [total for group in groups for total in group_sums(group, fan_in)]
    return parts


@pytest.mark.parametrize("fan_in", [2, 8, 64])
@pytest.mark.parametrize("n", [1, 4, 5, 63, 64, 65, 70, 300, 4097])
def test_levels_of_groups_give_the_bits_of_one_tree(n, fan_in):
    counts = group_counts(n, fan_in)
    left = in_levels([(k, packed(term)) for k, term in enumerate(terms(n))], fan_in, counts)
    assert len(left) == (n if n <= MOST_PARTS else 1)
    assert tree_sum(unpacked(part) for _, part in left) == tree_sum(terms(n))


def test_more_levels_than_needed_change_nothing():
    parts = [(k, packed(term)) for k, term in enumerate(terms(300))]
    [(number, total)] = in_levels(parts, 64, [5, 1, 1, 1])
    assert number == 0
    assert unpacked(total) == tree_sum(terms(300))


def test_a_number_counts_once_and_may_be_missing():
    numbers = [0, 0, 3, 64, 64, 64, 66, 200]
    parts = [(number, packed(np.float64(number))) for number in numbers]
    sums = [(group, unpacked(part)) for group, part in group_sums(parts, 64)]
    assert sums == [(0, 3.0), (1, 130.0), (3, 200.0)]


class Counted:
    """A part that counts how many of them there are."""

    held = most = 0

    def __init__(self):
        Counted.held += 1
        Counted.most = max(Counted.most, Counted.held)

    def __add__(self, other):
        return Counted()

    def __del__(self):
        Counted.held -= 1

    def __reduce__(self):
        return Counted, ()


def test_parts_of_a_group_are_a_stream():
    part = packed(Counted())
    assert len(list(group_sums(((k, part) for k in range(4096)), 4096))) == 1
    assert Counted.most <= 16


@pytest.mark.parametrize("fan_in", [8, 64])
def test_ten_thousand_parts_are_few_levels(fan_in):
    counts = group_counts(10_000, fan_in)
    assert counts == {8: [1250, 157, 20, 3, 1], 64: [157, 3, 1]}[fan_in]
    assert group_counts(MOST_PARTS, fan_in) == []


@pytest.mark.parametrize(
    ("said", "error"),
    [("\nModuleNotFoundError: No module named 'scipy.stats'\n", WorkerLibraryError), ("", OSError)],
)
def test_a_library_that_workers_of_spark_lack_is_named_in_one_line(said, error):
    class Frame:
        def collect(self):
            raise OSError("Job aborted" + said)

    with pytest.raises(error) as caught:
        spark._collected(Frame())
    assert len(str(caught.value).splitlines()) == 1
    assert getattr(caught.value, "library", "scipy") == "scipy"
