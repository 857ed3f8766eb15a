import struct

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from directrix.rows.keys import mix_bits, row_hash
from directrix.rows.rows import as_rows


def rows(n=200, d=5, seed=0):
    """Return rows whose values are float32 exactly, zeros among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(np.float64)
    X[rng.random((n, d)) < 0.4] = 0.0
    return X


def hashed(X):
    return row_hash(as_rows(X))


HOLDERS = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "csr of float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "float32": lambda X: X.astype(np.float32),
    "columns in memory": np.asfortranarray,
    "every other row of an array": lambda X: np.repeat(X, 2, axis=0)[::2],
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcde")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_the_hash_is_the_same_whatever_holds_the_rows(holder):
    X = rows()
    np.testing.assert_array_equal(hashed(holder(X)), hashed(X))


def test_the_hash_is_a_number_of_64_bits_for_each_row():
    X = rows()
    assert hashed(X).dtype == np.uint64
    assert hashed(X).shape == (len(X),)


def test_the_hash_of_a_row_does_not_depend_on_the_rows_around_it():
    X = rows()
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(hashed(X[order]), hashed(X)[order])
    alone = np.concatenate([hashed(X[k : k + 1]) for k in range(len(X))])
    np.testing.assert_array_equal(alone, hashed(X))


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_rows_of_many_blocks_are_all_hashed(holder):
    X = rows(60_000)  # more values than are looked at together
    parts = np.concatenate([hashed(part) for part in np.array_split(X, 17)])
    np.testing.assert_array_equal(hashed(holder(X)), parts)


def test_minus_zero_is_zero_and_a_stored_zero_is_none():
    X = rows()
    minus = np.where(X == 0.0, -0.0, X)
    assert np.signbit(minus).sum() > np.signbit(X).sum()
    np.testing.assert_array_equal(hashed(minus), hashed(X))
    stored = sparse.csr_array(np.where(X == 0.0, 7.0, X))
    stored.data[stored.data == 7.0] = 0.0
    assert stored.nnz == X.size
    np.testing.assert_array_equal(hashed(stored), hashed(X))


def test_different_rows_have_different_hashes():
    # 10⁵ distinct rows of a grid: by chance two of 64 bits would agree once in 10⁹ tries.
    grid = np.stack(np.meshgrid(*[np.arange(10.0)] * 5), axis=-1).reshape(-1, 5)
    assert len(np.unique(hashed(grid))) == len(grid)


LARGEST = float(np.finfo(float).max)


# Above the largest number there is none to change to.
@given(st.floats(-LARGEST, np.nextafter(LARGEST, 0.0)), st.integers(0, 3))
def test_one_value_that_is_changed_by_its_last_bit_changes_the_hash(value, column):
    X = np.zeros((2, 4))
    X[:] = 1.0, -2.0, 0.0, 3.0
    X[0, column], X[1, column] = value, np.nextafter(value, np.inf)
    before, after = hashed(X)
    assert (before == after) == (X[0, column] == X[1, column])


def test_it_matters_in_which_column_a_value_is():
    X = rows()
    swapped = X[:, [1, 0, 2, 3, 4]]
    moved = X[:, 0] != X[:, 1]
    np.testing.assert_array_equal(hashed(swapped) != hashed(X), moved)
    assert moved.sum() > 100
    units = np.eye(50)
    assert len(np.unique(hashed(units))) == 50


def test_half_of_the_bits_are_set():
    # Each bit of 20,000 hashes: its mean is within five deviations, 0.018, of one half.
    bits = np.unpackbits(hashed(rows(20_000)).view(np.uint8).reshape(-1, 8), axis=1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.018


def by_hand(row):
    """Return the hash of a row in Python's integers, by the formula of the documentation."""
    bits = [struct.unpack("<Q", struct.pack("<d", value + 0.0))[0] for value in row]
    multipliers = [mixed(STEP * (k + 1) % 2**64) | 1 for k in range(len(row))]
    pairs = zip(bits, multipliers, strict=True)
    return mixed(sum((value ^ value >> 29) * factor for value, factor in pairs) % 2**64)


STEP = 0x9E3779B97F4A7C15


def mixed(bits):
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
    return bits ^ bits >> 31


@pytest.mark.parametrize("holder", [np.asarray, np.asfortranarray], ids=["by row", "by column"])
def test_folds_that_were_drawn_by_the_hash_never_change(holder):
    X = rows(40, 5) * 1e3
    assert hashed(holder(X)).tolist() == [by_hand(row) for row in X.tolist()]


def test_many_hashes_are_mixed_as_one():
    bits = np.random.default_rng(3).integers(0, 2**63, 40_000, dtype=np.uint64)
    kept = bits.copy()
    many = mix_bits(bits)
    np.testing.assert_array_equal(bits, kept)
    for k in (0, 16_383, 16_384, 39_999):
        assert int(many[k]) == int(mix_bits(bits[k])) == mixed(int(bits[k]))


def test_the_order_in_memory_does_not_matter_to_mixed_bits():
    bits = np.arange(1, 13, dtype=np.uint64).reshape(3, 4)
    mixed = mix_bits(bits)
    assert not np.isin(mixed, bits).any()
    np.testing.assert_array_equal(mix_bits(np.asfortranarray(bits)), mixed)
