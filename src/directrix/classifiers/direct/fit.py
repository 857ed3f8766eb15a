"""The fit of DirectClassifier to rows in memory: for each class and metric, search and choose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.fitting.choice import Choice, Selection
from directrix.fitting.directions import DirectionPrices
from directrix.fitting.finalize import FittedLine, Lines, finalize, finalize_on_rows
from directrix.fitting.guarantee import Guarantee, threshold_from_rows
from directrix.fitting.training_rows import KeyedRows, TrainingRows, prepare
from directrix.frontier.compare import (
    MOST_ROWS,
    OneStandardError,
    curve_maker,
    round_scores,
    scores_of,
)
from directrix.frontier.moment_candidates import moment_candidates, ridge_candidates
from directrix.frontier.recipes import Recipe
from directrix.frontier.row_frontier import RowFrontier
from directrix.frontier.search import MOST_FEATURES, Search
from directrix.losses import Logistic
from directrix.models.report import DirectReport
from directrix.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray, IntArray
    from directrix.fitting.assessment import Assessment
    from directrix.fitting.directions import Signs
    from directrix.fitting.progress import Clock
    from directrix.fitting.standardization import Standardization
    from directrix.fitting.trials import Trials
    from directrix.frontier.compare import Candidate, Comparison, Curves
    from directrix.metrics.base import Metric
    from directrix.metrics.curve import Curve

#: How many standard errors of the paired difference a simpler candidate may be behind the best.
CAUTION = 1.0
#: Complexity of logistic regression with another ridge than the plain one.
_OTHER_RIDGE = 0.5
#: One in so many rows is set apart for a guarantee.
APART = 3
#: L-BFGS stops when one iteration lowers the objective by less than this share: the rows do not
#: tell such lines apart.
FALL = 1e-5
#: Ridges of lines from class moments with signs, of standardised features.
_RIDGES = (1.0, 0.1, 0.01, 0.001)
#: Ridge of the logistic regressions that tell what signs cost.
_PLAIN_RIDGE = 0.01


class Fitted(NamedTuple):
    """The fit of one class against the others.

    Parameters
    ----------
    fitted : FittedLine
    report : DirectReport
    """

    fitted: FittedLine
    report: DirectReport


class BestFit(NamedTuple):
    """The chosen candidate, fitted to all rows, with what it was chosen from.

    Parameters
    ----------
    fit : Fitted
    curve : Curve
        Of the held-out scores, less the threshold.
    scores : array of shape (n,)
        The held-out scores, less the threshold.
    selection : Selection
    lines : Lines
        Of the chosen candidate, in the units of the rows.
    choice : Choice, optional
        The choice among the candidates, if rows were held out.
    """

    fit: Fitted
    curve: Curve
    scores: FloatArray
    selection: Selection
    lines: Lines
    choice: Choice | None = None


@dataclass(frozen=True)
class DirectFit:
    """A fit to rows in memory.

    Parameters
    ----------
    metrics : sequence of Metric
        Each gets a line of its own; they share the candidates.
    n_folds : int
        Number of folds, if the rows come without folds.
    guarantees : sequence of Guarantee, optional
        For each metric the limits to keep on new rows.
    n_jobs : int, optional
        Threads of the search.
    signs : Signs, optional
        Signs that coefficients keep.
    """

    metrics: Sequence[Metric]
    n_folds: int
    guarantees: Sequence[Guarantee] | None = None
    n_jobs: int | None = None
    signs: Signs | None = None

    def run(self, keyed: KeyedRows, label: Any, clock: Clock) -> list[Fitted]:
        """Fit a line for each metric, with one class against the others."""
        if self.guarantees is None:
            return [fit for fit, _ in self._fits(keyed, label, clock)]
        # Rows that set a guaranteed threshold must not have been seen before.
        kept, apart = keyed.set_apart(label, APART)
        rows = apart.training_rows(label, 1)
        fits = self._fits(kept, label, clock)
        return [
            fit._replace(fitted=guaranteed(fit.fitted, curve, rows, guarantee))
            for (fit, curve), guarantee in zip(fits, self.guarantees, strict=True)
        ]

    def _fits(self, keyed: KeyedRows, label: Any, clock: Clock) -> list[tuple[Fitted, Curve]]:
        prepared = prepare(keyed, label, self.n_folds, MOST_ROWS)
        seen = prepared.seen
        frontier = RowFrontier(
            seen.X,
            seen.positive,
            seen.weight,
            seen.fold,
            progress=clock,
            fall=FALL,
            out_of_time=clock.is_over,
            n_jobs=self.n_jobs,
            signs=None if self.signs is None else self.signs.array,
        )
        narrow = seen.X.shape[1] <= MOST_FEATURES
        moments = cache(partial(_moment_candidates, seen, frontier.signs)) if narrow else None
        fits = []
        for metric in self.metrics:
            search = Search(frontier, metric, moments)
            comparison = search.run()
            candidates = search.candidates
            best = fit_best(
                metric,
                candidates,
                comparison,
                seen,
                prepared.rows,
                skipped=search.skipped,
                units=prepared.units,
            )
            fit = best.fit, best.curve
            if self.signs is not None and seen.fold is not None:
                fit = self._priced(metric, fit, frontier)
            fits.append(fit)
        return fits

    def _priced(
        self, metric: Metric, fit: tuple[Fitted, Curve], frontier: RowFrontier
    ) -> tuple[Fitted, Curve]:
        """Return a fit whose report says what signs cost, by plain logistic regressions."""
        fitted, curve = fit
        signs = self.signs
        if signs is None:
            return fit

        def held_out(kept: Sequence[int]) -> Curves:
            rows = frontier.X, frontier.positive, frontier.weight, frontier.fold
            plain = RowFrontier(*rows, fall=FALL, signs=signs.only(kept))
            (candidate,) = plain.plan([Recipe(Logistic(), _PLAIN_RIDGE)])
            plain.solve_together([candidate], plain.folds, in_any_case=True)
            candidate.fit()
            return candidate.curves

        flat = [name for name, k in signs.positions if fitted.fitted.line[k] == 0.0]
        prices = DirectionPrices(signs.wishes, held_out, frontier.out_of_time)
        report = replace(
            fitted.report,
            directions=prices.of(metric, flat),
            skipped=(*fitted.report.skipped, *prices.skipped),
        )
        return fitted._replace(report=report), curve


def fit_best(
    metric: Metric,
    candidates: Sequence[Candidate],
    comparison: Comparison,
    seen: TrainingRows,
    rows: TrainingRows,
    *,
    skipped: Sequence[str] = (),
    units: Standardization | None = None,
    plain_ridge: float | None = None,
    trials: Trials | None = None,
) -> BestFit:
    """Choose a candidate, fit it to all rows and set its threshold.

    Parameters
    ----------
    metric : Metric
    candidates : sequence of Candidate
    comparison : Comparison
        Of the candidates.
    seen, rows : TrainingRows
        Rows on which they were compared, and all rows, for the final fit.
    skipped : sequence of str
        Steps of the search for which there was no time.
    units : Standardization, optional
        Units of the rows; the features' own by default.
    plain_ridge : float, optional
        The ridge of the simplest logistic regression, if another criterion has chosen it already;
        by default all ridges are as simple.
    trials : Trials, optional
        What was chosen on the same rows before the candidates were made.
    """
    complexities = [_complexity(each, plain_ridge) for each in candidates]
    rule = OneStandardError.of(comparison, complexities, CAUTION)
    index = rule(comparison.losses)
    chosen = candidates[index]
    selection = replace(Selection.of(seen, candidates, comparison, index, rule), trials=trials)
    lines = Lines(chosen.refit(rows.X, rows.positive, rows.weight), chosen.fold_lines)
    final = finalize(metric, selection, lines, units=units)
    gap = 0.0
    if complexities[index] > 0.0:
        gap = gap_to_logistic(final.assessment, selection.with_complexity(0.0))
    report = DirectReport.of(
        metric,
        seen.name,
        candidates,
        comparison,
        index,
        final.assessment.estimate,
        gap,
        skipped=skipped,
        complexities=complexities,
        chance=final.assessment.chance,
    )
    curve = curve_maker(seen.positive, seen.weight)(final.scores)
    fit, choice = Fitted(final.fitted, report), final.assessment.choice
    return BestFit(fit, curve, final.scores, selection, lines, choice)


def _complexity(candidate: Candidate, plain_ridge: float | None) -> float:
    """Return the complexity of a candidate, which may depend on the ridge if it is logistic."""
    if plain_ridge is None or candidate.complexity > 0.0:
        return candidate.complexity
    return 0.0 if candidate.ridge == plain_ridge else _OTHER_RIDGE


def guaranteed(
    fitted: FittedLine, held_out: Curve, rows: TrainingRows, guarantee: Guarantee
) -> FittedLine:
    """Return the line with a threshold and a calibration from rows set apart."""
    metric = fitted.operating_point.metric
    scores = round_scores(scores_of(rows.X, fitted.line[None])[:, 0])
    grid = guarantee.grid(held_out)
    threshold, assessment = threshold_from_rows(metric, guarantee, rows, scores, grid)
    line = fitted.line.copy()
    line[-1] -= threshold
    return finalize_on_rows(metric, rows, line, scores - threshold, assessment)


def gap_to_logistic(assessment: Assessment, logistic: IntArray) -> float:
    """Return how much better than the best logistic regression the choice is on new rows.

    Parameters
    ----------
    assessment : Assessment
    logistic : array of int
        Indices of the candidates that are logistic regressions.
    """
    choice = assessment.choice
    if choice is None:
        return 0.0

    def best_logistic(losses: FloatArray) -> int:
        return int(logistic[np.argmin(losses[logistic])])

    gap = choice.expected().metric - choice.expected(best_logistic).metric
    return gap if choice.metric.greater_is_better else -gap


def _moment_candidates(rows: TrainingRows, signs: IntArray | None) -> Sequence[Candidate]:
    if signs is not None:  # shrinkage and trade-off have no closed form with signs: a ridge has
        return ridge_candidates(*rows[:4], _RIDGES, baseline=False, signs=signs[:-1])
    moments = Moments.of(*rows[:3], classes=[False, True], fold=rows.fold)
    return moment_candidates(moments, *rows[:4])
