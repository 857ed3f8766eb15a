"""Every value has a cell, every cell a name, and weights count the training rows."""

from datetime import UTC, datetime

import numpy as np
import pytest

from directrix.tables import Column, LevelBins, NumberBins, Table
from directrix.tables.table import days_of

NUMBER = Column("x", "number")


def number_bins(values, weight=None, **options):
    options = {"max_bins": 8, "min_rows": 1, **options}
    return NumberBins.of(NUMBER, np.asarray(values, dtype=float), weight, **options)


def test_bins_include_their_upper_end():
    bins = NumberBins("x", "number", (1.0, 2.0), (0.0, 1.5, 3.0))
    values = np.array([-np.inf, 1.0, np.nextafter(1.0, 2), 2.0, 2.1, np.inf, np.nan])
    assert bins.cells(values).tolist() == [1, 1, 2, 2, 3, 3, 0]
    assert bins.cells(values).dtype == np.int32


def test_special_values_have_cells_in_the_given_order():
    values = [1, 2, 3, -999, -998, -999, np.nan]
    bins = number_bins(values, special_values=(-999.0, 7.0, -998.0))
    assert bins.cuts == (1.0, 2.0)  # they are no part of the quantiles
    assert bins.n_ordered == 3
    assert bins.n_cells == 7
    assert bins.cells(np.array([*values, 7.0])).tolist() == [1, 2, 3, 4, 6, 4, 0, 5]
    assert bins.labels == ("missing", "<= 1", "1 to 2", "> 2", "-999", "7", "-998")
    assert bins.weights == (1, 1, 1, 1, 2, 0, 1)


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_those_of_the_training_cells(seed):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(500) < 0.1, np.nan, rng.normal(size=500).round(1))
    weight = rng.integers(0, 4, size=500).astype(float)
    bins = number_bins(values, weight, special_values=(0.0,), min_rows=3)
    counts = np.bincount(bins.cells(values), weight, minlength=bins.n_cells)
    assert list(bins.weights) == counts.tolist()
    codes = np.where(np.isnan(values), np.nan, rng.integers(0, 40, size=500))
    texts = tuple(f"level {k:02}" for k in range(40))
    levels = LevelBins.of(Column("t", "text", texts), codes, weight, min_rows=20)
    counts = np.bincount(levels.cells(codes, texts), weight, minlength=levels.n_cells)
    assert list(levels.weights) == counts.tolist()
    assert min(levels.weights[2:]) >= 20


def test_rare_and_unseen_levels_are_other():
    texts = ("a", "b", "c")
    bins = LevelBins.of(
        Column("t", "text", texts), np.array([0, 0, 1, 2, 2, np.nan]), None, min_rows=2
    )
    assert bins.levels == ("a", "c")
    assert bins.weights == (1, 1, 2, 2)
    # The levels of another table have other indices.
    assert bins.cells(np.array([0, 1, 2, np.nan]), ("c", "d", "a")).tolist() == [3, 1, 2, 0]
    assert bins.cells(np.array([np.nan]), ()).tolist() == [0]


def test_a_level_cannot_be_taken_for_another_cell():
    levels = ("", '"missing"', "missing", "other", "yes")
    labels = LevelBins("t", levels).labels
    assert labels[:2] == ("missing", "other")
    assert labels[-1] == "yes"
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    "cuts",
    [(0.1, 0.2), (1e12, 1e12 + 1, 1e12 + 2), (0.0, 5e-324), (1.0, float(np.nextafter(1, 2)))],
)
def test_labels_tell_cuts_apart(cuts):
    bins = NumberBins("x", "number", cuts, (0.0,) * (len(cuts) + 1))
    assert len(set(bins.labels)) == bins.n_cells


def test_labels_of_booleans_dates_and_single_bins():
    assert NumberBins("x", "boolean", (0.5,), (0.0, 1.0)).labels == ("missing", "False", "True")
    assert NumberBins("x", "number", (), (0.0,)).labels == ("missing", "any value")
    noon = days_of(datetime(2024, 2, 29, 12, tzinfo=UTC))
    bins = NumberBins("x", "date", (noon,), (0.0, 0.0), (2932896.0,))
    assert bins.labels == (
        "missing",
        "<= 2024-02-29 12:00:00",
        "> 2024-02-29 12:00:00",
        "9999-12-31",
    )


def test_a_column_without_values_is_legal():
    bins = number_bins([np.nan, np.nan])
    assert bins.n_cells == 2
    assert bins.weights == (2, 0)
    assert bins.cells(np.array([1.0, np.nan])).tolist() == [1, 0]


JOBS = ("", "clerk", "cook", "nurse", "pilot, retired")
GROUPED = LevelBins("job", JOBS, (1, 2, 3, 4, 5), (0, 1, 0, 1, 2))


def test_cells_are_those_of_the_levels_merged():
    single = LevelBins("job", JOBS)
    table_levels = ["", "baker", *JOBS[1:]]
    values = np.array([*range(len(table_levels)), np.nan])
    merged = np.array([0, 1, *(2 + group for group in GROUPED.groups)])
    expected = merged[single.cells(values, table_levels)]
    np.testing.assert_array_equal(GROUPED.cells(values, table_levels), expected)
    assert GROUPED.cells(values, table_levels).dtype == np.int32
    assert GROUPED.n_cells == 5


def test_labels_name_all_levels_and_cannot_be_misread():
    assert GROUPED.labels == (
        "missing",
        "other",
        '"", cook',
        "clerk, nurse",
        '"pilot, retired"',
    )
    pretender = LevelBins("job", ("missing", "other"), (), (0, 0))
    assert pretender.labels == ("missing", "other", '"missing", "other"')


@pytest.mark.parametrize("bins", [GROUPED, LevelBins("job", ())])
def test_a_group_has_no_order(bins):
    assert bins.kind == "text"
    assert bins.n_ordered == 0
    assert len(bins.labels) == bins.n_cells == len(set(bins.labels))


def read_back(bins, values):
    """Return the cell of each value by the printed labels, as a reader of the card would."""
    upper = [float(text) for text in bins.cut_labels]
    return np.array([1 + sum(value > cut for cut in upper) for value in values])


@pytest.mark.parametrize(
    "values",
    [
        np.arange(1234560.0, 1234580.0),
        np.array([0.9999999999999998, 1.0, 1.0000000000000002, 0.5]),
        np.array([1e15, 1e15 + 1, 1e15 + 2, 3e22, 3.0000000000000004e22]),
        np.array([0.1, 0.2, 0.30000000000000004, 0.3, 0.4]),
        np.array([5e-324, 1e-323, 1.5e-323, -5e-324]),
        1000.0 + np.random.default_rng(0).normal(size=300) * 1e-9,
        np.round(np.random.default_rng(1).normal(size=500) * 1e6, 2),
    ],
)
def test_a_printed_card_puts_every_value_into_its_bin(values):
    for max_bins in (3, 64):
        bins = NumberBins.of(Column("x", "number"), values, None, max_bins=max_bins, min_rows=1)
        near = np.concatenate([values, [float(text) for text in bins.cut_labels]])
        np.testing.assert_array_equal(read_back(bins, near), bins.cells(near))
        assert len(set(bins.labels)) == bins.n_cells


def test_a_printed_date_puts_every_time_into_its_bin():
    rng = np.random.default_rng(0)
    for spread in (10**6, 10**9, 10**12, 10**15):
        times = np.datetime64("2024-02-28T23:59", "us") + rng.integers(0, spread, 200)
        days = Table.of(times[:, None]).values[:, 0]
        bins = NumberBins.of(Column("t", "date"), days, None, max_bins=20, min_rows=1)
        cuts = np.array([text.replace(" ", "T") for text in bins.cut_labels], dtype="M8[us]")
        expected = 1 + (times[:, None] > cuts).sum(axis=1)
        np.testing.assert_array_equal(bins.cells(days), expected)
        at_cuts = Table.of(cuts[:, None]).values[:, 0]
        np.testing.assert_array_equal(bins.cells(at_cuts), 1 + np.arange(len(cuts)))
