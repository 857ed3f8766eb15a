"""Standardised features that several shrinkages share."""

import numpy as np
import pytest

from directrix import Moments
from directrix.linear import Frontier
from directrix.linear.pencil import (
    EigenPencil,
    SolvedPencil,
    StandardSpace,
    require_rows_of_both,
)
from directrix.moments.class_moments import oas, shrunk


def rows(n=200, d=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, d)) * np.where(y[:, None], 2.0, 1.0) + rng.normal(size=(n, 1))
    X[:, :3] += 0.7 * y[:, None]
    return X, y


@pytest.mark.parametrize(
    ("d", "keep_rows", "pencil"),
    [(30, False, EigenPencil), (501, False, SolvedPencil), (30, True, SolvedPencil)],
)
def test_how_the_family_is_solved_depends_on_the_features_and_the_scatter(d, keep_rows, pencil):
    moments = Moments.of(*rows(d=d), keep_rows=keep_rows)
    assert isinstance(StandardSpace(moments).pencil(0.1), pencil)


@pytest.mark.parametrize("shrinkage", ["oas", 0.02, 0.5, 1.0])
@pytest.mark.parametrize("angle", [0.1, np.pi / 4, 1.4])
def test_operators_have_the_lines_of_the_matrices(shrinkage, angle):
    X, y = rows()
    exact = StandardSpace(Moments.of(X, y)).pencil(shrinkage)
    wide = StandardSpace(Moments.of(X, y, keep_rows=True)).pencil(shrinkage)
    lines = np.concatenate([each.directions(np.array([angle])) for each in (exact, wide)])
    scores = X / X.std(axis=0) @ lines.T
    assert np.corrcoef(scores, rowvar=False)[0, 1] > 0.999


@pytest.mark.parametrize("shrinkage", ["oas", 0.3])
def test_scores_of_operators_are_those_of_the_shrunk_covariances(shrinkage):
    moments = Moments.of(*rows(), keep_rows=True)
    space = StandardSpace(moments)
    pencil, (positive, negative) = space.pencil(shrinkage), space._groups
    angle = np.array([0.4])
    w, scores = pencil.directions(angle)[0], pencil.scores(angle)
    shares = space._shares(shrinkage)
    for variance, group, share in zip(scores[1:], (positive, negative), shares, strict=True):
        expected = w @ shrunk(group.with_matrix(), share) @ w
        assert variance[0] == pytest.approx(expected, rel=1e-9)
    assert scores.gap[0] == pytest.approx(w @ space.delta, rel=1e-9)


def test_an_operator_is_shrunk_at_least_a_little():
    X, y = rows(n=20)
    without, least = (
        Frontier(Moments.of(X, y, keep_rows=True), share).best("auc").coef for share in (0.0, 1e-3)
    )
    np.testing.assert_array_equal(without, least)


def test_sharing_does_not_change_the_lines_of_matrices():
    moments = Moments.of(*rows())
    for frontier in Frontier.of_shrinkages(moments, [0.1, "oas"]):
        alone = Frontier(moments, frontier.shrinkage).best("error")
        np.testing.assert_array_equal(frontier.best("error").coef, alone.coef)


def test_each_class_is_shrunk_by_its_estimated_share():
    moments = Moments.of(*rows())
    space = StandardSpace(moments)
    standard = space.standardized.moments
    expected = oas(standard.positive), oas(standard.negative)
    assert expected[0] != expected[1]
    assert space._shares("oas") == expected


@pytest.mark.parametrize("keep_rows", [False, True])
def test_a_class_of_one_row_takes_the_covariance_of_the_other(keep_rows):
    X, y = rows()
    y = np.arange(len(y)) == 7
    frontier = Frontier(Moments.of(X, y, keep_rows=keep_rows))
    assert np.isfinite(frontier.best("auc").coef).all()
    scores = frontier.pencil.scores(np.array([0.3, 1.0]))
    np.testing.assert_allclose(scores.var_pos, scores.var_neg, rtol=1e-9)


@pytest.mark.parametrize("keep_rows", [False, True])
def test_without_variance_the_line_is_the_difference_of_the_means(keep_rows):
    X = np.array([[1.0, 2.0, 5.0], [3.0, 2.0, 4.0]])
    moments = Moments.of(X, [0, 1], keep_rows=keep_rows)
    w = Frontier(moments, 0.3).best("auc").coef * moments.standardize().scale
    np.testing.assert_allclose(w / np.abs(w).max(), [1.0, 0.0, -1.0], atol=1e-12)


def test_both_classes_need_rows():
    moments = Moments.of([[1.0], [2.0]], [1, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="class 0 has none"):
        require_rows_of_both(moments)
