"""Lines for metrics, from both frontiers: what DirectClassifier does for each class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.direct_report import DirectReport
from directrix.classifiers.guarantee import guaranteed_threshold
from directrix.classifiers.operating_point import (
    OnRows,
    OperatingPoint,
    effective_rows,
    predicted_rates,
)
from directrix.classifiers.rows_at_hand import (
    RowsAtHand,
    calibrated,
    cut,
    folds_of_rows,
    rows_to_choose_on,
)
from directrix.classifiers.standardized import Standardization
from directrix.frontier.candidates import Candidates
from directrix.frontier.choose import MOST_ROWS, curves, scores_of, settled
from directrix.frontier.of_rows import RowFrontier, comparable
from directrix.frontier.pool import MOST_FEATURES, SHRINKAGES, MomentLines, Pool
from directrix.moments import Moments
from directrix.moments.projection import ScoreMoments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.classifiers.calibration import Calibration
    from directrix.frontier.choose import Compared
    from directrix.metrics import Metric

#: How many standard errors of the paired difference a smoother candidate may be behind the best.
CAUTION = 1.0
#: Of the time there is: what may be spent on candidates. The rest is for the last fit.
_SEARCH = 0.8
_ITERATIONS = 500
#: Of the objective, in one iteration: where less is gained, rows do not tell the lines apart.
FALL = 1e-5


class Fitted(NamedTuple):
    """A line in the units of the features, its intercept last, and what is known of it."""

    line: FloatArray
    calibration: Calibration
    operating_point: OperatingPoint
    report: DirectReport


@dataclass(frozen=True)
class DirectFit:
    """How a line is found.

    Parameters
    ----------
    metrics : sequence of Metric
        For each a line is found; they share what can be shared.
    folds : int or array of int of shape (n,)
        How many there are to be, or which.
    confidence : float, optional
        With which the metric's limit is to be kept on new rows.
    seconds : float, optional
        How long it may take.
    told : callable, optional
        After each candidate: how many there are, and how many are known of; True stops.
    """

    metrics: Sequence[Metric]
    folds: int | IntArray
    confidence: float | None = None
    seconds: float | None = None
    told: Callable[[int, int], bool | None] | None = None

    def run(self, X: Any, positive: AnyArray, weight: FloatArray) -> list[Fitted]:
        """Find a line of some rows, all of weight above zero, for each metric."""
        clock = _Clock(self.seconds, self.told)
        if self.confidence is None:
            return self._fitted(X, positive, weight, self.folds, clock)
        # Rows that set a guaranteed threshold may not have been seen before.
        apart = folds_of_rows(X, positive, 3)
        if apart is None or apart.max() < 2:
            msg = "guarantee= holds out a third of the rows of each class: give three or more"
            raise ValueError(msg)
        kept, out = np.flatnonzero(apart != 0), np.flatnonzero(apart == 0)
        folds = self.folds[kept] if isinstance(self.folds, np.ndarray) else self.folds
        rows = RowsAtHand(X[out], positive[out], weight[out], None)
        return [
            self._guaranteed(fitted, rows, self.confidence)
            for fitted in self._fitted(X[kept], positive[kept], weight[kept], folds, clock)
        ]

    def _fitted(
        self,
        X: Any,
        positive: AnyArray,
        weight: FloatArray,
        folds: int | IntArray,
        clock: _Clock,
    ) -> list[Fitted]:
        units = Standardization.of(X, weight)
        rows = RowsAtHand(units.rows(X), positive, weight, None)
        seen = rows_to_choose_on(rows, X, folds, MOST_ROWS)
        frontier = RowFrontier(*seen, progress=clock, fall=FALL)
        lines = cache(partial(_moment_lines, seen)) if X.shape[1] <= MOST_FEATURES else None
        return [
            self._chosen(Pool(frontier, metric, lines), units, rows, seen)
            for metric in self.metrics
        ]

    def _chosen(
        self, pool: Pool, units: Standardization, rows: RowsAtHand, seen: RowsAtHand
    ) -> Fitted:
        """Choose a candidate, fit it to all rows, and set its threshold."""
        metric = pool.metric
        found = pool.fill()
        place = cautious(found, [origin.roughness for origin in pool.origins])
        line = self._last_fit(pool, place, rows)
        threshold, on_rows = cut(metric, seen, pool.scores[place])
        line[-1] -= threshold
        scores = pool.scores[place] - threshold
        numbers = ScoreMoments.of_scores(seen.positive, scores, seen.weight)
        line = units.line_back(line)
        point = OperatingPoint(
            metric,
            -float(line[-1]),
            predicted_rates(numbers, metric, float(seen.weight.sum())),
            on_rows.rates(metric),
            seen.name,
            on_rows,
        )
        return Fitted(
            line,
            calibrated(seen, scores, metric.break_even(numbers.prior)),
            point,
            DirectReport.of(metric, seen.name, pool.origins, found, place),
        )

    def _last_fit(self, pool: Pool, place: int, rows: RowsAtHand) -> FloatArray:
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

    def _guaranteed(self, fitted: Fitted, rows: RowsAtHand, confidence: float) -> Fitted:
        """Return the line with a threshold that rows apart set, and what these say of it."""
        metric = fitted.operating_point.metric
        scores = settled(scores_of(rows.X, fitted.line[None])[:, 0])
        threshold = guaranteed_threshold(metric, rows.positive, scores, confidence)
        line = fitted.line.copy()
        line[-1] -= threshold
        scores -= threshold
        numbers = ScoreMoments.of_scores(rows.positive, scores, rows.weight)
        curve = curves(rows.positive, rows.weight)(scores)
        counts = [effective_rows(rows.weight[own]) for own in (rows.positive, ~rows.positive)]
        on_rows = OnRows(curve, int(np.count_nonzero(curve.levels > 0)), *counts)
        point = OperatingPoint(
            metric,
            -float(line[-1]),
            predicted_rates(numbers, metric, float(rows.weight.sum())),
            on_rows.rates(metric),
            "rows held out for the guarantee",
            on_rows,
        )
        calibration = calibrated(rows, scores, metric.break_even(numbers.prior))
        return fitted._replace(line=line, operating_point=point, calibration=calibration)


def cautious(found: Compared, roughness: Sequence[float]) -> int:
    """Return the best of the smoothest kind that has one not worse than the best of all.

    Not worse is within one standard error of the paired difference over folds.
    """
    rough = np.asarray(roughness)
    best = found.best
    behind = found.losses - found.losses[best]
    able = behind <= CAUTION * found.errors(best)
    kind = np.flatnonzero(rough == rough[able].min())
    return int(kind[np.argmin(found.losses[kind])])


def _moment_lines(rows: RowsAtHand) -> MomentLines:
    return MomentLines.of(_moments(rows), *rows)


def _moments(rows: RowsAtHand) -> Moments:
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
