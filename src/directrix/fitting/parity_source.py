"""Parity of rows that live elsewhere: the path in closed form, judged by score histograms.

A path needs the covariance of the features and their means by segment. The pass that counts
held-out scores adds the latter up; one more pass then counts the held-out scores of all models of
the path, by segment. A sample of the rows says how often two models disagree, which gives the
standard errors of differences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from directrix.fitting.fit_rows import (
    Draft,
    Fitted,
    carried,
    furthest_apart,
    moved_report,
    with_alternatives,
)
from directrix.fitting.fit_source import CandidateGroup, FoldLines
from directrix.fitting.histogram_choice import (
    best_values_of,
    guaranteed_threshold,
    histogram_curve,
)
from directrix.fitting.parity import (
    STRENGTHS,
    PathSearch,
    Point,
    RateMoments,
    require_few_features,
    smoothed_points,
)
from directrix.frontier.compare import (
    design_without,
    held_out_scores,
    scaled_lines,
    scores_of,
)
from directrix.rows.sums import tree_sum

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.fitting.finalize import FittedLine, Lines
    from directrix.fitting.fit_source import HistogramSelection, SourceFit
    from directrix.fitting.guarantee import Guarantee
    from directrix.fitting.histogram_choice import HistogramChoice
    from directrix.fitting.training_rows import TrainingRows
    from directrix.metrics.base import Metric
    from directrix.metrics.segments import Parity
    from directrix.models.card import Card
    from directrix.models.segment_rates import SegmentGap
    from directrix.moments import Moments
    from directrix.moments.score_histogram import ScoreHistogram
    from directrix.moments.segment_scores import SegmentCounts

#: Step of the differences by which a metric changes with a rate.
_STEP = 1e-4
#: The classes of a rate: negatives and positives.
BOTH = np.array([False, True])


class PathFeatures(Protocol):
    """What a path needs to know of the features of lines or cards."""

    @property
    def ridge(self) -> FloatArray | float:
        """What is added to the diagonal of the curvature."""
        ...

    @property
    def columns(self) -> list[tuple[tuple[int, ...], slice]]:
        """Columns and their features."""
        ...

    def covariance(self, parity: Parity, fold: int | None) -> FloatArray:
        """Return that of the rows of the rate, without a fold."""
        ...

    def sums(self, sums: FloatArray, fold: int | None) -> FloatArray:
        """Return sums of the features without a fold, of shape (k, p), from those of a pass."""
        ...

    def signs(self, fold: int | None) -> IntArray | None:
        """Return the signs that coefficients keep."""
        ...


class MovableSource(NamedTuple):
    """What alternatives of a fit in passes are made from; see `CanMove`.

    ``selection`` has the sums by segment. ``choice`` and ``segments`` are the held-out scores of
    the plain fit, in all and by segment. ``lines`` are those of the plain fit, and ``codings``
    their features, without each fold and of all rows. ``rows`` are the sample, with features.
    ``moments`` of all rows predict rates, by default the held-out scores do. ``card_of`` is as in
    `Draft`.
    """

    fit: SourceFit
    selection: HistogramSelection
    plain: Fitted
    choice: HistogramChoice
    segments: Sequence[SegmentCounts]
    lines: Lines
    codings: Sequence[Any]
    features: PathFeatures
    rows: TrainingRows
    moments: Moments | None = None
    card_of: Callable[[FittedLine], tuple[Card, FittedLine]] | None = None

    def with_alternatives(self, parity: Parity) -> Fitted:
        """Return the alternative that the parity asks for, with all others; or the plain fit."""
        plain, guarantee = self.plain, self.fit.guarantee
        fitted = plain.fitted
        if guarantee is not None:  # rows set apart have no part in the choice
            fitted = self._finalized(self.lines.refit, self.choice, self.segments)
        draft = Draft(fitted, plain.report, self._curve(self.choice), movable=self)
        draft = draft._replace(guaranteed_line=lambda _: plain.fitted)
        if plain.card is not None:
            made_already = plain.card, plain.fitted
            draft = draft._replace(card_of=lambda _: made_already)
        draft = with_alternatives(parity, self.fit.metric, draft)
        if guarantee is not None:
            draft = draft.guaranteed(None, guarantee)
        made = draft.finished()
        first, *others = made.alternatives
        assert isinstance(first, Fitted)  # noqa: S101 - it is the plain fit, which is in reach
        first = first._replace(sizes=plain.sizes)
        table = made.report.alternatives
        if table is not None and table.chosen == 0:
            made = made._replace(sizes=plain.sizes)
        return made._replace(alternatives=(first, *others))

    def search(self, parity: Parity, metric: Metric) -> SourceSearch:
        """Return the search for alternatives."""
        return SourceSearch(parity, metric, self)

    def moved(self, metric: Metric, point: Point) -> Draft:  # noqa: ARG002 - it is the fit's
        """Return the fit of a point of the search."""
        model: MovedModel = point.model
        fitted = self._finalized(model.line, model.choice, model.segments)
        report = moved_report(self.plain.report, point, model.choice.assessment)
        curve, line = self._curve(model.choice), partial(self._guaranteed, model)
        return Draft(fitted, report, curve, card_of=self.card_of, guaranteed_line=line)

    def carriers(self, parity: Parity, lines: Sequence[FloatArray]) -> list[tuple[Any, ...]]:
        """Return columns, and what each line's score owes to them; see `CanMove`."""
        weight, _, contrasts = self.contrasts(parity, None)
        roots = np.sqrt(np.maximum(weight, np.finfo(float).tiny))
        gap = self.choice.rates_of(self.segments).gap(parity.rate)
        between = furthest_apart(contrasts / roots, self.names, gap)
        return carried(between, lines, self.features.columns)

    @property
    def names(self) -> tuple[Any, ...]:
        """Names of the segments."""
        return self.selection.segment_sums.names

    def contrasts(
        self, parity: Parity, fold: int | None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weights of segments, squares of the rows' weights, and contrasts, of the rate.

        Contrasts of shape (p, s) are multiplied by the roots of the weights.
        """
        by_class = self.selection.segment_sums.totals(self.selection.factors, fold)
        counted = parity.rows(BOTH)
        weight, square, total = (each[counted].sum(axis=0) for each in by_class)
        total = self.features.sums(total, fold)
        means = total / np.maximum(weight, np.finfo(float).tiny)[:, None]
        centred = means - total.sum(axis=0) / weight.sum()
        return weight, square, (centred * np.sqrt(weight)[:, None]).T

    def _guaranteed(self, model: MovedModel, guarantee: Guarantee) -> FittedLine:
        """Return a model with the threshold that rows set apart have set."""
        metric, choice = self.fit.metric, model.choice
        assert model.apart is not None  # noqa: S101 - a guarantee sets rows apart
        scores, segments = model.apart
        at = guaranteed_threshold(metric, guarantee, scores, choice, segments)
        return choice.finalize(metric, model.line, self.moments, at, segments)

    def _finalized(
        self, line: FloatArray, choice: HistogramChoice, segments: Sequence[SegmentCounts]
    ) -> FittedLine:
        return choice.finalize(self.fit.metric, line, self.moments, segments=segments)

    @staticmethod
    def _curve(choice: HistogramChoice) -> Any:
        return histogram_curve(choice.counts, (1.0, 1.0))


class MovedModel(NamedTuple):
    """A model of a path: its line of all rows, its held-out scores, and these by segment.

    ``apart`` has its scores of rows set apart, in all and by segment, if there are such.
    """

    line: FloatArray
    choice: HistogramChoice
    segments: Sequence[SegmentCounts]
    apart: tuple[ScoreHistogram, list[SegmentCounts] | None] | None = None


def _slopes(metric: Any, tpr: float, fpr: float, prior: float) -> tuple[float, float]:
    """Return the derivatives of a metric by both rates, as differences inside the unit square."""
    low_t, high_t, low_f, high_f = (
        min(max(rate + step, 0.0), 1.0) for rate in (tpr, fpr) for step in (-_STEP, _STEP)
    )
    by_tpr = metric.at_rates(high_t, fpr, prior) - metric.at_rates(low_t, fpr, prior)
    by_fpr = metric.at_rates(tpr, high_f, prior) - metric.at_rates(tpr, low_f, prior)
    return float(by_tpr / (high_t - low_t)), float(by_fpr / (high_f - low_f))


@dataclass(frozen=True)
class SourceSearch(PathSearch):
    """The path of rows that live elsewhere; one more pass judges its points."""

    movable: MovableSource

    @cached_property
    def plain(self) -> SegmentGap:
        """The gap between the segments in the plain fit."""
        return self.movable.choice.rates_of(self.movable.segments).gap(self.parity.rate)

    @property
    def line(self) -> FloatArray:
        """The plain fit of all rows."""
        return self.movable.lines.refit

    @cached_property
    def error(self) -> float:
        """The standard error of the metric of the plain fit."""
        return self._error(self.movable.choice, self._plain_flags, self._plain_folds)

    def points(self) -> list[Point]:
        """Return the points of the path, judged on held-out rows in one pass."""
        movable, plain = self.movable, self.movable.choice
        fit, selection = movable.fit, movable.selection
        require_few_features(len(movable.lines.refit) - 1)
        whole, *without = (self._path(fold) for fold in (None, *range(fit.n_folds)))
        by_strength = [list(lines) for lines in zip(*without, strict=True)]
        moved = [FoldLines(*each) for each in zip(whole, by_strength, strict=True)]
        counted = fit.selection(selection.features, selection.label, np.array(selection.factors))
        counted.count([CandidateGroup(moved, movable.codings)])
        folds = tuple(counted.by_fold[: fit.n_folds])
        in_folds = self._values(folds)
        held_out = held_out_scores(movable.rows.X, self._fold, without)
        points, losses = [], []
        for k, (strength, candidate) in enumerate(zip(STRENGTHS, moved, strict=True)):
            choice, segments = plain.moved(folds, k), counted.in_segments(k, apart=False) or []
            apart = (counted.by_fold[-1], counted.in_segments(k)) if fit.guarantee else None
            flags = held_out[:, k] > choice.threshold
            difference = flags.astype(float) - self._plain_flags
            error = self._error(choice, difference, in_folds[k] - self._plain_folds)
            gap = choice.rates_of(segments).gap(self.parity.rate).value
            model = MovedModel(candidate.line, choice, segments, apart)
            points.append(("all rows", strength, model, gap, error))
            after, before = (each.assessment.empirical.metric for each in (choice, plain))
            losses.append(self._sign * (after - before))
        return smoothed_points(points, losses)

    def _path(self, fold: int | None) -> FloatArray:
        """Return the lines of the path without a fold, on one scale."""
        movable, features = self.movable, self.movable.features
        lines = movable.lines
        line = lines.refit if fold is None else lines.without[fold]
        weight, square, contrasts = movable.contrasts(self.parity, fold)
        spread = float(square.sum() / weight.sum())
        covariance = features.covariance(self.parity, fold)
        moments = RateMoments(covariance, contrasts, spread, self._prior(fold))
        _, moved = moments.path(line, features.ridge, features.signs(fold))
        rows = movable.rows
        fitted = np.flatnonzero(self._fold != fold) if fold is not None else slice(None)
        X = design_without(rows.X, fold)[fitted]
        return scaled_lines(moved, scores_of(X, moved), rows.positive[fitted], rows.weight[fitted])

    def _prior(self, fold: int | None) -> float:
        """Return the share of positives without a fold."""
        selection = self.movable.selection
        weights = selection.segment_sums.totals(selection.factors, fold)[0]
        negatives, positives = weights.sum(axis=1)
        return float(positives / (negatives + positives))

    @property
    def _fold(self) -> IntArray:
        """The fold of each sampled row."""
        fold: Any = self.movable.rows.fold
        return np.asarray(fold)

    @cached_property
    def _plain_flags(self) -> AnyArray:
        """Which sampled rows the plain fit flags, held out."""
        movable = self.movable
        lines = [line[None] for line in movable.lines.without]
        scores = held_out_scores(movable.rows.X, self._fold, lines)[:, 0]
        return (scores > movable.choice.threshold).astype(float)

    @cached_property
    def _plain_folds(self) -> FloatArray:
        """The metric of the plain fit in each fold."""
        (values,) = self._values(self.movable.choice.held_out.folds, weighted=True)
        return np.asarray(values)

    def _values(self, folds: Sequence[ScoreHistogram], *, weighted: bool = False) -> FloatArray:
        """Return the metric of models in each fold, of shape (models, folds)."""
        factors = (1.0, 1.0) if weighted else self.movable.selection.factors
        return np.stack([best_values_of(self.metric, (fold,), factors) for fold in folds], axis=1)

    def _error(self, choice: HistogramChoice, flags: FloatArray, in_folds: FloatArray) -> float:
        """Return the standard error of the metric of a model, or of its difference to another.

        ``flags`` are, for sampled rows, whether the model flags them, less whether the other does:
        their variance is that of the rates, times the number of all rows. A ranking has the
        standard error of its values ``in_folds``.
        """
        metric: Any = self.metric
        if not metric.uses_threshold:
            return float(in_folds.std(ddof=1) / np.sqrt(len(in_folds)))
        rates = choice.assessment.empirical
        slopes = _slopes(metric, rates.tpr, rates.fpr, self._prior(None))
        rows, whole = self.movable.rows, tree_sum(choice.held_out.folds)
        negatives, positives = whole.weight**2 / whole.weight_sq
        by_class = (positives, rows.positive), (negatives, ~rows.positive)
        variance = 0.0
        for slope, (size, side) in zip(slopes, by_class, strict=True):
            share = rows.weight[side] / rows.weight[side].sum()
            mean = float(share @ flags[side])
            variance += slope**2 * float(share @ np.square(flags[side] - mean)) / float(size)
        return float(np.sqrt(variance))
