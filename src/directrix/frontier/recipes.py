"""How lines of the rows are made: one cost sweep of a robust loss, and pairwise losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.losses import BetaBernoulli, Logistic, PairwiseHinge, Ramp
from directrix.objectives import DataObjective

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from directrix._typing import AnyArray, FloatArray
    from directrix.losses import Loss

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


def balanced(positive: AnyArray, weight: FloatArray, ratio: float) -> FloatArray:
    """Return weights of which the negatives have the ratio to the positives."""
    n_pos = float(weight @ positive)
    factor = ratio * n_pos / (float(weight.sum()) - n_pos)
    return np.where(positive, weight, factor * weight)
