"""How cards are trained: by logistic regression on rows, or in closed form from counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from directrix._typing import FloatArray
from directrix.fitting.training_rows import Rows
from directrix.frontier.compare import design_without
from directrix.frontier.pencil import RidgeMoments
from directrix.frontier.row_frontier import RowFrontier
from directrix.linear.margin import Logistic
from directrix.linear.recipes import Recipe

#: Coefficients, intercept last, by ridge and fold that was left out.
Solved = dict[tuple[float, int | None], FloatArray]

#: Directions of a column at least: a jump and a bend.
_LEAST_RANK = 2
#: Ridge of the regression from scores to log-odds, for scores that separate the classes.
_SLIGHT = 1e-4


class Trainer(ABC):
    """Trains cards of several ridges, without each of some folds."""

    #: Directions of the coding of a column.
    rank: ClassVar[int]
    #: Ridges of additive cards, strongest first.
    ridges: ClassVar[tuple[float, ...]]
    #: Crosses at most.
    most_crosses: ClassVar[int]
    #: Features of ordered columns at most: of many columns each has fewer directions.
    most_features: ClassVar[int]

    @classmethod
    def rank_of(cls, n_columns: int) -> int:
        """Return the number of directions that each column has in a table of so many columns."""
        return min(cls.rank, max(_LEAST_RANK, cls.most_features // max(n_columns, 1)))

    @abstractmethod
    def solve(
        self,
        X: Any,
        ridges: Sequence[float],
        folds: Sequence[int | None],
        starts: Mapping[int | None, FloatArray] | None = None,
    ) -> Solved:
        """Return the coefficients of cards.

        ``folds`` are the folds that are left out; None for none. ``starts`` are where descents
        begin.
        """

    @abstractmethod
    def probability(self, scores: FloatArray, fold: int | None) -> FloatArray:
        """Return the probability of the positive class, from the scores of all rows."""


@dataclass
class RowTrainer(Trainer):
    """Logistic cards from rows; see `Trainer`.

    ``ftol`` is the relative decrease that ends a descent.
    """

    rows: Rows
    ftol: float
    n_jobs: int | None = None

    rank = 24
    ridges: ClassVar[tuple[float, ...]] = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)
    most_crosses = 100
    most_features = 8_000

    def solve(
        self,
        X: Any,
        ridges: Sequence[float],
        folds: Sequence[int | None],
        starts: Mapping[int | None, FloatArray] | None = None,
    ) -> Solved:
        """Return the coefficients of cards."""
        rows = self.rows
        frontier = RowFrontier(
            X,
            rows.positive,
            rows.weight,
            rows.fold,
            ftol=self.ftol,
            n_jobs=self.n_jobs,
            starts=dict(starts or {}),
        )
        recipes = [Recipe(Logistic(), ridge) for ridge in ridges]
        frontier.solve_many(recipes, folds)
        return {
            (recipe.ridge, fold): frontier.solutions[recipe.key, fold]
            for recipe in recipes
            for fold in folds
        }

    def probability(self, scores: FloatArray, fold: int | None) -> FloatArray:  # noqa: ARG002
        """Return the probability of the positive class: scores are log-odds."""
        chance: FloatArray = expit(scores)
        return chance


@dataclass
class CountTrainer(Trainer):
    """Cards in closed form from class moments of bins; see `Trainer`."""

    rows: Rows

    rank = 12
    ridges: ClassVar[tuple[float, ...]] = (3.0, 1.0, 0.3, 0.1, 3e-2, 1e-2, 3e-3, 1e-3)
    most_crosses = 20
    most_features = 1_500

    def solve(
        self,
        X: Any,
        ridges: Sequence[float],
        folds: Sequence[int | None],
        starts: Mapping[int | None, FloatArray] | None = None,  # noqa: ARG002 - nothing to descend
    ) -> Solved:
        """Return the coefficients of cards."""
        solved: Solved = {}
        for fold in folds:
            moments = RidgeMoments.of(
                design_without(X, fold), self.rows.positive, self._weight(fold)
            )
            lines = moments.lines([(ridge, moments.equal_angle) for ridge in ridges])
            solved |= {(ridge, fold): line for ridge, line in zip(ridges, lines, strict=True)}
        return solved

    def probability(self, scores: FloatArray, fold: int | None) -> FloatArray:
        """Return the probability of the positive class, by a logistic regression on the scores."""
        weight, positive = self._weight(fold), self.rows.positive
        weight = weight / weight.mean()
        spread = float(scores.std()) or 1.0
        design = (scores - scores.mean())[:, None] / spread
        model = LogisticRegression(C=1.0 / (_SLIGHT * len(scores)))
        probability: FloatArray = model.fit(design, positive, weight).predict_proba(design)[:, 1]
        return probability

    def _weight(self, fold: int | None) -> FloatArray:
        if fold is None:
            return self.rows.weight
        return np.where(self.rows.fold == fold, 0.0, self.rows.weight)
