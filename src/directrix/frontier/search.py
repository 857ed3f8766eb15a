"""Lines of both frontiers together, all compared on the same held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.frontier.candidates import Candidates
from directrix.frontier.compare import compared, curves_of
from directrix.frontier.recipes import RIDGES, Recipe, cost_sweep, pairs, tight_pairs
from directrix.losses import BetaBernoulli, Logistic, PairwiseHinge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier.compare import Compared, Curves
    from directrix.frontier.row_frontier import RowFrontier
    from directrix.metrics import Metric
    from directrix.moments import Moments

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
#: Rows of each class, in two folds, that are enough to tell which lines are worth all folds, and
#: how many of these there are, of the coarse sweep and of a finer one.
_ENOUGH = 100
_KEPT, _KEPT_NEAR = 8, 3
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


@dataclass(frozen=True)
class MomentLines:
    """Lines of the moments of some rows, held-out scores of these by them, and their curves.

    They serve every metric.
    """

    candidates: Candidates
    scores: FloatArray
    curves: list[Curves]

    @classmethod
    def of(
        cls, moments: Moments, X: Any, positive: AnyArray, weight: FloatArray, fold: IntArray | None
    ) -> MomentLines:
        """Make lines of several shrinkages; the folds of rows and moments are the same."""
        candidates = Candidates.of(moments, None, SHRINKAGES)
        scores = candidates.held_out(X, fold)
        curves = [curves_of(positive, column, weight, fold) for column in scores.T]
        return cls(candidates, scores, curves)


@dataclass
class Pool:
    """Candidates for one metric. Logistic regression, shrunk LDA and a robust fit are among them.

    Pools of several metrics may share the lines of the rows: what one has made, another need not.

    Parameters
    ----------
    rows : RowFrontier
        Of standardised rows.
    metric : Metric
    moments : callable, optional
        Returns lines of the moments of these rows, unless there is no time left to ask.
    """

    rows: RowFrontier
    metric: Metric
    moments: Callable[[], MomentLines] | None = None
    origins: list[Origin] = field(default_factory=list)
    curves: list[Curves] = field(default_factory=list)
    #: Held-out scores of each candidate.
    scores: list[FloatArray] = field(default_factory=list)

    def fill(self) -> Compared:
        """Make a coarse sweep of both frontiers, then a finer one where it was best."""
        first, sweep = self._planned(logistic()), self._planned(coarse()[len(RIDGES) :])
        self._take(first)
        self._take(self._promising(sweep, _KEPT))
        if self.moments is not None and not self.rows.stopped:
            self._take_moments(self.moments())
        found = compared(self.metric, self.curves)
        if not self.metric.uses_threshold:
            self._take_pairs(self._best_of_rows(found)[0])
            found = compared(self.metric, self.curves)
        for _ in range(_ROUNDS):
            if self.rows.stopped:
                break
            before = found
            self._take(self._promising(self._planned(self._neighbours(found)), _KEPT_NEAR))
            found = compared(self.metric, self.curves)
            error = float(found.errors(found.best)[before.best])
            if before.losses.min() - found.losses.min() <= _WORTHWHILE * error:
                break
        return found

    def _planned(self, recipes: Sequence[Recipe]) -> list[int]:
        """Return the places of recipes, taking in those that are new."""
        known = {recipe._replace(start=None): k for k, recipe in enumerate(self.rows.recipes)}
        self.rows.plan([own for own in recipes if own._replace(start=None) not in known])
        known = {recipe._replace(start=None): k for k, recipe in enumerate(self.rows.recipes)}
        return [known[recipe._replace(start=None)] for recipe in recipes]

    def _promising(self, places: Sequence[int], most: int) -> list[int]:
        """Return the lines that are best on two folds, with those that they start from.

        The rows of two folds tell the good from the bad; only the good need to be told apart. Where
        rows are few, they do not, and all are returned.
        """
        trial = self._trial_folds()
        if not trial:
            return list(places)
        tried = {place: self.rows.trial(place, trial) for place in places}
        known = {place: own for place, own in tried.items() if own is not None}
        if not known:
            return []
        losses = compared(self.metric, list(known.values())).losses
        best = [list(known)[k] for k in np.argsort(losses, kind="stable")[:most]]
        return [each for place in best for each in reversed(self._ancestors(place))]

    def _trial_folds(self) -> list[int]:
        """Return two folds, if they have enough rows of both classes to be a trial."""
        fold, positive = self.rows.fold, self.rows.positive
        if fold is None:
            return []
        trial = [number for number in self.rows.folds if number is not None][:2]
        own = positive[np.isin(fold, trial)]
        return trial if min(own.sum(), len(own) - own.sum()) >= _ENOUGH else []

    def _ancestors(self, place: int) -> list[int]:
        """Return a line, and those that it starts from, one after the other."""
        found: list[int] = []
        at: int | None = place
        while at is not None:
            found.append(at)
            at = self.rows.recipes[at].start
        return found

    def _take(self, places: Sequence[int]) -> None:
        """Count in lines of the rows; those not made yet are, but for time that is up."""
        noted = {origin.place for origin in self.origins if origin.family == "rows"}
        for place in dict.fromkeys(places):
            if place in noted or not self.rows.make(place):
                continue
            recipe = self.rows.recipes[place]
            self.origins.append(Origin("rows", place, _name(recipe), _roughness(recipe)))
            self.curves.append(self.rows.curves[place])
            self.scores.append(self.rows.scores[place])

    def _take_pairs(self, start: int) -> None:
        """Go on with pairwise losses from one line of the rows, convex and then tight.

        Another metric may have made some of them before, with ridges of its own besides.
        """
        convex = self._planned(pairs(RIDGES, start))
        ridges = {self.rows.recipes[place].ridge: place for place in convex}
        tight = self._planned(tight_pairs(ridges))
        self._take(self._promising([*convex, *tight], _KEPT_NEAR))

    def _take_moments(self, lines: MomentLines) -> None:
        """Count in lines of the moments."""
        for place, curves in enumerate(lines.curves):
            self.origins.append(Origin("moments", place, lines.candidates.name(place), 1.0))
            self.scores.append(lines.scores[:, place])
            self.curves.append(curves)

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


def logistic() -> list[Recipe]:
    """Return logistic regression, which every other line is compared with."""
    return [
        Recipe(Logistic(), ridge, None, place - 1 if place else None)
        for place, ridge in enumerate(RIDGES)
    ]


def coarse() -> list[Recipe]:
    """Return logistic regression, a robust fit and a cost sweep: where every metric begins.

    A sharp line starts from a smooth one of its cost, and that from logistic regression.
    """
    recipes = logistic()
    recipes += [Recipe(_ROBUST, ridge, None, RIDGES.index(ridge)) for ridge in _ROBUST_RIDGES]
    first = len(recipes)
    for recipe in cost_sweep():
        plain = isinstance(recipe.loss, Logistic) or recipe.start is None
        start = RIDGES.index(recipe.ridge) if plain else (recipe.start or 0) + first
        recipes.append(recipe._replace(start=start))
    return recipes


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
