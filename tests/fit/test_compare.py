import numpy as np
import pytest
from scipy import sparse

from directrix.fit.compare import (
    compare,
    first_rows_per_class,
    held_out_scores,
    rescaled_weights,
    scaled_lines,
    scores_of,
)
from directrix.fit.curves import ScoreCurves, round_scores
from directrix.metrics import AUC, Cost, Error, PrecisionAtK
from directrix.metrics.at_threshold import ThresholdMetric
from directrix.metrics.base import Curve
from directrix.metrics.table import TABLE
from directrix.moments import Moments
from directrix.moments.projection import project


def choose(metric, positive, scores, weight, fold=None):
    columns = (ScoreCurves(positive, each, weight, fold) for each in scores.T)
    return compare(metric, [*columns])


def labelled_scores(n=120, k=7, seed=0):
    """Return labels, and the scores of k candidates of very different worth."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    positive[:2] = False, True
    worth = rng.permutation(np.linspace(-0.2, 1.4, k))
    scores = rng.normal(size=(n, k)) + np.where(positive[:, None], worth, 0.0)
    return positive, np.round(4.0 * scores) / 4.0, rng.integers(1, 4, n).astype(float)


def brute_force(metric, positive, scores, weight):
    """Return the best value of the metric over all thresholds, one by one."""
    if not isinstance(metric, ThresholdMetric):
        return metric.score(positive, scores, weight)
    tried = [
        metric.score(positive, np.where(scores > t, 1.0, -1.0), weight)
        for t in (-np.inf, *np.unique(scores))
    ]
    return max(tried) if metric.greater_is_better else min(tried)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
@pytest.mark.parametrize("seed", range(3))
def test_the_choice_is_that_of_brute_force(row, seed):
    positive, scores, weight = labelled_scores(seed=seed)
    chosen = choose(row.example, positive, scores, weight)
    tried = np.array([brute_force(row.example, positive, column, weight) for column in scores.T])
    assert chosen.values == pytest.approx(tried, abs=1e-12)
    best = tried.max() if row.example.greater_is_better else tried.min()
    assert chosen.best == np.flatnonzero(np.abs(tried - best) <= 1e-12)[0]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_of_equals_the_first_is_chosen(row):
    positive, scores, weight = labelled_scores()
    # Each candidate three times, the same but for its units: by ranks and thresholds all equal.
    thrice = np.concatenate([scores, 2.0 * scores, scores / 8.0], axis=1)
    once = choose(row.example, positive, scores, weight)
    chosen = choose(row.example, positive, thrice, weight)
    assert chosen.best == once.best
    np.testing.assert_array_equal(chosen.values, np.tile(once.values, 3))


def test_a_better_metric_by_rounding_alone_is_no_better():
    positive, scores, weight = labelled_scores(k=2)
    good = scores[:, scores[positive].mean(axis=0).argmax()]
    noise = np.random.default_rng(1).normal(size=len(good)) * 1e-14
    for both in ([good, good + noise], [good + noise, good]):
        assert choose(AUC(), positive, np.stack(both, axis=1), weight).best == 0


def test_scores_that_differ_in_their_last_digits_alone_are_rounded_to_ties():
    scores = np.array([1.0, 1.0 + 1e-13, -3.0, -3.0 - 1e-13, 1e-14, 0.0])
    assert len(np.unique(round_scores(scores))) == 3
    assert round_scores(scores) == pytest.approx(scores, abs=2.0**-41)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_weight_is_repetition(row):
    positive, scores, weight = labelled_scores()
    index = np.repeat(np.arange(len(weight)), weight.astype(int))
    weighted = choose(row.example, positive, scores, weight)
    repeated = choose(row.example, positive[index], scores[index], np.ones(len(index)))
    assert weighted.values == pytest.approx(repeated.values, abs=1e-13)
    assert weighted.best == repeated.best


@pytest.mark.parametrize("factors", [(1.0, 1.0), (3.0, 0.7), (0.2, 5.0), None])
def test_curves_of_weights_by_class_and_by_row_are_sums_of_them(factors):
    positive, scores, weight = labelled_scores()
    weight[-1] += 1.0
    weight = weight if factors is None else np.where(positive, *factors)
    curve = Curve.of(positive, scores[:, 0], weight)
    for side, above in ((positive, curve.true_positives), (~positive, curve.false_positives)):
        sums = [weight[side & (scores[:, 0] >= level)].sum() for level in curve.levels]
        np.testing.assert_allclose(above, [0.0, *sums], rtol=1e-13)


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_held_out_rows_are_scored_by_the_lines_of_their_own_fold(holder):
    rng = np.random.default_rng(0)
    X, fold = rng.normal(size=(50, 3)), rng.integers(0, 4, 50)
    lines = [rng.normal(size=(6, 4)) for _ in range(4)]
    scores = held_out_scores(holder(X), fold, lines)
    for row, number, got in zip(X, fold, scores, strict=True):
        expected = [line[:-1] @ row + line[-1] for line in lines[number]]
        assert got == pytest.approx(expected, abs=1e-12)


def test_lines_of_other_folds_do_not_matter():
    rng = np.random.default_rng(0)
    X, fold = rng.normal(size=(50, 3)), rng.integers(0, 4, 50)
    lines = [rng.normal(size=(6, 4)) for _ in range(4)]
    before = held_out_scores(X, fold, lines)
    after = held_out_scores(X, fold, [*lines[:2], lines[2] + 1.0, lines[3]])
    changed = (before != after).any(axis=1)
    np.testing.assert_array_equal(changed, fold == 2)


def sampled(most):
    rng = np.random.default_rng(5)
    positive = rng.random(3000) < 0.05
    weight = rng.uniform(0.5, 2.0, 3000)
    index = first_rows_per_class(positive, most)
    return positive, weight, index, rescaled_weights(positive, weight, index)


@pytest.mark.parametrize("most", [40, 500, 5000])
def test_a_sample_keeps_so_many_of_each_class_and_stands_for_all(most):
    positive, weight, index, weights = sampled(most)
    assert len(np.unique(index)) == len(index) == len(weights)
    for side in (positive, ~positive):
        kept = side[index]
        assert kept.sum() == min(side.sum(), most)
        assert weights[kept].sum() == pytest.approx(weight[side].sum(), rel=1e-12)
        # All rows of a class are scaled alike.
        factor = weights[kept] / weight[index[kept]]
        assert factor == pytest.approx(factor[0], rel=1e-12)
        assert (factor[0] == pytest.approx(1.0)) == (side.sum() <= most)


def test_a_sample_is_the_first_of_each_class_in_order():
    positive, _, index, _ = sampled(100)
    for side in (positive, ~positive):
        np.testing.assert_array_equal(index[side[index]], np.flatnonzero(side)[:100])
    np.testing.assert_array_equal(index, np.sort(index))


@pytest.mark.parametrize("n", [1, 1000, 70_000])  # the last is more than a block
@pytest.mark.parametrize(
    "holder",
    [
        np.asarray,
        np.float32,
        sparse.csr_array,
        sparse.csr_matrix,
        lambda X: sparse.csr_array(X.astype(np.float32)),
    ],
    ids=["float64", "float32", "sparse", "sparse matrix", "sparse float32"],
)
def test_scores_are_the_same_whatever_holds_the_rows(n, holder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).astype(np.float32).astype(np.float64)
    X[rng.random((n, 3)) < 0.3] = 0.0
    lines = rng.normal(size=(4, 4))
    scores = scores_of(holder(X), lines)
    assert scores.dtype == np.float64
    assert isinstance(scores, np.ndarray)
    expected = np.einsum("ij,kj->ik", X, lines[:, :3]) + lines[:, 3]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
@pytest.mark.parametrize("seed", range(3))
def test_with_folds_all_rows_and_the_mean_of_the_folds_count_alike(row, seed):
    positive, scores, weight = labelled_scores(n=240, seed=seed)
    fold = np.arange(240) // 2 % 3
    whole = np.array([brute_force(row.example, positive, column, weight) for column in scores.T])
    parts = []
    for rows in (fold == k for k in range(3)):
        scaled = weight[rows] * (weight.sum() / weight[rows].sum())
        parts.append([brute_force(row.example, positive[rows], s[rows], scaled) for s in scores.T])
    mean = whole + np.mean(parts, axis=0)
    best = mean.max() if row.example.greater_is_better else mean.min()
    chosen = choose(row.example, positive, scores, weight, fold)
    assert chosen.best == np.flatnonzero(np.abs(mean - best) <= 1e-9)[0]
    assert chosen.values == pytest.approx(whole, abs=1e-12)  # the metric of all rows together


def disagreeing_folds():
    """Return scores that rank each fold perfectly but disagree, and some that are fair in all."""
    positive = np.arange(200) % 2 == 0
    fold = np.arange(200) // 2 % 2
    disagree = np.where(positive, 1.0, -1.0) + np.where(fold == 0, 3.0, -3.0)
    fair = np.where(positive, 1.0, -1.0) * np.where(np.arange(200) % 20 < 3, -1.0, 1.0)
    return positive, np.stack([fair, disagree], axis=1), fold


def test_neither_all_rows_nor_the_folds_decide_alone():
    positive, scores, fold = disagreeing_folds()
    ones = np.ones(200)
    whole = choose(Error(), positive, scores, ones)
    folds = [
        choose(Error(), positive[fold == k], scores[fold == k], ones[fold == k]) for k in (0, 1)
    ]
    assert whole.best == 0
    assert [each.best for each in folds] == [1, 1]
    chosen = choose(Error(), positive, scores, ones, fold)
    mean = (whole.values + (folds[0].values + folds[1].values) / 2.0) / 2.0
    assert chosen.best == mean.argmin()
    np.testing.assert_array_equal(chosen.values, whole.values)


def test_a_quota_that_is_a_count_is_one_of_all_rows_in_each_fold_too():
    # Of 50 rows of 200 a fold of 40 stands for all: it may take 10, not 50, which it has not.
    rng = np.random.default_rng(0)
    positive = rng.random(200) < 0.3
    scores = rng.normal(size=(200, 4)) + positive[:, None] * [0.2, 0.6, 1.0, 1.4]
    fold = np.arange(200) % 5
    count = choose(PrecisionAtK(50), positive, scores, np.ones(200), fold)
    share = choose(PrecisionAtK(0.25), positive, scores, np.ones(200), fold)
    assert count.best == share.best
    assert count.values == pytest.approx(share.values, abs=1e-12)


def test_folds_need_not_be_numbered_in_a_row():
    positive, scores, weight = labelled_scores(n=240)
    fold = np.arange(240) // 2 % 3
    first, other = (choose(AUC(), positive, scores, weight, f) for f in (fold, 7 * fold + 2))
    assert first.best == other.best


def test_less_than_one_row_in_ten_million_is_a_tie():
    positive = np.array([True, False] * 10)
    weight = np.where(positive, 1e-9, 1.0)
    better = np.where(positive, 1.0, -1.0)
    worse = np.where(positive, -2.0, -1.0)
    chosen = choose(Error(), positive, np.stack([worse, better], axis=1), weight)
    assert chosen.values[0] > chosen.values[1]
    assert chosen.best == 0


def test_a_tie_is_small_against_the_costs():
    positive = np.array([True, False] * 10)
    scores = np.stack([np.where(positive, -1.0, 1.0), np.where(positive, 1.0, -1.0)], axis=1)
    chosen = choose(Cost(fp=1e-9, fn=2e-9), positive, scores, np.ones(20))
    assert chosen.best == 1


def weighted_rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    X = rng.uniform(size=(n, 3))  # bounded: no score is clipped
    X[:, 0] += 0.5 * positive
    return X, positive, rng.uniform(0.5, 2.0, n)


def scaled(lines, X, positive, weight, **options):
    return scaled_lines(lines, scores_of(X, lines), positive, weight, **options)


def test_scaled_scores_have_their_middle_at_zero_and_deviation_one():
    X, positive, weight = weighted_rows()
    lines = np.array([[3.0, -1.0, 20.0, 7.0], [-1.0, 0.5, 0.0, 1e3]])
    moved = scaled(lines, X, positive, weight)
    for line, before in zip(moved, lines, strict=True):
        scores = scores_of(X, line[None])[:, 0]
        numbers = project(Moments.of(scores[:, None], positive, weight), np.array([1.0, 0.0]))
        assert numbers.mean_pos + numbers.mean_neg == pytest.approx(0.0, abs=1e-11)
        assert (numbers.var_pos + numbers.var_neg) / 2.0 == pytest.approx(1.0, rel=1e-11)
        assert line[0] / before[0] > 0  # the direction stays
        np.testing.assert_allclose(line[:-1] * before[0], before[:-1] * line[0], rtol=1e-11)
    # Of a line in other units nothing is left of them.
    other = scaled(1e3 * lines + [0, 0, 0, 55.0], X, positive, weight)
    assert other == pytest.approx(moved, rel=1e-9)


def test_scores_without_variance_are_apart_by_one_or_zero():
    positive = np.array([True, True, False, False])
    X, weight = np.where(positive, 5.0, 1.0)[:, None], np.ones(4)
    line, nothing = scaled(np.array([[2.0, 1.0], [0.0, 3.0]]), X, positive, weight)
    assert (X @ line[:-1] + line[-1]).tolist() == [0.5, 0.5, -0.5, -0.5]
    assert nothing.tolist() == [0.0, 0.0]
