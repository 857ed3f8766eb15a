"""Lines for metrics, from both frontiers: what DirectClassifier does for each class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.direct.report import DirectReport, Estimate
from directrix.classifiers.fitting.choice import Selection
from directrix.classifiers.fitting.finalize import Finalized, calibrated, finalize
from directrix.classifiers.fitting.guarantee import Guarantee, threshold_from_rows
from directrix.classifiers.fitting.lines import Lines
from directrix.classifiers.fitting.operating_point import OperatingPoint, predicted_rates
from directrix.classifiers.fitting.training_rows import KeyedRows, Prepared, TrainingRows, prepare
from directrix.frontier.candidates import Candidates
from directrix.frontier.compare import MOST_ROWS, curves, scores_of, settled
from directrix.frontier.row_frontier import RowFrontier, comparable
from directrix.frontier.search import MOST_FEATURES, SHRINKAGES, MomentLines, Pool
from directrix.frontier.select import OneStandardError
from directrix.moments import Moments
from directrix.moments.projection import ScoreMoments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix._typing import FloatArray, IntArray
    from directrix.classifiers.fitting.calibration import Calibration
    from directrix.metrics import Curve, Metric

#: How many standard errors of the paired difference a smoother candidate may be behind the best.
CAUTION = 1.0
#: Of the time there is: what may be spent on candidates. The rest is for the last fit.
_SEARCH = 0.8
_ITERATIONS = 500
#: One in so many rows is set apart for a guarantee.
_APART = 3
#: Of the objective, in one iteration: where less is gained, rows do not tell the lines apart.
FALL = 1e-5


class Fitted(NamedTuple):
    """A line in the units of the features, its intercept last, and what is known of it.

    Parameters
    ----------
    line : array of shape (d + 1,)
    calibration : Calibration
    operating_point : OperatingPoint
    report : DirectReport
    curve : Curve, optional
        Of held-out scores, less the threshold.
    """

    line: FloatArray
    calibration: Calibration
    operating_point: OperatingPoint
    report: DirectReport
    curve: Curve | None = None


@dataclass(frozen=True)
class DirectFit:
    """How a line is found.

    Parameters
    ----------
    metrics : sequence of Metric
        For each a line is found; they share what can be shared.
    n_folds : int
        How many there are to be, where the rows come without.
    guarantees : sequence of Guarantee, optional
        Of each metric: limits to be kept on new rows.
    seconds : float, optional
        How long it may take.
    told : callable, optional
        After each candidate: how many there are, and how many are known of; True stops.
    """

    metrics: Sequence[Metric]
    n_folds: int
    guarantees: Sequence[Guarantee] | None = None
    seconds: float | None = None
    told: Callable[[int, int], bool | None] | None = None

    def run(self, keyed: KeyedRows, label: Any) -> list[Fitted]:
        """Find a line for each metric, of one class against the others."""
        clock = _Clock(self.seconds, self.told)
        if self.guarantees is None:
            return self._fitted(keyed, label, clock)
        # Rows that set a guaranteed threshold may not have been seen before.
        kept, apart = keyed.set_apart(label, _APART)
        rows = apart.training_rows(label, 1)
        return [
            _guaranteed(fitted, rows, guarantee)
            for fitted, guarantee in zip(
                self._fitted(kept, label, clock), self.guarantees, strict=True
            )
        ]

    def _fitted(self, keyed: KeyedRows, label: Any, clock: _Clock) -> list[Fitted]:
        prepared = prepare(keyed, label, self.n_folds, MOST_ROWS)
        seen = prepared.seen
        frontier = RowFrontier(
            seen.X, seen.positive, seen.weight, seen.fold, progress=clock, fall=FALL
        )
        lines = cache(partial(_moment_lines, seen)) if seen.X.shape[1] <= MOST_FEATURES else None
        return [self._chosen(Pool(frontier, metric, lines), prepared) for metric in self.metrics]

    def _chosen(self, pool: Pool, prepared: Prepared) -> Fitted:
        """Choose a candidate, fit it to all rows, and set its threshold."""
        units, rows, seen = prepared
        metric = pool.metric
        found = pool.fill()
        kinds = [origin.roughness for origin in pool.origins]
        rule = OneStandardError.of(found, kinds, CAUTION)
        place = rule(found.losses)
        selection = Selection.of(seen, pool.scores, found, place, rule)
        lines = Lines(self._last_fit(pool, place, rows), self._without(pool, place))
        line, scores, final = finalize(metric, selection, lines)
        numbers = ScoreMoments.of_scores(seen.positive, scores, seen.weight)
        line = units.line_back(line)
        point = OperatingPoint(
            metric,
            -float(line[-1]),
            predicted_rates(numbers, metric, float(seen.weight.sum())),
            final.empirical,
            seen.name,
            final.expected,
            final.intervals,
        )
        expected = Estimate(final.expected.metric, *final.intervals.metric)
        gap = 0.0 if kinds[place] == 0.0 else gap_to_logistic(final, selection.of_kind(0.0))
        return Fitted(
            line,
            calibrated(seen, scores, metric.break_even(numbers.prior)),
            point,
            DirectReport.of(metric, seen.name, pool.origins, found, place, expected, gap),
            curves(seen.positive, seen.weight)(scores),
        )

    def _without(self, pool: Pool, place: int) -> list[FloatArray]:
        """Return the lines of the candidate without each fold."""
        origin, folds = pool.origins[place], [k for k in pool.rows.folds if k is not None]
        if origin.family == "moments" and pool.moments is not None:
            return [pool.moments().candidates.without[k][origin.place] for k in folds]
        return [pool.rows.line(origin.place, k) for k in folds]

    def _last_fit(self, pool: Pool, place: int, rows: TrainingRows) -> FloatArray:
        """Return the line of the candidate, of all rows, if it was chosen on some."""
        origin = pool.origins[place]
        whole = len(rows.positive) == len(pool.rows.positive)
        if origin.family == "moments" and pool.moments is not None:
            found = pool.moments().candidates
            if not whole:
                found = Candidates.of(_moments(rows), None, SHRINKAGES)
            line: FloatArray = found.lines[origin.place].copy()
            return line
        recipe, frontier = pool.rows.recipes[origin.place], pool.rows
        start = frontier.solved(origin.place)
        objective = recipe.objective(rows.X, rows.positive, rows.weight)
        solved = frontier.solve(objective, start, None, _ITERATIONS).coef
        return comparable(solved, rows.X, rows.positive, rows.weight)


def _guaranteed(fitted: Fitted, rows: TrainingRows, guarantee: Guarantee) -> Fitted:
    """Return the line with a threshold that rows apart set, and what these say of it."""
    metric = fitted.operating_point.metric
    scores = settled(scores_of(rows.X, fitted.line[None])[:, 0])
    grid = guarantee.grid(fitted.curve)
    threshold, point = threshold_from_rows(metric, guarantee, rows, scores, grid)
    line = fitted.line.copy()
    line[-1] -= threshold
    scores -= threshold
    numbers = ScoreMoments.of_scores(rows.positive, scores, rows.weight)
    point = replace(
        point,
        threshold=-float(line[-1]),
        predicted=predicted_rates(numbers, metric, float(rows.weight.sum())),
    )
    calibration = calibrated(rows, scores, metric.break_even(numbers.prior))
    return fitted._replace(line=line, operating_point=point, calibration=calibration)


def gap_to_logistic(final: Finalized, logistic: IntArray) -> float:
    """Return how much better than the best logistic regression is to be expected on new rows."""
    choice = final.choice
    if choice is None:
        return 0.0

    def best_logistic(losses: FloatArray) -> int:
        return int(logistic[np.argmin(losses[logistic])])

    gap = final.expected.metric - choice.expected(best_logistic).metric
    return gap if choice.metric.greater_is_better else -gap


def _moment_lines(rows: TrainingRows) -> MomentLines:
    return MomentLines.of(_moments(rows), *rows[:4])


def _moments(rows: TrainingRows) -> Moments:
    return Moments.of(*rows[:3], classes=[False, True], fold=rows.fold)


class _Clock:
    """Asks to stop where another candidate as dear as the last would take too long."""

    def __init__(
        self, seconds: float | None, told: Callable[[int, int], bool | None] | None
    ) -> None:
        self._told = told
        self._done = 0
        self._last = monotonic()
        self._end = None if seconds is None else self._last + _SEARCH * seconds

    def __call__(self, done: int, known: int) -> bool:
        more, self._done = done > self._done, done
        asked = more and self._told is not None and bool(self._told(done, known))
        now = monotonic()
        last, self._last = now - self._last, now
        return asked or (self._end is not None and now + last > self._end)
