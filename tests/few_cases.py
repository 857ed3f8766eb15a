"""The quick form of the suite: at most two cases of each parametrised test, one if it fits models.

``--all-cases`` asks for all of them, and ``--cases N`` for another number. In the quick form every
test is run, with cases whose values differ as much as they can, and with a tenth of its random
examples. A hash breaks ties, so that tests of the same matrix meet different parts of it. Folders
of arithmetic keep all their cases, unless ``--cases 1`` asks for one of each test. Folders of fits,
and tests whose only parameter is the session of Spark, have half as many cases as others.
"""

from collections import defaultdict
from dataclasses import dataclass
from zlib import crc32


@dataclass
class Selection:
    """How many cases of a parametrised test are run; None for all."""

    limit: int | None = 2


#: Folders in which a case takes milliseconds: thousands of cases take a minute together.
CHEAP = tuple(
    f"tests/{room}/"
    for room in (
        *("exceptions", "linear", "metrics"),
        *("moments", "rows", "tables"),
    )
)

#: The gallery, and tests whose cases are fits: second cases would take a third of their time.
FITS = (
    "tests/test_examples.py",
    *(f"tests/contracts/test_{law}.py" for law in ("budgets", "money", "segments")),
    *(
        f"tests/{room}/"
        for room in ("cli", "displays", "documents", "estimators", "fit", "monitoring")
    ),
)

#: Parameters whose cases take seconds, and differ in what all tests that have them share.
SLOW = frozenset({"spark_master"})

#: Set from the command line before tests are imported.
SELECTION = Selection()


def examples(count):
    """Return the number of random examples, of which ``count`` are the whole."""
    return count if SELECTION.limit is None else max(10, count // 10)


def different(cases, limit, covered=(), rank=None):
    """Return the indices of a few cases that have many values between them.

    Parameters
    ----------
    cases : list of dict
        For each case, the value of each parameter, or a number that stands for it.
    limit : int
        How many cases there are at most, unless `covered` needs more.
    covered : container of str
        Parameters of which every value is in at least one of the chosen cases.
    rank : list of int, optional
        Order among cases that are equally different; by default that of `cases`.

    Returns
    -------
    list of int
        Greedy choice: each case has as many values that no earlier one has as any other case, those
        of `covered` first, and is the first by `rank` of those.
    """
    rank = range(len(cases)) if rank is None else rank
    values = [set(case.items()) for case in cases]
    must = {value for case in values for value in case if value[0] in covered}
    chosen, seen = [], set()

    def news(index):
        new = values[index] - seen
        return len(new & must), len(new), -rank[index]

    while len(chosen) < len(cases) and (len(chosen) < limit or must - seen):
        best = max((index for index in range(len(cases)) if index not in chosen), key=news)
        chosen.append(best)
        seen |= values[best]
    return chosen


def few(items, limit):
    """Split tests into those to run and the others."""
    of_function = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec") and not has_all_cases(item, limit):
            of_function[item.nodeid.partition("[")[0]].append(item)
    left_out = set()
    for same in of_function.values():
        # One order whatever the seed of pytest-randomly is: the choice is the same on every run.
        same.sort(key=lambda item: item.nodeid)
        # Combinations of parameters share the objects that are their values.
        cases = [{name: id(value) for name, value in item.callspec.params.items()} for item in same]
        rank = [crc32(item.nodeid.encode()) for item in same]
        mark = same[0].get_closest_marker("every_case")
        is_slow = same[0].nodeid.startswith(FITS) or cases[0].keys() <= SLOW
        most = (limit + 1) // 2 if is_slow else limit
        kept = set(different(cases, most, mark.args if mark else (), rank))
        left_out.update(item.nodeid for index, item in enumerate(same) if index not in kept)
    return (
        [item for item in items if item.nodeid not in left_out],
        [item for item in items if item.nodeid in left_out],
    )


def has_all_cases(item, limit):
    """Return whether a test is cheap or marked ``every_case``, without names of parameters."""
    mark = item.get_closest_marker("every_case")
    return limit > 1 and item.nodeid.startswith(CHEAP) if mark is None else not mark.args
