"""Output columns are called after classes, whatever the labels are."""

from datetime import date, datetime

import numpy as np
import pytest

from directrix.rows.classes import class_names, output_names, probability_name


@pytest.mark.parametrize(
    ("classes", "names"),
    [
        (["bad", "good"], ["bad", "good"]),
        ([False, True], ["false", "true"]),
        ([np.False_, np.True_], ["false", "true"]),
        ([-1, 1], ["minus_1", "1"]),
        ([0.0, 0.5], ["0", "0_5"]),
        (["-", "+"], ["minus", "plus"]),
        (["<=50K", ">50K"], ["le_50k", "gt_50k"]),
        (["", " "], ["empty", "class_1"]),
        (['the "best"', "it's; DROP TABLE x --"], ["the_best", "it_s_drop_table_x"]),
        (["好", "плохо"], ["好", "плохо"]),
        (["a b", "a-b"], ["a_b_0", "a_b_1"]),
        (["A", "a"], ["a_0", "a_1"]),
        (["a", "A", "a 0"], ["a_0_0", "a_1", "a_0_2"]),
        ([date(2024, 2, 29), datetime(2024, 3, 1, 12)], ["2024_02_29", "2024_03_01t12_00_00"]),  # noqa: DTZ001
    ],
)
def test_names_are_made_from_labels(classes, names):
    assert list(class_names(classes)) == names


@pytest.mark.parametrize(
    "classes",
    [["x" * 99 + "1", "x" * 99 + "2"], ["ü" * 99, "ü" * 98], ["\0", "\ud800"], ["²", "2"]],
)
def test_names_are_distinct_identifiers_that_no_database_cuts_off(classes):
    names = output_names("probability", classes)
    assert len({name.casefold() for name in names}) == len(classes)
    assert all(name.isidentifier() and len(name.encode()) <= 63 for name in names)


def test_the_positive_class_has_a_probability():
    assert probability_name(["bad", "good"]) == "probability_good"
    assert probability_name(["bad", "good"], "bad") == "probability_bad"
    assert probability_name([0, 1], 0) == "probability_0"
    assert probability_name([False, True], positive=False) == "probability_false"
