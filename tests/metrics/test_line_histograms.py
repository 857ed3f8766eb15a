import numpy as np
import pytest

from directrix.metrics import score_histogram as line_histograms
from directrix.metrics.score_histogram import (
    BINS,
    bins_of_lines,
    edges,
    empty_histogram,
    histogram_of_bins,
)


def rows(n=500, d=3, k=4, seed=0):
    """Return rows, which are positive, candidate lines and weights."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n, d)),
        rng.random(n) < 0.3,
        rng.normal(size=(k, d + 1)),
        rng.choice([0.0, 0.5, 2.0], n),
    )


def histogram_of_lines(X, positive, lines, weight=None):
    """Count the scores of rows by lines, side by side."""
    return histogram_of_bins(bins_of_lines(X, positive, lines), positive, weight)


def same(histogram, other, **tolerance):
    for name in ("counts", "weight", "weight_sq"):
        np.testing.assert_allclose(getattr(histogram, name), getattr(other, name), **tolerance)
    return True


def by_hand(X, positive, lines, weight):
    """Count with NumPy's own histogram, line by line and class by class."""
    counts = np.zeros((len(lines), 2, BINS))
    for k, line in enumerate(lines):
        scores = X @ line[:-1] + line[-1]
        for side, in_class in enumerate((~positive, positive)):
            counts[k, side] = np.histogram(scores[in_class], edges(), weights=weight[in_class])[0]
    return counts


def test_it_is_the_histogram_of_the_scores_of_each_class():
    X, positive, lines, weight = rows()
    histogram = histogram_of_lines(X, positive, lines, weight)
    np.testing.assert_allclose(histogram.counts, by_hand(X, positive, lines, weight))
    expected = weight[~positive].sum(), weight[positive].sum()
    np.testing.assert_allclose(histogram.weight, expected)
    squares = weight**2
    np.testing.assert_allclose(
        histogram.weight_sq, [squares[~positive].sum(), squares[positive].sum()]
    )
    np.testing.assert_allclose(histogram.counts.sum(axis=2), np.tile(expected, (4, 1)))


def test_histograms_add_up():
    X, positive, lines, weight = rows()
    parts = [
        histogram_of_lines(X[part], positive[part], lines, weight[part])
        for part in np.array_split(np.arange(len(X)), 7)
    ]
    whole = histogram_of_lines(X, positive, lines, weight)
    same(sum(parts, start=empty_histogram(4)), whole, rtol=1e-12)


def test_no_rows_change_nothing():
    X, positive, lines, weight = rows()
    whole = histogram_of_lines(X, positive, lines, weight)
    none = histogram_of_lines(X[:0], positive[:0], lines, weight[:0])
    same(none, empty_histogram(4))
    same(whole + none, whole)


def test_a_weight_is_a_repetition():
    X, positive, lines, _ = rows()
    times = np.random.default_rng(1).integers(0, 4, len(X))
    repeated = (np.repeat(array, times, axis=0) for array in (X, positive))
    weighted = histogram_of_lines(X, positive, lines, times)
    often = histogram_of_lines(*repeated, lines)
    np.testing.assert_array_equal(weighted.counts, often.counts)
    np.testing.assert_array_equal(weighted.weight, often.weight)


def test_without_weights_rows_are_counted():
    X, positive, lines, _ = rows()
    counted = histogram_of_lines(X, positive, lines)
    same(counted, histogram_of_lines(X, positive, lines, np.ones(len(X))))
    np.testing.assert_array_equal(counted.weight_sq, counted.weight)


def test_blocks_of_rows_are_all_counted(monkeypatch):
    X, positive, lines, weight = rows()
    whole = histogram_of_lines(X, positive, lines, weight)
    monkeypatch.setattr(line_histograms, "_SCORES_AT_A_TIME", 52)
    monkeypatch.setattr(line_histograms, "_FEWEST_ROWS", 1)
    same(histogram_of_lines(X, positive, lines, weight), whole, rtol=1e-12)


def test_far_scores_are_in_the_end_bins():
    far = np.array([-1e300, -1e6, -400.0, 400.0, 1e6, 1e300])
    X, lines = far[:, None], np.array([[1.0, 0.0]])
    counts = histogram_of_lines(X, far > 0, lines).counts
    assert counts[0, 0, 0] == counts[0, 1, -1] == 3
    assert counts.sum() == 6


def test_rows_far_from_zero_lose_no_digits():
    X, positive, lines, _ = rows()
    offset = 2.0**40
    moved = lines.copy()
    moved[:, -1] -= offset * lines[:, :-1].sum(axis=1)
    whole = histogram_of_lines(X, positive, lines).counts
    far = histogram_of_lines(X + offset, positive, moved).counts
    # Scores move by 2⁻¹² or so, a tenth of a bin: few rows change their bin, to the next one.
    assert np.abs(far.cumsum(axis=2) - whole.cumsum(axis=2)).sum() < 0.3 * whole.sum()


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_])
def test_rows_may_be_numbers_of_any_type_in_any_layout(layout, dtype):
    X, positive, lines, weight = rows()
    X = (3 * X).astype(dtype)
    expected = by_hand(X.astype(float), positive, lines, weight)
    counts = histogram_of_lines(layout(X), positive, lines, weight).counts
    np.testing.assert_allclose(counts, expected)
