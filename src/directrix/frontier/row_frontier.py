"""The frontier of the rows: lines of all recipes, made and judged when asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from directrix.frontier.compare import curves_of, judge, scores_of, settled
from directrix.frontier.recipes import pairs, tight_pairs
from directrix.losses import PairwiseHinge
from directrix.moments.projection import ScoreMoments
from directrix.solve import lbfgs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier.compare import Chosen, Curves
    from directrix.frontier.recipes import Recipe
    from directrix.metrics import Metric
    from directrix.objectives import DataObjective
    from directrix.solve.solution import Callback, Solution

    Solver = Callable[[DataObjective, FloatArray, Callback | None], Solution]

_ITERATIONS = 100


@dataclass
class RowFrontier:
    """Candidate lines of some rows and, fold by fold, of the others; made when asked for.

    Lines are those of the features given, of scores with the classes' means about zero and
    deviation one: held-out scores of different folds can be compared.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Standardised.
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    fold : array of int of shape (n,), optional
        Where rows are too few to be held out, candidates are compared on their own.
    start : callable, optional
        Of rows, their classes and weights: where recipes without a start begin; zero by default.
    solver : callable, optional
        Of an objective, a start and a callback; L-BFGS by default.
    progress : callable, optional
        Is called after each candidate with how many there are and how many are known of; twice of
        one that was tried before it was made.
    fall : float
        Relative fall of the objective in one iteration of L-BFGS at which it stops.
    keep_intercept : bool
        Whether a score of zero stays where the solver put it, instead of halfway between the
        means of the classes.
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
    recipes: list[Recipe] = field(default_factory=list)
    #: Held-out scores of the candidates that are made, by their place, and the curves of these.
    scores: dict[int, FloatArray] = field(default_factory=dict)
    curves: dict[int, Curves] = field(default_factory=dict)
    #: Whether ``progress`` has asked to stop: no more candidates are made then.
    stopped: bool = False
    _parts: dict[int | None, tuple[Any, AnyArray, FloatArray]] = field(default_factory=dict)
    _begins: dict[int | None, FloatArray] = field(default_factory=dict)
    _solved: dict[tuple[int, int | None], FloatArray] = field(default_factory=dict)
    _tried: set[int] = field(default_factory=set)

    @property
    def made(self) -> list[int]:
        """Places of the candidates that are made, in order."""
        return sorted(self.curves)

    def plan(self, recipes: Sequence[Recipe]) -> list[int]:
        """Take in more candidates, to be made when asked for, and return their places.

        Starts count from the first candidate there is.
        """
        first = len(self.recipes)
        self.recipes += recipes
        return list(range(first, len(self.recipes)))

    def extend(self, recipes: Sequence[Recipe]) -> None:
        """Take in more candidates and make them."""
        for place in self.plan(recipes):
            self.make(place)

    def make(self, place: int) -> bool:
        """Fit a candidate without each fold, unless it is too late; say whether it is made."""
        if place not in self.curves:
            if self.stopped:
                return False
            scores = settled(self._held_out(place, self.folds))
            self.scores[place] = scores
            self.curves[place] = curves_of(self.positive, scores, self.weight, self.fold)
            self._tell(place)
        return True

    def trial(self, place: int, folds: Sequence[int]) -> Curves | None:
        """Fit a candidate without each of some folds, and judge it on these; None if too late."""
        if self.stopped and (place, folds[-1]) not in self._solved:
            return None
        scores = self._held_out(place, folds)
        fold = np.zeros(len(scores), np.intp) if self.fold is None else self.fold
        own = np.flatnonzero(np.isin(fold, folds))
        factor = float(self.weight.sum() / self.weight[own].sum())  # they stand for all rows
        weight = factor * self.weight[own]
        found = curves_of(self.positive[own], scores[own], weight, fold[own])
        self._tell(place)
        return found

    @property
    def folds(self) -> list[int | None]:
        """What candidates leave out, one after the other; nothing, if there are no folds."""
        return [None] if self.fold is None else [int(number) for number in np.unique(self.fold)]

    def solved(self, place: int, left_out: int | None = None) -> FloatArray:
        """Return the line of a candidate as it was solved, of all rows or without a fold."""
        if (place, left_out) not in self._solved:
            start = self.start_of(place, left_out)
            objective = self.recipes[place].objective(*self.without(left_out))
            with catch_warnings():  # the last fit of the one chosen will say so
                simplefilter("ignore", ConvergenceWarning)
                found = self.solve(objective, start, None, _ITERATIONS)
            self._solved[place, left_out] = found.coef
        return self._solved[place, left_out]

    def start_of(self, place: int, left_out: int | None = None) -> FloatArray:
        """Return where the fit of a candidate begins: zero, or the line of another."""
        begin = self.recipes[place].start
        if begin is not None:
            return self.solved(begin, left_out)
        if left_out not in self._begins:
            zero = np.zeros(self.X.shape[1] + 1)
            own = zero if self.start is None else self.start(*self.without(left_out))
            self._begins[left_out] = own
        return self._begins[left_out]

    def solve(
        self,
        objective: DataObjective,
        start: FloatArray,
        callback: Callback | None,
        most: int | None = None,
    ) -> Solution:
        """Minimise; L-BFGS, where no solver is given, for so many iterations at most.

        A candidate need not be solved to the last digit: rows decide whether it is any good.
        """
        if self.solver is not None:
            return self.solver(objective, start, callback)
        stop = at_most(most or _ITERATIONS, callback)
        return lbfgs(objective, start, ftol=self.fall, callback=stop)

    def best(self, metric: Metric) -> Chosen:
        """Return the candidate of best metric on held-out rows; of equals the first.

        For a ranking the sweep goes on with pairwise losses, convex and then tight; recipes that
        come with a solver of their own do not.
        """
        found = self._best(metric)
        swept = self.solver is None and not metric.uses_threshold
        if swept and not any(isinstance(r.loss, PairwiseHinge) for r in self.recipes):
            ridges = sorted({recipe.ridge for recipe in self.recipes}, reverse=True)
            places = {ridge: len(self.recipes) + k for k, ridge in enumerate(ridges)}
            self.extend([*pairs(ridges, found.place), *tight_pairs(places)])
            found = self._best(metric)
        return found

    def line(self, place: int, left_out: int | None = None) -> FloatArray:
        """Return the line of a candidate, of scores that can be compared."""
        line, rows = self.solved(place, left_out), self.without(left_out)
        return comparable(line, *rows, keep_intercept=self.keep_intercept)

    def without(self, fold: int | None) -> tuple[Any, AnyArray, FloatArray]:
        """Return the rows of the other folds."""
        if fold is None:
            return self.X, self.positive, self.weight
        if fold not in self._parts:
            kept = np.flatnonzero(self.fold != fold)
            self._parts[fold] = self.X[kept], self.positive[kept], self.weight[kept]
        return self._parts[fold]

    def _best(self, metric: Metric) -> Chosen:
        found = judge(metric, [self.curves[place] for place in self.made])
        return found._replace(place=self.made[found.place])

    def _held_out(self, place: int, folds: Sequence[int | None]) -> FloatArray:
        """Return the scores of rows by lines that have not seen them; zero in other folds."""
        scores = np.zeros(len(self.positive))
        for number in folds:
            own = slice(None) if number is None else np.flatnonzero(self.fold == number)
            scores[own] = scores_of(self.X[own], self.line(place, number)[None])[:, 0]
        return scores

    def _tell(self, place: int) -> None:
        """Say how many candidates are made or tried, and hear whether to stop.

        One that is tried and then made counts once, but either takes time: it is said twice.
        """
        self._tried.add(place)
        done, known = len(self._tried), len(self.recipes)
        if self.progress is not None and self.progress(done, known):
            self.stopped = True  # for good


def comparable(
    line: FloatArray,
    X: Any,
    positive: AnyArray,
    weight: FloatArray,
    *,
    keep_intercept: bool = False,
) -> FloatArray:
    """Return the line, shifted and scaled so that scores of both classes are about zero and one.

    With ``keep_intercept`` it is scaled only, so that it predicts what it did.
    """
    numbers = ScoreMoments.of_scores(positive, scores_of(X, line[None])[:, 0], weight)
    moved = line.copy()
    if not keep_intercept:
        moved[-1] -= (numbers.mean_pos + numbers.mean_neg) / 2.0
    gap = abs(numbers.mean_pos - numbers.mean_neg)
    moved /= float(np.sqrt((numbers.var_pos + numbers.var_neg) / 2.0)) or gap or 1.0
    return moved


def at_most(iterations: int, callback: Callback | None = None) -> Callback:
    """Return a callback that stops a solver, without a warning, after so many iterations."""
    left = iterations

    def count(coef: FloatArray, value: float) -> bool:
        nonlocal left
        left -= 1
        asked = callback is not None and bool(callback(coef, value))
        return asked or left <= 0

    return count
