"""Designs that differ by fold: a line made without a fold sees the design made without it."""

import numpy as np
import pytest
from sweeps import cost_sweep

from directrix.frontier.compare import FoldDesigns, design_without
from directrix.frontier.curves import Curves
from directrix.frontier.moment_frontier import ridge_candidates
from directrix.frontier.row_frontier import RowFrontier
from directrix.tables.coding.coded_rows import CodedRows, Coding

N = 120
# Lines that are compared are solved together, with sums in single precision.
SINGLE = 5e-3


def coded(seed, directions=3):
    """Return rows of two columns; codings differ by seed, cells do not."""
    cells = np.random.default_rng(0).integers(0, 5, (N, 2))
    rng = np.random.default_rng(seed)
    coding = Coding([rng.normal(size=(5, directions)) for _ in range(2)])
    return CodedRows.of(coding.cell_numbers(cells, []), coding)


def labelled(seed=1):
    rng = np.random.default_rng(seed)
    first = np.random.default_rng(0).integers(0, 5, (N, 2))[:, 0]  # the first column's cells
    return rng.random(N) < 0.1 + 0.2 * first, rng.uniform(0.5, 2.0, N), np.arange(N) % 3


def designs(seeds=(10, 11, 12)):
    """Return designs of different codings; one of them has more features."""
    return FoldDesigns(coded(9), {k: coded(seed, 3 + (k == 1)) for k, seed in enumerate(seeds)})


def swept(X):
    positive, weight, fold = labelled()
    frontier = RowFrontier(X, positive, weight, fold, ftol=1e-9)
    candidates = frontier.plan(cost_sweep((1e-2,), (1.0, 3.0), (1.0,), np.inf))
    frontier.solve_together(candidates, frontier.folds)
    for candidate in candidates:
        candidate.fit()
    return candidates


def test_each_fold_has_its_design_and_none_has_that_of_all_rows():
    X = designs()
    assert design_without(X, None) is X.whole
    assert [design_without(X, k) for k in range(3)] == [X.without[k] for k in range(3)]
    assert X.shape == (N, 6)
    plain = np.ones((4, 2))
    assert design_without(plain, None) is design_without(plain, 2) is plain


def test_lines_without_a_fold_are_those_of_its_design_alone():
    positive, weight, fold = labelled()
    X = designs()
    together = swept(X)
    for k in range(3):
        alone = swept(X.without[k])
        tested = fold == k
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_allclose(one.fold_lines[k], other.fold_lines[k], atol=SINGLE)
            np.testing.assert_allclose(
                one.curves.scores[tested], other.curves.scores[tested], atol=SINGLE
            )
            assert len(one.line) == X.shape[1] + 1
    alone = swept(X.whole)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.line, other.line, atol=SINGLE)
        refit = one.refit(X, positive, weight)
        np.testing.assert_allclose(refit, other.refit(X.whole, positive, weight), atol=SINGLE)


def test_held_out_scores_are_products_with_the_design_of_the_fold():
    fold = labelled()[2]
    X = designs()
    for candidate in swept(X):
        for k, line in enumerate(candidate.fold_lines):
            expected = X.without[k] @ line[:-1] + line[-1]
            np.testing.assert_allclose(
                candidate.curves.scores[fold == k], expected[fold == k], atol=1e-9
            )


@pytest.mark.parametrize("way", ["rows", "counts"])
def test_labels_of_a_fold_do_not_reach_lines_made_without_it(way):
    positive, weight, fold = labelled()
    X = designs()
    lines = []
    for flipped in (positive, positive ^ (fold == 1)):
        if way == "counts":
            candidates = ridge_candidates(X, flipped, weight, fold, (0.1, 1.0), baseline=True)
        else:
            frontier = RowFrontier(X, flipped, weight, fold, ftol=1e-9)
            candidates = frontier.plan(cost_sweep((1e-2,), (1.0,), (1.0,), np.inf))
            frontier.solve_together(candidates, frontier.folds)
            for candidate in candidates:
                candidate.fit()
        lines.append([candidate.fold_lines for candidate in candidates])
    for one, other in zip(*lines, strict=True):
        np.testing.assert_allclose(one[1], other[1], atol=SINGLE if way == "rows" else 1e-12)
        assert np.abs(one[0] - other[0]).max() > 10 * SINGLE  # the others have seen them


def test_a_design_that_knows_the_labels_of_its_fold_looks_too_good():
    # One feature is the label, of the rows of the fold alone: learned without the fold it is noise.
    positive, weight, fold = labelled()
    cells = np.random.default_rng(5).integers(0, 2, (N, 1))
    coding = Coding([np.array([[-1.0], [1.0]])])

    def with_labels_of(rows):
        known = np.where(rows, positive, cells[:, 0])[:, None]
        return CodedRows.of(coding.cell_numbers(known, []), coding)

    leaky = FoldDesigns(with_labels_of(fold >= 0), {k: with_labels_of(fold >= 0) for k in range(3)})
    honest = FoldDesigns(
        with_labels_of(fold >= 0), {k: with_labels_of(fold != k) for k in range(3)}
    )
    areas = []
    for X in (leaky, honest):
        (candidate, *_) = ridge_candidates(X, positive, weight, fold, (0.1,), baseline=True)
        curve = Curves.of_scores(positive, candidate.curves.scores, weight, fold).whole
        areas.append(float(np.trapezoid(curve.tpr, curve.fpr)))
    assert areas[0] == pytest.approx(1.0)
    assert 0.3 < areas[1] < 0.7
