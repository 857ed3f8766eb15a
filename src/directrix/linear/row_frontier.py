"""The frontier of the rows: lines of all recipes, fitted and compared on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fit.compare import scaled_lines, scores_of
from directrix.fit.curves import Curves, ScoreCurves
from directrix.linear.batch_solver import BatchSolver
from directrix.linear.lbfgs import lbfgs, stop_after
from directrix.linear.recipes import Key, Recipe

#: Called with (n_done, n_planned) after each trial and each full fit, so possibly twice per
#: candidate.
ReportCandidates = Callable[[int, int], None]

# ── Candidates of the row frontier: the line of one recipe, fitted and compared on demand ─────────

#: The final fit stops when one iteration lowers the objective by less than this share, or after so
#: many.
_FINAL_FALL, _FINAL_ITERATIONS = 1e-7, 500


@dataclass(frozen=True, eq=False)
class RowCandidate:
    """The line of one recipe; see `Candidate`. What is known of it, the frontier remembers."""

    frontier: RowFrontier
    recipe: Recipe

    @property
    def name(self) -> str:
        """Name of the candidate in reports."""
        return self.recipe.name

    @property
    def complexity(self) -> float:
        """Order of preference among candidates of equal quality."""
        return self.recipe.complexity

    @property
    def chain(self) -> list[RowCandidate]:
        """The candidates that lead to this one, each starting from the one before."""
        start = self.recipe.start
        return [self] if start is None else [*self.frontier.plan([start])[0].chain, self]

    def fit(self) -> None:
        """Fit the candidate without each fold."""
        frontier = self.frontier
        if self.recipe.key not in frontier.held_out:
            scores = self._scores(frontier.folds)
            rows = frontier.positive, scores, frontier.weight, frontier.fold, frontier.group
            curves = ScoreCurves(*rows)
            frontier.held_out[self.recipe.key] = curves
            frontier.report_progress(self)

    def trial(self, folds: Sequence[int | None]) -> Curves:
        """Fit the candidate without each of some folds, and return its curves on their rows."""
        frontier = self.frontier
        scores = self._scores(folds)
        frontier.report_progress(self)
        if frontier.fold is None:
            return ScoreCurves(frontier.positive, scores, frontier.weight, None)
        rows = np.flatnonzero(np.isin(frontier.fold, np.array(folds)))
        weight = frontier.weight[rows]
        weight = weight * float(frontier.weight.sum() / weight.sum())  # they stand for all rows
        return ScoreCurves(frontier.positive[rows], scores[rows], weight, frontier.fold[rows])

    @property
    def curves(self) -> ScoreCurves:
        """Curves of the held-out scores of the rows; the candidate must be fitted."""
        return self.frontier.held_out[self.recipe.key]

    @property
    def line(self) -> FloatArray:
        """The line of all rows."""
        frontier, key = self.frontier, (self.recipe.key, None)
        if key not in frontier.lines:
            # A line that was solved with others is good enough to compare, not to predict with.
            frontier.lines[key] = self.refit(frontier.X, frontier.positive, frontier.weight)
        return self._in_features(frontier.lines[key])

    @property
    def fold_lines(self) -> list[FloatArray]:
        """For each fold the line made without it."""
        folds = [fold for fold in self.frontier.folds if fold is not None]
        self.frontier.solve_together([self], folds)
        return [self._in_features(self.frontier.lines[self.recipe.key, fold]) for fold in folds]

    def refit(self, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
        """Return the line of these rows, from where the candidate ended."""
        frontier = self.frontier
        frontier.solve_together([self], [None])
        line = lbfgs(
            self.recipe.objective(X, positive, weight),
            frontier.solutions[self.recipe.key, None],
            ftol=_FINAL_FALL,
            signs=frontier.signs,
            callback=stop_after(_FINAL_ITERATIONS),
        ).coef[None]
        scores = scores_of(X, line)
        scaled: FloatArray = scaled_lines(line, scores, positive, weight)[0]
        return scaled

    def _in_features(self, line: FloatArray) -> FloatArray:
        to_features = self.frontier.to_features
        return line if to_features is None else to_features(line)

    def _scores(self, folds: Sequence[int | None]) -> FloatArray:
        """Return the scores of the rows of some folds by lines made without them; others zero."""
        frontier, key = self.frontier, self.recipe.key
        scores = np.zeros(len(frontier.positive))
        frontier.solve_together([self], folds)
        for number in folds:
            scores[frontier.rows_of_fold(number)] = frontier.fold_scores[key, number]
        return scores


# ── The frontier of the rows: lines of all recipes, fitted and compared on demand ─────────────────


@dataclass
class RowFrontier:
    """Lines of some rows and, fold by fold, of the others; fitted on demand and remembered.

    Lines are scaled so that held-out scores of different folds can be compared: the means of the
    classes lie about zero, with a standard deviation of one.
    """

    #: Array or sparse matrix, standardised.
    X: Any
    positive: AnyArray
    weight: FloatArray
    #: None if rows are too few to hold some out: candidates are then compared on training rows.
    fold: IntArray | None
    #: Rows of one group are dependent.
    group: IntArray | None = None
    progress: ReportCandidates | None = None
    #: L-BFGS stops when one iteration lowers the objective by less than this share.
    ftol: float = 1e-6
    #: Maps a line of these rows to the units of `RowCandidate.line` and `fold_lines`.
    to_features: Callable[[FloatArray], FloatArray] | None = None
    #: Threads, as in scikit-learn; the lines do not depend on it.
    n_jobs: int | None = None
    #: 1 where a coefficient may not be negative, −1 where it may not be positive, 0 elsewhere, also
    #: for the intercept.
    signs: IntArray | None = None
    #: What is remembered of each recipe, by its key: the recipe as it was planned first, the
    #: solutions of all rows and without each fold, these on one scale, with the scores of the rows
    #: left out, and all held-out scores with their curves.
    recipes: dict[Key, Recipe] = field(default_factory=dict)
    solutions: dict[tuple[Key, int | None], FloatArray] = field(default_factory=dict)
    lines: dict[tuple[Key, int | None], FloatArray] = field(default_factory=dict)
    fold_scores: dict[tuple[Key, int | None], FloatArray] = field(default_factory=dict)
    held_out: dict[Key, ScoreCurves] = field(default_factory=dict)
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
    ) -> None:
        """Solve candidates without each of some folds, many at once, and score the rows left out.

        Those that a candidate starts from come first, in the same fold: a non-convex fit that
        started from a solution of all rows would have seen the rows it is tested on.
        """
        chains = (before.recipe for each in candidates for before in each.chain)
        waiting = list({recipe.key: recipe for recipe in chains}.values())
        while ready := [recipe for recipe in waiting if self._is_ready(recipe, folds)]:
            pairs = [(recipe, fold) for recipe in ready for fold in folds]
            problems = [pair for pair in pairs if (pair[0].key, pair[1]) not in self.solutions]
            self.solutions |= self._batch_solver.solve(problems, self.solutions)
            waiting = [recipe for recipe in waiting if recipe not in ready]
        # Lines of all rows test no row, unless there are no folds: the final fit replaces them.
        tested = [fold for fold in folds if fold in self.folds]
        self._score_together([each.recipe.key for each in candidates], tested)

    def _is_ready(self, recipe: Recipe, folds: Sequence[int | None]) -> bool:
        start = recipe.start
        return start is None or all((start.key, fold) in self.solutions for fold in folds)

    @cached_property
    def _batch_solver(self) -> BatchSolver:
        rows = self.X, self.positive, self.weight, self.fold
        return BatchSolver(*rows, self.ftol, self.n_jobs, self.signs)

    def _score_together(self, keys: Sequence[Key], folds: Sequence[int | None]) -> None:
        """Scale the lines of recipes, and score the rows of the fold that each leaves out."""
        for fold in folds:
            solved_keys = [key for key in keys if (key, fold) in self.solutions]
            new = [key for key in solved_keys if (key, fold) not in self.fold_scores]
            if not new:
                continue
            solved = np.stack([self.solutions[key, fold] for key in new])
            scores = scores_of(self.X, solved)
            tested = self.rows_of_fold(fold)
            fitted = slice(None) if fold is None else np.flatnonzero(self.fold != fold)
            rows = scores[fitted], self.positive[fitted], self.weight[fitted]
            lines = scaled_lines(solved, *rows)
            # A product of its own: scores must be those of the scaled line to the last digit.
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
        fitted = [recipe for key, recipe in self.recipes.items() if key in self.held_out]
        return [RowCandidate(self, recipe) for recipe in fitted]

    @cached_property
    def folds(self) -> list[int | None]:
        """The folds that are left out one by one; [None], for nothing, if there are no folds."""
        return [None] if self.fold is None else [int(number) for number in np.unique(self.fold)]

    def report_progress(self, candidate: RowCandidate) -> None:
        """Report how many candidates were tried.

        A candidate that is first tried and then fitted counts once, but both are reported.
        """
        self._tried.add(candidate.recipe.key)
        if self.progress is not None:
            self.progress(len(self._tried), len(self.recipes))
