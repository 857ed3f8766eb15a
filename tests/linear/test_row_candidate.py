import numpy as np
import pytest
from sweeps import cost_sweep

from directrix.fit.compare import scaled_lines, scores_of
from directrix.fit.curves import ScoreCurves, round_scores
from directrix.linear.row_frontier import RowFrontier
from directrix.metrics import Error
from tests.linear.test_row_frontier import compared, rows, solves, swept, without_fold

__all__ = ["solves"]  # a fixture


@pytest.mark.parametrize("index", [0, 3, 11])
def test_held_out_rows_are_scored_by_lines_that_have_not_seen_them(index):
    exact = {"ftol": 1e-13}
    frontier, given = swept(**exact), rows()
    X, positive, weight, fold = given
    candidate = frontier.fitted[index]
    for number in range(3):
        tested = fold == number
        # Whatever the rows held out are, and whichever class: the line without them is the same.
        changed = np.where(tested[:, None], 1e3, X), positive ^ tested, weight + 5.0 * tested
        other = RowFrontier(*changed, fold, **exact)
        line = candidate.fold_lines[number]
        others = other.plan([candidate.recipe])[0].fold_lines[number]
        np.testing.assert_allclose(others, line, rtol=1e-5)
        training = without_fold(given, number)
        solved = frontier.solutions[candidate.recipe.key, number][None]
        scaled = scaled_lines(solved, scores_of(training[0], solved), *training[1:])[0]
        np.testing.assert_allclose(line, scaled, rtol=1e-10)
        scores = scores_of(X[tested], line[None])[:, 0]
        np.testing.assert_array_equal(candidate.curves.scores[tested], round_scores(scores))


def test_without_folds_the_rows_themselves_are_scored():
    frontier = swept(fold=False)
    X, positive, weight, _ = rows()
    assert frontier.folds == [None]
    for candidate in frontier.fitted:
        line = candidate.line
        solved = frontier.solutions[candidate.recipe.key, None][None]
        scaled = scaled_lines(solved, scores_of(X, solved), positive, weight)[0]
        np.testing.assert_allclose(line, scaled, rtol=1e-10)
        np.testing.assert_array_equal(
            candidate.curves.scores, round_scores(scores_of(X, line[None])[:, 0])
        )
        assert candidate.fold_lines == []
    assert compared(frontier, Error())[1].values.shape == (12,)


def test_lines_are_given_in_the_units_that_are_asked_for():
    frontier, twice = swept(), swept(to_features=lambda line: 2.0 * line)
    for candidate, other in zip(frontier.fitted, twice.fitted, strict=True):
        np.testing.assert_array_equal(other.line, 2.0 * candidate.line)
        np.testing.assert_array_equal(other.fold_lines, 2.0 * np.stack(candidate.fold_lines))
        np.testing.assert_array_equal(other.curves.scores, candidate.curves.scores)


def test_a_refit_to_the_same_rows_goes_on_where_the_candidate_ended():
    frontier = swept()
    X, positive, weight, _ = rows()
    for candidate in frontier.fitted:
        refit = candidate.refit(X, positive, weight)
        np.testing.assert_allclose(refit, candidate.line, rtol=0, atol=0.05)


class TestTrial:
    def test_two_folds_judge_lines_that_have_not_seen_them(self):
        frontier = swept()
        _, positive, weight, fold = rows()
        tested = fold < 2
        candidate = frontier.fitted[5]
        trial = candidate.trial([0, 1])
        scores, factor = candidate.curves.scores[tested], weight.sum() / weight[tested].sum()
        theirs = ScoreCurves(positive[tested], scores, factor * weight[tested], fold[tested])
        assert Error().best_value(trial.whole) == Error().best_value(theirs.whole)
        assert len(trial.folds) == 2

    def test_it_fits_what_is_needed_and_no_more(self, solves):
        frontier = RowFrontier(*rows())
        first = frontier.plan(cost_sweep((1e-2, 1e-3), gammas=(1.0,)))[0]
        assert not solves
        first.trial([0, 1])
        assert len(solves) == 2
        first.fit()
        assert len(solves) == 3
        assert [candidate.recipe for candidate in frontier.fitted] == [first.recipe]

    def test_trials_and_fits_are_both_reported(self):
        reports = []
        frontier = RowFrontier(*rows(), progress=lambda *counts: reports.append(counts))
        first, second, *_ = frontier.plan(cost_sweep((1e-2,), gammas=()))
        first.trial([0, 1])
        first.fit()  # one more fold
        first.fit()
        second.fit()
        assert reports == [(1, 4), (1, 4), (2, 4)]


def test_the_line_of_all_rows_is_that_of_the_final_fit_in_any_order_of_calls():
    given = rows()
    first, again = (RowFrontier(*given, ftol=1e-2) for _ in range(2))
    for frontier in (first, again):
        candidate = frontier.plan(cost_sweep((1e-3,), gammas=(1.0,)))[-1]
        frontier.solve_together([candidate], frontier.folds)
        refit = candidate.refit(*given[:3]) if frontier is again else None
        line = candidate.line
        if refit is not None:
            np.testing.assert_array_equal(line, refit)
        objective = candidate.recipe.objective(*given[:3])
        coarse = objective(frontier.solutions[candidate.recipe.key, None])
        # The solution it starts from is not yet the minimum; the line is.
        assert np.abs(coarse[1]).max() > 1e-4
    np.testing.assert_array_equal(line, first.plan(cost_sweep((1e-3,), gammas=(1.0,)))[-1].line)
