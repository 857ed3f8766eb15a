"""Coded rows are a matrix that is never written out: every product is that of the dense one."""

import numpy as np
import pytest

from directrix.tables.coding.coded_rows import CodedRows, Coding

SIZES = ((5, 3), (4, 4), (1, 0), (7, 2))  # cells and directions of each column
PAIRS = (((3, 2), (6, 3)), ((4, 3), (2, 2)))  # of both columns of each pair


class Example:
    """Random codings and cells, and the features written out row by row."""

    def __init__(self, *, crosses, n=90, scaled=True, seed=0):
        rng = np.random.default_rng(seed)
        self.columns = [rng.normal(size=size) for size in SIZES]
        self.pairs = [
            tuple(rng.normal(size=size) for size in pair) for pair in (PAIRS if crosses else ())
        ]
        blocks = len(self.columns) + len(self.pairs)
        self.scale = rng.uniform(0.5, 2.0, blocks) if scaled else np.ones(blocks)
        self.coding = Coding(self.columns, self.pairs, self.scale if scaled else None)
        self.cells = np.column_stack([rng.integers(0, cells, n) for cells, _ in SIZES])
        self.pair_cells = [
            tuple(rng.integers(0, len(basis), n) for basis in pair) for pair in self.pairs
        ]
        numbers = self.coding.cell_numbers(self.cells, self.pair_cells)
        self.rows = CodedRows.of(numbers, self.coding)
        self.dense = np.array([self.features(row) for row in range(n)])
        self.rng = rng

    def features(self, row):
        parts = [
            factor * basis[cell]
            for factor, basis, cell in zip(self.scale, self.columns, self.cells[row], strict=False)
        ]
        ranks = (
            [max(pair[side].shape[1] for pair in self.pairs) for side in (0, 1)]
            if self.pairs
            else ()
        )
        for factor, pair, cells in zip(
            self.scale[len(self.columns) :], self.pairs, self.pair_cells, strict=True
        ):
            # All pairs have as many features, the last of which may be zero.
            left, right = (
                np.pad(basis[cell[row]], (0, rank - basis.shape[1]))
                for basis, cell, rank in zip(pair, cells, ranks, strict=True)
            )
            parts.append(factor * np.outer(left, right).ravel())
        return np.concatenate(parts)


crossed = pytest.mark.parametrize("crosses", [False, True], ids=["columns", "crosses"])
every_type = pytest.mark.parametrize(("dtype", "tol"), [(np.float32, 1e-4), (np.float64, 1e-10)])


@crossed
def test_shapes(crosses):
    made = Example(crosses=crosses)
    assert made.rows.shape == made.dense.shape
    assert len(made.rows) == 90
    assert made.coding.n_features == made.dense.shape[1] == made.coding.feature_starts[-1]
    assert len(made.coding.feature_starts) == len(made.scale) + 1
    np.testing.assert_allclose(made.rows.dense(), made.dense, rtol=1e-5, atol=1e-5)


@crossed
@every_type
def test_products_are_those_of_the_dense_matrix(crosses, dtype, tol):
    made = Example(crosses=crosses)
    coef = made.rng.normal(size=(made.dense.shape[1], 3)).astype(dtype)
    product = made.rows @ coef
    assert product.dtype == dtype
    np.testing.assert_allclose(product, made.dense @ coef, rtol=tol, atol=tol)
    np.testing.assert_allclose(made.rows @ coef[:, 0], made.dense @ coef[:, 0], rtol=tol, atol=tol)
    slopes = made.rng.normal(size=(90, 2)).astype(dtype)
    product = made.rows.T @ slopes
    assert product.dtype == dtype
    np.testing.assert_allclose(product, made.dense.T @ slopes, rtol=tol, atol=tol)
    np.testing.assert_allclose(made.rows.T @ slopes[:, 0], product[:, 0], rtol=tol, atol=tol)


@crossed
@every_type
def test_signed_rows_are_rows_times_signs_with_a_constant(crosses, dtype, tol):
    made = Example(crosses=crosses)
    order = made.rng.permutation(90)[:70]
    sign = made.rng.choice([-1.0, 1.0], 70)
    rows = made.rows.signed(order, sign)
    dense = sign[:, None] * np.column_stack([made.dense[order], np.ones(70)])
    assert rows.shape == dense.shape
    coef = made.rng.normal(size=(dense.shape[1], 2)).astype(dtype)
    np.testing.assert_allclose(rows @ coef, dense @ coef, rtol=tol, atol=tol)
    slopes = made.rng.normal(size=(70, 2)).astype(dtype)
    np.testing.assert_allclose(rows.T @ slopes, dense.T @ slopes, rtol=tol, atol=tol)
    # The rows they were made from are as they were.
    np.testing.assert_allclose(made.rows.dense(), made.dense, rtol=1e-5, atol=1e-5)


@crossed
@pytest.mark.parametrize("signed", [False, True])
def test_informations_and_squares_are_those_of_the_dense_matrix(crosses, signed):
    made = Example(crosses=crosses)
    rows, dense = made.rows, made.dense
    if signed:
        sign = made.rng.choice([-1.0, 1.0], 90)
        rows = rows.signed(np.arange(90), sign)
        dense = sign[:, None] * np.column_stack([dense, np.ones(90)])
    weight = made.rng.uniform(0.0, 2.0, 90)
    gram = dense.T @ (weight[:, None] * dense)
    np.testing.assert_allclose(rows.square_sums(weight), np.diag(gram), rtol=1e-10)
    inner, rest = rows.information(weight)
    of_columns = made.coding.main_matrix.shape[1]
    kept = np.r_[0:of_columns, [-1] * signed].astype(int)
    np.testing.assert_allclose(inner, gram[np.ix_(kept, kept)], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(rest, np.diag(gram)[of_columns : len(gram) - signed], rtol=1e-10)


@crossed
def test_moments_are_those_of_the_dense_matrix(crosses, monkeypatch):
    # So that there are several parts.
    monkeypatch.setattr("directrix.tables.coding.coded_rows._PART", 32)
    made = Example(crosses=crosses)
    share = made.rng.dirichlet(np.ones(90))
    total, second = made.rows.moments(share)
    # Features of crosses are multiplied out in single precision.
    tol = 1e-5 if crosses else 1e-10
    np.testing.assert_allclose(total, share @ made.dense, rtol=1e-6, atol=1e-10)
    expected = made.dense.T @ (share[:, None] * made.dense)
    np.testing.assert_allclose(second, expected, rtol=tol, atol=tol)


@crossed
@pytest.mark.parametrize(
    "index", [slice(10, 30), np.array([3, 3, 80]), np.arange(90) % 4 == 0, slice(0, 0)], ids=str
)
def test_some_rows_are_rows_of_the_dense_matrix(crosses, index):
    made = Example(crosses=crosses)
    some = made.rows[index]
    assert some.shape == made.dense[index].shape
    coef = made.rng.normal(size=made.dense.shape[1])
    np.testing.assert_allclose(some @ coef, made.dense[index] @ coef, atol=1e-10)


@crossed
def test_points_are_step_functions_that_add_up_to_the_score(crosses):
    made = Example(crosses=crosses)
    coef = made.rng.normal(size=made.dense.shape[1])
    blocks = made.coding.block_points(coef)
    pairs = [tuple(map(len, pair)) for pair in made.pairs]
    assert [block.shape for block in blocks] == [(cells,) for cells, _ in SIZES] + pairs
    score = sum(block[cells] for block, cells in zip(blocks, made.cells.T, strict=False))
    for block, cells in zip(blocks[len(SIZES) :], made.pair_cells, strict=True):
        score = score + block[cells]
    np.testing.assert_allclose(score, made.dense @ coef, atol=1e-10)


@crossed
def test_other_factors_scale_the_points_of_their_blocks_alone(crosses):
    made = Example(crosses=crosses, scaled=False)
    factors = made.rng.uniform(0.5, 2.0, len(made.scale))
    coef = made.rng.normal(size=made.dense.shape[1])
    plain, scaled = made.coding.block_points(coef), made.coding.scaled(factors).block_points(coef)
    for one, other, factor in zip(plain, scaled, factors, strict=True):
        np.testing.assert_allclose(other, factor * one)


def test_rows_without_any_feature_have_score_zero():
    coding = Coding([np.zeros((1, 0)), np.zeros((3, 0))])
    rows = CodedRows.of(coding.cell_numbers(np.zeros((5, 2), dtype=int), []), coding)
    assert rows.shape == (5, 0)
    np.testing.assert_array_equal(rows @ np.zeros(0), np.zeros(5))
    assert (rows.T @ np.ones(5)).shape == (0,)


def test_many_columns_take_no_more_memory_than_their_own():
    # As a dense matrix the codings side by side would be 2e9 numbers.
    coding = Coding([np.ones((50, 10))] * 2000)
    assert coding.main_matrix.shape == (100_000, 20_000)
    assert coding.main_matrix.nnz == 2000 * 50 * 10
