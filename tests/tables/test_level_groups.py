"""Groups of levels bin as the single levels do, with cells that are merged."""

import numpy as np
import pytest

from directrix.tables import LevelBins, LevelGroups

LEVELS = ("", "clerk", "cook", "nurse", "pilot, retired")
GROUPS = LevelGroups("job", LEVELS, (0, 1, 0, 1, 2), (1, 2, 3, 4, 5))


def test_cells_are_those_of_the_levels_merged():
    single = LevelBins("job", LEVELS)
    table_levels = ["", "baker", *LEVELS[1:]]
    values = np.array([*range(len(table_levels)), np.nan])
    merged = np.array([0, 1, *(2 + group for group in GROUPS.groups)])
    expected = merged[single.cells(values, table_levels)]
    np.testing.assert_array_equal(GROUPS.cells(values, table_levels), expected)
    assert GROUPS.cells(values, table_levels).dtype == np.int32
    assert GROUPS.n_cells == 5


def test_labels_name_all_levels_and_cannot_be_misread():
    assert GROUPS.labels == (
        "missing",
        "other",
        '"", cook',
        "clerk, nurse",
        '"pilot, retired"',
    )
    pretender = LevelGroups("job", ("missing", "other"), (0, 0))
    assert pretender.labels == ("missing", "other", '"missing", "other"')


@pytest.mark.parametrize("bins", [GROUPS, LevelGroups("job", (), ())])
def test_a_group_has_no_order(bins):
    assert bins.kind == "text"
    assert bins.n_ordered == 0
    assert len(bins.labels) == bins.n_cells == len(set(bins.labels))
