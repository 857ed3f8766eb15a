r"""Parity: lines near a fitted one whose rates agree more between segments of the rows.

Let A be the curvature of the fit, and D the contrasts of the segments: the mean features of each
segment less those of all rows of which the rate is a share. Whatever the price of differences
between segments, the best line is to second order

.. math:: w = w_0 - A^{-1} D a,

so that a whole frontier of lines costs one factorisation and no refit. At the strength one all
segments have the same mean score, :math:`D^\top w = 0`; other strengths are multiples of that
shift. Rows near the threshold, weighted by how near they are, give a second such path, on which the
rates agree to first order.

For the false-positive rate A is the covariance of the negatives. The rule of most recall at a
limit, with rates that agree, compares the odds of a row with one plus multiples of
:math:`P(g | x) / P(g) - 1` among the negatives (Neyman and Pearson's lemma); the shift is the
regression of that on the features. All points of the paths are judged on held-out rows.

A path needs nothing of rows but the covariance of their features and the means by segment
(`RateMoments`), so that it is the same for rows in memory and for sums over rows that live
elsewhere (`parity_source`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from directrix.fitting.finalize import Lines
from directrix.fitting.training_rows import weighted_quantiles
from directrix.frontier.compare import Curves, design_without, scores_of
from directrix.models.segment_rates import SegmentRates
from directrix.solve.signed_quadratic import signed_quadratic
from directrix.tables.coding.coded_rows import CodedRows

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.fitting.finalize import ScaledLines
    from directrix.fitting.training_rows import TrainingRows
    from directrix.metrics.base import Metric
    from directrix.metrics.segments import Parity
    from directrix.models.segment_rates import SegmentGap

#: By which rows a path is made, and how wide their neighbourhood of the threshold is, in standard
#: deviations of the score; None for all rows.
_DIRECTIONS: dict[str, float | None] = {"all rows": None, "near the threshold": 0.5}
STRENGTHS = tuple(np.round(np.arange(1, 13) * 0.15, 2).tolist())
#: Features beyond which the curvature is no matrix that one factorises.
_MOST_FEATURES = 3_000
#: Points of the frontier that models are made of, the plain fit not counted.
_MOST_POINTS = 8
_SLIGHT = 1e-8
#: Parts of the rows without each of which a metric is computed again, for its standard error.
_PARTS = 40


# ── The algebra of a path ─────────────────────────────────────────────────────────────────────────


def shift_to_parity(
    curvature: FloatArray, contrasts: FloatArray, coef: FloatArray, noise: float = 0.0
) -> FloatArray:
    r"""Return the smallest shift to equal mean scores, measured by the curvature.

    .. math:: A^{-1} D (D^\top A^{-1} D)^+ D^\top w_0

    Segments that are alike differ by chance, and to remove such a difference costs as much as to
    remove a real one. So the inverse is shrunk: an eigenvalue :math:`\lambda` counts by
    :math:`1 - \tau / \lambda`, and not at all if it is no larger than what chance makes it,
    :math:`\tau`. The largest counts in full, so that with two segments nothing is changed.

    Parameters
    ----------
    curvature : array of shape (p, p)
        A, positive definite.
    contrasts : array of shape (p, s)
        D. For ``noise``, each column times the root of the segment's weight, so that chance is the
        same in all of them.
    coef : array of shape (p,)
        w₀. The line of strength t is w₀ less t times the shift.
    noise : float
        τ, from `chance_eigenvalue`.
    """
    solved = cho_solve(cho_factor(curvature, check_finite=False), contrasts, check_finite=False)
    values, vectors = np.linalg.eigh(contrasts.T @ solved)
    real = values > _SLIGHT * max(float(values[-1]), np.finfo(float).tiny)
    kept = np.where(real, np.maximum(1.0 - noise / np.where(real, values, 1.0), 0.0), 0.0)
    # Chance may make all there is: then the guard has seen a gap by chance, or one in the tail.
    kept = kept / kept[-1] if kept[-1] > 0 else (real & (values == values[-1])).astype(float)
    inverse = (vectors * (kept / np.where(real, values, 1.0))) @ vectors.T
    shift: FloatArray = solved @ (inverse @ (contrasts.T @ coef))
    return shift


def chance_eigenvalue(
    curvature: FloatArray, covariance: FloatArray, n_segments: int, spread: float = 1.0
) -> float:
    r"""Return the mean eigenvalue of :math:`D^\top A^{-1} D` if segments differ by chance only.

    With rows given to segments at random, the sum of the eigenvalues is the trace of
    :math:`M = A^{-1} C`, with the covariance C of the rows, times their spread (see `RateMoments`),
    once for each segment but one. As many are above zero, but no more than there are directions of
    the features, :math:`(\operatorname{tr} M)^2 / \operatorname{tr} M^2`: many segments of few
    features differ in all directions by chance. Traces are estimated from 32 random signs
    (Hutchinson 1990).
    """
    probes = np.random.default_rng(0).choice((-1.0, 1.0), (len(covariance), 32))
    factor = cho_factor(curvature, check_finite=False)
    once = cho_solve(factor, covariance @ probes, check_finite=False)
    twice = cho_solve(factor, covariance @ once, check_finite=False)
    trace, square = (float((probes * each).sum(axis=0).mean()) for each in (once, twice))
    n_directions = max(trace**2 / max(square, np.finfo(float).tiny), 1.0)
    return trace * spread * max(1.0, (n_segments - 1) / n_directions)


def shifted_lines(
    curvature: FloatArray,
    shift: FloatArray,
    line: FloatArray,
    strengths: Sequence[float],
    signs: AnyArray | None = None,
) -> FloatArray:
    """Return the lines of a path, of shape (strengths, p + 1), intercepts last.

    With ``signs`` of the coefficients, each is the nearest line that keeps them, measured by the
    curvature.
    """
    lines = np.tile(line, (len(strengths), 1))
    lines[:, :-1] -= np.multiply.outer(np.asarray(strengths), shift)
    if signs is not None and signs[:-1].any():
        for moved in lines:
            if (moved[:-1] * signs[:-1] < 0).any():
                moved[:-1] = signed_quadratic(curvature, curvature @ moved[:-1], signs[:-1])
    return lines


class RateMoments(NamedTuple):
    r"""What a path is made from: moments of the rows of which the rate is a share.

    ``covariance`` is that of their features. ``contrasts`` of shape (p, s) are multiplied by the
    roots of the segments' weights. ``spread`` is :math:`\sum r_i^2 / \sum b_i`, of the weights r
    that contrasts are made with and the weights b of the rows. ``prior`` is the share of positives
    among all rows.
    """

    covariance: FloatArray
    contrasts: FloatArray
    spread: float
    prior: float

    def path(
        self, line: FloatArray, ridge: FloatArray | float, signs: AnyArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the shift to parity, and the lines of all strengths; see `shifted_lines`.

        ``ridge`` is added to the diagonal of the curvature.
        """
        curvature = self.prior * (1.0 - self.prior) * self.covariance
        curvature[np.diag_indices(len(curvature))] += ridge
        n_segments = self.contrasts.shape[1]
        noise = chance_eigenvalue(curvature, self.covariance, n_segments, self.spread)
        shift = shift_to_parity(curvature, self.contrasts, line[:-1], noise)
        return shift, shifted_lines(curvature, shift, line, STRENGTHS, signs)


def contrasts_of(
    X: Any, share: FloatArray, base: FloatArray, number: IntArray, n_segments: int
) -> FloatArray:
    """Return the contrasts of segments, of shape (p, s), from weights of rows.

    ``share`` weights rows by how near they are to the threshold, and ``base`` by their weight
    alone. With both equal, a contrast is the difference of two means; else the slope of a
    segment's rate by the coefficients, less what the threshold moves to keep the rate of all rows.
    """
    inside = number[:, None] == np.arange(n_segments)
    totals = np.maximum(base @ inside, np.finfo(float).tiny)
    by_segment = share[:, None] * inside / totals
    columns = np.asarray(X.T @ np.column_stack([share / share.sum(), by_segment]), dtype=float)
    contrasts: FloatArray = columns[:, 1:] - columns[:, :1] * by_segment.sum(axis=0)
    return contrasts


def covariance_of(X: Any, share: FloatArray) -> FloatArray:
    """Return the covariance of features; ``share`` sums to one."""
    if isinstance(X, CodedRows):
        mean, second = X.moments(share)
    elif sparse.issparse(X):
        mean = np.asarray(share @ X).ravel()
        second = np.asarray((X.T @ (sparse.diags_array(share) @ X)).todense())
    else:
        mean = share @ X
        second = (X * share[:, None]).T @ X
    covariance: FloatArray = second - np.outer(mean, mean)
    return covariance


def require_few_features(n_features: int) -> None:
    """Refuse features whose curvature is too large a matrix."""
    if n_features > _MOST_FEATURES:
        msg = (
            f"parity= needs at most {_MOST_FEATURES:,} features, and there are "
            f"{n_features:,}: choose some, or leave parity= out"
        )
        raise ValueError(msg)


# ── Points of the paths, and what held-out rows say about them ────────────────────────────────────


class Point(NamedTuple):
    """One model of a path, and what held-out rows say about it.

    ``gap`` is that between the segments. ``error`` is the standard error of the difference between
    its metric and that of the plain fit. ``loss`` is what it is behind the plain fit, smoothed
    along the path. ``model`` is what a fit is made of; its ``line`` is that of all rows.
    """

    direction: str
    strength: float
    model: Any
    gap: float
    error: float
    loss: float


@dataclass(frozen=True)
class PathSearch(ABC):
    """The points of paths from a fitted line to parity, and the choice among them."""

    parity: Parity
    metric: Metric

    @property
    @abstractmethod
    def plain(self) -> SegmentGap:
        """The gap between the segments in the plain fit."""

    @property
    @abstractmethod
    def error(self) -> float:
        """The standard error of the metric of the plain fit."""

    @property
    @abstractmethod
    def line(self) -> FloatArray:
        """The plain fit of all rows, on the scale of those of the points."""

    @abstractmethod
    def points(self) -> list[Point]:
        """Return the points of all paths, judged on held-out rows."""

    @property
    def guard(self) -> str:
        """Why no alternatives are looked for; empty if they are."""
        gap = self.plain
        if gap.is_real:
            return ""
        if gap.lowest is None:
            return "because fewer than two segments have rows of which the rate is a share"
        return (
            f"because the gap of {gap.value:.3f} between segments is no larger than chance "
            f"alone makes it (up to {gap.at_most_by_chance:.3f})"
        )

    @property
    def _sign(self) -> float:
        """By what a metric is multiplied to be a loss."""
        return -1.0 if self.metric.greater_is_better else 1.0

    def choice(self, points: Sequence[Point], error: float) -> tuple[Point | None, str]:
        """Return the point that the rule asks for, None for the plain fit, and why.

        ``error`` is the standard error of the metric of the plain fit. Gaps that chance alone makes
        are as small as any.
        """
        rule, least = self.parity.rule, self.plain.by_chance
        allowed = [point for point in points if point.gap < self.plain.value]
        if rule == "one_se":
            allowed = [point for point in allowed if point.loss <= error]
            why = f"the smallest gap within one standard error ({error:.4f}) of the plain fit"
        elif rule == "parity":
            why = "the smallest gap"
        else:
            least, why = float(rule), f"the best with a gap of at most {float(rule):g}"
            if self.plain.value <= least:
                return None, f"because its gap is no larger than {least:g}"
        if not allowed:
            within = f" within one standard error ({error:.4f}) of it" if rule == "one_se" else ""
            return None, f"because no alternative has a smaller gap{within}"
        smallest = min(point.gap for point in allowed)
        if not isinstance(rule, str) and smallest > least:
            why = f"no alternative has a gap of at most {least:g}, and this one has the smallest"
        small_enough = [point for point in allowed if point.gap <= max(smallest, least)]
        return min(small_enough, key=lambda point: (point.loss, point.strength)), why


class MovedLines(NamedTuple):
    """The lines of a point of rows in memory, in the units of the rows and on one scale.

    ``fold_losses`` are those of the metric in each fold.
    """

    lines: Lines
    scaled: ScaledLines
    fold_losses: FloatArray

    @property
    def line(self) -> FloatArray:
        """The line of all rows."""
        return self.scaled.refit


@dataclass(frozen=True)
class ParitySearch(PathSearch):
    """The paths of rows in memory.

    ``rows`` have features, folds and segments. ``lines`` are the fitted ones and ``scores`` their
    held-out scores, less the threshold. ``signs`` returns those that the coefficients of a design
    keep, ``ridge`` is that of the fit. ``at`` sets thresholds for a metric.
    """

    at: Metric
    rows: TrainingRows
    lines: Lines
    scores: FloatArray
    signs: Callable[[Any], IntArray | None]
    ridge: float

    @cached_property
    def plain(self) -> SegmentGap:
        """The gap between the segments in the plain fit."""
        return self._rates(self.scores).gap(self.parity.rate)

    @cached_property
    def error(self) -> float:
        """The standard error of the metric of the plain fit."""
        return self.standard_error(self.scores)

    @property
    def line(self) -> FloatArray:
        """The plain fit of all rows, on the scale of those of the points."""
        return self.lines.on_one_scale(self.rows).refit

    @property
    def guard(self) -> str:
        """Why no alternatives are looked for; empty if they are."""
        if self.rows.fold is None:
            return "because there are too few rows to hold some out"
        return super().guard

    def points(self) -> list[Point]:
        """Return the points of all paths, judged on held-out rows."""
        require_few_features(self.rows.X.shape[1])
        by_fold = {fold: dict(self._paths(fold, line)) for fold, line in self._fitted}
        return [
            point
            for direction in _DIRECTIONS
            for point in self._judged(direction, {f: p[direction] for f, p in by_fold.items()})
        ]

    @property
    def _fitted(self) -> list[tuple[int | None, FloatArray]]:
        return [(None, self.lines.refit), *enumerate(self.lines.without)]

    def _paths(
        self, fold: int | None, line: FloatArray
    ) -> Iterator[tuple[str, tuple[FloatArray, FloatArray]]]:
        """Yield the lines of each path, and the scores of all rows by them.

        They are made without the rows of the fold.
        """
        rows, segments = self.rows, self.rows.segments
        assert segments is not None  # noqa: S101 - parity asks for them
        every = design_without(rows.X, fold)
        fitted = slice(None) if fold is None else np.flatnonzero(rows.fold != fold)
        X, number = every[fitted], segments.number[fitted]
        positive, weight = rows.positive[fitted], rows.unpriced.weight[fitted]
        base = np.where(self.parity.rows(positive), weight, 0.0)
        scores = scores_of(X, line[None])[:, 0]
        prior = float(weight @ positive) / float(weight.sum())
        signs = self.signs(X)
        (below,) = weighted_quantiles(scores[:, None], base, [1.0 - self._flagged_share])
        threshold = float(below[0])
        for direction, width in _DIRECTIONS.items():
            share = base
            if width is not None:
                near = expit((scores - threshold) / (width * (float(scores.std()) or 1.0)))
                share = base * 4.0 * near * (1.0 - near)
            contrasts = contrasts_of(X, share, base, number, len(segments.names))
            contrasts *= np.sqrt(np.bincount(number, base, len(segments.names)))
            spread = float(share @ share) / float(base.sum())
            covariance = covariance_of(X, share / share.sum())
            moments = RateMoments(covariance, contrasts, spread, prior)
            shift, lines = moments.path(line, self.ridge, signs)
            if signs is None:  # scores are linear in the strength
                ends = scores_of(every, np.stack([line, np.append(line[:-1] - shift, line[-1])]))
                moved = np.multiply.outer(ends[:, 1] - ends[:, 0], np.asarray(STRENGTHS))
                yield direction, (lines, ends[:, :1] + moved)
            else:
                yield direction, (lines, scores_of(every, lines))

    @cached_property
    def _flagged_share(self) -> float:
        """The share of the parity's rows that the plain fit flags."""
        inside = self.parity.rows(self.rows.positive)
        weight = self.rows.unpriced.weight[inside]
        return float(weight @ (self.scores[inside] > 0)) / float(weight.sum())

    def _judged(
        self, direction: str, by_fold: dict[int | None, tuple[FloatArray, FloatArray]]
    ) -> list[Point]:
        """Return the points of one path."""
        rows, points, losses = self.rows, [], []
        for k, strength in enumerate(STRENGTHS):
            refit, *without = (lines[k] for lines, _ in by_fold.values())
            every = np.column_stack([scores[:, k] for _, scores in by_fold.values()])
            lines = Lines(refit, without)
            scaled = lines.scaled(rows, every)
            curves = Curves(rows.positive, scaled.held_out, rows.weight, rows.fold)
            threshold, value, _ = self.at.best(curves.whole)
            scores = scaled.held_out - threshold
            gap = self._rates(scores).gap(self.parity.rate).value
            folds = np.array([self.metric.best_value(curve) for curve in curves.folds])
            moved = MovedLines(lines, scaled, self._sign * folds)
            points.append(
                (direction, strength, moved, gap, self.standard_error(scores, self.scores))
            )
            losses.append(self._sign * (value - self._plain_value))
        return smoothed_points(points, losses)

    @cached_property
    def _plain_value(self) -> float:
        """The metric of the plain fit."""
        rows = self.rows
        return self.at.best(Curves(rows.positive, self.scores, rows.weight, None).whole).value

    def standard_error(self, scores: FloatArray, other: FloatArray | None = None) -> float:
        """Return the standard error of the metric of held-out scores, or of a difference of two.

        Thresholds are at zero. By the jackknife: the metric is computed without each of forty parts
        of the rows. A ranking has the standard error over folds.
        """
        values = self._without_parts(scores)
        if other is not None:
            values = values - self._without_parts(other)
        n = len(values)
        if not self.metric.uses_threshold:
            return float(values.std(ddof=1)) / float(np.sqrt(n)) if n > 1 else 0.0
        return float(values.std()) * float(np.sqrt(n - 1))

    def _without_parts(self, scores: FloatArray) -> FloatArray:
        """Return the metric without each part of the rows; of a ranking, in each fold."""
        rows, metric = self.rows, self.metric
        at_rates: Any = metric.at_rates
        if not metric.uses_threshold:
            curves = Curves(rows.positive, scores, rows.weight, rows.fold)
            return np.array([metric.best_value(curve) for curve in curves.folds])
        rates = []
        for side in (rows.positive, ~rows.positive):
            part = self._part[side]
            weights = rows.weight[side], rows.weight[side] * (scores[side] > 0)
            totals = [np.bincount(part, weight, _PARTS) for weight in weights]
            rest, flagged = (total.sum() - total for total in totals)
            rates.append(flagged / np.maximum(rest, np.finfo(float).tiny))
        prior = float(rows.weight @ rows.positive) / float(rows.weight.sum())
        return np.array([at_rates(*pair, prior) for pair in zip(*rates, strict=True)])

    @cached_property
    def _part(self) -> IntArray:
        """The part of each row; rows of a group are in one, and classes are spread evenly."""
        rows = self.rows
        if rows.group is not None:
            return rows.group % _PARTS
        part = np.empty(len(rows.positive), dtype=np.int64)
        for side in (rows.positive, ~rows.positive):
            part[side] = np.arange(np.count_nonzero(side)) % _PARTS
        return part

    def _rates(self, scores: FloatArray) -> SegmentRates:
        rows = self.rows
        assert rows.segments is not None  # noqa: S101 - parity asks for them
        return SegmentRates.of(rows.positive, scores > 0, rows.unpriced.weight, rows.segments)


def frontier(points: Sequence[Point], chosen: Point | None) -> list[Point]:
    """Return the points that no other one beats in both metric and gap, and the chosen one.

    They are in the order of what they cost; of many, some.
    """
    best: list[Point] = []
    for point in sorted(points, key=lambda each: (each.loss, each.gap)):
        if not best or point.gap < best[-1].gap:
            best.append(point)
    if len(best) > _MOST_POINTS:
        kept = np.unique(np.linspace(0, len(best) - 1, _MOST_POINTS).round().astype(int))
        best = [best[k] for k in kept]
    if chosen is not None and not any(point is chosen for point in best):
        best = sorted([*best, chosen], key=lambda each: (each.loss, each.gap))
    return best


def smoothed_points(
    points: Sequence[tuple[str, float, Any, float, float]], losses: Sequence[float]
) -> list[Point]:
    """Return the points of one path, all but their losses, with losses that are smoothed."""
    smooth = _smoothed(np.array(losses), np.array([point[4] for point in points]))
    return [Point(*point, loss) for point, loss in zip(points, smooth.tolist(), strict=True)]


def _smoothed(losses: FloatArray, errors: FloatArray) -> FloatArray:
    r"""Return losses along a path as :math:`b t^2` of the strength t, with b at least zero.

    The plain fit is nearly a minimum, so that the loss has no linear term; one curve through all
    points is known better than each of them. They count by their standard errors.
    """
    square = np.square(STRENGTHS)
    precision = 1.0 / np.square(np.maximum(errors, errors.max() * 0.01 + np.finfo(float).eps))
    factor = float(precision @ (losses * square)) / float(precision @ np.square(square))
    smooth: FloatArray = max(factor, 0.0) * square
    return smooth
