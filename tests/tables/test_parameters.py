"""Special values and crosses are given in several forms, and mean the same in each."""

from datetime import date

import numpy as np
import pytest

from directrix.rows.labels import checked_weight
from directrix.tables import Column
from directrix.tables.binner_file import (
    check_parameters,
    cross_index,
    special_numbers,
    values_by_column,
)

COLUMNS = [Column("a", "number"), Column("d", "date"), Column("t", "text", ("x",))]
PARAMS = {"max_bins": 8, "min_rows": 5, "min_level_rows": 10, "encoding": "onehot"}


@pytest.mark.parametrize("given", [7, [7], (7.0,), np.array([7]), {7: "unknown"}])
def test_special_values_may_be_one_or_several(given):
    assert special_numbers(given, "special_values") == (7.0,)


def test_special_values_of_each_column():
    assert values_by_column(None, COLUMNS) == [(), (), ()]
    assert values_by_column([-1, -2], COLUMNS) == [(-1.0, -2.0), (), ()]
    given = {"d": date(1970, 1, 2), "a": [0]}
    assert values_by_column(given, COLUMNS) == [(0.0,), (1.0,), ()]
    assert str(special_numbers([-0.0], "special_values")[0]) == "0.0"


def test_crosses_by_name_and_by_position():
    names = ["a", "d", "t"]
    assert cross_index([("t", "a"), (0, 1)], names) == ((2, 0), (0, 1))
    with pytest.raises(ValueError, match="names a pair twice"):
        cross_index([("t", "a"), (2, 0)], names)
    for wrong in ([("a",)], ["ad"], [("a", "d", "t")]):
        with pytest.raises(ValueError, match="must be pairs of columns"):
            cross_index(wrong, names)
    for missing in (3, -1, "b", 1.5):
        with pytest.raises(KeyError):
            cross_index([("a", missing)], names)


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_bins": True},
        {"max_bins": None},
        {"min_rows": np.nan},
        {"min_rows": True},
        {"min_level_rows": np.inf},
        {"encoding": None},
        {"encoding": ["onehot"]},
    ],
)
def test_wrong_parameters_are_refused_by_name(wrong):
    check_parameters(PARAMS)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        check_parameters(PARAMS | wrong)


def test_weights_that_overflow_are_refused():
    with pytest.raises(ValueError, match="add up to inf"):
        checked_weight([1e308] * 3, 3, positive=True)
