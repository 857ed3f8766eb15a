"""Encodings agree with their definition, sparse and dense, and have distinct names."""

import numpy as np
import pytest

from directrix.tables import LevelBins, NumberBins
from directrix.tables.binner import (
    cross,
    cross_cells,
    cross_names,
    distinct_names,
    onehot,
    onehot_names,
    sparse_features,
    thermometer,
    thermometer_names,
)

NUMBERS = NumberBins("age", "number", (18.0, 40.0, 65.0), (10.0, 30.0, 50.0, 70.0), (-1.0, -2.0))
TEXTS = LevelBins("town", ("Paris", "Rome"))
BINS = [NUMBERS, TEXTS]


def cells(n_rows=200):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.integers(0, bins.n_cells, size=n_rows) for bins in BINS])


def test_a_thermometer_counts_the_cuts_below():
    ages = np.array([10.0, 18, 30, 65, 66, -1, -2, np.nan])
    rows = sparse_features([thermometer(NUMBERS)], NUMBERS.cells(ages)[:, None]).toarray()
    names = thermometer_names(NUMBERS)
    assert names == [
        "age: missing",
        *(f"age > {cut}" for cut in (18, 40, 65)),
        "age: -1",
        "age: -2",
    ]
    for k, cut in enumerate((18, 40, 65)):
        assert rows[:, 1 + k].tolist() == ((ages > cut) & (ages >= 0)).tolist()
    assert rows[:, 0].tolist() == np.isnan(ages).tolist()
    assert rows[:, 4].tolist() == (ages == -1).tolist()
    assert rows[:, 5].tolist() == (ages == -2).tolist()


def test_one_feature_of_each_column_and_cross_is_one():
    blocks = np.hstack([cells(), cross_cells(BINS, cells(), [(1, 0)])])
    runs = [*map(onehot, BINS), cross(TEXTS, NUMBERS)]
    features = sparse_features(runs, blocks)
    assert features.has_canonical_format
    rows = features.toarray()
    names = np.array([*onehot_names(NUMBERS), *onehot_names(TEXTS), *cross_names(TEXTS, NUMBERS)])
    for row, (age, town) in zip(rows, cells(), strict=True):
        a, t = NUMBERS.labels[age], TEXTS.labels[town]
        assert names[row == 1].tolist() == [f"age: {a}", f"town: {t}", f"town x age: {t}, {a}"]


def test_no_rows_and_no_columns_are_legal():
    assert sparse_features([onehot(TEXTS)], np.empty((0, 1), dtype=int)).shape == (0, 4)
    assert sparse_features([], np.empty((3, 0), dtype=int)).shape == (3, 0)


@pytest.mark.parametrize(
    "names",
    [["a", "a", "a (2)", "a"], ["a (2)", "a", "a"], ["b", "a (2)", "a (2)", "a", "a", "a (3)"], []],
)
def test_names_become_distinct_and_the_first_is_kept(names):
    distinct = distinct_names(names)
    assert len(set(distinct)) == len(names) == len(distinct)
    for name in set(names):
        assert distinct[names.index(name)] == name
