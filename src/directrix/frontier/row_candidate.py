"""Candidates of the row frontier: the line of one recipe, fitted and compared on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from directrix.frontier.compare import Curves, round_scores, scaled_lines, scores_of
from directrix.frontier.fold_designs import design_without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray
    from directrix.frontier.recipes import Key, Recipe
    from directrix.frontier.row_frontier import RowFrontier
    from directrix.objectives import DataObjective
    from directrix.solve import Callback, Solution

#: Iterations of L-BFGS at most: of a candidate, and of the final fit.
ITERATIONS, _FINAL_ITERATIONS = 100, 500
#: The final fit stops when one iteration lowers the objective by less than this share.
_FINAL_FALL = 1e-7


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
    def ridge(self) -> float:
        """Ridge penalty of the fit."""
        return self.recipe.ridge

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
        rows, weight = frontier.trial_rows(tuple(folds))
        fold = None if frontier.fold is None else frontier.fold[rows]
        curves = Curves(frontier.positive[rows], scores[rows], weight, fold)
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
        frontier, key = self.frontier, (self.recipe.key, None)
        if key not in frontier.lines:
            # A line that was solved with others is good enough to compare, not to predict with.
            frontier.lines[key] = self.refit(*frontier.training_rows(None))
        return self._in_features(frontier.lines[key])

    @property
    def fold_lines(self) -> list[FloatArray]:
        """For each fold the line made without it."""
        folds = [fold for fold in self.frontier.folds if fold is not None]
        return [self._in_features(self._line(fold)) for fold in folds]

    def refit(self, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
        """Return the line of these rows, from where the candidate ended."""
        X = design_without(X, None)
        self.frontier.solve_together([self], [None], in_any_case=True)
        objective = self.recipe.objective(X, positive, weight)
        start = self.solution(None)
        out_of_time = self.frontier.out_of_time
        stop = None if out_of_time is None else lambda *_: out_of_time(-1.0)
        signs = self.frontier.signs_of(X)
        solution = self.frontier.solve(
            objective, start, stop, _FINAL_ITERATIONS, _FINAL_FALL, signs
        )
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
        iterations = ITERATIONS if repeated else _FINAL_ITERATIONS
        trace(start, objective(start)[0])
        signs = frontier.signs_of(X)
        solution = frontier.solve(objective, start, trace, iterations, signs=signs)
        return Refit(self._scaled(solution.coef, X, positive, weight), objective, solution)

    def solution(self, left_out: int | None) -> FloatArray:
        """Return the coefficients as they were solved for, of all rows or without a fold."""
        frontier, key = self.frontier, (self.recipe.key, left_out)
        if key not in frontier.solutions:
            start = self._start(left_out)
            rows = frontier.training_rows(left_out)
            objective, signs = self.recipe.objective(*rows), frontier.signs_of(rows[0])
            with catch_warnings():  # the final fit repeats this warning if it still applies
                simplefilter("ignore", ConvergenceWarning)
                frontier.solutions[key] = frontier.solve(objective, start, signs=signs).coef
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
