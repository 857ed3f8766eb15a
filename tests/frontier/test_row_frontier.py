import numpy as np
import pytest
from scipy import sparse

import directrix.frontier.row_frontier
from directrix.frontier.compare import curves_of, scores_of, settled
from directrix.frontier.recipes import Recipe, balanced, cost_sweep, path
from directrix.frontier.row_frontier import RowFrontier, at_most, comparable
from directrix.losses import BetaBernoulli, Logistic, PairwiseHinge, Ramp, Sigmoid
from directrix.metrics import AUC, MCC, PRBEP, Cost, Error, FBeta, PartialAUC, RecallAtFPR
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
    frontier.extend(cost_sweep((1e-2, 1e-3), gammas=(1.0,)))
    return frontier


@pytest.fixture
def solves(monkeypatch):
    """Return the list of what is minimised, as it grows."""
    seen = []

    def counted(objective, start, **options):
        seen.append(objective)
        return lbfgs(objective, start, **options)

    monkeypatch.setattr(directrix.frontier.row_frontier, "lbfgs", counted)
    return seen


def test_a_sweep_starts_where_it_has_been():
    recipes = cost_sweep()
    assert recipes[0].start is None
    for place, recipe in enumerate(recipes[1:], 1):
        assert 0 <= recipe.start < place
        before = recipes[recipe.start]
        if isinstance(recipe.loss, BetaBernoulli):  # sharpened, all else equal
            assert (before.ridge, before.ratio) == (recipe.ridge, recipe.ratio)
            assert getattr(before.loss, "gamma", 0.0) < recipe.loss.gamma
        else:
            assert before.loss == Logistic()
    assert len(set(recipes)) == len(recipes) == 4 * 2 + 4 * 3 * 2
    assert {recipe.ridge for recipe in recipes if recipe.loss != Logistic()} == {1e-3, 1e-5}


def test_a_path_is_sharpened_level_by_level_and_begins_anew_for_each_ridge():
    recipes = path(Sigmoid(), (0.1, 0.01), (1.0, 4.0, 16.0))
    assert [recipe.ridge for recipe in recipes] == [0.1] * 3 + [0.01] * 3
    assert [recipe.loss.gamma for recipe in recipes] == [1.0, 4.0, 16.0] * 2
    assert [recipe.start for recipe in recipes] == [None, 0, 1, None, 3, 4]
    assert {recipe.ratio for recipe in recipes} == {None}


@pytest.mark.parametrize("ratio", [1.0, 0.1, 50.0])
def test_balanced_weights_have_the_ratio_and_leave_the_positives(ratio):
    _, positive, weight, _ = rows()
    given = balanced(positive, weight, ratio)
    assert given[~positive].sum() == pytest.approx(ratio * given[positive].sum(), rel=1e-12)
    np.testing.assert_array_equal(given[positive], weight[positive])
    assert np.ptp(given[~positive] / weight[~positive]) < 1e-12
    # Twice the weights are the same costs.
    assert balanced(positive, 2.0 * weight, ratio) == pytest.approx(2.0 * given, rel=1e-12)


@pytest.mark.parametrize("ratio", [None, 10.0])
def test_a_recipe_weighs_the_rows_by_its_ratio(ratio):
    X, positive, weight, _ = rows()
    objective = Recipe(Logistic(), 0.3, ratio).objective(X, positive, weight)
    expected = weight if ratio is None else balanced(positive, weight, ratio)
    np.testing.assert_array_equal(objective.weight, expected)
    assert (objective.ridge, objective.loss) == (0.3, Logistic())


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_comparable_scores_have_their_middle_at_zero_and_deviation_one(holder):
    X, positive, weight, _ = rows()
    line = np.array([3.0, -1.0, 20.0, 7.0])
    moved = comparable(line, holder(X), positive, weight)
    scores = scores_of(X, moved[None])[:, 0]
    numbers = ScoreMoments.of_scores(positive, scores, weight)
    assert numbers.mean_pos + numbers.mean_neg == pytest.approx(0.0, abs=1e-12)
    assert (numbers.var_pos + numbers.var_neg) / 2.0 == pytest.approx(1.0, rel=1e-12)
    assert moved[:-1] / line[:-1] == pytest.approx(moved[0] / line[0], rel=1e-12)
    assert moved[0] > 0  # the direction stays
    np.testing.assert_array_equal(line, [3.0, -1.0, 20.0, 7.0])
    # Of a line in other units nothing is left of them.
    other = comparable(1e3 * line + [0, 0, 0, 55.0], holder(X), positive, weight)
    assert other == pytest.approx(moved, rel=1e-10)


def test_scores_without_variance_are_apart_by_one_or_zero():
    positive = np.array([True, True, False, False])
    X, weight = np.where(positive, 5.0, 1.0)[:, None], np.ones(4)
    line = comparable(np.array([2.0, 1.0]), X, positive, weight)
    assert (X @ line[:-1] + line[-1]).tolist() == [0.5, 0.5, -0.5, -0.5]
    nothing = comparable(np.array([0.0, 3.0]), X, positive, weight)
    assert nothing.tolist() == [0.0, 0.0]


SIX = [Error(), Cost(1, 20), FBeta(), MCC(), RecallAtFPR(0.1), PRBEP()]


def test_one_sweep_serves_six_metrics(solves):
    frontier = swept()
    made = len(solves)
    assert made == 12 * 3  # once for each fold: of all rows only the one that is chosen
    chosen = [frontier.best(metric) for metric in SIX]
    assert len(solves) == made
    assert len({each.place for each in chosen}) > 1  # they do not all want the same
    for metric, (place, values) in zip(SIX, chosen, strict=True):
        assert values.shape == (12,)
        held_out = frontier.curves[place].whole
        assert values[place] == metric.best_value(held_out)


def test_for_rankings_pairs_are_added_once_from_the_best(solves):
    frontier = swept()
    best = frontier.best(Error())
    made = len(solves)
    frontier.best(AUC())
    added = frontier.recipes[12:]
    losses = [PairwiseHinge()] * 2 + [Ramp(PairwiseHinge())] * 2
    assert [recipe.loss for recipe in added] == losses
    assert [recipe.ridge for recipe in added] == [1e-2, 1e-3] * 2
    assert added[0].start == added[1].start < 12
    assert [recipe.start for recipe in added[2:]] == [12, 13]
    assert len(solves) == made + 4 * 3
    frontier.best(PartialAUC(0.1))
    frontier.best(AUC())
    assert len(frontier.recipes) == 16
    assert len(solves) == made + 4 * 3
    assert len(best.values) == 12


def test_a_solver_that_is_given_makes_its_own_recipes_alone():
    X, positive, weight, fold = rows()
    frontier = RowFrontier(
        X, positive, weight, fold, solver=lambda objective, start, _: lbfgs(objective, start)
    )
    frontier.extend(path(Logistic(), (1e-2,), (1.0,)))
    assert frontier.best(AUC()).place == 0
    assert len(frontier.recipes) == 1


@pytest.mark.parametrize("place", [0, 3, 11])
def test_held_out_rows_are_scored_by_lines_that_have_not_seen_them(place):
    frontier = swept()
    X, positive, weight, fold = rows()
    for number in range(3):
        own = fold == number
        # Whatever the rows held out are, and whichever class: the line without them is the same.
        other = RowFrontier(
            np.where(own[:, None], 1e3, X), positive ^ own, weight + 5.0 * own, fold
        )
        other.extend(frontier.recipes[: place + 1])
        line = frontier.solved(place, number)
        np.testing.assert_array_equal(other.solved(place, number), line)
        others = X[~own], positive[~own], weight[~own]
        alone = RowFrontier(*others, None)
        alone.extend(frontier.recipes[: place + 1])
        np.testing.assert_array_equal(alone.solved(place), line)
        scores = scores_of(X[own], comparable(line, *others)[None])[:, 0]
        np.testing.assert_array_equal(frontier.scores[place][own], settled(scores))


def test_rows_learnt_by_heart_do_not_count():
    # As many features as rows: every line separates the rows it has seen, and knows nothing.
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(60, 60)), np.arange(60) % 2 == 0
    held_out, seen = (
        RowFrontier(X, positive, np.ones(60), fold) for fold in (np.arange(60) // 2 % 3, None)
    )
    for frontier in (held_out, seen):
        frontier.extend(cost_sweep((1e-3,), (1.0,), ()))
    assert seen.best(Error()).values[0] == 0.0
    assert held_out.best(Error()).values[0] > 0.25


def test_without_folds_the_rows_themselves_are_scored():
    frontier = swept(fold=False)
    X, positive, weight, _ = rows()
    assert frontier.folds == [None]
    for place, scores in frontier.scores.items():
        line = frontier.line(place)
        np.testing.assert_array_equal(scores, settled(scores_of(X, line[None])[:, 0]))
        own = comparable(frontier.solved(place), X, positive, weight)
        np.testing.assert_array_equal(line, own)
    assert frontier.best(Error()).values.shape == (12,)


def test_descents_begin_where_they_are_told_to():
    begun = []

    def start(X, positive, weight):
        begun.append((len(X), positive.sum(), weight.sum()))
        return np.full(4, float(len(begun)))

    frontier = swept(start=start)
    X, _, weight, fold = rows()
    assert [n for n, _, _ in begun] == [len(X) - (fold == k).sum() for k in range(3)]
    assert [frontier.start_of(0, k)[0] for k in range(3)] == [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(frontier.start_of(0), np.full(4, 4.0))
    assert begun[3] == (len(X), rows()[1].sum(), weight.sum())
    np.testing.assert_array_equal(frontier.start_of(1), frontier.solved(0))
    np.testing.assert_array_equal(swept().start_of(0), np.zeros(4))


@pytest.mark.parametrize("stop_at", [1, 5])
def test_progress_is_told_and_can_stop_for_good(stop_at, solves):
    told = []

    def progress(done, known):
        told.append((done, known))
        return done == stop_at

    frontier = swept(progress=progress)
    assert told == [(done, 12) for done in range(1, stop_at + 1)]
    assert frontier.made == list(frontier.scores) == list(range(stop_at))
    made = len(solves)
    assert frontier.best(AUC()).place < stop_at  # from those there are
    assert len(solves) == made
    assert len(told) == stop_at


def test_progress_that_returns_nothing_does_not_stop():
    told = []
    frontier = swept(progress=lambda done, known: told.append((done, known)))
    frontier.best(AUC())
    pairwise = [(done, 16) for done in range(13, 17)]  # convex and tight, for each of two ridges
    assert told == [(done, 12) for done in range(1, 13)] + pairwise


def test_at_most_counts_down_and_listens():
    heard = []
    count = at_most(3, lambda coef, value: heard.append((coef, value)))
    assert [count(np.zeros(1), float(k)) for k in range(3)] == [False, False, True]
    assert [value for _, value in heard] == [0.0, 1.0, 2.0]
    asks = at_most(3, lambda _, value: value > 0)
    assert [asks(np.zeros(1), value) for value in (0.0, 1.0)] == [False, True]


class TestTrial:
    def test_two_folds_judge_lines_that_have_not_seen_them(self):
        frontier = swept()
        _, positive, weight, fold = rows()
        own = fold < 2
        found = frontier.trial(5, [0, 1])
        scores, factor = frontier.scores[5][own], weight.sum() / weight[own].sum()
        theirs = curves_of(positive[own], scores, factor * weight[own], fold[own])
        assert Error().best_value(found.whole) == Error().best_value(theirs.whole)
        assert len(found.parts) == 2

    def test_it_fits_what_is_needed_and_no_more(self, solves):
        X, positive, weight, fold = rows()
        frontier = RowFrontier(X, positive, weight, fold)
        places = frontier.plan(cost_sweep((1e-2, 1e-3), gammas=(1.0,)))
        assert not solves
        frontier.trial(places[0], [0, 1])
        assert len(solves) == 2
        frontier.make(places[0])
        assert len(solves) == 3
        assert frontier.made == [0]

    def test_whatever_takes_time_is_told(self):
        told = []
        frontier = RowFrontier(*rows(), progress=lambda *counts: told.append(counts))
        frontier.plan(cost_sweep((1e-2,), gammas=()))
        frontier.trial(0, [0, 1])
        frontier.make(0)  # a fold more
        frontier.make(0)
        frontier.make(1)
        assert told == [(1, 4), (1, 4), (2, 4)]

    def test_once_stopped_only_what_is_known_is_tried(self):
        X, positive, weight, fold = rows()
        answers = iter([True, False, False])
        frontier = RowFrontier(X, positive, weight, fold, progress=lambda *_: next(answers))
        frontier.plan(cost_sweep((1e-2,), gammas=()))
        assert frontier.trial(0, [0, 1]) is not None
        assert frontier.trial(1, [0, 1]) is None
        assert not frontier.make(1)
        assert frontier.trial(0, [0, 1]) is not None
        assert frontier.stopped  # whatever was said since
