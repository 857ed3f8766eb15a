from itertools import product

import pytest
from few_cases import different, few


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


class Item:
    """What the selection asks of a test."""

    def __init__(self, nodeid, *, marked=False, **params):
        self.nodeid, self.marked = nodeid, marked
        if params:
            self.callspec = type("CallSpec", (), {"params": params})

    def get_closest_marker(self, name):
        return (self.marked and name == "every_case") or None


@pytest.mark.parametrize("turned", [False, True])
def test_every_test_is_run_and_the_same_cases_in_any_order(turned):
    items = [
        Item("a"),
        *(Item(f"b[{x}{y}]", x=x, y=y) for x, y in product("pqrs", "tu")),
        *(Item(f"c[{x}]", marked=True, x=x) for x in "vwxyz"),
    ]
    kept, left_out = few(items[::-1] if turned else items)
    names = {item.nodeid for item in kept}
    assert {"a", *(f"c[{x}]" for x in "vwxyz")} < names
    assert names & {item.nodeid for item in items[1:9]} == {"b[pt]", "b[qu]"}
    assert len(kept) + len(left_out) == len(items)
