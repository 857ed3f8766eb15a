import numpy as np
import pytest

from directrix.papers.hasan_pal_2015.vertex import merge_rows


def test_equal_rows_are_merged_and_rows_that_do_not_count_are_dropped():
    rows = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [3.0, -1.0], [5.0, 5.0]])
    merged = merge_rows(rows, np.array([1.0, 4.0, 2.0, 0.5, 0.0]))
    np.testing.assert_array_equal(merged.raw, [[1.0, 2.0], [3.0, -1.0]])
    np.testing.assert_array_equal(merged.weight, [3.0, 0.5])
    assert merged.always_wrong == 4.0


def test_coefficients_are_mapped_both_ways_without_a_change_of_sides():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 4)) * np.array([1.0, 1e6, 1e-6, 1.0])
    rows = np.column_stack([rows, rows @ np.ones(4)])
    merged = merge_rows(rows, None)
    assert merged.rows.shape == (30, 4)
    np.testing.assert_allclose(np.linalg.norm(merged.rows, axis=1), 1.0)
    coef = rng.standard_normal(5) / merged.scale
    sides = np.sign(merged.raw @ coef)
    np.testing.assert_array_equal(np.sign(merged.rows @ (merged.from_raw @ coef)), sides)
    inner = rng.standard_normal(4)
    sides = np.sign(merged.rows @ inner)
    np.testing.assert_array_equal(np.sign(merged.raw @ (merged.to_raw @ inner)), sides)


@pytest.mark.parametrize(
    ("rows", "weight", "words"),
    [
        ([1.0, 2.0], None, "rows must be a matrix of finite numbers"),
        ([[np.nan, 1.0]], None, "rows must be a matrix of finite numbers"),
        ([[1.0, 2.0]], [1.0, 1.0], "weight must be 1 finite numbers from zero up"),
        ([[1.0, 2.0]], [-1.0], "weight must be 1 finite numbers from zero up"),
    ],
)
def test_invalid_rows_and_weights_are_refused(rows, weight, words):
    with pytest.raises(ValueError, match=words):
        merge_rows(rows, weight)
