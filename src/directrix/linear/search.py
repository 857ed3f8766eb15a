"""Search for the best candidate of both frontiers, all compared on the same held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from directrix._typing import FloatArray
from directrix.fit.compare import Candidate, Comparison, best_values, compare, compare_values
from directrix.fit.criterion import Criterion
from directrix.linear.recipes import (
    Key,
    Recipe,
    coarse_sweep,
    logistic_path,
    ranking_continuation,
)
from directrix.linear.row_frontier import RowCandidate, RowFrontier
from directrix.metrics.base import Metric

#: With more features, moment frontiers for each shrinkage and fold cost more than the rows'.
MOST_FEATURES = 300
#: L-BFGS stops when one iteration lowers the objective by less than this share: the rows do not
#: tell such lines apart.
FTOL = 1e-5
#: Candidates of the moments that are compared on every fold.
_SCREENED = 24
#: Candidates whose neighbours are tried, and how often.
_REGIONS, _ROUNDS = 2, 2
#: Rows of each class in two folds that suffice for a trial, and how many candidates of a trial are
#: then fitted on all folds: of the coarse sweep, and of a finer one.
_MIN_CLASS_ROWS = 100
_KEPT, _KEPT_NEAR = 8, 3
#: The finer sweep goes on while it lowers the loss by this share of the standard error.
_WORTHWHILE = 0.1


@dataclass
class Search:
    """What to try next, for one metric.

    Logistic regression, shrunk linear discriminants and a robust fit are always among the
    candidates. Searches for several metrics may share one row frontier: what one has fitted, the
    other need not. `moments` are the candidates of the moments of these rows.
    """

    rows: RowFrontier
    metric: Metric
    moments: Sequence[Candidate] = ()
    candidates: list[Candidate] = field(default_factory=list)
    #: Metric and criterion of each candidate, as `best_values` returns them.
    _values: list[FloatArray] = field(default_factory=list)
    #: The candidates of the row frontier, and their indices in `candidates`.
    _of_rows: dict[Key, tuple[int, RowCandidate]] = field(default_factory=dict)

    @cached_property
    def _criterion(self) -> Criterion:
        return Criterion.of_rows(self.metric, self.rows.positive, self.rows.weight)

    def run(self) -> Comparison:
        """Sweep both frontiers coarsely, then more finely around the best."""
        path = self.rows.plan(logistic_path())
        self._take(path[:1])  # alone: last digits of scores depend on the lines scored with them
        self._take(path)
        ranking = not self.metric.uses_threshold
        self._take(self._promising(coarse_sweep(ranking=ranking), _KEPT))
        self._take_screened(self.moments)
        if ranking:
            start = self._best_of_rows(self._compare())[0].recipe
            self._take(self._promising(ranking_continuation(start), _KEPT_NEAR))
        comparison = self._compare()
        for _ in range(_ROUNDS):
            before = comparison
            self._take(self._promising(self._neighbours(before), _KEPT_NEAR))
            comparison = self._compare()
            error = float(comparison.standard_errors(comparison.best)[before.best])
            if before.deciding.min() - comparison.deciding.min() <= _WORTHWHILE * error:
                break
        return comparison

    def _take(self, candidates: Sequence[RowCandidate]) -> None:
        self.rows.solve_together(candidates, self.rows.folds)
        for candidate in candidates:
            if candidate.recipe.key not in self._of_rows:
                candidate.fit()
                self._of_rows[candidate.recipe.key] = len(self.candidates), candidate
                self._add(candidate)

    def _take_screened(self, candidates: Sequence[Candidate]) -> None:
        """Add the candidates that are best on all held-out rows together, in their order.

        There are many lines of the moments, and neighbours on a frontier hardly differ: only the
        best are worth the curves of every fold.
        """
        curves = [candidate.curves.whole for candidate in candidates]
        losses = np.array([self._criterion.terms(curve)[0] for curve in curves])
        for index in np.sort(np.argsort(losses, kind="stable")[:_SCREENED]):
            self._add(candidates[index])

    def _add(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)
        curves = candidate.curves
        self._values.append(best_values(self._criterion, curves.whole, curves.folds))

    def _compare(self) -> Comparison:
        complexities = [candidate.complexity for candidate in self.candidates]
        return compare_values(self._criterion, self._values, complexities)

    def _promising(self, recipes: Sequence[Recipe], most: int) -> list[RowCandidate]:
        """Return the candidates that are best in a trial, with those that they start from.

        The rows of two folds tell the good from the bad; all folds are needed only to tell the
        good apart. If the rows of two folds are too few for that, all candidates are returned.
        """
        candidates, folds = self.rows.plan(recipes), self._trial_folds()
        if not folds or not candidates:
            return candidates
        self.rows.solve_together(candidates, folds)
        curves = [candidate.trial(folds) for candidate in candidates]
        complexities = [candidate.complexity for candidate in candidates]
        criterion = curves[0].criterion(self.metric)
        losses = compare(self.metric, curves, criterion, complexities).deciding
        best = [candidates[k] for k in np.argsort(losses, kind="stable")[:most]]
        return [before for candidate in best for before in candidate.chain]

    def _trial_folds(self) -> list[int]:
        """Return two folds, if they have enough rows of both classes to be a trial."""
        fold, positive = self.rows.fold, self.rows.positive
        if fold is None:
            return []
        folds = [number for number in self.rows.folds if number is not None][:2]
        tested = positive[np.isin(fold, folds)]
        return folds if min(tested.sum(), len(tested) - tested.sum()) >= _MIN_CLASS_ROWS else []

    def _best_of_rows(self, comparison: Comparison) -> list[RowCandidate]:
        ranked = sorted(self._of_rows.values(), key=lambda taken: comparison.deciding[taken[0]])
        return [candidate for _, candidate in ranked]

    def _neighbours(self, comparison: Comparison) -> list[Recipe]:
        best = self._best_of_rows(comparison)[:_REGIONS]
        near = {other.key: other for candidate in best for other in candidate.recipe.neighbours}
        return list(near.values())
