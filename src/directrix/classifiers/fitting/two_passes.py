"""Two passes over rows that live elsewhere: fold moments, then score histograms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.fitting import calibration
from directrix.classifiers.fitting.calibration import Calibration
from directrix.classifiers.fitting.choice import Choice
from directrix.classifiers.fitting.finalize import Finalized
from directrix.classifiers.fitting.guarantee import Guarantee, guaranteed_point
from directrix.classifiers.fitting.intervals import Sizes
from directrix.classifiers.fitting.operating_point import OperatingPoint
from directrix.engines import HashFolds
from directrix.engines.base import run
from directrix.engines.plan import Plan
from directrix.engines.tasks import Counted, Histograms, Survey, Surveyed
from directrix.frontier.cross_choice import ScoresInParts
from directrix.frontier.select import LeastLoss
from directrix.metrics import Curve
from directrix.moments.score_histogram import ScoreHistogram, centres, edges
from directrix.moments.tree import tree_sum

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.metrics import Metric


class Picked(NamedTuple):
    """The candidate that the histograms prefer, and what they say of it.

    Parameters
    ----------
    place : int
        Which candidate.
    final : Finalized
        Its threshold, and what to expect of it.
    calibration : Calibration
    values : array of shape (k,)
        Metric of each candidate at its own best threshold.
    counts : array of shape (2, bins)
        Held-out scores of the candidate, class weights included.
    """

    place: int
    final: Finalized
    calibration: Calibration
    values: FloatArray
    counts: FloatArray

    def calibration_at(self, threshold: float, at_threshold: float | None) -> Calibration:
        """Return how probabilities are made of scores less another threshold."""
        return _calibrated(self.counts, threshold, at_threshold)


@dataclass(frozen=True)
class TwoPasses:
    """The two questions that are asked of a source, and nothing else.

    Parameters
    ----------
    source : whatever `summarize` reads
    target : str, int or array
    fold : HashFolds
    options : dict
        Further arguments of `summarize`.
    """

    source: Any
    target: Any
    fold: Any
    options: dict[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.fold, HashFolds):
            msg = "fit_source holds rows out by a hash: give fold=HashFolds(5, key=...), or none"
            raise TypeError(msg)

    def survey(self, most: int = 0, most_of_part: int = 0, apart: int | None = None) -> Surveyed:
        """Return the moments of the folds and a sample of the rows: the first pass.

        Parameters
        ----------
        most, most_of_part : int
            Rows of each class, in all and of one partition; 0 for no sample.
        apart : int, optional
            A fold whose rows are not sampled.
        """
        plan, how = self._plan()
        if plan.by is not None:
            msg = "fit_source makes one classifier; call it for each group, without by="
            raise TypeError(msg)
        found: Surveyed = run(self.source, plan, Survey(most_of_part, apart), **how)
        if None not in found.grouped.by_group:
            msg = "there are no rows to learn from"
            raise ValueError(msg)
        if found.sample is None:
            return found
        return replace(found, sample=found.sample.at_most(most).ordered())

    def histograms(self, lines: list[FloatArray], surveyed: Surveyed) -> tuple[ScoreHistogram, ...]:
        """Return the held-out scores of the candidates, fold by fold: the second pass.

        Parameters
        ----------
        lines : list of arrays of shape (k, d + 1)
            For each fold the candidates made without it.
        surveyed : Surveyed
            What the first pass found.
        """
        plan, how = self._plan()
        positive = surveyed.grouped.by_group[None].classes[-1]
        counted: Counted = run(self.source, plan, Histograms(np.stack(lines), positive), **how)
        if counted.fingerprint != surveyed.fingerprint:
            msg = (
                f"the second pass did not find the rows of the first: it read "
                f"{counted.fingerprint.rows:,} rows where the first read "
                f"{surveyed.fingerprint.rows:,}, and they or their folds differ. A stream can be "
                "read only once; rows that are written meanwhile, and columns made by chance "
                "(rand()), change between passes: give something that stays the same (a saved "
                "table, a cached data frame). If only the order of the rows changes, name a key "
                "column: fold=HashFolds(5, key=...)"
            )
            raise ValueError(msg)
        return counted.folds

    def _plan(self) -> tuple[Plan, dict[str, Any]]:
        """Return which columns are what, and how they are to be read."""
        roles = dict(self.options)
        how: dict[str, Any] = {
            name: roles.pop(name) for name in ("engine", "progress") if name in roles
        }
        plan = Plan.of(target=self.target, fold=self.fold, **roles)
        return replace(plan, identified=True), how


def pick(
    metric: Metric,
    folds: tuple[ScoreHistogram, ...],
    factors: tuple[float, float],
    at_threshold: float | None,
) -> Picked:
    """Choose by the metric of the histograms, as rows would.

    Parameters
    ----------
    metric : Metric
    folds : tuple of ScoreHistogram
        Held-out scores of all candidates, fold by fold.
    factors : tuple of float
        Class weights, of the negatives and of the positives.
    at_threshold : float, optional
        Probability at the threshold, where the metric says it.
    """
    histogram = tree_sum(folds)
    curves = [_curve(counts, factors) for counts in histogram.counts]
    values = np.array([metric.best_value(curve) for curve in curves])
    losses = -values if metric.greater_is_better else values
    rule = LeastLoss()
    place = rule(losses)
    sizes = Sizes(*(float(each) for each in (histogram.weight**2 / histogram.weight_sq)[::-1]))
    parts = ScoresInParts(np.stack([_above(fold.counts, factors) for fold in folds])[None])
    choice = Choice(metric, parts, losses, values, rule, sizes, curves[place].prior)
    best = choice.at.best(curves[place])
    threshold = _edge(best.index)
    final = Finalized.of(choice, threshold, curves[place], best.index)
    sides = np.array(factors)[:, None] * histogram.counts[place]
    fitted = _calibrated(sides, threshold, at_threshold)
    return Picked(place, final, fitted, values, sides)


def _calibrated(counts: FloatArray, threshold: float, at_threshold: float | None) -> Calibration:
    """Fit probabilities to a histogram of scores of both classes, negatives first."""
    scores = np.tile(centres() - threshold, 2)
    positive = np.repeat([False, True], len(centres()))
    weight = counts.ravel()
    kept = weight > 0
    return calibration.from_scores(
        positive[kept],
        scores[kept],
        weight[kept],
        "score histograms of held-out rows",
        at_threshold,
    )


def guaranteed_by_histogram(
    metric: Metric, guarantee: Guarantee, apart: ScoreHistogram, picked: Picked
) -> tuple[float, OperatingPoint]:
    """Return the threshold at which a histogram of rows set apart keeps the limits.

    Thresholds are edges of bins, which no row has set: the bounds hold for them as for scores.
    """
    curve = _curve(apart.counts[picked.place], (1.0, 1.0))
    grid = guarantee.grid(_curve(picked.counts, (1.0, 1.0)))
    threshold = guarantee.threshold(metric, curve, grid)
    place = int(np.count_nonzero(centres() > threshold))
    sizes = Sizes(float(curve.positives), float(curve.negatives))
    return _edge(place), guaranteed_point(metric, guarantee, curve, place, sizes)


def _edge(place: int) -> float:
    """Return the threshold that so many of the highest bins are above."""
    cuts = edges()[::-1]
    cuts[[0, -1]] = centres()[-1] * 2.0, centres()[0] * 2.0
    return float(cuts[place])


def _above(counts: FloatArray, factors: tuple[float, float]) -> FloatArray:
    """Return the weight of each class above each edge of the bins, highest first."""
    above: FloatArray = np.cumsum(counts[..., ::-1] * np.array(factors)[:, None], axis=-1)
    return np.concatenate([np.zeros((*above.shape[:-1], 1)), above], axis=-1)


def _curve(counts: FloatArray, factors: tuple[float, float]) -> Curve:
    """Return the curve of a histogram, all bins kept, so that places are edges."""
    negative, positive = _above(counts, factors)
    return Curve(centres()[::-1], positive, negative)
