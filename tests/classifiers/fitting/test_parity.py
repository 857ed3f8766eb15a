"""The algebra of a path to parity: shifts, contrasts, signs, and the choice of a point."""

import numpy as np
import pytest
from scipy.special import expit

from directrix.fitting.finalize import Lines
from directrix.fitting.parity import (
    ParitySearch,
    Point,
    chance_eigenvalue,
    contrasts_of,
    frontier,
    shift_to_parity,
    shifted_lines,
)
from directrix.fitting.training_rows import TrainingRows
from directrix.metrics import Parity, RecallAtFPR
from directrix.metrics.segments import Segments


def problem(p=5, n=400, n_segments=3, seed=0):
    rng = np.random.default_rng(seed)
    X, number = rng.normal(size=(n, p)), rng.integers(0, n_segments, n)
    X[:, 0] += number
    weight = rng.random(n) + 0.5
    share = weight / weight.sum()
    centred = X - share @ X
    curvature = (centred * share[:, None]).T @ centred + 0.01 * np.eye(p)
    return X, number, weight, curvature, rng.normal(size=p)


def test_contrasts_are_differences_of_weighted_means():
    X, number, weight, _, _ = problem()
    found = contrasts_of(X, weight, weight, number, 3)
    for k in range(3):
        inside = number == k
        mean = np.average(X[inside], axis=0, weights=weight[inside])
        assert np.allclose(found[:, k], mean - np.average(X, axis=0, weights=weight))


def flagged(scores, weight, width=0.3, share=0.2):
    """Return how far rows are above the smoothed threshold that flags a share of them."""
    threshold = float(np.quantile(scores, 1 - share))
    for _ in range(60):
        above = expit((scores - threshold) / width)
        slope = weight @ (above * (1 - above) / width)
        threshold += (weight @ above - share * weight.sum()) / slope
    return expit((scores - threshold) / width)


def test_contrasts_near_a_threshold_are_slopes_of_rates_at_a_kept_rate():
    X, number, weight, _, w = problem(n=4000)

    def rates(line):
        above = flagged(X @ line, weight)
        inside = (number[:, None] == np.arange(3)) * weight[:, None]
        return above @ inside / inside.sum(axis=0)

    above = flagged(X @ w, weight)
    near = above * (1 - above) / 0.3
    found = contrasts_of(X, weight * near, weight, number, 3)
    for feature, step in enumerate(1e-5 * np.eye(len(w))):
        slopes = (rates(w + step) - rates(w - step)) / 2e-5
        assert np.allclose(slopes, found[feature], atol=1e-5)


def test_the_shift_makes_mean_scores_equal_and_is_the_smallest_that_does():
    X, number, weight, curvature, w = problem()
    contrasts = contrasts_of(X, weight, weight, number, 3)
    shift = shift_to_parity(curvature, contrasts, w)
    assert np.allclose(contrasts.T @ (w - shift), 0.0, atol=1e-8)
    free = np.random.default_rng(1).normal(size=(20, len(w)))
    basis = np.linalg.svd(contrasts)[0][:, :2]
    for other in free - free @ basis @ basis.T:  # keeps the mean scores
        longer = shift + 0.1 * other
        assert longer @ curvature @ longer > shift @ curvature @ shift - 1e-12


def test_lines_of_a_path_keep_signs_and_are_the_nearest_that_do():
    X, number, weight, curvature, w = problem()
    shift = shift_to_parity(curvature, contrasts_of(X, weight, weight, number, 3), w)
    line = np.append(np.abs(w), 0.5)
    free = shifted_lines(curvature, shift, line, [0.5, 5.0])
    assert np.allclose(free[:, :-1], line[:-1] - np.outer([0.5, 5.0], shift))
    signs = np.append(np.ones(len(w), dtype=int), 0)
    kept = shifted_lines(curvature, shift, line, [0.0, 0.5, 5.0], signs)
    assert np.allclose(kept[0], line)
    assert kept[:, :-1].min() >= 0.0
    assert (kept[:, -1] == 0.5).all()
    off = kept[2, :-1] - free[1, :-1]
    clipped = np.maximum(free[1, :-1], 0.0) - free[1, :-1]
    assert off @ curvature @ off <= clipped @ curvature @ clipped + 1e-9


def search(rule="one_se"):
    rng = np.random.default_rng(0)
    number, positive = rng.integers(0, 2, 2000), rng.random(2000) < 0.3
    scores = rng.normal(size=2000) + 2 * positive + 1.5 * number - 2.5
    segments = Segments(number, ("f", "m"))
    rows = TrainingRows(None, positive, np.ones(2000), np.arange(2000) % 5, segments=segments)
    metric, lines = RecallAtFPR(0.1), Lines(np.zeros(2))
    parity = Parity("fpr", rule)
    return ParitySearch(parity, metric, metric, rows, lines, scores, lambda _: None, 0.0)


def point(loss, gap, strength=0.5):
    return Point("all rows", strength, None, gap, 0.01, loss)


@pytest.mark.parametrize(
    ("rule", "expected"), [("one_se", 1), ("parity", 2), (0.07, 0), (0.001, 2), (0.99, None)]
)
def test_rules_choose_by_gap_and_loss(rule, expected):
    points = [point(0.0, 0.06), point(0.01, 0.04), point(0.05, 0.02)]
    chosen, why = search(rule).choice(points, error=0.02)
    assert chosen is (None if expected is None else points[expected])
    assert why


def test_nothing_within_a_standard_error_leaves_the_plain_fit():
    chosen, why = search().choice([point(0.05, 0.01)], error=0.02)
    assert chosen is None
    assert "no alternative" in why


def test_gaps_that_chance_makes_are_as_small_as_any():
    made = search("parity")
    least = made.plain.by_chance
    points = [point(0.0, 0.9 * least), point(0.01, 0.1 * least)]
    assert made.choice(points, error=0.02)[0] is points[0]


def test_the_standard_error_is_that_of_a_share_and_smaller_for_a_difference():
    made = search()
    positive, above = made.rows.positive, made.scores > 0
    recall = above[positive].mean()
    expected = np.sqrt(recall * (1 - recall) / positive.sum())
    assert made.standard_error(made.scores) == pytest.approx(expected, rel=0.35)
    moved = made.scores + 0.05
    assert made.standard_error(moved, made.scores) < 0.5 * expected
    assert made.standard_error(made.scores, made.scores) == 0.0


def test_the_frontier_has_what_no_other_point_beats_and_the_chosen_one():
    points = [point(0.01 * k, 0.1 - 0.005 * k) for k in range(15)]
    worse, chosen = point(0.05, 0.2), point(0.021, 0.0899)
    found = frontier([*points, worse, chosen], chosen)
    assert not any(each is worse for each in found)
    assert any(each is chosen for each in found)
    assert len(found) <= 9
    assert [each.loss for each in found] == sorted(each.loss for each in found)
    assert found[-1] is points[-1]


def test_segments_that_differ_by_chance_only_are_not_brought_together():
    # Of three segments only the last differs, in the second feature. To remove the difference of
    # the first two as well, which is chance, would take another direction out of the line.
    rng = np.random.default_rng(0)
    number = rng.integers(0, 3, 6000)
    X = rng.normal(size=(6000, 4))
    X[:, 1] += 0.8 * (number == 2)
    w, weight = np.array([1.2, 0.9, 0.6, 0.3]), np.ones(6000)
    covariance = np.cov(X.T, bias=True)
    contrasts = contrasts_of(X, weight, weight, number, 3) * np.sqrt(np.bincount(number))
    noise = chance_eigenvalue(covariance, covariance, 3)
    assert noise == pytest.approx(4.0, rel=0.05)  # the features
    strict = w - shift_to_parity(covariance, contrasts, w)
    lenient = w - shift_to_parity(covariance, contrasts, w, noise)
    assert abs(contrasts.T @ strict).max() < 1e-9
    np.testing.assert_allclose(lenient[[0, 2, 3]], w[[0, 2, 3]], atol=0.1)
    assert abs(lenient[1]) < 0.1
    assert abs(strict - w)[[0, 2, 3]].max() > 0.5


def test_two_segments_are_brought_together_in_full_whatever_chance_makes():
    rng = np.random.default_rng(1)
    number, X, weight = rng.integers(0, 2, 500), rng.normal(size=(500, 6)), np.ones(500)
    X[:, 0] += number
    covariance, w = np.cov(X.T, bias=True), rng.normal(size=6)
    contrasts = contrasts_of(X, weight, weight, number, 2) * np.sqrt(np.bincount(number))
    for noise in (0.0, chance_eigenvalue(covariance, covariance, 2), 1e9):
        shift = shift_to_parity(covariance, contrasts, w, noise)
        assert abs(contrasts.T @ (w - shift)).max() < 1e-8


def test_many_segments_of_few_features_leave_the_line_its_other_directions():
    # Sixty segments differ by chance in all four directions, and half of them really in one.
    rng = np.random.default_rng(2)
    number, weight = rng.integers(0, 60, 6000), np.ones(6000)
    X = rng.normal(size=(6000, 4))
    X[:, 1] += number % 2
    w, covariance = np.array([1.2, 0.9, 0.6, 0.3]), np.cov(X.T, bias=True)
    contrasts = contrasts_of(X, weight, weight, number, 60) * np.sqrt(np.bincount(number))
    noise = chance_eigenvalue(covariance, covariance, 60)
    others = np.linalg.eigvalsh(contrasts.T @ np.linalg.solve(covariance, contrasts))[-4:-1]
    assert noise == pytest.approx(others.mean(), rel=0.2)
    moved = w - shift_to_parity(covariance, contrasts, w, noise)
    np.testing.assert_allclose(moved[[0, 2, 3]], w[[0, 2, 3]], atol=0.2)
    assert abs(moved[1]) < 0.2
