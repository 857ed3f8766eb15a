"""Lines of both frontiers together, all compared on the same held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.frontier.candidates import Candidates
from directrix.frontier.choose import compared, curves_of, held_out_scores, scores_of, settled
from directrix.frontier.of_rows import RIDGES, Recipe, RowFrontier, cost_sweep, pairs, tight_pairs
from directrix.losses import BetaBernoulli, Logistic, PairwiseHinge
from directrix.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier.choose import Compared, Curves
    from directrix.metrics import Metric

#: Shrinkages of the moments' frontier: that of the data, none, and two that are strong.
SHRINKAGES: tuple[str | float, ...] = ("oas", 0.0, 0.1, 0.5)
#: With more features a frontier for each shrinkage and fold costs more than the rows'.
MOST_FEATURES = 300
#: The robust fit, with the classes as they are, as logistic regression has them.
_ROBUST = BetaBernoulli(mixing=0.3)
_ROBUST_RIDGES = (1e-2, 1e-3)
#: Steps of a finer sweep, from a candidate to its neighbours.
_RIDGE_STEP, _RATIO_STEP, _GAMMA_STEP = 10**0.5, 10**0.5, 2.0
_REGIONS, _ROUNDS = 2, 2
#: How much less of the loss there is, at least, where a finer sweep goes on: a share of its error.
_WORTHWHILE = 0.1


class Origin(NamedTuple):
    """Where a line comes from.

    Parameters
    ----------
    family : "moments" or "rows"
    place : int
        Among the lines of its family.
    name : str
        In words.
    roughness : float
        Of two that are as good, the less rough is taken: logistic regression is 0.
    """

    family: str
    place: int
    name: str
    roughness: float


@dataclass
class Pool:
    """Candidates for one metric. Logistic regression, shrunk LDA and a robust fit are among them.

    Pools of several metrics may share the lines of the rows: what one has made, another need not.

    Parameters
    ----------
    rows : RowFrontier
        Of standardised rows.
    metric : Metric
    with_moments : bool
        Whether lines of the moments of these rows are among them.
    """

    rows: RowFrontier
    metric: Metric
    with_moments: bool = True
    origins: list[Origin] = field(default_factory=list)
    curves: list[Curves] = field(default_factory=list)
    #: Held-out scores of each candidate.
    scores: list[FloatArray] = field(default_factory=list)
    candidates: Candidates | None = None

    def fill(self) -> Compared:
        """Make a coarse sweep of both frontiers, then a finer one where it was best."""
        self._take(coarse())
        if self.with_moments:
            self._take_moments()
        found = compared(self.metric, self.curves)
        if not self.metric.cuts:
            self._take_pairs(self._best_of_rows(found)[0])
            found = compared(self.metric, self.curves)
        for _ in range(_ROUNDS):
            if self.rows.stopped:
                break
            before = found
            self._take(self._neighbours(found))
            found = compared(self.metric, self.curves)
            error = float(found.errors(found.best)[before.best])
            if before.losses.min() - found.losses.min() <= _WORTHWHILE * error:
                break
        return found

    def _take(self, recipes: Sequence[Recipe]) -> None:
        """Count in lines of the rows, making those that are new; none of these once time is up."""
        known = {recipe._replace(start=None): k for k, recipe in enumerate(self.rows.recipes)}
        self.rows.extend([own for own in recipes if own._replace(start=None) not in known])
        known = {recipe._replace(start=None): k for k, recipe in enumerate(self.rows.recipes)}
        noted = {origin.place for origin in self.origins if origin.family == "rows"}
        for recipe in recipes:
            place = known.get(recipe._replace(start=None))
            if place is None or place in noted:
                continue
            self.origins.append(Origin("rows", place, _name(recipe), _roughness(recipe)))
            self.curves.append(self.rows.curves[place])
            self.scores.append(self.rows.scores[place])

    def _take_pairs(self, start: int) -> None:
        """Go on with pairwise losses from one line of the rows, convex and then tight.

        Another metric may have made some of them before, with ridges of its own besides.
        """
        convex = pairs(RIDGES, start)
        self._take(convex)
        known = {recipe._replace(start=None): k for k, recipe in enumerate(self.rows.recipes)}
        places = {own.ridge: known.get(own._replace(start=None)) for own in convex}
        self._take(tight_pairs({r: place for r, place in places.items() if place is not None}))

    def _take_moments(self) -> None:
        """Make lines of the moments of the same rows and folds."""
        X, positive, weight, fold = (
            self.rows.X,
            self.rows.positive,
            self.rows.weight,
            self.rows.fold,
        )
        if X.shape[1] > MOST_FEATURES or self.rows.stopped:
            return
        found = candidates_of(X, positive, weight, fold, self.metric)
        self.candidates, lines, without = found, found.lines, found.without
        per_frontier = len(lines) // len(SHRINKAGES)
        if fold is None or not without:
            scores = scores_of(X, lines)
        else:
            scores = held_out_scores(X, fold, without)
        for place in range(len(lines)):
            own = settled(scores[:, place])
            shrinkage = found.frontier(place).shrinkage
            name = f"moments, shrinkage {_short(shrinkage)}, line {place % per_frontier + 1}"
            self.origins.append(Origin("moments", place, name, 1.0))
            self.scores.append(own)
            self.curves.append(curves_of(positive, own, weight, fold))

    def _best_of_rows(self, found: Compared) -> list[int]:
        """Return the places of the lines of the rows, best first."""
        of_rows = [k for k, origin in enumerate(self.origins) if origin.family == "rows"]
        return [self.origins[k].place for k in sorted(of_rows, key=lambda k: found.losses[k])]

    def _neighbours(self, found: Compared) -> list[Recipe]:
        """Return recipes next to those of the best two lines of the rows."""
        best = self._best_of_rows(found)[:_REGIONS]
        near = {
            other._replace(start=None): other
            for place in best
            for other in _next_to(self.rows.recipes[place], place)
        }
        return list(near.values())


def coarse() -> list[Recipe]:
    """Return logistic regression, a robust fit and a cost sweep: where every metric begins."""
    recipes = [
        Recipe(Logistic(), ridge, None, place - 1 if place else None)
        for place, ridge in enumerate(RIDGES)
    ]
    recipes += [Recipe(_ROBUST, ridge, None, RIDGES.index(ridge)) for ridge in _ROBUST_RIDGES]
    first = len(recipes)
    for recipe in cost_sweep():
        start = 0 if recipe.start is None else recipe.start + first
        recipes.append(recipe._replace(start=start))
    return recipes


def candidates_of(
    X: Any, positive: AnyArray, weight: FloatArray, fold: IntArray | None, metric: Metric
) -> Candidates:
    """Return the lines of the moments of some rows, of several shrinkages."""
    moments = Moments.of(X, positive, weight, classes=[False, True], fold=fold)
    return Candidates.of(moments, metric.risk(moments.weight), SHRINKAGES)


def _next_to(recipe: Recipe, place: int) -> list[Recipe]:
    """Return recipes a step away in ridge, cost and sharpness; each starts from this one's line."""
    others = [recipe._replace(ridge=recipe.ridge * step) for step in (_RIDGE_STEP, 1 / _RIDGE_STEP)]
    if recipe.ratio is not None:
        others += [
            recipe._replace(ratio=recipe.ratio * step) for step in (_RATIO_STEP, 1 / _RATIO_STEP)
        ]
    if isinstance(recipe.loss, BetaBernoulli):
        others += [
            recipe._replace(loss=recipe.loss.sharpen(step))
            for step in (_GAMMA_STEP, 1 / _GAMMA_STEP)
        ]
    return [other._replace(start=place) for other in others]


def _name(recipe: Recipe) -> str:
    words = {"logistic": "logistic regression" if recipe.ratio is None else "logistic"}
    loss = words.get(recipe.loss.name, recipe.loss.name.replace("_", " "))
    cost = "" if recipe.ratio is None else f", cost {recipe.ratio:.2g}"
    sharp = f", sharpness {recipe.loss.gamma:.2g}" if isinstance(recipe.loss, BetaBernoulli) else ""
    return f"{loss}{cost}{sharp}, ridge {recipe.ridge:.2g}"


def _roughness(recipe: Recipe) -> float:
    if isinstance(recipe.loss, Logistic):
        return 0.0 if recipe.ratio is None else 2.0
    if isinstance(recipe.loss, PairwiseHinge):
        return 2.0
    if isinstance(recipe.loss, BetaBernoulli):
        return 3.0 + float(np.log2(recipe.loss.gamma)) / 10.0
    return 4.0


def _short(shrinkage: str | float) -> str:
    return shrinkage if isinstance(shrinkage, str) else f"{shrinkage:.2g}"
