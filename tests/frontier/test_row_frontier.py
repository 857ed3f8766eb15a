import weakref
from functools import partial

import numpy as np
import pytest
from scipy import sparse

import directrix.frontier.row_frontier
from directrix.frontier.compare import Curves, compare, round_scores, scaled_line, scores_of
from directrix.frontier.recipes import cost_sweep
from directrix.frontier.row_frontier import RowFrontier
from directrix.metrics import MCC, PRBEP, Cost, Error, FBeta, RecallAtFPR
from directrix.moments.projection import ScoreMoments
from directrix.solve import lbfgs


def rows(n=120, d=3, seed=0):
    """Return features, classes, weights and three folds with rows of both classes."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.2 * positive
    return X, positive, rng.uniform(0.5, 2.0, n), np.arange(n) % 3


def swept(*, fold=True, **options):
    X, positive, weight, folds = rows()
    frontier = RowFrontier(X, positive, weight, folds if fold else None, **options)
    fit(frontier, cost_sweep((1e-2, 1e-3), gammas=(1.0,)))
    return frontier


def fit(frontier, recipes):
    """Plan recipes, fit their candidates, and return these."""
    candidates = frontier.plan(recipes)
    for candidate in candidates:
        candidate.fit()
    return candidates


def compared(frontier, metric):
    """Return the fitted candidates, and how they compare."""
    candidates = frontier.fitted
    return candidates, compare(metric, [candidate.curves for candidate in candidates])


@pytest.fixture
def solves(monkeypatch):
    """Return the list of what is minimised, as it grows."""
    seen = []

    def counted(objective, start, **options):
        seen.append(objective)
        return lbfgs(objective, start, **options)

    monkeypatch.setattr(directrix.frontier.row_frontier, "lbfgs", counted)
    return seen


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_scaled_scores_have_their_middle_at_zero_and_deviation_one(holder):
    X, positive, weight, _ = rows()
    line = np.array([3.0, -1.0, 20.0, 7.0])
    moved = scaled_line(line, holder(X), positive, weight)
    scores = scores_of(X, moved[None])[:, 0]
    numbers = ScoreMoments.of_scores(positive, scores, weight)
    assert numbers.mean_pos + numbers.mean_neg == pytest.approx(0.0, abs=1e-12)
    assert (numbers.var_pos + numbers.var_neg) / 2.0 == pytest.approx(1.0, rel=1e-12)
    assert moved[:-1] / line[:-1] == pytest.approx(moved[0] / line[0], rel=1e-12)
    assert moved[0] > 0  # the direction stays
    np.testing.assert_array_equal(line, [3.0, -1.0, 20.0, 7.0])
    # Of a line in other units nothing is left of them.
    other = scaled_line(1e3 * line + [0, 0, 0, 55.0], holder(X), positive, weight)
    assert other == pytest.approx(moved, rel=1e-10)


def test_scores_without_variance_are_apart_by_one_or_zero():
    positive = np.array([True, True, False, False])
    X, weight = np.where(positive, 5.0, 1.0)[:, None], np.ones(4)
    line = scaled_line(np.array([2.0, 1.0]), X, positive, weight)
    assert (X @ line[:-1] + line[-1]).tolist() == [0.5, 0.5, -0.5, -0.5]
    nothing = scaled_line(np.array([0.0, 3.0]), X, positive, weight)
    assert nothing.tolist() == [0.0, 0.0]


SIX = [Error(), Cost(1, 20), FBeta(), MCC(), RecallAtFPR(0.1), PRBEP()]


def test_one_sweep_serves_six_metrics(solves):
    frontier = swept()
    made = len(solves)
    assert made == 12 * 3  # once for each fold; the chosen line alone is fitted to all rows
    best = set()
    for metric in SIX:
        candidates, comparison = compared(frontier, metric)
        assert comparison.values.shape == (12,)
        chosen = comparison.best
        best.add(chosen)
        assert comparison.values[chosen] == metric.best_value(candidates[chosen].curves.whole)
    assert len(solves) == made
    assert len(best) > 1  # they do not all want the same


def test_a_recipe_that_is_planned_again_is_the_same_candidate(solves):
    frontier = swept()
    made = len(solves)
    again = fit(frontier, [recipe._replace(start=None) for recipe in cost_sweep((1e-2,))])
    assert len(solves) == made
    assert [candidate.recipe for candidate in again] == cost_sweep((1e-2,))
    assert len(frontier.fitted) == len(frontier.recipes) == 12


def test_what_a_recipe_starts_from_is_planned_with_it():
    frontier = RowFrontier(*rows())
    last = cost_sweep((1e-3,), (1.0,), (1.0, 4.0))[-1]
    (candidate,) = fit(frontier, [last])
    chain = [step.recipe for step in candidate.chain]
    assert chain == cost_sweep((1e-3,), (1.0,), (1.0, 4.0))
    assert [candidate.recipe for candidate in frontier.fitted] == [last]


def test_the_frontier_is_freed_with_its_last_candidate():
    frontier = swept()
    watched = weakref.ref(frontier)
    del frontier
    assert watched() is None  # no cycle keeps the rows


@pytest.mark.parametrize("index", [0, 3, 11])
def test_held_out_rows_are_scored_by_lines_that_have_not_seen_them(index):
    frontier = swept()
    X, positive, weight, fold = rows()
    candidate = frontier.fitted[index]
    for number in range(3):
        tested = fold == number
        # Whatever the rows held out are, and whichever class: the line without them is the same.
        other = RowFrontier(
            np.where(tested[:, None], 1e3, X), positive ^ tested, weight + 5.0 * tested, fold
        )
        line = candidate.solution(number)
        np.testing.assert_array_equal(other.plan([candidate.recipe])[0].solution(number), line)
        training = X[~tested], positive[~tested], weight[~tested]
        alone = RowFrontier(*training, None).plan([candidate.recipe])[0]
        np.testing.assert_array_equal(alone.solution(None), line)
        scaled = scaled_line(line, *training)
        np.testing.assert_array_equal(candidate.fold_lines[number], scaled)
        scores = scores_of(X[tested], scaled[None])[:, 0]
        np.testing.assert_array_equal(candidate.scores[tested], round_scores(scores))


def test_overfitted_training_rows_do_not_count():
    # As many features as rows: every line separates its training rows, and knows nothing.
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(60, 60)), np.arange(60) % 2 == 0
    errors = []
    for fold in (np.arange(60) // 2 % 3, None):
        frontier = RowFrontier(X, positive, np.ones(60), fold)
        fit(frontier, cost_sweep((1e-3,), (1.0,), ()))
        errors.append(compared(frontier, Error())[1].values[0])
    assert errors[0] > 0.25
    assert errors[1] == 0.0


def test_without_folds_the_rows_themselves_are_scored():
    frontier = swept(fold=False)
    X, positive, weight, _ = rows()
    assert frontier.folds == [None]
    for candidate in frontier.fitted:
        line = candidate.line
        np.testing.assert_array_equal(
            line, scaled_line(candidate.solution(None), X, positive, weight)
        )
        np.testing.assert_array_equal(
            candidate.scores, round_scores(scores_of(X, line[None])[:, 0])
        )
        assert candidate.fold_lines == []
    assert compared(frontier, Error())[1].values.shape == (12,)


def test_lines_are_given_in_the_units_that_are_asked_for():
    frontier, twice = swept(), swept(to_features=lambda line: 2.0 * line)
    for candidate, other in zip(frontier.fitted, twice.fitted, strict=True):
        np.testing.assert_array_equal(other.line, 2.0 * candidate.line)
        np.testing.assert_array_equal(other.fold_lines, 2.0 * np.stack(candidate.fold_lines))
        np.testing.assert_array_equal(other.scores, candidate.scores)


def test_a_refit_to_the_same_rows_goes_on_where_the_candidate_ended():
    frontier = swept()
    X, positive, weight, _ = rows()
    for candidate in frontier.fitted:
        objective = candidate.recipe.objective(X, positive, weight)
        refit = candidate.refit(X, positive, weight)
        np.testing.assert_allclose(refit, candidate.line, rtol=0, atol=0.05)
        values = []
        traced = candidate.traced_refit(X, positive, weight, partial(_record, values))
        assert values[0][1] == objective(values[0][0])[0]
        assert traced.solution.value <= values[0][1]


def _record(values, coef, value):
    values.append((coef, value))


def test_descents_begin_at_the_given_start():
    begun = []

    def start(X, positive, weight):
        begun.append((len(X), positive.sum(), weight.sum()))
        return np.full(4, float(len(begun)))

    frontier = swept(start=start)
    X, _, weight, fold = rows()
    assert [n for n, _, _ in begun] == [len(X) - (fold == k).sum() for k in range(3)]
    assert [frontier.first_start(k)[0] for k in range(3)] == [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(frontier.first_start(None), np.full(4, 4.0))
    assert begun[3] == (len(X), rows()[1].sum(), weight.sum())
    np.testing.assert_array_equal(swept().first_start(None), np.zeros(4))


@pytest.mark.parametrize("stop_at", [1, 5])
def test_progress_is_reported_and_can_stop_for_good(stop_at, solves):
    reports = []

    def progress(done, planned):
        reports.append((done, planned))
        return done == stop_at

    frontier = swept(progress=progress)
    assert reports == [(done, 12) for done in range(1, stop_at + 1)]
    assert len(frontier.fitted) == stop_at
    made = len(solves)
    assert not frontier.plan(cost_sweep((1e-5,)))[0].fit()
    assert len(solves) == made
    assert len(reports) == stop_at


def test_progress_that_returns_nothing_does_not_stop():
    reports = []
    swept(progress=lambda done, planned: reports.append((done, planned)))
    assert reports == [(done, 12) for done in range(1, 13)]


class TestTrial:
    def test_two_folds_judge_lines_that_have_not_seen_them(self):
        frontier = swept()
        _, positive, weight, fold = rows()
        tested = fold < 2
        candidate = frontier.fitted[5]
        trial = candidate.trial([0, 1])
        scores, factor = candidate.scores[tested], weight.sum() / weight[tested].sum()
        theirs = Curves(positive[tested], scores, factor * weight[tested], fold[tested])
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

    def test_once_stopped_only_what_is_known_is_tried(self):
        answers = iter([True, False, False])
        frontier = RowFrontier(*rows(), progress=lambda *_: next(answers))
        first, second, *_ = frontier.plan(cost_sweep((1e-2,), gammas=()))
        assert first.trial([0, 1]) is not None
        assert second.trial([0, 1]) is None
        assert not second.fit()
        assert first.trial([0, 1]) is not None
        assert frontier.stopped  # whatever was answered since


class TestSolveTogether:
    RECIPES = cost_sweep((1e-2, 1e-3), gammas=(1.0, 4.0))

    def solved(self, given, folds=(0, 1, 2), **options):
        frontier = RowFrontier(*given, **options)
        frontier.solve_together(frontier.plan(self.RECIPES), folds)
        return frontier

    def test_solutions_are_as_good_as_those_of_one_fit_at_a_time(self):
        together, alone = self.solved(rows()), RowFrontier(*rows())
        assert len(together.solutions) == 3 * len(self.RECIPES)
        for candidate in alone.plan(self.RECIPES):
            for fold in range(3):
                objective = candidate.recipe.objective(*alone.training_rows(fold))
                value = objective(together.solutions[candidate.recipe.key, fold])[0]
                assert value <= objective(candidate.solution(fold))[0] * (1.0 + 1e-3)

    def test_labels_of_rows_held_out_have_no_say(self):
        X, positive, weight, fold = rows()
        frontier = self.solved((X, positive, weight, fold), fall=1e-10)
        other = self.solved((X, positive ^ (fold == 1), weight, fold), fall=1e-10)
        for recipe in self.RECIPES:
            # They shape the preconditioner the folds share, and so the last digits alone.
            lines = [each.solutions[recipe.key, 1] for each in (frontier, other)]
            np.testing.assert_allclose(lines[0], lines[1], rtol=1e-2, atol=1e-3)

    def test_a_batch_ends_the_search_when_asked_to(self):
        frontier = self.solved(rows(), together=1, progress=lambda *_: True)
        assert frontier.stopped
        assert len(frontier.solutions) == 3
        first, second, *_ = frontier.plan(self.RECIPES)
        assert first.fit()  # what is solved is still compared
        assert not second.fit()

    def test_the_size_of_a_batch_does_not_matter(self):
        one, all_at_once = (self.solved(rows(), together=size) for size in (1, 100))
        for key, line in one.solutions.items():
            np.testing.assert_allclose(line, all_at_once.solutions[key], rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize("holder", [sparse.csr_array], ids=["sparse"])
    def test_rows_it_cannot_take_are_left_for_one_fit_at_a_time(self, holder):
        X, positive, weight, fold = rows()
        frontier = self.solved((holder(X), positive, weight, fold))
        assert not frontier.solutions
        assert frontier.plan(self.RECIPES)[0].fit()
