"""The frontier of the rows: lines of all recipes, fitted and compared on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from directrix.frontier.batch_solver import BatchSolver
from directrix.frontier.compare import Curves, round_scores, scaled_lines, scores_of
from directrix.solve import lbfgs, stop_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier.recipes import Key, Recipe
    from directrix.objectives import DataObjective
    from directrix.solve import Callback, Solution

    Solver = Callable[[DataObjective, FloatArray, Callback | None], Solution]

#: Iterations of L-BFGS at most: of a candidate, and of the final fit.
_ITERATIONS, _FINAL_ITERATIONS = 100, 500


@dataclass
class RowFrontier:
    """Lines of some rows and, fold by fold, of the others; fitted on demand and remembered.

    Lines are scaled so that held-out scores of different folds can be compared: the means of the
    classes lie about zero, with a standard deviation of one.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Standardised.
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    fold : array of int of shape (n,), optional
        If rows are too few to hold some out, candidates are compared on their training rows.
    start : callable, optional
        From rows, classes and weights to where recipes without a start begin; zero by default.
    solver : callable, optional
        Takes an objective, a start and a callback; L-BFGS by default.
    progress : callable, optional
        Called with (n_done, n_planned) after each trial and each full fit, so possibly twice per
        candidate; a true result stops the search.
    fall : float
        L-BFGS stops when one iteration lowers the objective by less than this share.
    keep_intercept : bool
        Whether a score of zero stays where the solver put it, instead of halfway between the
        means of the classes.
    to_features : callable, optional
        Maps a line of these rows to the units in which `RowCandidate.line` and `fold_lines` are
        asked for; by default those of the rows.
    out_of_time : callable, optional
        Asked between the iterations of solvers; if it returns True, the search stops and what is
        half solved is given up.
    n_jobs : int, optional
        Threads, as in scikit-learn; the lines do not depend on it.
    """

    X: Any
    positive: AnyArray
    weight: FloatArray
    fold: IntArray | None
    start: Callable[[Any, AnyArray, FloatArray], FloatArray] | None = None
    solver: Solver | None = None
    progress: Callable[[int, int], bool | None] | None = None
    fall: float = 1e-6
    keep_intercept: bool = False
    to_features: Callable[[FloatArray], FloatArray] | None = None
    out_of_time: Callable[[], bool] | None = None
    n_jobs: int | None = None
    #: Whether the search was asked to stop: no more candidates are fitted then.
    stopped: bool = False
    #: What is remembered of each recipe, by its key: the recipe as it was planned first, the
    #: solutions of all rows and without each fold, these on one scale, with the scores of the rows
    #: left out, and all held-out scores with their curves.
    recipes: dict[Key, Recipe] = field(default_factory=dict)
    solutions: dict[tuple[Key, int | None], FloatArray] = field(default_factory=dict)
    lines: dict[tuple[Key, int | None], FloatArray] = field(default_factory=dict)
    fold_scores: dict[tuple[Key, int | None], FloatArray] = field(default_factory=dict)
    held_out: dict[Key, tuple[FloatArray, Curves]] = field(default_factory=dict)
    _training: dict[int | None, tuple[Any, AnyArray, FloatArray]] = field(default_factory=dict)
    _starts: dict[int | None, FloatArray] = field(default_factory=dict)
    _tried: set[Key] = field(default_factory=set)

    def plan(self, recipes: Iterable[Recipe]) -> list[RowCandidate]:
        """Return the candidate of each recipe, to be fitted on demand.

        A recipe that was planned before, wherever it started from, is not planned again. The
        recipes that the new ones start from are planned with them.
        """
        candidates = []
        for recipe in recipes:
            if recipe.key not in self.recipes:
                if recipe.start is not None:
                    self.plan([recipe.start])
                self.recipes[recipe.key] = recipe
            candidates.append(RowCandidate(self, self.recipes[recipe.key]))
        return candidates

    def solve_together(
        self, candidates: Sequence[RowCandidate], folds: Sequence[int | None]
    ) -> None:
        """Solve candidates without each of some folds, many at once, before they are asked for.

        Those that a candidate starts from come first, in the same fold: a non-convex fit that
        started from a solution of all rows would have seen the rows it is tested on. Candidates
        that cannot be solved together are left to `RowCandidate.solution`.
        """
        if self.solver is None and self.start is None:
            keys = dict.fromkeys(before for each in candidates for before in each.keys)
            waiting = [self.recipes[key] for key in keys]
            while ready := [recipe for recipe in waiting if self._is_ready(recipe, folds)]:
                self._solve_many(ready, folds)
                if self.stopped:
                    return
                waiting = [recipe for recipe in waiting if recipe not in ready]
        self.score_together([each.recipe.key for each in candidates], folds)

    def _is_ready(self, recipe: Recipe, folds: Sequence[int | None]) -> bool:
        """Whether a recipe can be solved with others, and what it starts from is solved."""
        before = recipe.start
        started = before is None or all((before.key, fold) in self.solutions for fold in folds)
        return started and BatchSolver.can_solve(recipe.loss)

    def _solve_many(self, recipes: Sequence[Recipe], folds: Sequence[int | None]) -> None:
        problems = [
            (recipe, fold)
            for recipe in recipes
            for fold in folds
            if (recipe.key, fold) not in self.solutions
        ]
        self.solutions |= self._batch_solver.solve(problems, self.solutions, self.out_of_time)
        self.stopped |= any((recipe.key, fold) not in self.solutions for recipe, fold in problems)

    @cached_property
    def _batch_solver(self) -> BatchSolver:
        rows = self.X, self.positive, self.weight, self.fold
        return BatchSolver(*rows, self.fall, self.n_jobs)

    def score_together(self, keys: Sequence[Key], folds: Sequence[int | None]) -> None:
        """Scale the lines of recipes, and score the rows of the fold that each leaves out."""
        for fold in folds:
            new = [
                key
                for key in keys
                if (key, fold) in self.solutions and (key, fold) not in self.fold_scores
            ]
            if not new:
                continue
            solved = np.stack([self.solutions[key, fold] for key in new])
            scores = scores_of(self.X, solved)
            tested = self.rows_of_fold(fold)
            weight = self.weight
            if fold is not None:
                weight = weight.copy()
                weight[tested] = 0.0
            lines = scaled_lines(
                solved, scores, self.positive, weight, keep_intercept=self.keep_intercept
            )
            # The same scores, shifted and scaled as the lines are.
            held_out = scores_of(self.X[tested], lines)
            for number, key in enumerate(new):
                self.lines[key, fold] = lines[number]
                self.fold_scores[key, fold] = held_out[:, number]

    def rows_of_fold(self, fold: int | None) -> Any:
        """Return the indices of the rows of a fold; all rows for None."""
        return slice(None) if fold is None else np.flatnonzero(self.fold == fold)

    @property
    def fitted(self) -> list[RowCandidate]:
        """The candidates that are fitted, in the order in which they were planned."""
        return [
            RowCandidate(self, recipe)
            for key, recipe in self.recipes.items()
            if key in self.held_out
        ]

    @cached_property
    def folds(self) -> list[int | None]:
        """The folds that are left out one by one; [None], for nothing, if there are no folds."""
        return [None] if self.fold is None else [int(number) for number in np.unique(self.fold)]

    def training_rows(self, left_out: int | None) -> tuple[Any, AnyArray, FloatArray]:
        """Return the rows of the other folds; all rows for None."""
        if left_out is None:
            return self.X, self.positive, self.weight
        if left_out not in self._training:
            kept = np.flatnonzero(self.fold != left_out)
            self._training[left_out] = self.X[kept], self.positive[kept], self.weight[kept]
        return self._training[left_out]

    def first_start(self, left_out: int | None) -> FloatArray:
        """Return where recipes without a start begin."""
        if left_out not in self._starts:
            zero = np.zeros(self.X.shape[1] + 1)
            self._starts[left_out] = (
                zero if self.start is None else self.start(*self.training_rows(left_out))
            )
        return self._starts[left_out]

    def solve(
        self,
        objective: DataObjective,
        start: FloatArray,
        callback: Callback | None = None,
        iterations: int = _ITERATIONS,
    ) -> Solution:
        """Minimise by the solver that was given, or by that many iterations of L-BFGS at most.

        A candidate need not be solved to the last digit: rows decide whether it is any good.
        """
        if self.solver is not None:
            return self.solver(objective, start, callback)
        stop = stop_after(iterations, callback)
        return lbfgs(objective, start, ftol=self.fall, callback=stop)

    def report_progress(self, candidate: RowCandidate) -> None:
        """Report how many candidates were tried; stop if asked to.

        A candidate that is first tried and then fitted counts once, but both are reported.
        """
        self._tried.add(candidate.recipe.key)
        done, planned = len(self._tried), len(self.recipes)
        if self.progress is not None and self.progress(done, planned):
            self.stopped = True  # for good


class Refit(NamedTuple):
    """A candidate fitted to all rows: its line, and the objective that the solution minimises."""

    line: FloatArray
    objective: DataObjective
    solution: Solution


@dataclass(frozen=True, eq=False)
class RowCandidate:
    """The line of one recipe; see `Candidate`. What is known of it, the frontier remembers.

    Parameters
    ----------
    frontier : RowFrontier
    recipe : Recipe
    """

    frontier: RowFrontier
    recipe: Recipe

    @property
    def name(self) -> str:
        """What a report calls the candidate."""
        return self.recipe.name

    @property
    def complexity(self) -> float:
        """Order of preference among candidates of equal quality."""
        return self.recipe.complexity

    @property
    def keys(self) -> list[Key]:
        """The keys of the recipes that lead to this one, and its own."""
        return [candidate.recipe.key for candidate in self.chain]

    @property
    def chain(self) -> list[RowCandidate]:
        """The candidates that lead to this one, each starting from the one before."""
        before = self._before()
        return [self] if before is None else [*before.chain, self]

    def fit(self) -> bool:
        """Fit the candidate without each fold, unless time is up; return whether it is fitted."""
        frontier = self.frontier
        if self.recipe.key not in frontier.held_out:
            if frontier.stopped and not self._is_solved(frontier.folds):
                return False
            scores = round_scores(self._scores(frontier.folds))
            curves = Curves(frontier.positive, scores, frontier.weight, frontier.fold)
            frontier.held_out[self.recipe.key] = scores, curves
            frontier.report_progress(self)
        return True

    def trial(self, folds: Sequence[int | None]) -> Curves | None:
        """Fit the candidate without each of some folds, and return its curves on their rows.

        Returns None if time is up.
        """
        frontier = self.frontier
        if frontier.stopped and not self._is_solved(folds):
            return None
        scores = self._scores(folds)
        fold = np.zeros(len(scores), np.intp) if frontier.fold is None else frontier.fold
        rows = np.flatnonzero(np.isin(fold, folds))
        factor = float(frontier.weight.sum() / frontier.weight[rows].sum())
        weight = factor * frontier.weight[rows]  # these rows stand for all
        curves = Curves(frontier.positive[rows], scores[rows], weight, fold[rows])
        frontier.report_progress(self)
        return curves

    @property
    def scores(self) -> FloatArray:
        """Held-out scores of the rows; the candidate must be fitted."""
        return self.frontier.held_out[self.recipe.key][0]

    @property
    def curves(self) -> Curves:
        """Rates of the held-out scores at every threshold; the candidate must be fitted."""
        return self.frontier.held_out[self.recipe.key][1]

    @property
    def line(self) -> FloatArray:
        """The line of all rows."""
        return self._in_features(self._line(None))

    @property
    def fold_lines(self) -> list[FloatArray]:
        """For each fold the line made without it."""
        folds = [fold for fold in self.frontier.folds if fold is not None]
        return [self._in_features(self._line(fold)) for fold in folds]

    def refit(self, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
        """Return the line of these rows, from where the candidate ended."""
        objective = self.recipe.objective(X, positive, weight)
        start = self.solution(None)
        solution = self.frontier.solve(objective, start, None, _FINAL_ITERATIONS)
        return self._scaled(solution.coef, X, positive, weight)

    def traced_refit(
        self, X: Any, positive: AnyArray, weight: FloatArray, trace: Callback
    ) -> Refit:
        """Fit the candidate to these rows once more, showing `trace` every step.

        On the rows that the candidate was made from, the descent is repeated from its start.
        """
        frontier = self.frontier
        objective = self.recipe.objective(X, positive, weight)
        repeated = len(positive) == len(frontier.positive)
        start = self._start(None) if repeated else self.solution(None)
        iterations = _ITERATIONS if repeated else _FINAL_ITERATIONS
        trace(start, objective(start)[0])
        solution = frontier.solve(objective, start, trace, iterations)
        return Refit(self._scaled(solution.coef, X, positive, weight), objective, solution)

    def solution(self, left_out: int | None) -> FloatArray:
        """Return the coefficients as they were solved for, of all rows or without a fold."""
        frontier, key = self.frontier, (self.recipe.key, left_out)
        if key not in frontier.solutions and not frontier.stopped:
            frontier.solve_together([self], [left_out])
        if key not in frontier.solutions:
            start = self._start(left_out)
            objective = self.recipe.objective(*frontier.training_rows(left_out))
            with catch_warnings():  # the final fit repeats this warning if it still applies
                simplefilter("ignore", ConvergenceWarning)
                frontier.solutions[key] = frontier.solve(objective, start).coef
        return frontier.solutions[key]

    def _is_solved(self, folds: Sequence[int | None]) -> bool:
        return all((self.recipe.key, fold) in self.frontier.solutions for fold in folds)

    def _before(self) -> RowCandidate | None:
        """Return the candidate whose line the descent starts from."""
        start = self.recipe.start
        return None if start is None else self.frontier.plan([start])[0]

    def _start(self, left_out: int | None) -> FloatArray:
        before = self._before()
        if before is None:
            return self.frontier.first_start(left_out)
        return before.solution(left_out)

    def _line(self, left_out: int | None) -> FloatArray:
        frontier, key = self.frontier, (self.recipe.key, left_out)
        if key not in frontier.lines:
            self.solution(left_out)
            frontier.score_together([self.recipe.key], [left_out])
        return frontier.lines[key]

    def _scaled(
        self, line: FloatArray, X: Any, positive: AnyArray, weight: FloatArray
    ) -> FloatArray:
        keep, lines = self.frontier.keep_intercept, line[None]
        scaled: FloatArray = scaled_lines(
            lines, scores_of(X, lines), positive, weight, keep_intercept=keep
        )[0]
        return scaled

    def _in_features(self, line: FloatArray) -> FloatArray:
        to_features = self.frontier.to_features
        return line if to_features is None else to_features(line)

    def _scores(self, folds: Sequence[int | None]) -> FloatArray:
        """Return the scores of the rows of some folds by lines made without them; others zero."""
        frontier, key = self.frontier, self.recipe.key
        scores = np.zeros(len(frontier.positive))
        for number in folds:
            self._line(number)
            scores[frontier.rows_of_fold(number)] = frontier.fold_scores[key, number]
        return scores
