"""Fewer cases of each test, for libraries that accept other things, and compute the same.

``DIRECTRIX_CASES=few`` asks for them. Every test is run, with at most two of its parametrised
cases, whose values differ as much as they can, and with a tenth of its random examples.
"""

import os
from collections import defaultdict

FEW_CASES = os.environ.get("DIRECTRIX_CASES") == "few"
LIMIT = 2


def examples(count):
    """Return the number of random examples, of which ``count`` are the whole."""
    return max(10, count // 10) if FEW_CASES else count


def different(cases, limit=LIMIT):
    """Return the indices of at most ``limit`` cases that have many values between them.

    Parameters
    ----------
    cases : list of dict
        For each case, the value of each parameter, or a number that stands for it.
    limit : int
        How many cases there are at most.

    Returns
    -------
    list of int
        Greedy choice: each case has as many values that no earlier one has as any other case, and
        is the first of those.
    """
    chosen, seen = [], set()
    values = [set(case.items()) for case in cases]
    while len(chosen) < min(limit, len(cases)):
        left = [index for index in range(len(cases)) if index not in chosen]
        best = max(left, key=lambda index: len(values[index] - seen))
        chosen.append(best)
        seen |= values[best]
    return chosen


def few(items):
    """Split tests into those to run and the others."""
    of_function = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec") and item.get_closest_marker("every_case") is None:
            of_function[item.nodeid.partition("[")[0]].append(item)
    left_out = set()
    for same in of_function.values():
        # One order whatever the seed of pytest-randomly is: the choice is the same on every run.
        same.sort(key=lambda item: item.nodeid)
        # Combinations of parameters share the objects that are their values.
        cases = [{name: id(value) for name, value in item.callspec.params.items()} for item in same]
        kept = different(cases)
        left_out.update(item.nodeid for index, item in enumerate(same) if index not in kept)
    return (
        [item for item in items if item.nodeid not in left_out],
        [item for item in items if item.nodeid in left_out],
    )
