from dataclasses import dataclass

import numpy as np
import pytest

from directrix.rows.sums import TreeSum, tree_sum


@dataclass(frozen=True)
class Term:
    """A term that remembers how it was added up, and how deep."""

    told: str
    depth: int = 0

    def __add__(self, other):
        depth = 1 + max(self.depth, other.depth)
        return Term(f"({self.told}{other.told})", depth)


@pytest.mark.parametrize(
    ("terms", "tree"),
    [
        ("a", "a"),
        ("ab", "(ab)"),
        ("abc", "((ab)c)"),
        ("abcd", "((ab)(cd))"),
        ("abcde", "(((ab)(cd))e)"),
        ("abcdefg", "(((ab)(cd))((ef)g))"),
    ],
)
def test_the_tree_is_pairwise_and_keeps_the_order(terms, tree):
    assert tree_sum(Term(letter) for letter in terms).told == tree


def numbered_sum(numbers):
    running = TreeSum()
    for number in numbers:
        running.add(number, Term(f"{number},"))
    return running.total().told


def by_halves(numbers, height):
    """Return the tree from its definition: halves of an aligned interval of 2ʰ numbers."""
    if len(numbers) == 1:
        return f"{numbers[0]},"
    split = 1 << (height - 1)
    lower = [number for number in numbers if not number & split]
    upper = [number for number in numbers if number & split]
    if lower and upper:
        return f"({by_halves(lower, height - 1)}{by_halves(upper, height - 1)})"
    return by_halves(lower or upper, height - 1)


@pytest.mark.parametrize("seed", range(30))
def test_numbers_that_are_left_out_leave_the_tree_of_the_others(seed):
    rng = np.random.default_rng(seed)
    numbers = np.flatnonzero(rng.random(300) < rng.choice([0.02, 0.3, 0.9, 1.0])).tolist() or [7]
    assert numbered_sum(numbers) == by_halves(numbers, 9)
    twice = [number for number in numbers for _ in range(rng.integers(1, 3))]
    assert numbered_sum(twice) == numbered_sum(numbers)


def test_terms_come_in_order():
    with pytest.raises(ValueError, match="term 3 comes after term 5"):
        numbered_sum([1, 5, 3])


@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 1000])
def test_the_tree_is_no_deeper_than_the_logarithm(n):
    total = tree_sum(Term("x") for _ in range(n))
    assert total.told.count("x") == n
    assert total.depth <= (n - 1).bit_length()


def test_few_terms_are_held_at_a_time():
    held = most = 0

    class Counted:
        def __init__(self):
            nonlocal held, most
            held += 1
            most = max(most, held)

        def __add__(self, other):
            return Counted()

        def __del__(self):
            nonlocal held
            held -= 1

    tree_sum(Counted() for _ in range(1024))
    assert most <= 14  # one for each power of two up to 1024, and those at work


def test_a_list_is_not_used_up():
    terms = [1, 2, 3]
    assert tree_sum(terms) == 6
    assert terms == [1, 2, 3]


def test_nothing_cannot_be_added_up():
    with pytest.raises(ValueError, match="nothing to add up"):
        tree_sum([])
