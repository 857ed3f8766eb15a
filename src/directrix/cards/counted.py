r"""Cards in closed form from counts of bins, without rows.

The class moments of coded bins are linear in the counts, so that lines of every ridge and trade-off
come in closed form. With folds, each line is judged on the counts of the fold it was made without:
mean and variance of its scores in both classes, of which the metric is a closed-form risk if scores
are normal, as the sum of many bounded points nearly is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import isotonic_regression

from directrix.cards.basis import Basis, as_dense
from directrix.cards.card import Card
from directrix.cards.compression import compression_of_counts
from directrix.cards.points import finished, scaled_without_rows
from directrix.cards.prior import CellKinds, column_codings
from directrix.cards.sizes import CAUTIOUS_LINES, MOST_LINES, SIZES
from directrix.fit.finish import FitResult
from directrix.fit.normal_scores import finish_on_moments, predicted_rates
from directrix.fit.training_rows import require_all_folds
from directrix.linear.moment_frontier import ridge_settings
from directrix.linear.pencil import RidgeMoments
from directrix.moments.counts.stability import effective_rows
from directrix.moments.projection import ScoreMoments
from directrix.moments.risks import risk_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray
    from directrix.cards.card import Scale
    from directrix.fit.directions import Direction
    from directrix.metrics.base import Metric
    from directrix.moments import BinCounts
    from directrix.moments.risks.base import Risk

#: Ridge where counts have no folds to choose one by.
_CAUTIOUS = 0.1
#: Share of the rows of a class that the freedom of a line takes at most.
_MOST_FREEDOM = 0.7
#: Ridges that are tried, strongest first.
_RIDGES = (3.0, 1.0, 0.3, 0.1, 3e-2, 1e-2, 3e-3, 1e-3)
#: Directions of a column at most, and at least where columns are many; and about so many of all.
_DIRECTIONS, _LEAST_DIRECTIONS, _TOGETHER = 12, 2, 1_500


class CountedCard(NamedTuple):
    """A card from counts; its mean risk on held-out counts is NaN without folds."""

    fitted: FitResult
    card: Card
    ridge: float
    angle: float
    risk: float
    on_new_rows: OnNewRows

    def on_scale(self, scale: Scale | None, sizes: CountedSizes) -> CountedCard:
        """Return the card on a scale, plainly rounded, with its own threshold and rates."""
        if scale is None:
            return self
        card, fitted = scaled_without_rows(scale, self.card, self.fitted)
        scores = sizes.on_new_rows(card, self.on_new_rows)
        moved = sizes.threshold(scores)
        metric, calibration = fitted.operating_point.metric, fitted.calibration
        predicted = predicted_rates(scores.above(moved), metric, sizes.counts.weight)
        fitted = replace(
            fitted,
            line=fitted.line - np.array([0.0, moved]),
            operating_point=replace(fitted.operating_point, predicted=predicted),
            calibration=replace(calibration, offset=float(calibration.log_odds(moved))),
        )
        card, fitted = finished(card, fitted)
        return self._replace(card=card, fitted=fitted)


class OnNewRows(NamedTuple):
    """Moments of the scores of a line on new rows, as multiples of those on the rows of its fit.

    ``gap`` is for the difference of the means, ``var_pos`` and ``var_neg`` for the variances.
    """

    gap: float = 1.0
    var_pos: float = 1.0
    var_neg: float = 1.0

    def of(self, gap: float, var_pos: float, var_neg: float) -> tuple[float, float, float]:
        """Return the difference of the means and the variances on new rows."""
        return self.gap * gap, self.var_pos * var_pos, self.var_neg * var_neg


def card_of_counts(
    metric: Metric,
    counts: BinCounts,
    label: Any,
    directions: Sequence[Direction] = (),
    scale: Scale | None = None,
    max_lines: int | str | None = None,
) -> CountedCard:
    """Return a card for one class against the other, with its bins and their counts.

    ``max_lines`` is that of `CardSettings`.
    """
    full = _full_card(metric, counts, label, directions)
    sizes = CountedSizes(metric, counts, label, directions)
    made = full.on_scale(scale, sizes)
    if max_lines is not None:
        compact = sizes.compact(full, max_lines, made.card.count_lines(counts.bins))
        made = made if compact is full else compact.on_scale(scale, sizes)
    by_class = [np.asarray(counts.cells(k), dtype=np.float64) for k in range(len(counts.bins))]
    sides = two_sides(by_class, counts.classes == label)
    return made._replace(card=made.card.with_rows(counts.bins, sides))


def two_sides(by_class: Sequence[FloatArray], positive: AnyArray) -> tuple[FloatArray, ...]:
    """Return sums over the negative and over the positive classes, of shape (2, cells) each.

    ``by_class`` has an array of shape (classes, cells) for each column.
    """
    return tuple(
        np.stack([counts[~positive].sum(axis=0), counts[positive].sum(axis=0)])
        for counts in by_class
    )


def _full_card(
    metric: Metric,
    counts: BinCounts,
    label: Any,
    directions: Sequence[Direction] = (),
) -> CountedCard:
    """Return the best full card for a metric."""
    basis = basis_of_counts(counts, directions)
    risk = risk_of(metric, counts.weight)
    whole, prior = coded_moments(counts, basis, label)
    has_folds = counts.n_folds > 1
    if has_folds:
        _require_both_classes(counts, label, counts.n_folds)
        settings = ridge_settings(_RIDGES)
        risks = _held_out_risks(risk, counts, basis, label, settings)
    else:
        settings = ridge_settings([_CAUTIOUS])
        risks = np.asarray(risk.profile(*whole.line_scores(whole.lines(settings)), prior)[0])
    best = int(np.argmin(risks))
    line = whole.lines([settings[best]])[0]
    on_new_rows = _on_new_rows(counts, label, whole, line, settings[best])
    spread = (float(part[0]) for part in whole.line_scores(line[None]))
    gap, var_pos, var_neg = on_new_rows.of(*spread)
    _, threshold = risk.profile(np.array([gap]), np.array([var_pos]), np.array([var_neg]), prior)
    # Scores of the negatives have mean zero; where one class is best for all, out of reach of both.
    reach = float(np.clip(threshold[0], -abs(gap) - 1e3, abs(gap) + 1e3))
    line[-1] -= reach
    scores = ScoreMoments(gap - reach, var_pos, -reach, var_neg, prior)
    fitted = finish_on_moments(metric, line, scores, counts.weight)
    card = _card_of(basis, line)
    held_out_risk = float(risks[best]) if has_folds else float("nan")
    return CountedCard(fitted, card, *settings[best], held_out_risk, on_new_rows)


def _held_out_risks(
    risk: Risk, counts: BinCounts, basis: Basis, label: Any, settings: Sequence[tuple[float, float]]
) -> FloatArray:
    """Return the mean risk of lines without each fold of the counts, on the fold."""
    risks = np.zeros(len(settings))
    for number, fold in enumerate(counts.folds):
        lines = coded_moments(counts.without_fold(number), basis, label)[0].lines(settings)
        held_out, prior = coded_moments(fold, basis, label)
        values, _ = risk.profile(*held_out.line_scores(lines), prior)
        risks += np.asarray(values) / counts.n_folds
    return risks


def _on_new_rows(
    counts: BinCounts, label: Any, moments: RidgeMoments, line: FloatArray, setting: Sequence[float]
) -> OnNewRows:
    r"""Return what is left of the moments of scores if a line did not fit the errors of moments.

    Coefficients w = H δ add tr(H E) to w · δ, for errors of sampling of covariance E in δ. A
    covariance :math:`\Sigma_c` of :math:`n_c` rows with weight :math:`a_c` in the equations makes
    the variance of scores too small, by a factor of about
    :math:`(1 - a_c\, \mathrm{tr}(H \Sigma_c) / n_c)^2`. Coefficients that their signs hold at zero
    fit nothing.
    """
    ridge, angle = setting
    gap = float(line[:-1] @ moments.delta)
    if gap <= 0.0:
        return OnNewRows()
    unit = np.eye(len(moments.delta))
    equations = moments.mixed(angle) + ridge * unit
    free, solution = np.flatnonzero(line[:-1]), np.zeros_like(unit)
    solution[free] = np.linalg.solve(equations[np.ix_(free, free)], unit[free])
    coef = solution @ moments.delta
    length = float(line[:-1] @ coef / (coef @ coef))
    positive = counts.classes == label
    rows = [max(effective_rows(counts, side), 1.0) for side in (positive, ~positive)]
    errors = moments.cov_pos / rows[0] + moments.cov_neg / rows[1]
    gained = length * float(np.sum(solution * errors.T))
    shares = (np.cos(angle), moments.cov_pos), (np.sin(angle), moments.cov_neg)
    factors = []
    for (share, covariance), n in zip(shares, rows, strict=True):
        freedom = share * float(np.sum(solution * covariance.T)) / n
        factors.append(1.0 / (1.0 - min(max(freedom, 0.0), _MOST_FREEDOM)) ** 2)
    return OnNewRows(min(max(1.0 - gained / gap, 0.0), 1.0), factors[0], factors[1])


def basis_of_counts(counts: BinCounts, directions: Sequence[Direction]) -> Basis:
    """Return the basis of all columns; it is learned without labels."""
    rank = min(_DIRECTIONS, max(_LEAST_DIRECTIONS, _TOGETHER // max(len(counts.bins), 1)))
    weights = [counts.cells(k).sum(axis=0).astype(np.float64) for k in range(len(counts.bins))]
    kinds = [CellKinds.of(bins) for bins in counts.bins]
    bases, signs = column_codings(kinds, weights, rank, directions)
    return Basis.from_columns([as_dense(each) for each in bases], signs)


def _card_of(basis: Basis, line: FloatArray) -> Card:
    return Card(float(line[-1]), basis.points(line))


def coded_moments(counts: BinCounts, basis: Basis, label: Any) -> tuple[RidgeMoments, float]:
    """Return the class moments of coded bins, and the share of positives."""
    matrix = sparse.block_diag(basis.columns, format="csr")
    others = [each for each in counts.classes.tolist() if each != label]
    weights, means, seconds = [], [], []
    for group in ([label], others):
        parts = [counts.class_moments(each) for each in group]
        total = sum(part.weight for part in parts)
        shares = [part.weight / total if total else 0.0 for part in parts]
        mean = sum(share * part.mean for share, part in zip(shares, parts, strict=True))
        second = sum(share * part.second for share, part in zip(shares, parts, strict=True))
        weights.append(total)
        means.append(matrix.T @ mean)
        seconds.append(np.asarray((matrix.T @ second @ matrix).todense()))
    covariances = [
        second - np.outer(mean, mean) for mean, second in zip(means, seconds, strict=True)
    ]
    signs = basis.signs[:-1] if basis.signs.any() else None
    moments = RidgeMoments(means[0] - means[1], means[1], covariances[0], covariances[1], signs)
    return moments, float(weights[0] / sum(weights))


# ── Compact cards ─────────────────────────────────────────────────────────────────────────────────


class CountedSizes(NamedTuple):
    """Compact cards from counts; held-out counts choose the size."""

    metric: Metric
    counts: BinCounts
    label: Any
    directions: Sequence[Direction]

    def compact(self, full: CountedCard, max_lines: int | str, n_lines: int) -> CountedCard:
        """Return the compact card of a full one; the same if that prints few lines itself."""
        size = self._chosen(full, n_lines) if isinstance(max_lines, str) else max_lines
        if size >= n_lines:
            return full
        card = self.cards(self.counts, full.card, [size])[size]
        scores = self.on_new_rows(card, full.on_new_rows)
        reach = self.threshold(scores)
        card = replace(card, intercept=card.intercept - reach)
        scores = scores.above(reach)
        line = np.array([1.0, card.intercept])
        fitted = finish_on_moments(self.metric, line, scores, self.counts.weight)
        return full._replace(card=card, fitted=fitted)

    def threshold(self, scores: ScoreMoments) -> float:
        """Return the best threshold of scores."""
        _, threshold = _risk_of(risk_of(self.metric, self.counts.weight), scores)
        gap = abs(scores.mean_pos - scores.mean_neg)
        return scores.mean_neg + float(np.clip(threshold, -gap - 1e3, gap + 1e3))

    def on_new_rows(self, card: Card, on_new_rows: OnNewRows) -> ScoreMoments:
        """Return the moments of scores on new rows, as far from those of the fit as full cards'."""
        scores = score_moments(card, self.counts, self.label)
        gap = scores.mean_pos - scores.mean_neg
        gap, var_pos, var_neg = on_new_rows.of(gap, scores.var_pos, scores.var_neg)
        return ScoreMoments(scores.mean_neg + gap, var_pos, scores.mean_neg, var_neg, scores.prior)

    def cards(self, counts: BinCounts, full: Card, sizes: Sequence[int]) -> dict[int, Card]:
        """Return a card in several sizes."""
        parts = [counts.class_moments(each) for each in counts.classes.tolist()]
        second = sum(part.weight * part.second for part in parts)
        weight = counts.class_moments(self.label).weight
        kinds = [CellKinds.of(bins) for bins in counts.bins]
        prior = float(weight / counts.weight)
        compression = compression_of_counts(full, second, prior, kinds, self.directions)
        return {
            size: compression.compact(groups) for size, groups in compression.path(sizes).items()
        }

    def _chosen(self, full: CountedCard, n_lines: int) -> int:
        """Return the smallest size whose risk is within one standard error of the full card's.

        The standard error is that of the difference over folds. Without folds it is a cautious one.
        """
        sizes = [size for size in SIZES if size <= MOST_LINES and size < n_lines]
        if self.counts.n_folds < 2 or not sizes:
            return CAUTIOUS_LINES
        basis = basis_of_counts(self.counts, self.directions)
        risk = risk_of(self.metric, self.counts.weight)
        risks = np.empty((len(sizes) + 1, self.counts.n_folds))
        for number, fold in enumerate(self.counts.folds):
            others = self.counts.without_fold(number)
            moments, _ = coded_moments(others, basis, self.label)
            teacher = _card_of(basis, moments.lines([(full.ridge, full.angle)])[0])
            cards = self.cards(others, teacher, sizes)
            for k, card in enumerate([teacher, *(cards[size] for size in sizes)]):
                scores = score_moments(card, fold, self.label)
                risks[k, number] = _risk_of(risk, scores)[0]
        behind = risks[1:] - risks[0]
        good = _as_good(behind.mean(axis=1), _largest_losses(behind))
        return sizes[int(good.argmax())] if good.any() else MOST_LINES


def _as_good(behind: FloatArray, largest: FloatArray) -> AnyArray:
    """Return which sizes, the smallest first, are as good as the full card.

    ``behind`` says by how much each is worse, and ``largest`` how much that may be. A small card
    is better than a larger one of the same path by chance alone, so the losses are first made to
    fall with the size, by isotonic regression.
    """
    return _falling(behind) <= largest


def _largest_losses(behind: FloatArray) -> FloatArray:
    """Return how much worse a size may be: one standard error over folds.

    ``behind`` of shape (sizes, folds) says by how much each is worse. Standard errors are made to
    fall with the size, as differences to the full card do.
    """
    errors = behind.std(axis=1, ddof=1) / np.sqrt(behind.shape[1])
    return _falling(errors)


def _falling(values: FloatArray) -> FloatArray:
    nearest: FloatArray = isotonic_regression(values, increasing=False).x
    return nearest


def score_moments(card: Card, counts: BinCounts, label: Any) -> ScoreMoments:
    """Return mean and variance of the scores of a card for a label, and for all others."""
    sign = 1.0 if card.higher_is_positive else -1.0
    points, zero = sign * np.concatenate(card.columns), sign * (card.intercept - card.cutoff)
    others = [each for each in counts.classes.tolist() if each != label]
    weights, means, variances = [], [], []
    for group in ([label], others):
        parts = [counts.class_moments(each) for each in group]
        total = sum(part.weight for part in parts)
        mean = sum(part.weight * (part.mean @ points) for part in parts) / (total or 1.0)
        square = sum(part.weight * (points @ (part.second @ points)) for part in parts)
        weights.append(total)
        means.append(zero + float(mean))
        variances.append(max(float(square / (total or 1.0) - mean**2), 0.0))
    prior = float(weights[0] / sum(weights))
    return ScoreMoments(means[0], variances[0], means[1], variances[1], prior)


def _risk_of(risk: Risk, scores: ScoreMoments) -> tuple[float, float]:
    """Return the risk at the best threshold, and how far that is above the mean of negatives."""
    gap, variances = scores.mean_pos - scores.mean_neg, (scores.var_pos, scores.var_neg)
    of_pos, of_neg = (np.array([variance]) for variance in variances)
    values, thresholds = risk.profile(np.array([gap]), of_pos, of_neg, scores.prior)
    return float(values[0]), float(thresholds[0])


def _require_both_classes(counts: BinCounts, label: Any, n_folds: int) -> None:
    """Refuse so few rows that a fold has none of a class."""
    positives = [fold.class_moments(label).weight for fold in counts.folds]
    others = [fold.weight - of_fold for fold, of_fold in zip(counts.folds, positives, strict=True)]
    fold, positive = np.nonzero(np.array([others, positives]).T > 0.0)
    require_all_folds(fold, positive > 0, n_folds)
