from itertools import product
from types import SimpleNamespace

import pytest
from few_cases import different, few

pytestmark = pytest.mark.every_case


def combinations(*sizes):
    return [
        {f"p{parameter}": value for parameter, value in enumerate(values)}
        for values in product(*map(range, sizes))
    ]


@pytest.mark.parametrize("sizes", [(5,), (3, 4), (2, 7, 3), (2, 2)], ids=str)
def test_cases_differ_in_every_parameter_that_has_enough_values(sizes):
    cases = combinations(*sizes)
    chosen = different(cases, limit=3)
    assert len(chosen) == 3
    for parameter, size in enumerate(sizes):
        assert len({cases[index][f"p{parameter}"] for index in chosen}) == min(size, 3)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_cases_are_all_chosen(count):
    assert sorted(different(combinations(count), limit=3)) == list(range(count))


def test_every_value_of_a_covered_parameter_is_chosen_once():
    cases = combinations(3, 7)
    chosen = [cases[index] for index in different(cases, limit=2, covered=["p1"])]
    assert sorted(case["p1"] for case in chosen) == list(range(7))
    assert {case["p0"] for case in chosen} == {0, 1, 2}


def test_the_rank_decides_among_equally_different_cases():
    assert different(combinations(4), limit=2, rank=[3, 1, 0, 2]) == [2, 1]


class Item:
    """What the selection asks of a test."""

    def __init__(self, nodeid, *, mark=None, **params):
        self.nodeid, self.mark = nodeid, mark
        if params:
            self.callspec = SimpleNamespace(params=params)

    def get_closest_marker(self, name):
        return self.mark if name == "every_case" else None


ALL = SimpleNamespace(args=())
COVERED = SimpleNamespace(args=("y",))


@pytest.mark.parametrize("turned", [False, True])
def test_every_test_is_run_and_the_same_cases_in_any_order(turned):
    items = [
        Item("a"),
        *(Item(f"b[{x}{y}]", x=x, y=y) for x, y in product("pqrs", "tu")),
        *(Item(f"c[{x}]", mark=ALL, x=x) for x in "vwxyz"),
        *(Item(f"d[{x}{y}]", mark=COVERED, x=x, y=y) for x, y in product("pq", "tuvwx")),
    ]
    kept, left_out = few(items[::-1] if turned else items, 2)
    names = {item.nodeid for item in kept}
    assert {"a", *(f"c[{x}]" for x in "vwxyz")} < names
    first, second = sorted(name for name in names if name[0] == "b")
    assert all(one != other for one, other in zip(first[2:4], second[2:4], strict=True))
    assert sorted(name[3] for name in names if name[0] == "d") == list("tuvwx")
    assert len(kept) + len(left_out) == len(items)
    assert names == {item.nodeid for item in few(items, 2)[0]}


@pytest.mark.parametrize(
    ("limit", "kept"), [(2, (4, 2, 1)), (3, (4, 3, 2)), (1, (1, 1, 1))], ids=str
)
def test_arithmetic_keeps_all_cases_unless_one_is_asked_for_and_fits_have_half(limit, kept):
    rooms = ("metrics", "export", "cli")
    items = [Item(f"tests/{room}/a[{x}]", x=x) for room in rooms for x in "pqrs"]
    names = [item.nodeid for item in few(items, limit)[0]]
    assert tuple(sum(room in name for name in names) for room in rooms) == kept


def test_tests_of_one_matrix_meet_different_parts_of_it():
    items = [Item(f"{test}[{x}]", x=x) for test in "abcdefgh" for x in "pqrstuvw"]
    kept, _ = few(items, 1)
    assert len(kept) == 8
    assert len({item.callspec.params["x"] for item in kept}) > 3


def test_tests_meet_one_session_of_spark_or_as_many_as_cases_with_other_values():
    kinds = ("classic", "connect")
    alone = [Item(f"{test}[{x}]", spark_master=x) for test in "abcdefgh" for x in kinds]
    kept, _ = few(alone, 2)
    assert [item.nodeid[0] for item in kept] == list("abcdefgh")
    assert {item.callspec.params["spark_master"] for item in kept} == set(kinds)
    both = [Item(f"a[{x}{y}]", spark_master=x, y=y) for x, y in product(kinds, "pqr")]
    assert {item.callspec.params["spark_master"] for item in few(both, 2)[0]} == set(kinds)
