"""The frontier of the rows: lines of all recipes, fitted and compared on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.frontier.batch_solver import BatchSolver
from directrix.frontier.compare import scaled_lines, scores_of
from directrix.frontier.fold_designs import FoldDesigns, design_without
from directrix.frontier.row_candidate import ITERATIONS, RowCandidate
from directrix.solve import lbfgs, stop_after
from directrix.tables.coding.coded_rows import CodedRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier.compare import Curves
    from directrix.frontier.recipes import Key, Recipe
    from directrix.objectives import DataObjective
    from directrix.solve import Callback, Solution

    Solver = Callable[[DataObjective, FloatArray, Callback | None], Solution]


@dataclass
class RowFrontier:
    """Lines of some rows and, fold by fold, of the others; fitted on demand and remembered.

    Lines are scaled so that held-out scores of different folds can be compared: the means of the
    classes lie about zero, with a standard deviation of one.

    Parameters
    ----------
    X : array, sparse matrix, CodedRows or FoldDesigns of shape (n, d)
        Standardised, or coded in units of their prior.
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
        half solved is given up. Before work that cannot be interrupted it is called with how much
        there is of it, in units of the time that the first candidate took.
    n_jobs : int, optional
        Threads, as in scikit-learn; the lines do not depend on it.
    signs : array of int of shape (d + 1,), optional
        1 where a coefficient may not be negative, −1 where it may not be positive, 0 elsewhere,
        also for the intercept. Coded rows have signs of their own.
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
    out_of_time: Callable[..., bool] | None = None
    n_jobs: int | None = None
    signs: IntArray | None = None
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
    #: Where recipes without a start begin, without each fold; zero where it is not given.
    starts: dict[int | None, FloatArray] = field(default_factory=dict)
    _trials: dict[tuple[int | None, ...], tuple[Any, FloatArray]] = field(default_factory=dict)
    _training: dict[int | None, tuple[Any, AnyArray, FloatArray]] = field(default_factory=dict)
    _solvers: dict[int | None, BatchSolver] = field(default_factory=dict)
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
        self,
        candidates: Sequence[RowCandidate],
        folds: Sequence[int | None],
        *,
        in_any_case: bool = False,
    ) -> None:
        """Solve candidates without each of some folds, many at once, before they are asked for.

        Those that a candidate starts from come first, in the same fold: a non-convex fit that
        started from a solution of all rows would have seen the rows it is tested on. Candidates
        that cannot be solved together are left to `RowCandidate.solution`.

        Parameters
        ----------
        candidates : sequence of RowCandidate
        folds : sequence of int or None
        in_any_case : bool
            Whether they are solved even if time is up.
        """
        if self.solver is None and self.start is None:
            keys = dict.fromkeys(before for each in candidates for before in each.keys)
            waiting = [self.recipes[key] for key in keys]
            while ready := [recipe for recipe in waiting if self._is_ready(recipe, folds)]:
                stop = None if in_any_case else self.out_of_time
                if not self.solve_many(ready, folds, stop):
                    self.stopped = True
                    return
                waiting = [recipe for recipe in waiting if recipe not in ready]
        # Lines of all rows test no row, unless there are no folds: the final fit replaces them.
        tested = [fold for fold in folds if fold in self.folds]
        self.score_together([each.recipe.key for each in candidates], tested)

    def _is_ready(self, recipe: Recipe, folds: Sequence[int | None]) -> bool:
        """Whether a recipe can be solved with others, and what it starts from is solved."""
        before = recipe.start
        started = before is None or all((before.key, fold) in self.solutions for fold in folds)
        return started and BatchSolver.can_solve(recipe.loss)

    def solve_many(
        self,
        recipes: Sequence[Recipe],
        folds: Sequence[int | None],
        stop: Callable[[], bool] | None = None,
    ) -> bool:
        """Solve recipes without each of some folds; return whether there was time."""
        problems = [
            (recipe, fold)
            for recipe in recipes
            for fold in folds
            if (recipe.key, fold) not in self.solutions
        ]
        together = [problems]
        if isinstance(self.X, FoldDesigns):  # each fold has rows of its own
            together = [[each for each in problems if each[1] == fold] for fold in folds]
        for some in together:
            solver = self._batch_solver(folds[0] if not some else some[0][1])
            solved = solver.solve(some, self.solutions, stop)
            self.solutions |= solved
            if len(solved) < len(some):
                return False
        return True

    def _batch_solver(self, fold: int | None) -> BatchSolver:
        key = fold if isinstance(self.X, FoldDesigns) else None
        if key not in self._solvers:
            X = design_without(self.X, fold)
            rows = X, self.positive, self.weight, self.fold
            self._solvers[key] = BatchSolver(
                *rows, self.fall, self.n_jobs, self.starts, self.signs_of(X)
            )
        return self._solvers[key]

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
            X = design_without(self.X, fold)
            scores = scores_of(X, solved)
            tested = self.rows_of_fold(fold)
            weight = self.weight
            if fold is not None:
                weight = weight.copy()
                weight[tested] = 0.0
            lines = scaled_lines(
                solved, scores, self.positive, weight, keep_intercept=self.keep_intercept
            )
            # A product of its own: scores must be those of the scaled line to the last digit.
            held_out = scores_of(X[tested], lines)
            for number, key in enumerate(new):
                self.lines[key, fold] = lines[number]
                self.fold_scores[key, fold] = held_out[:, number]

    def rows_of_fold(self, fold: int | None) -> Any:
        """Return the indices of the rows of a fold; all rows for None."""
        return slice(None) if fold is None else np.flatnonzero(self.fold == fold)

    def trial_rows(self, folds: tuple[int | None, ...]) -> tuple[Any, FloatArray]:
        """Return the indices of the rows of some folds, and weights with which they stand for all.

        Without folds these are all rows.
        """
        if folds not in self._trials:
            if self.fold is None:
                self._trials[folds] = slice(None), self.weight
            else:
                rows = np.flatnonzero(np.isin(self.fold, np.array(folds)))
                weight = self.weight[rows]
                self._trials[folds] = rows, weight * float(self.weight.sum() / weight.sum())
        return self._trials[folds]

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
            return design_without(self.X, None), self.positive, self.weight
        if left_out not in self._training:
            kept = np.flatnonzero(self.fold != left_out)
            X = design_without(self.X, left_out)
            self._training[left_out] = X[kept], self.positive[kept], self.weight[kept]
        return self._training[left_out]

    def first_start(self, left_out: int | None) -> FloatArray:
        """Return where recipes without a start begin."""
        if left_out not in self.starts:
            if self.start is None:
                return np.zeros(design_without(self.X, left_out).shape[1] + 1)
            self.starts[left_out] = self.start(*self.training_rows(left_out))
        return self.starts[left_out]

    def signs_of(self, X: Any) -> IntArray | None:
        """Return the signs that coefficients of these rows keep."""
        return X.coding.signs if isinstance(X, CodedRows) else self.signs

    def solve(
        self,
        objective: Any,
        start: FloatArray,
        callback: Callback | None = None,
        iterations: int = ITERATIONS,
        fall: float | None = None,
        signs: IntArray | None = None,
    ) -> Solution:
        """Minimise by the solver that was given, or by that many iterations of L-BFGS at most.

        A candidate need not be solved to the last digit: rows decide whether it is any good. The
        final fit has a smaller `fall`.
        """
        if self.solver is not None:
            return self.solver(objective, start, callback)
        stop = stop_after(iterations, callback)
        fall = self.fall if fall is None else fall
        return lbfgs(objective, start, ftol=fall, signs=signs, callback=stop)

    def report_progress(self, candidate: RowCandidate) -> None:
        """Report how many candidates were tried; stop if asked to.

        A candidate that is first tried and then fitted counts once, but both are reported.
        """
        self._tried.add(candidate.recipe.key)
        done, planned = len(self._tried), len(self.recipes)
        if self.progress is None or self.stopped:
            return
        self.stopped = bool(self.progress(done, planned))  # for good
