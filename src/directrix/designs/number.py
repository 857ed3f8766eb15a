"""NumberDesign: numbers as features, standardised, with lines of their moments and of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from directrix._typing import IntArray
from directrix.fitting.directions import DirectionPrices, Signs
from directrix.fitting.fit_rows import FTOL, BestFit, Candidates, Draft, LearnedDesign
from directrix.fitting.training_rows import Rows, prepare
from directrix.frontier.compare import MOST_ROWS, Candidate, Curves
from directrix.frontier.moment_frontier import moment_candidates, ridge_candidates
from directrix.frontier.recipes import Recipe
from directrix.frontier.row_frontier import ReportCandidates, RowFrontier
from directrix.frontier.search import MOST_FEATURES
from directrix.losses import Logistic
from directrix.metrics.base import Metric
from directrix.moments import Moments

#: Ridges of lines from class moments with signs, of standardised features.
_RIDGES = (1.0, 0.1, 0.01, 0.001)
#: Ridge of the logistic regressions that tell what signs cost.
_PLAIN_RIDGE = 0.01


@dataclass(frozen=True)
class NumberDesign:
    """Numbers as features, whose coefficients may keep signs."""

    signs: Signs | None = None
    n_jobs: int | None = None

    def learn(self, rows: Rows, n_folds: int, progress: ReportCandidates) -> LearnedDesign:
        """Standardise the rows."""
        units, rows, seen = prepare(rows, n_folds, MOST_ROWS)
        frontier = RowFrontier(
            *seen[:4],
            progress=progress,
            ftol=FTOL,
            n_jobs=self.n_jobs,
            signs=None if self.signs is None else self.signs.array,
        )
        narrow = seen.X.shape[1] <= MOST_FEATURES
        summary = _summary_candidates(seen, frontier.signs) if narrow else ()
        candidates = Candidates(frontier, summary)
        return LearnedDesign(seen, rows, candidates.compared, partial(self._draft, frontier), units)

    def _draft(self, frontier: RowFrontier, metric: Metric, best: BestFit) -> Draft:
        """Return the chosen line; its report says what signs cost, by logistic regressions."""
        signs, report = self.signs, best.report
        if signs is not None and frontier.fold is not None:
            held_out = partial(_held_out, frontier, signs)
            prices = DirectionPrices(signs.requested, held_out)
            flat = [name for name, k in signs.positions if best.fitted.line[k] == 0.0]
            report = replace(report, directions=prices.of(metric, flat))
        return Draft(best.fitted, report, best.curve)


def _held_out(frontier: RowFrontier, signs: Signs, kept: Sequence[int]) -> Curves:
    """Return the held-out curves of logistic regression that keeps some of the signs."""
    rows = frontier.X, frontier.positive, frontier.weight, frontier.fold
    plain = RowFrontier(*rows, ftol=FTOL, signs=signs.only(kept))
    (candidate,) = plain.plan([Recipe(Logistic(), _PLAIN_RIDGE)])
    plain.solve_together([candidate], plain.folds)
    candidate.fit()
    return candidate.curves


def _summary_candidates(rows: Rows, signs: IntArray | None) -> Sequence[Candidate]:
    if signs is not None:  # shrinkage and trade-off have no closed form with signs: a ridge has
        return ridge_candidates(*rows[:4], _RIDGES, baseline=False, signs=signs[:-1])
    moments = Moments.of(*rows[:3], classes=[False, True], fold=rows.fold)
    return moment_candidates(moments, *rows[:4])
