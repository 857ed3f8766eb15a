"""How the row frontier's lines are made: a cost sweep of a robust loss, and pairwise losses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.loss import Loss
from directrix.linear.margin import Logistic
from directrix.linear.objectives import DataObjective
from directrix.linear.pairwise import PairwiseHinge
from directrix.linear.ramp import Ramp

#: What makes recipes the same: loss, ridge and cost ratio.
Key = tuple[Loss, float, float | None]

#: Ridges of the mean loss of standardised features, strongest first: it wins a tie.
RIDGES = (1e-1, 1e-2, 1e-3, 1e-5)
#: Cost ratios: the cost of a false positive, where 1 gives both classes equal weight.
RATIOS = (1.0, 0.1, 10.0, 50.0)
#: Share of labels that the robust loss takes to be noise; half of it is the height of its plateau.
_MIXING = 0.2
#: The robust loss without costs, as logistic regression has none; its plateau is lower.
_ROBUST = BetaBernoulli(mixing=0.3)
#: The robust loss disregards rows far from the line; under a stronger ridge no row is far.
_STRONGEST_WITH_PLATEAU = 5e-3
#: Steps from a recipe to its neighbours.
_RIDGE_STEP, _RATIO_STEP = 10**0.5, 10**0.5
_GAMMA_STEPS = (4.0, 0.5)
#: A cost-weighted logistic regression is less simple than a plain one.
_COMPLEXITY_WITH_COSTS = 2.0


class Recipe(NamedTuple):
    """How a candidate line is made: a loss and a ridge.

    `ratio` is the cost of a false positive, where 1 gives both classes equal weight; None keeps the
    weights. The descent starts from the line of the recipe `start`.
    """

    loss: Loss
    ridge: float
    ratio: float | None = None
    start: Recipe | None = None

    @property
    def key(self) -> Key:
        """What makes recipes the same: all but where the descent starts."""
        return self.loss, self.ridge, self.ratio

    @property
    def name(self) -> str:
        """Name of the candidate in reports."""
        model, details = self.loss.model_label, []
        if self.ratio is not None:
            model, details = f"cost-weighted {model}", [f"false-positive cost {self.ratio:.2g}"]
        if self.loss.sharpness is not None:
            details.append(f"sharpness {self.loss.sharpness:.2g}")
        details.append(f"ridge {self.ridge:.2g}")
        return f"{model} ({', '.join(details)})"

    @property
    def complexity(self) -> float:
        """Order of preference among candidates of equal quality: logistic regression has 0."""
        if self.loss.complexity == 0.0 and self.ratio is not None:
            return _COMPLEXITY_WITH_COSTS
        return self.loss.complexity

    @property
    def neighbours(self) -> list[Recipe]:
        """Recipes one step away in ridge, cost ratio and sharpness, starting from this one."""
        others = [
            self._replace(ridge=_rounded(self.ridge * step))
            for step in (_RIDGE_STEP, 1.0 / _RIDGE_STEP)
        ]
        if self.ratio is not None:
            others += [
                self._replace(ratio=_rounded(self.ratio * step))
                for step in (_RATIO_STEP, 1.0 / _RATIO_STEP)
            ]
        # A pairwise loss is too costly to be fitted at several degrees of sharpness.
        if self.loss.sharpness is not None and self.loss.separable:
            others += [self._replace(loss=self.loss.sharpen(step)) for step in _GAMMA_STEPS]
        return [other._replace(start=self) for other in others]

    def objective(self, X: Any, positive: AnyArray, weight: FloatArray) -> DataObjective:
        """Return what the line of these rows minimises."""
        if self.ratio is not None:
            weight = balanced(positive, weight, self.ratio)
        return DataObjective(X, positive, weight, self.loss, self.ridge)


def logistic_path() -> list[Recipe]:
    """Return logistic regression with each ridge: the baseline of every comparison."""
    recipes: list[Recipe] = []
    for ridge in RIDGES:
        recipes.append(Recipe(Logistic(), ridge, None, recipes[-1] if recipes else None))
    return recipes


def coarse_sweep(*, ranking: bool = False) -> list[Recipe]:
    r"""Return the recipes every metric begins with, after logistic regression.

    A robust fit, and a sweep of costs: weighted logistic fits, each followed by a robust loss. Each
    starts from logistic regression with the same ridge. Sharper losses are neighbours of these:
    where a robust loss is any good, they are tried next. For a ranking no threshold trades one
    error for the other, so the sweep has equal costs only; other costs are neighbours.

    The optimum of any metric of the two rates is Pareto-optimal among lines, and those on the
    convex hull of the attainable rates minimise :math:`FN + \rho\, FP` for some ρ. For each ridge
    and ρ: the logistic loss, then from there the Beta-Bernoulli loss. Its plateau disregards rows
    far from the boundary, and so fits the line where it cuts.
    """
    path = logistic_path()
    recipes = [Recipe(_ROBUST, start.ridge, None, start) for start in path[1:-1]]
    for start in path:
        for ratio in RATIOS[:1] if ranking else RATIOS:
            plain = Recipe(Logistic(), start.ridge, ratio, start)
            recipes.append(plain)
            if start.ridge <= _STRONGEST_WITH_PLATEAU:
                robust = BetaBernoulli(mixing=_MIXING)
                recipes.append(Recipe(robust, start.ridge, ratio, plain))
    return recipes


def ranking_continuation(start: Recipe) -> list[Recipe]:
    """Return pairwise losses, for rankings: convex ones, then a tight one from each."""
    convex = [Recipe(PairwiseHinge(), ridge, None, start) for ridge in RIDGES]
    tight = [Recipe(Ramp(PairwiseHinge()), recipe.ridge, None, recipe) for recipe in convex]
    return [*convex, *tight]


def _rounded(number: float) -> float:
    """Return a number to twelve digits: a step there and back must end at the same recipe."""
    return float(f"{number:.12g}")


def balanced(positive: AnyArray, weight: FloatArray, ratio: float) -> FloatArray:
    """Return weights with which the negatives have `ratio` times the weight of the positives."""
    n_pos = float(weight @ positive)
    factor = ratio * n_pos / (float(weight.sum()) - n_pos)
    return np.where(positive, weight, factor * weight)
