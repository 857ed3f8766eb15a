import numpy as np
from scipy import sparse

from directrix.moments import score_histogram
from directrix.moments.score_histogram import BINS, ScoreHistogram, bin_of, centres, edges


def rows(n=500, d=3, k=4, seed=0):
    """Return rows, which are positive, candidate lines and weights."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n, d)),
        rng.random(n) < 0.3,
        rng.normal(size=(k, d + 1)),
        rng.choice([0.0, 0.5, 2.0], n),
    )


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
    histogram = ScoreHistogram.of(X, positive, lines, weight)
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
        ScoreHistogram.of(X[part], positive[part], lines, weight[part])
        for part in np.array_split(np.arange(len(X)), 7)
    ]
    whole = ScoreHistogram.of(X, positive, lines, weight)
    same(sum(parts, start=ScoreHistogram.empty(4)), whole, rtol=1e-12)


def test_no_rows_change_nothing():
    X, positive, lines, weight = rows()
    whole = ScoreHistogram.of(X, positive, lines, weight)
    none = ScoreHistogram.of(X[:0], positive[:0], lines, weight[:0])
    same(none, ScoreHistogram.empty(4))
    same(whole + none, whole)


def test_a_weight_is_a_repetition():
    X, positive, lines, _ = rows()
    times = np.random.default_rng(1).integers(0, 4, len(X))
    repeated = (np.repeat(array, times, axis=0) for array in (X, positive))
    weighted = ScoreHistogram.of(X, positive, lines, times)
    often = ScoreHistogram.of(*repeated, lines)
    np.testing.assert_array_equal(weighted.counts, often.counts)
    np.testing.assert_array_equal(weighted.weight, often.weight)


def test_without_weights_rows_are_counted():
    X, positive, lines, _ = rows()
    counted = ScoreHistogram.of(X, positive, lines)
    same(counted, ScoreHistogram.of(X, positive, lines, np.ones(len(X))))
    np.testing.assert_array_equal(counted.weight_sq, counted.weight)


def test_blocks_of_rows_are_all_counted(monkeypatch):
    X, positive, lines, weight = rows()
    whole = ScoreHistogram.of(X, positive, lines, weight)
    monkeypatch.setattr(score_histogram, "_BLOCK_ROWS", 13)
    same(ScoreHistogram.of(X, positive, lines, weight), whole, rtol=1e-12)


def test_rows_may_be_sparse():
    X, positive, lines, weight = rows()
    X[X < 0.5] = 0.0
    whole = ScoreHistogram.of(X, positive, lines, weight)
    same(ScoreHistogram.of(sparse.csr_array(X), positive, lines, weight), whole)


def test_far_scores_are_in_the_end_bins():
    far = np.array([-1e300, -1e6, -400.0, 400.0, 1e6, 1e300])
    assert bin_of(far).tolist() == [0, 0, 0, BINS - 1, BINS - 1, BINS - 1]
    X, lines = far[:, None], np.array([[1.0, 0.0]])
    counts = ScoreHistogram.of(X, far > 0, lines).counts
    assert counts[0, 0, 0] == counts[0, 1, -1] == 3
    assert counts.sum() == 6


def test_every_bin_holds_its_centre_and_ends_at_its_edges():
    np.testing.assert_array_equal(bin_of(centres()), np.arange(BINS))
    lower, upper = edges()[:-1], edges()[1:]
    assert (lower < centres()).all()
    assert (centres() < upper).all()
    assert lower[0] == -np.inf
    assert upper[-1] == np.inf
    inner = edges()[1:-1]
    gap = np.maximum(np.abs(inner), 1.0) * 1e-9  # on either side of an edge
    np.testing.assert_array_equal(bin_of(inner + gap), np.arange(1, BINS))
    np.testing.assert_array_equal(bin_of(inner - gap), np.arange(BINS - 1))


def test_bins_are_fine_where_scores_are():
    widths = np.diff(edges()[1:-1])
    assert widths[np.abs(centres()[1:-1]) < 1].max() < 0.005
    assert edges()[-2] > 300
