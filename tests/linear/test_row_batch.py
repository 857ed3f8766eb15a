import numpy as np
import pytest
from scipy import sparse

from directrix.linear.batch_solver import CACHED_NUMBERS, RowBatch, back, margins


def rows(n=300, d=4, seed=0, *, weighted=True, folds=3):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.5 * positive
    weight = rng.uniform(0.5, 2.0, n) if weighted else np.full(n, 3.0)
    return X, positive, weight, rng.integers(0, folds, n)


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_a_block_has_one_class_one_fold_and_its_rows(holder):
    X, positive, weight, fold = rows()
    batch = RowBatch(holder(X), positive, weight, fold)
    assert sum(block.stop - block.start for block in batch.blocks) == len(X)
    for number, block in enumerate(batch.blocks):
        inside = (positive == block.positive) & (fold == block.fold)
        parts = list(batch.parts(number, CACHED_NUMBERS // 64))
        dense = np.concatenate([p.toarray() if sparse.issparse(p) else p for p, _ in parts])
        sign = 1.0 if block.positive else -1.0
        expected = sign * np.column_stack([X[inside], np.ones(inside.sum())])
        np.testing.assert_allclose(dense, expected.astype(np.float32))
        weights = np.concatenate([w for _, w in parts])
        np.testing.assert_allclose(weights, weight[inside] / weight.mean())
        assert batch.totals()[number] == pytest.approx(weights.sum())


def test_negatives_come_first_and_every_row_knows_its_block():
    batch = RowBatch(*rows())
    classes = [block.positive for block in batch.blocks]
    assert classes == sorted(classes)
    of_row = batch.block_of_row
    for number, block in enumerate(batch.blocks):
        assert (of_row[block.start : block.stop] == number).all()


def test_without_folds_there_is_a_block_for_each_class():
    X, positive, weight, _ = rows()
    assert [block[2:] for block in RowBatch(X, positive, weight, None).blocks] == [
        (False, 0),
        (True, 0),
    ]


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_only_the_ratios_of_weights_matter(factor):
    X, positive, weight, fold = rows()
    one, other = (RowBatch(X, positive, f * weight, fold).weight for f in (1.0, factor))
    np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array])
def test_products_with_rows_there_and_back(holder):
    rng = np.random.default_rng(1)
    some, lines = rng.normal(size=(20, 3)).astype(np.float32), rng.normal(size=(5, 3))
    there = margins(lines, holder(some))
    np.testing.assert_allclose(there, lines @ some.T, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(back(there, holder(some)), there @ some, rtol=1e-5, atol=1e-5)


def test_products_that_are_no_numbers_do_not_warn():
    line, single = np.array([[np.inf, 1.0]]), np.array([[0.0, 1.0]], dtype=np.float32)
    assert np.isnan(margins(line, single)).all()
    assert np.isnan(back(np.float32([[np.inf]]), single)[0, 0])
