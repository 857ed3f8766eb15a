"""Search for the best candidate of both frontiers, all compared on the same held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from directrix.frontier.compare import compare
from directrix.frontier.recipes import RIDGES, coarse_sweep, logistic_path, ranking_continuation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from directrix.frontier.candidates import Candidate
    from directrix.frontier.compare import Comparison
    from directrix.frontier.recipes import Key, Recipe
    from directrix.frontier.row_frontier import RowCandidate, RowFrontier
    from directrix.metrics import Metric

#: With more features, moment frontiers for each shrinkage and fold cost more than the rows'.
MOST_FEATURES = 300
#: Candidates of the moments that are compared on every fold.
_SCREENED = 24
#: Candidates whose neighbours are tried, and how often.
_REGIONS, _ROUNDS = 2, 2
#: Rows of each class in two folds that suffice for a trial, and how many candidates of a trial are
#: then fitted on all folds: of the coarse sweep, and of a finer one.
_ENOUGH = 100
_KEPT, _KEPT_NEAR = 8, 3
#: The finer sweep goes on while it lowers the loss by this share of the standard error.
_WORTHWHILE = 0.1


@dataclass
class Search:
    """What to try next, for one metric.

    Logistic regression, shrunk linear discriminants and a robust fit are always among the
    candidates. Searches for several metrics may share one row frontier: what one has fitted,
    the other need not.

    Parameters
    ----------
    rows : RowFrontier
        Of standardised rows.
    metric : Metric
    moments : callable, optional
        Returns the candidates of the moments of these rows; it is not called if time is up.
    """

    rows: RowFrontier
    metric: Metric
    moments: Callable[[], Sequence[Candidate]] | None = None
    candidates: list[Candidate] = field(default_factory=list)
    #: The candidates of the row frontier, and their indices in `candidates`.
    _of_rows: dict[Key, tuple[int, RowCandidate]] = field(default_factory=dict)

    def run(self) -> Comparison:
        """Sweep both frontiers coarsely, then more finely around the best."""
        first, sweep = self.rows.plan(logistic_path()), self.rows.plan(coarse_sweep())
        self._take(first)
        self._take(self._promising(sweep, _KEPT))
        if self.moments is not None and not self.rows.stopped:
            self.candidates += self._screened(self.moments())
        comparison = self._compare()
        if not self.metric.uses_threshold:
            start = self._best_of_rows(comparison)[0].recipe
            recipes = ranking_continuation(RIDGES, start)
            self._take(self._promising(self.rows.plan(recipes), _KEPT_NEAR))
            comparison = self._compare()
        for _ in range(_ROUNDS):
            if self.rows.stopped:
                break
            before = comparison
            near = self.rows.plan(self._neighbours(before))
            self._take(self._promising(near, _KEPT_NEAR))
            comparison = self._compare()
            error = float(comparison.standard_errors(comparison.best)[before.best])
            if before.losses.min() - comparison.losses.min() <= _WORTHWHILE * error:
                break
        return comparison

    def _screened(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that are best on all held-out rows together, in their order.

        There are many lines of the moments, and neighbours on a frontier hardly differ: only the
        best are worth the curves of every fold.
        """
        values = [self.metric.best_value(candidate.curves.whole) for candidate in candidates]
        losses = -np.array(values) if self.metric.greater_is_better else np.array(values)
        best = np.argsort(losses, kind="stable")[:_SCREENED]
        return [candidates[index] for index in np.sort(best)]

    def _compare(self) -> Comparison:
        return compare(self.metric, [candidate.curves for candidate in self.candidates])

    def _take(self, candidates: Iterable[RowCandidate]) -> None:
        """Fit candidates of the rows and add those that are not yet taken, until time is up."""
        candidates = list(candidates)
        self.rows.solve_together(candidates, self.rows.folds)
        for candidate in candidates:
            if candidate.recipe.key not in self._of_rows and candidate.fit():
                self._of_rows[candidate.recipe.key] = len(self.candidates), candidate
                self.candidates.append(candidate)

    def _promising(self, candidates: Sequence[RowCandidate], most: int) -> list[RowCandidate]:
        """Return the candidates that are best on two folds, with those that they start from.

        The rows of two folds tell the good from the bad; all folds are needed only to tell the
        good apart. If the rows of two folds are too few for that, all are returned.
        """
        folds = self._trial_folds()
        if not folds:
            return list(candidates)
        self.rows.solve_together(candidates, folds)
        trials = [(candidate, candidate.trial(folds)) for candidate in candidates]
        tried = {candidate: curves for candidate, curves in trials if curves is not None}
        if not tried:
            return []
        losses = compare(self.metric, list(tried.values())).losses
        best = [list(tried)[k] for k in np.argsort(losses, kind="stable")[:most]]
        return [before for candidate in best for before in candidate.chain]

    def _trial_folds(self) -> list[int]:
        """Return two folds, if they have enough rows of both classes to be a trial."""
        fold, positive = self.rows.fold, self.rows.positive
        if fold is None:
            return []
        folds = [number for number in self.rows.folds if number is not None][:2]
        tested = positive[np.isin(fold, folds)]
        return folds if min(tested.sum(), len(tested) - tested.sum()) >= _ENOUGH else []

    def _best_of_rows(self, comparison: Comparison) -> list[RowCandidate]:
        """Return the candidates of the row frontier, best first."""
        ranked = sorted(self._of_rows.values(), key=lambda taken: comparison.losses[taken[0]])
        return [candidate for _, candidate in ranked]

    def _neighbours(self, comparison: Comparison) -> list[Recipe]:
        """Return the recipes next to those of the best candidates of the row frontier."""
        best = self._best_of_rows(comparison)[:_REGIONS]
        near = {other.key: other for candidate in best for other in candidate.recipe.neighbours}
        return list(near.values())
