"""Laws of the binner, on random tables with columns of every kind.

``DIRECTRIX_FUZZ`` sets how many tables the routes are compared on. Table k is always the same.
"""

import os

import numpy as np
import pytest
from sklearn.base import clone

pytest.importorskip("pyarrow", reason="random tables are made with Arrow")
pytest.importorskip("pandas")
pytest.importorskip("polars")
pytest.importorskip("duckdb")

import pyarrow as pa
from random_tables import (
    NAMES,
    cells_by_definition,
    compare,
    random_binner,
    random_table,
)

from directrix import Binner
from directrix.export import cells_to_sql
from directrix.tables import NumberBins, Table

SEEDS = range(20)


def problem(seed, n_rows=200):
    """Return a random table, a binner that is fitted to it, and the random source."""
    rng = np.random.default_rng([seed, 77])
    table, makers = random_table(rng, n_rows)
    return table, makers, random_binner(rng, table).fit(table), rng


# ── every route ───────────────────────────────────────────────────────────────────────────────────


def test_pandas_polars_arrow_and_sql_agree_with_the_definition(figure):
    counts = compare(int(os.environ.get("DIRECTRIX_FUZZ", "50")))
    assert counts.differences == dict.fromkeys(("pandas", "polars", "Arrow", "DuckDB SQL"), 0)
    assert counts.other_bins == 0
    figure(f"routes of the binner: {counts.tables} tables, {counts.cells} cells, no difference")


@pytest.mark.parametrize("seed", SEEDS)
def test_numpy_objects_and_lists_agree_with_frames(seed):
    table, _, binner, _ = problem(seed)
    objects = np.empty((len(table), len(table.columns)), dtype=object)
    for k, column in enumerate(table.columns):
        objects[:, k] = column.to_pylist()
    expected = cells_by_definition(binner, table)
    for rows in (objects, objects.tolist()):
        # Columns without names are matched by position.
        np.testing.assert_array_equal(binner.cells(rows), expected)


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_the_rows_changes_nothing(seed):
    table, _, binner, rng = problem(seed)
    weight = rng.random(len(table))
    order = rng.permutation(len(table))
    shuffled = table.take(pa.array(order))
    assert clone(binner).fit(shuffled).bins_ == binner.bins_
    weighted = clone(binner).fit(table, sample_weight=weight)
    assert clone(binner).fit(shuffled, sample_weight=weight[order]).bins_ == weighted.bins_
    np.testing.assert_array_equal(binner.cells(shuffled), binner.cells(table)[order])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_weight_is_a_number_of_repetitions(seed):
    table, _, binner, rng = problem(seed)
    weight = rng.integers(0, 4, size=len(table))
    weight[0] = 1  # not all are zero
    repeated = table.take(pa.array(np.repeat(np.arange(len(table)), weight)))
    by_weight = clone(binner).fit(table, sample_weight=weight)
    assert clone(binner).fit(repeated).bins_ == by_weight.bins_
    kept = table.take(pa.array(np.flatnonzero(weight)))
    without_zeros = clone(binner).fit(kept, sample_weight=weight[weight > 0])
    assert without_zeros.bins_ == by_weight.bins_


@pytest.mark.parametrize("seed", SEEDS)
def test_a_column_is_binned_as_if_it_were_alone(seed):
    table, _, binner, _ = problem(seed)
    cells = binner.cells(table)
    for k, name in enumerate(table.column_names):
        special = {name: binner.special_values[name]} if name in binner.special_values else None
        alone = clone(binner).set_params(special_values=special).fit(table.select([name]))
        assert alone.bins_ == binner.bins_[k : k + 1]
        np.testing.assert_array_equal(alone.cells(table)[:, 0], cells[:, k])


@pytest.mark.parametrize("seed", SEEDS)
def test_bins_hold_enough_rows_and_no_more_than_allowed(seed):
    _, _, binner, _ = problem(seed)
    for bins in binner.bins_:
        assert len(bins.weights) == len(bins.labels) == bins.n_cells
        assert sum(bins.weights) == 200
        if isinstance(bins, NumberBins):
            assert bins.n_ordered <= binner.max_bins
            if bins.cuts:
                assert min(bins.weights[1 : 1 + bins.n_ordered]) >= binner.min_rows
        else:
            assert min(bins.weights[2:], default=np.inf) >= binner.min_level_rows


# ── features ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_a_linear_function_of_a_thermometer_is_a_step_function(seed):
    table, _, binner, rng = problem(seed)
    features = binner.set_params(encoding="thermometer", sparse_output=False).transform(table)
    cells = binner.cells(table)
    start = 0
    for k, bins in enumerate(binner.bins_):
        names = binner.get_feature_names_out()
        n_features = bins.n_cells - (bins.n_ordered > 0)
        coef = rng.normal(size=n_features)
        score = features[:, start : start + n_features] @ coef
        start += n_features
        # Missing, the sums of jumps up to each bin, and the indicators after them.
        jumps = np.concatenate([[0.0], coef[1 : bins.n_ordered]]) if bins.n_ordered else []
        steps = np.concatenate([coef[:1], np.cumsum(jumps), coef[max(bins.n_ordered, 1) :]])
        assert len(steps) == bins.n_cells
        np.testing.assert_allclose(score, steps[cells[:, k]], rtol=0, atol=1e-12)  # of 64 jumps
    assert start == len(names) == len(set(names))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("encoding", ["thermometer", "onehot"])
def test_sparse_features_are_dense_features(seed, encoding):
    table, _, binner, _ = problem(seed)
    binner.set_params(encoding=encoding)
    dense = binner.set_params(sparse_output=False).transform(table)
    rows = binner.set_params(sparse_output=True).transform(table)
    assert rows.format == "csr"
    assert rows.has_canonical_format
    np.testing.assert_array_equal(rows.toarray(), dense)


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if len(problem(seed, 9)[0].columns) > 1])
def test_crosses_are_products_of_indicators(seed):
    table, _, binner, _ = problem(seed)
    first, second = table.column_names[:2]
    binner.set_params(encoding="onehot", crosses=[(second, first)], sparse_output=False)
    rows = binner.fit(table).transform(table)
    a, b = (binner.bins_[k].n_cells for k in (0, 1))
    products = rows[:, a : a + b, None] * rows[:, None, :a]
    np.testing.assert_array_equal(rows[:, -a * b :], products.reshape(len(rows), -1))


@pytest.mark.parametrize("seed", SEEDS)
def test_features_of_new_rows_have_the_same_columns(seed):
    _, makers, binner, rng = problem(seed)
    rows, _ = random_table(rng, 500, makers)
    assert binner.transform(rows).shape == (500, len(binner.get_feature_names_out()))
    assert binner.transform(rows[:0]).shape[0] == 0
    assert binner.transform(rows).sum(axis=1).min() >= 0


# ── odd tables ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_one_row_is_enough(seed):
    table, makers, _, rng = problem(seed, n_rows=1)
    binner = Binner().fit(table)
    assert all(bins.n_ordered <= 1 for bins in binner.bins_)
    rows, _ = random_table(rng, 50, makers)
    np.testing.assert_array_equal(binner.cells(rows), cells_by_definition(binner, rows))


def test_all_missing_and_constant_columns():
    table = pa.table(
        {
            "void number": pa.nulls(30, pa.float64()),
            "void text": pa.nulls(30, pa.string()),
            "void date": pa.nulls(30, pa.timestamp("us")),
            "void": pa.nulls(30),
            "constant": pa.array([7.0] * 30),
            "one level": pa.array(["a"] * 30),
        }
    )
    binner = Binner().fit(table)
    assert [bins.n_cells for bins in binner.bins_] == [2, 2, 2, 2, 2, 3]
    assert binner.cells(table)[0].tolist() == [0, 0, 0, 0, 1, 2]


def test_values_beyond_the_ends_and_unseen_levels():
    rng = np.random.default_rng(1)
    X = np.empty((100, 2), dtype=object)
    X[:, 0], X[:, 1] = rng.normal(size=100), rng.choice(["a", "b"], size=100)
    binner = Binner(max_bins=8).fit(X)
    new = [[-1e308, "c"], [-np.inf, ""], [1e308, "A"], [np.inf, "a "], [None, None], [np.nan, "a"]]
    assert binner.cells(new).tolist() == [[1, 1], [1, 1], [8, 1], [8, 1], [0, 0], [0, 2]]


@pytest.mark.parametrize(
    "values",
    [
        1e12 + np.arange(50.0),
        np.arange(50) * 5e-324,
        np.arange(-25.0, 25.0) * 7e306,
        np.concatenate([[-np.inf] * 5, np.arange(40.0), [np.inf] * 5]),
        np.float32(1) + np.arange(50) * np.finfo(np.float32).eps,
    ],
    ids=["far", "denormal", "huge", "infinite", "float32"],
)
def test_every_distinct_value_has_a_bin_where_there_are_few(values):
    X = np.repeat(values, 5)[:, None]
    cells = Binner().fit(X).cells(X)[:, 0]
    distinct = np.unique(values)
    np.testing.assert_array_equal(cells, 1 + np.searchsorted(distinct, X[:, 0]))


def test_the_same_moment_in_another_time_zone_is_in_the_same_bin():
    rng = np.random.default_rng(2)
    moments = pa.array(rng.integers(10**15, 2 * 10**15, size=500).astype("M8[us]"))
    zoned = {
        zone: pa.table({"at": moments.cast(pa.timestamp("us", zone))})
        for zone in ("UTC", "Asia/Kolkata", "America/New_York")
    }
    binner = Binner(max_bins=32).fit(zoned["UTC"])
    expected = binner.cells(pa.table({"at": moments}))
    assert len(np.unique(expected)) == 32
    for table in zoned.values():
        assert Binner(max_bins=32).fit(table).bins_ == binner.bins_
        np.testing.assert_array_equal(binner.cells(table), expected)
        np.testing.assert_array_equal(binner.cells(table.to_pandas()), expected)


def test_hostile_names_survive_features_files_and_sql():
    rng = np.random.default_rng(3)
    table = pa.table({name: rng.normal(size=50) for name in NAMES})
    binner = Binner(max_bins=3, encoding="onehot", crosses=[NAMES[:2]]).fit(table)
    names = binner.get_feature_names_out()
    assert len(set(names)) == len(names) == binner.transform(table).shape[1]
    again = Binner.from_json(binner.to_json())
    np.testing.assert_array_equal(again.cells(table), binner.cells(table))
    assert set(cells_to_sql(binner)) == set(NAMES)


def test_a_table_read_earlier_is_binned_like_its_source():
    table, _, binner, _ = problem(5)
    read = Table.of(table)
    assert clone(binner).fit_table(read).bins_ == binner.bins_
    np.testing.assert_array_equal(binner.cells(read), binner.cells(table))
    rows = np.arange(0, len(table), 3)
    np.testing.assert_array_equal(binner.cells(read.take(rows)), binner.cells(table)[rows])
