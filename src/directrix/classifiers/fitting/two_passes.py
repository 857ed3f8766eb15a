"""Two passes over rows that live elsewhere: moments by fold, then score histograms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.classifiers.fitting.calibration import Calibration, calibration_from_scores
from directrix.classifiers.fitting.choice import Choice
from directrix.classifiers.fitting.corrections import Gradients, LossSlopes, Summed
from directrix.classifiers.fitting.finalize import FittedLine, fitted_line
from directrix.classifiers.fitting.guarantee import Guarantee, assess_guaranteed
from directrix.classifiers.fitting.intervals import Sizes
from directrix.classifiers.fitting.operating_point import Assessment
from directrix.engines import (
    Counted,
    Fingerprint,
    HashFolds,
    Histograms,
    Plan,
    Sampling,
    Survey,
    Surveyed,
    run,
)
from directrix.frontier import LeastLoss, PartCurves
from directrix.metrics import Curve
from directrix.moments import (
    LineHistograms,
    Moments,
    ScoreMoments,
    centres,
    edges,
    project,
    tree_sum,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.engines import Fingerprint
    from directrix.metrics import Metric


@dataclass(frozen=True)
class HistogramChoice:
    """The candidate that is best on score histograms of all rows, with its threshold.

    Parameters
    ----------
    index : int
        Which candidate.
    threshold : float
    assessment : Assessment
    values : array of shape (k,)
        Metric of each candidate at its best threshold.
    counts : array of shape (2, bins)
        Held-out scores of the candidate, class weights included, negatives first.
    """

    index: int
    threshold: float
    assessment: Assessment
    values: FloatArray
    counts: FloatArray

    def finalize(
        self,
        metric: Metric,
        line: FloatArray,
        moments: Moments | None = None,
        guaranteed: tuple[float, Assessment] | None = None,
    ) -> FittedLine:
        """Return the line with its threshold, operating point and calibration.

        Parameters
        ----------
        metric : Metric
        line : array of shape (d + 1,)
            Of the candidate, made from all rows.
        moments : Moments, optional
            Summary of the rows, which predicts the rates; by default the held-out scores do.
        guaranteed : tuple of float and Assessment, optional
            Another threshold, which rows set apart have set.
        """
        threshold, assessment = guaranteed or (self.threshold, self.assessment)
        line = line.copy()
        line[-1] -= threshold
        calibrate = partial(_calibrated, self.counts, threshold)
        scores = self._score_moments(threshold) if moments is None else project(moments, line)
        weight = float(self.counts.sum()) if moments is None else moments.weight
        return fitted_line(metric, line, scores, weight, calibrate, assessment)

    def _score_moments(self, threshold: float) -> ScoreMoments:
        """Return mean and variance of the held-out scores of each class."""
        scores = np.tile(centres() - threshold, 2)
        positive = np.repeat([False, True], len(centres()))
        return ScoreMoments.of_scores(positive, scores, self.counts.ravel())


@dataclass(frozen=True)
class TwoPasses:
    """The two passes over a source of rows.

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

    def survey(self, most: int = 0, apart: int | None = None) -> Surveyed:
        """Return the moments of the folds and a sample of the rows: the first pass.

        Another pass takes a full sample if the rows of a class are spread so unequally over
        partitions that the sample has less than half of the rows it should have, or not all of a
        class that has no more.

        Parameters
        ----------
        most : int
            Rows of each class in the sample; 0 for no sample.
        apart : int, optional
            Fold whose rows are not sampled.
        """
        plan, reading = self._plan()
        if plan.by is not None:
            msg = "fit_source makes one classifier; call it for each group, without by="
            raise TypeError(msg)
        surveyed: Surveyed = run(self.source, plan, Survey(most, apart), **reading)
        if None not in surveyed.grouped.by_group:
            msg = "there are no rows to learn from"
            raise ValueError(msg)
        sample = surveyed.sample
        if sample is None:
            return surveyed
        counts = _class_counts(surveyed.grouped.by_group[None], apart)
        if sample.is_too_small(counts):
            sampling = Sampling.of_counts(sample.most, counts, apart)
            again: Surveyed = run(self.source, plan, sampling, **reading)
            require_same_rows(surveyed.fingerprint, again.fingerprint)
            sample = sample if again.sample is None else again.sample
        return replace(surveyed, sample=sample.ordered())

    def histograms(self, lines: list[FloatArray], surveyed: Surveyed) -> tuple[LineHistograms, ...]:
        """Return the held-out scores of the candidates, fold by fold: the second pass.

        Parameters
        ----------
        lines : list of arrays of shape (k, d + 1)
            For each fold the lines made without it.
        surveyed : Surveyed
            Result of the first pass.
        """
        plan, reading = self._plan()
        positive = surveyed.grouped.by_group[None].classes[-1]
        counted: Counted = run(self.source, plan, Histograms(np.stack(lines), positive), **reading)
        require_same_rows(surveyed.fingerprint, counted.fingerprint)
        return counted.folds

    def gradients(self, losses: Sequence[LossSlopes], surveyed: Surveyed) -> tuple[FloatArray, ...]:
        """Return sums over all rows of the gradients of losses: a pass between both.

        Parameters
        ----------
        losses : sequence of LossSlopes
            With coefficients of the features.
        surveyed : Surveyed
            Result of the first pass.
        """
        plan, reading = self._plan()
        positive = surveyed.grouped.by_group[None].classes[-1]
        summed: Summed = run(self.source, plan, Gradients(losses, positive), **reading)
        require_same_rows(surveyed.fingerprint, summed.fingerprint)
        return summed.gradients

    def _plan(self) -> tuple[Plan, dict[str, Any]]:
        """Return the roles of the columns, and the options of reading them."""
        roles = dict(self.options)
        reading: dict[str, Any] = {
            name: roles.pop(name) for name in ("engine", "progress") if name in roles
        }
        plan = Plan.of(target=self.target, fold=self.fold, **roles)
        return replace(plan, identified=True), reading


def _class_counts(moments: Moments, apart: int | None) -> dict[Any, int]:
    """Return the number of rows of each class, without those of a fold."""
    folds = [part for number, part in enumerate(moments.parts) if number != apart]
    return {
        label: sum(part[index].count for part in folds)
        for index, label in enumerate(moments.classes.tolist())
    }


def source_folds(fold: Any, cv: Any) -> HashFolds:
    """Return how the rows of a source are held out: in as many folds as `cv` if it is a number."""
    if fold is None:
        return HashFolds(int(cv)) if isinstance(cv, int | np.integer) else HashFolds()
    if not isinstance(fold, HashFolds):
        msg = "fit_source holds rows out by a hash: give fold=HashFolds(5, key=...), or none"
        raise TypeError(msg)
    return fold


def check_refine(refine: Any) -> None:
    """Raise ValueError if a number of corrections is not a whole number, zero or more."""
    if not isinstance(refine, int | np.integer) or isinstance(refine, bool) or refine < 0:
        msg = f"refine must be a whole number, 0 or more, not {refine!r}"
        raise ValueError(msg)


def require_same_rows(first: Fingerprint, later: Fingerprint) -> None:
    """Raise ValueError if a later pass did not read the rows of the first."""
    if first == later:
        return
    msg = (
        f"a later pass did not find the rows of the first: it read {later.rows:,} rows where the "
        f"first read {first.rows:,}, and they or their folds differ. A stream can be read only "
        "once; rows that are written meanwhile, and columns made by chance (rand()), change "
        "between passes: give something that stays the same (a saved table, a cached data frame, a "
        "function that opens a new stream). If only the order of the rows changes, name a key "
        "column: fold=HashFolds(5, key=...)"
    )
    raise ValueError(msg)


def select_from_histograms(
    metric: Metric, folds: tuple[LineHistograms, ...], factors: tuple[float, float]
) -> HistogramChoice:
    """Choose a candidate and its threshold by the metric on histograms, as on rows.

    Parameters
    ----------
    metric : Metric
    folds : tuple of LineHistograms
        Held-out scores of all candidates, fold by fold.
    factors : tuple of float
        Class weights of the negatives and of the positives.
    """
    histogram = tree_sum(folds)
    curves = [_curve(counts, factors) for counts in histogram.counts]
    values = best_values_of(metric, folds, factors)
    losses = -values if metric.greater_is_better else values
    rule = LeastLoss()
    index = rule(losses)
    n_neg, n_pos = histogram.weight**2 / histogram.weight_sq
    parts = PartCurves(np.stack([_above(fold.counts, factors) for fold in folds])[None])
    sizes, curve = Sizes(float(n_pos), float(n_neg)), curves[index]
    choice = Choice(metric, parts, losses, values, rule, sizes, curve.prior)
    best = choice.at.best(curve)
    assessment = Assessment.of(choice, curve, best.index, "held-out rows")
    counts = np.array(factors)[:, None] * histogram.counts[index]
    return HistogramChoice(index, _edge(best.index), assessment, values, counts)


def best_values_of(
    metric: Metric, folds: tuple[LineHistograms, ...], factors: tuple[float, float]
) -> FloatArray:
    """Return the metric of each candidate at its best threshold; see `select_from_histograms`."""
    counts = tree_sum(folds).counts
    return np.array([metric.best_value(_curve(of_line, factors)) for of_line in counts])


def _calibrated(counts: FloatArray, threshold: float, at_threshold: float | None) -> Calibration:
    """Fit the calibration to a histogram of scores of both classes, negatives first."""
    scores = np.tile(centres() - threshold, 2)
    positive = np.repeat([False, True], len(centres()))
    weight = counts.ravel()
    kept = weight > 0
    return calibration_from_scores(
        positive[kept],
        scores[kept],
        weight[kept],
        "score histograms of held-out rows",
        at_threshold,
    )


def guaranteed_threshold(
    metric: Metric, guarantee: Guarantee, apart: LineHistograms, chosen: HistogramChoice
) -> tuple[float, Assessment]:
    """Return the threshold at which the histogram of rows set apart keeps the limits.

    Thresholds are edges of bins, which no row has set: the bounds hold for them as for scores.
    """
    curve = _curve(apart.counts[chosen.index], (1.0, 1.0))
    grid = guarantee.grid(_curve(chosen.counts, (1.0, 1.0)))
    threshold = guarantee.threshold(metric, curve, grid)
    index = int(np.count_nonzero(centres() > threshold))
    sizes = Sizes(float(curve.positives), float(curve.negatives))
    return _edge(index), assess_guaranteed(metric, guarantee, curve, index, sizes)


def _edge(index: int) -> float:
    """Return the threshold above which there are `index` bins."""
    cuts = edges()[::-1]
    cuts[[0, -1]] = centres()[-1] * 2.0, centres()[0] * 2.0
    return float(cuts[index])


def _above(counts: FloatArray, factors: tuple[float, float]) -> FloatArray:
    """Return the weight of each class above each edge of the bins, highest first."""
    above: FloatArray = np.cumsum(counts[..., ::-1] * np.array(factors)[:, None], axis=-1)
    return np.concatenate([np.zeros((*above.shape[:-1], 1)), above], axis=-1)


def _curve(counts: FloatArray, factors: tuple[float, float]) -> Curve:
    """Return the curve of a histogram; its thresholds are the edges of all bins."""
    negative, positive = _above(counts, factors)
    return Curve(centres()[::-1], positive, negative)
