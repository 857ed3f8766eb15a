"""LineSearch: linear models of numbers, from class moments and from a cost sweep over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from directrix._typing import FloatArray, IntArray
from directrix.fit.choice import Chosen, choose, sizes_of
from directrix.fit.compare import MOST_ROWS, Candidate, scores_of
from directrix.fit.curves import Curves, round_scores
from directrix.fit.directions import DirectionPrices, Signs
from directrix.fit.evidence import RowEvidence
from directrix.fit.report import DirectionEffect
from directrix.fit.training_rows import Rows, Standardization
from directrix.linear.margin import Logistic
from directrix.linear.moment_frontier import moment_candidates, ridge_candidates
from directrix.linear.recipes import Recipe
from directrix.linear.row_frontier import ReportCandidates, RowFrontier
from directrix.linear.search import FTOL, MOST_FEATURES, Search
from directrix.metrics.base import Metric
from directrix.moments import Moments

#: Ridges of lines from class moments with signs, of standardised features.
_RIDGES = (1.0, 0.1, 0.01, 0.001)
#: Ridge of the logistic regressions that tell what signs cost.
_PLAIN_RIDGE = 0.01


@dataclass(frozen=True, eq=False)
class LineSearch:
    """Candidates of rows in memory, which several metrics share.

    Candidates are compared on the rows ``seen``, and the chosen one is fitted to all ``rows``; they
    are the same unless they are too many. Both are standardised.
    """

    units: Standardization
    rows: Rows
    seen: Rows
    frontier: RowFrontier
    moments: Sequence[Candidate]
    signs: Signs | None

    @classmethod
    def of(
        cls,
        rows: Rows,
        n_folds: int,
        signs: Signs | None,
        n_jobs: int | None,
        progress: ReportCandidates,
    ) -> LineSearch:
        """Standardise rows; coefficients keep ``signs``."""
        seen = rows.in_folds(n_folds, MOST_ROWS)
        same = len(seen.positive) == len(rows.positive)
        rows = seen if same else rows  # in the order of their keys, which sums depend on
        units = Standardization.of(rows.X, rows.weight)
        seen = seen._replace(X=units.rows(seen.X))
        rows = seen if same else rows._replace(X=units.rows(rows.X))
        kept = None if signs is None else signs.array
        frontier = RowFrontier(*seen[:5], progress=progress, ftol=FTOL, n_jobs=n_jobs, signs=kept)
        narrow = seen.X.shape[1] <= MOST_FEATURES
        moments = _moment_candidates(seen, kept) if narrow else ()
        return cls(units, rows, seen, frontier, moments, signs)

    def choose(self, metric: Metric) -> Chosen:
        """Choose a candidate by a metric on held-out rows."""
        search = Search(self.frontier, metric, self.moments)
        comparison, candidates = search.run(), search.candidates
        curves = [candidate.curves for candidate in candidates]
        return choose(metric, candidates, comparison, sizes_of(self.seen), curves)

    def refit(self, candidate: Candidate) -> tuple[FloatArray, RowEvidence]:
        """Fit a candidate to all rows; return its line, as rows were given, and its scores."""
        rows, seen = self.rows, self.seen
        line = candidate.refit(rows.X, rows.positive, rows.weight)
        lines = np.stack([line, *candidate.fold_lines])
        every = round_scores(scores_of(seen.X, lines))
        held_out = candidate.curves.scores if len(lines) > 1 else every[:, 0]
        return self.units.line_back(line), RowEvidence(seen, held_out, every)

    def directions(self, metric: Metric, line: FloatArray) -> tuple[DirectionEffect, ...]:
        """Return what each sign costs, by logistic regressions; nothing without held-out rows."""
        signs = self.signs
        if signs is None or self.frontier.fold is None:
            return ()
        prices = DirectionPrices(signs.requested, partial(_held_out, self.frontier, signs))
        return prices.of(metric, [name for name, k in signs.positions if line[k] == 0.0])


def _held_out(frontier: RowFrontier, signs: Signs, kept: Sequence[int]) -> Curves:
    rows = frontier.X, frontier.positive, frontier.weight, frontier.fold, frontier.group
    plain = RowFrontier(*rows, ftol=FTOL, signs=signs.only(kept))
    (candidate,) = plain.plan([Recipe(Logistic(), _PLAIN_RIDGE)])
    plain.solve_together([candidate], plain.folds)
    candidate.fit()
    return candidate.curves


def _moment_candidates(rows: Rows, signs: IntArray | None) -> Sequence[Candidate]:
    if signs is not None:  # shrinkage and trade-off have no closed form with signs: a ridge has
        kept = signs[:-1]
        of_rows = rows[:4]
        return ridge_candidates(*of_rows, _RIDGES, signs=kept, group=rows.group)
    moments = Moments.of(*rows[:3], classes=[False, True], fold=rows.fold, sample=0)
    return moment_candidates(moments, *rows[:5])
