"""The frontier of the rows: one cost sweep of a robust loss, for every metric with a threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from directrix.frontier.choose import curves_of, held_out_scores, judge, scores_of, settled
from directrix.losses import BetaBernoulli, Logistic, PairwiseHinge, Ramp
from directrix.moments.projection import ScoreMoments
from directrix.objectives import DataObjective
from directrix.solve import lbfgs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier.choose import Chosen, Curves
    from directrix.losses import Loss
    from directrix.metrics import Metric
    from directrix.solve.solution import Callback, Solution

    Solver = Callable[[DataObjective, FloatArray, Callback | None], Solution]

#: Ridges of the mean loss of standardised features, the strongest first: of equals it is chosen.
RIDGES = (1e-1, 1e-2, 1e-3, 1e-5)
#: What a false positive costs, where 1 makes the classes equal.
RATIOS = (1.0, 0.1, 10.0, 50.0)
#: Sharpness of the loss with plateaus.
GAMMAS = (1.0, 4.0)
#: Labels that the loss takes to be noise: half of it is the height of its plateau.
_MIXING = 0.2
#: The plateau forgets rows far away; with a strong ridge, all are near.
_STRONGEST_WITH_PLATEAU = 5e-3
_ITERATIONS = 100


class Recipe(NamedTuple):
    """How a candidate line is made.

    Parameters
    ----------
    loss : Loss
    ridge : float
    ratio : float, optional
        What a false positive costs, where 1 makes the classes equal; None leaves the weights.
    start : int, optional
        The candidate whose line it starts from.
    """

    loss: Loss
    ridge: float
    ratio: float | None = None
    start: int | None = None

    def objective(self, X: Any, positive: AnyArray, weight: FloatArray) -> DataObjective:
        """Return what the line of these rows minimises."""
        if self.ratio is not None:
            weight = balanced(positive, weight, self.ratio)
        return DataObjective(X, positive, weight, self.loss, self.ridge)


def cost_sweep(
    ridges: Sequence[float] = RIDGES,
    ratios: Sequence[float] = RATIOS,
    gammas: Sequence[float] = GAMMAS,
) -> tuple[Recipe, ...]:
    r"""Return the recipes of a sweep: weighted logistic fits, each sharpened to a plateau.

    The optimum of any metric of the two rates is Pareto-optimal among lines, and those on the
    convex hull of the attainable rates minimise :math:`FN + \rho\, FP` for some ρ. Per ridge and
    ρ: the logistic loss, then from there the Beta-Bernoulli loss, sharpness by sharpness; its
    plateau lets go of rows far from the boundary, and fits the line where it cuts.
    """
    recipes: list[Recipe] = []
    for ridge in ridges:
        for ratio in ratios:
            recipes.append(Recipe(Logistic(), ridge, ratio, _neighbour(recipes, ridge)))
            if ridge > _STRONGEST_WITH_PLATEAU:
                continue
            for gamma in gammas:
                loss = BetaBernoulli(mixing=_MIXING, gamma=gamma)
                recipes.append(Recipe(loss, ridge, ratio, len(recipes) - 1))
    return tuple(recipes)


def pairs(ridges: Iterable[float], start: int) -> list[Recipe]:
    """Return convex pairwise losses, for rankings, from one candidate."""
    return [Recipe(PairwiseHinge(), ridge, None, start) for ridge in ridges]


def tight_pairs(convex: Mapping[float, int]) -> list[Recipe]:
    """Return tight pairwise losses, each from the convex one of its ridge, given by its place."""
    return [Recipe(Ramp(PairwiseHinge()), ridge, None, place) for ridge, place in convex.items()]


def _neighbour(recipes: list[Recipe], ridge: float) -> int | None:
    """Return the last logistic fit of this ridge, or the last there is: the nearest start."""
    logistic = [place for place, recipe in enumerate(recipes) if recipe.loss == Logistic()]
    same = [place for place in logistic if recipes[place].ridge == ridge]
    near = same or logistic
    return near[-1] if near else None


def path(loss: Loss, ridges: Sequence[float], levels: Sequence[float]) -> tuple[Recipe, ...]:
    """Return the recipes of one loss, sharpened level by level, for each ridge."""
    recipes: list[Recipe] = []
    for ridge in ridges:
        for number, level in enumerate(levels):
            start = len(recipes) - 1 if number else None
            recipes.append(Recipe(loss.sharpen(level), ridge, None, start))
    return tuple(recipes)


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
        Is called after each fit with how many are done and how many are known of.
    """

    X: Any
    positive: AnyArray
    weight: FloatArray
    fold: IntArray | None
    start: Callable[[Any, AnyArray, FloatArray], FloatArray] | None = None
    solver: Solver | None = None
    progress: Callable[[int, int], bool | None] | None = None
    recipes: list[Recipe] = field(default_factory=list)
    #: Where descents begin: of all rows and, by fold, of the others.
    begins: list[FloatArray] = field(default_factory=list)
    #: Of each candidate the line as it was solved, and by fold that of the other folds.
    solved: list[list[FloatArray]] = field(default_factory=list)
    #: Held-out scores of each candidate.
    scores: list[FloatArray] = field(default_factory=list)
    curves: list[Curves] = field(default_factory=list)
    #: Whether ``progress`` has asked to stop: no more candidates are made then.
    stopped: bool = False

    def extend(self, recipes: Sequence[Recipe]) -> None:
        """Make more candidates; their starts count from the first there is."""
        known = len(self.recipes) + len(recipes)
        whole = self.X, self.positive, self.weight
        others = [] if self.fold is None else [self.without(k) for k in np.unique(self.fold)]
        parts = [whole, *others]
        if not self.begins:
            zero = np.zeros(self.X.shape[1] + 1)
            self.begins = [zero if self.start is None else self.start(*part) for part in parts]
        for recipe in recipes:
            if self.stopped:
                break
            place = len(self.recipes)
            self.recipes.append(recipe)
            starts = self.begins if recipe.start is None else self.solved[recipe.start]
            with catch_warnings():  # the last fit of the one chosen will say so
                simplefilter("ignore", ConvergenceWarning)
                self.solved.append(
                    [
                        self.solve(recipe.objective(*part), start, None, _ITERATIONS).coef
                        for part, start in zip(parts, starts, strict=True)
                    ]
                )
            self.scores.append(settled(self._held_out(place, parts)))
            self.curves.append(curves_of(self.positive, self.scores[place], self.weight, self.fold))
            self.stopped = self.progress is not None and bool(self.progress(place + 1, known))

    def start_of(self, place: int) -> FloatArray:
        """Return where the fit of a candidate to all rows begins."""
        begin = self.recipes[place].start
        return (self.begins if begin is None else self.solved[begin])[0]

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
        return lbfgs(objective, start, callback=at_most(most or _ITERATIONS, callback))

    def best(self, metric: Metric) -> Chosen:
        """Return the candidate of best metric on held-out rows; of equals the first.

        For a ranking the sweep goes on with pairwise losses, convex and then tight; recipes that
        come with a solver of their own do not.
        """
        found = judge(metric, self.curves)
        swept = self.solver is None and not metric.cuts
        if swept and not any(isinstance(r.loss, PairwiseHinge) for r in self.recipes):
            ridges = sorted({recipe.ridge for recipe in self.recipes}, reverse=True)
            places = {ridge: len(self.recipes) + k for k, ridge in enumerate(ridges)}
            self.extend([*pairs(ridges, found.place), *tight_pairs(places)])
            found = judge(metric, self.curves)
        return found

    def line(self, place: int) -> FloatArray:
        """Return the line of a candidate, made of all rows."""
        return comparable(self.solved[place][0], self.X, self.positive, self.weight)

    def without(self, fold: int) -> tuple[Any, AnyArray, FloatArray]:
        """Return the rows of the other folds."""
        kept = np.flatnonzero(self.fold != fold)
        return self.X[kept], self.positive[kept], self.weight[kept]

    def _held_out(self, place: int, parts: list[tuple[Any, AnyArray, FloatArray]]) -> FloatArray:
        """Return the scores of rows by lines that have not seen them."""
        solved = zip(self.solved[place], parts, strict=True)
        lines = [comparable(line, *part) for line, part in solved]
        if self.fold is None:
            return scores_of(self.X, lines[0][None])[:, 0]
        held_out: FloatArray = held_out_scores(
            self.X, self.fold, [line[None] for line in lines[1:]]
        )[:, 0]
        return held_out


def balanced(positive: AnyArray, weight: FloatArray, ratio: float) -> FloatArray:
    """Return weights of which the negatives have the ratio to the positives."""
    n_pos = float(weight @ positive)
    factor = ratio * n_pos / (float(weight.sum()) - n_pos)
    return np.where(positive, weight, factor * weight)


def comparable(line: FloatArray, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
    """Return the line, shifted and scaled so that scores of both classes are about zero and one."""
    numbers = ScoreMoments.of_scores(positive, scores_of(X, line[None])[:, 0], weight)
    moved = line.copy()
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
