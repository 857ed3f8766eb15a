"""Parts of a table agree on the kinds of its columns, in whichever order they are read."""

from datetime import datetime
from itertools import permutations

import numpy as np
import pytest

from directrix.exceptions.columns import ColumnKindError
from directrix.tables import Table
from directrix.tables.table import ColumnKinds

MISSING = [None, None]
VALUES = {
    "number": [1.5, None],
    "boolean": [True, None],
    "text": ["1.5", None],
    "date": [datetime(2020, 1, 1), None],  # noqa: DTZ001 - dates of tables have no time zone
}


def kinds_of(*columns):
    total = ColumnKinds({}, {})
    for values in columns:
        total += ColumnKinds.of(Table.of(np.array(values, dtype=object)[:, None]))
    return total


@pytest.mark.parametrize("kind", VALUES)
def test_parts_in_which_a_column_is_missing_have_no_say(kind):
    for parts in permutations([VALUES[kind], MISSING, MISSING]):
        assert [column.kind for column in kinds_of(*parts).columns] == [kind]
        assert not kinds_of(*parts).is_mixed


@pytest.mark.parametrize(
    ("kinds", "common"),
    [
        (("number", "boolean"), "number"),
        (("number", "text"), "text"),
        (("boolean", "text", "number"), "text"),
        (("date", "text"), "date"),
    ],
)
def test_several_kinds_have_one_in_common(kinds, common):
    for order in permutations(kinds):
        total = kinds_of(*(VALUES[kind] for kind in order))
        assert total.is_mixed
        assert total.columns[0].kind == common


@pytest.mark.parametrize("other", ["number", "boolean"])
def test_dates_are_no_numbers(other):
    with pytest.raises(ColumnKindError, match="holds dates and numbers, but values of one kind"):
        _ = kinds_of(VALUES["date"], VALUES[other]).columns


def test_parts_must_have_the_same_columns():
    pd = pytest.importorskip("pandas")
    first, second = pd.DataFrame({"a": [1.0], "b": [2.0]}), pd.DataFrame({"b": [2.0], "a": [1.0]})
    with pytest.raises(ValueError, match=r"the columns \['a', 'b'\] and others \['b', 'a'\]"):
        ColumnKinds.of(Table.of(first)) + ColumnKinds.of(Table.of(second))


def test_a_column_that_is_missing_everywhere_keeps_the_kind_it_was_read_as():
    table = Table.of(np.full((2, 1), np.nan))
    assert ColumnKinds.of(table).columns == table.columns
