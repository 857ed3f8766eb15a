"""The end of the fit of a grown card: what to expect of each size, for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import logit

from directrix._typing import FloatArray, IntArray
from directrix.cards.growth import CardAsk, Grown, grow_card
from directrix.cards.guard import guarded_line
from directrix.cards.sizes import ScaledCard, Size, good_size, sizes_of_card
from directrix.cards.unbinned import unbinned_scores
from directrix.designs.card import CardDesign
from directrix.designs.compact import in_scores
from directrix.designs.editing import EditStart
from directrix.designs.points import finished, ties_split, to_double_odds
from directrix.fitting.choice import Choice, sizes_of
from directrix.fitting.directions import DirectionPrices, flat_columns
from directrix.fitting.evidence import RowEvidence
from directrix.fitting.finish import End, finish
from directrix.fitting.fit_rows import Ask, Fitted
from directrix.fitting.guarantee import Guarantee
from directrix.fitting.training_rows import Rows
from directrix.fitting.trials import HeldOutArea, Trials, label_noise
from directrix.frontier.compare import Comparison, compare
from directrix.frontier.curves import Curves, round_scores
from directrix.metrics.base import Metric
from directrix.models.card import Card, IntegerPoints, PointsToDoubleOdds
from directrix.models.gap import Gap
from directrix.models.operating_point import OF_LINES, Calibration
from directrix.models.report import UNKNOWN, CandidateResult, CardSize, DirectReport

#: Rows of each class that a card is grown from at most.
_MOST_ROWS = 25_000
#: Standard errors by which the full card must be ahead of chance to have lines at all.
_AHEAD = 1.64


@dataclass(frozen=True, eq=False)
class GuardedEvidence(RowEvidence):
    """Scores that are log-odds: the guard has calibrated them, and no other sigmoid is fitted.

    Where the metric fixes the probability at the threshold, it is as for other scores.
    """

    def calibrated(
        self, threshold: float, probability: float | None, name: str | None = None
    ) -> Calibration:
        """Return the calibration of scores less a threshold."""
        if probability is not None:
            return super().calibrated(threshold, probability, name)
        rows = f"penalised likelihood, and its slope on {name or self.rows.name}"
        return Calibration(threshold, 1.0, 1.0, rows)


@dataclass(frozen=True, eq=False)
class Pointed:
    """A size on its scale: log-odds are ``unit * points + shift``, with points for the positive.

    ``scores`` are the held-out log-odds of the printed points.
    """

    card: Card
    unit: float
    shift: float
    scores: FloatArray
    curves: Curves
    is_full: bool

    def log_odds(self, cells: IntArray) -> FloatArray:
        """Return the log-odds of the printed points of rows with these cells."""
        sign = 1.0 if self.card.higher_is_positive else -1.0
        return round_scores(sign * self.unit * self.card.points(cells) + self.shift)


def fit_grown(ask: Ask, design: CardDesign) -> list[Fitted]:
    """Fit a card for each metric: one growth, of which each metric judges every size."""
    rows, apart = (ask.rows, None) if not ask.guarantees else ask.guarantees[0].set_apart(ask.rows)
    raw = rows.in_folds(ask.n_folds, _MOST_ROWS)
    seen = raw._replace(X=design.to_cells(raw.X))
    if apart is not None:
        apart = apart._replace(X=design.to_cells(apart.X))
    judged = JudgedCard.of(seen, design)
    guarantees: Sequence[Guarantee | None] = ask.guarantees or [None] * len(ask.metrics)
    pairs = zip(ask.metrics, guarantees, strict=True)
    fits = [judged.fitted(metric, guarantee, apart) for metric, guarantee in pairs]
    if not design.settings.editable:
        return fits
    cards = judged.grown.cards
    sizes = [None if fit.report.size is None else fit.report.size.lines for fit in fits]
    starts = [EditStart(cards, seen, raw.X, size) for size in sizes]
    return [fit._replace(start=start) for fit, start in zip(fits, starts, strict=True)]


@dataclass(frozen=True, eq=False)
class JudgedCard:
    """A grown card in all sizes on its scale, and which of them is delivered."""

    rows: Rows
    design: CardDesign
    grown: Grown
    sizes: Sequence[Size]

    @classmethod
    def of(cls, rows: Rows, design: CardDesign) -> JudgedCard:
        """Grow a card from rows with cells as their features, and compress it."""
        settings, kinds = design.settings, design.kinds
        largest = settings.scale.largest if isinstance(settings.scale, IntegerPoints) else None
        ask = CardAsk(
            settings.max_lines,
            settings.max_crosses,
            settings.max_columns,
            settings.directions,
            largest,
        )
        grown = grow_card(rows, kinds, ask)
        given = settings.directions, settings.max_lines, largest
        sizes = sizes_of_card(grown.cards, rows, kinds, *given)
        return cls(rows, design, grown, sizes)

    @cached_property
    def areas(self) -> list[HeldOutArea]:
        """Areas of all that was compared, then of all sizes but the full one."""
        folds = range(int(self.rows.fold.max()) + 1) if self.rows.fold is not None else []
        scores = [each.held_out for each in self.grown.tried]
        scores += [size.held_out for size in self.sizes[:-1]]
        return [HeldOutArea.of(each, self.rows, folds) for each in scores] if len(folds) else []

    def _size(self, losses: FloatArray) -> int:
        """Return the size for the losses of all that was compared and of all sizes."""
        n_tried = len(self.grown.tried)
        full = losses[:n_tried].min()
        areas = -np.append(losses[n_tried:], full)
        return good_size(self.sizes, areas, self.rows, self.design.settings.max_lines)

    def _rule(self, losses: FloatArray) -> int:
        size, n_tried = self._size(losses), len(self.grown.tried)
        is_full = size == len(self.sizes) - 1
        return int(np.argmin(losses[:n_tried])) if is_full else n_tried + size

    @cached_property
    def trials(self) -> Trials | None:
        """All that held-out rows have chosen among; None without them."""
        if not self.areas:
            return None
        influence = np.stack([each.influence for each in self.areas])
        area = np.array([each.area for each in self.areas])
        return Trials(area, influence @ influence.T, self._rule)

    @cached_property
    def is_chance(self) -> bool:
        """Whether the full card is not better than chance on held-out rows."""
        if self.trials is None:
            return False
        chosen = self.grown.chosen
        area = float(self.trials.areas[chosen])
        variance = float(self.trials.covariance[chosen, chosen])
        error = np.sqrt((1.0 + label_noise(area, variance)) * variance)
        return bool(area - 0.5 < _AHEAD * error)

    @cached_property
    def index(self) -> int:
        """The size that is delivered."""
        if self.trials is None:
            nothing = np.zeros(len(self.sizes))
            return good_size(self.sizes, nothing, self.rows, self.design.settings.max_lines)
        losses, n_tried = -self.trials.areas, len(self.grown.tried)
        losses = np.concatenate([[losses[self.grown.chosen]] * n_tried, losses[n_tried:]])
        return self._size(losses)

    @cached_property
    def pointed(self) -> list[Pointed]:
        """All sizes on their scale, the full card last."""
        return [self._pointed(size) for size in self.sizes]

    def _pointed(self, size: Size) -> Pointed:
        rows, plain, scale = self.rows, self.rows.unpriced, self.design.settings.scale
        slope, offset = guarded_line(size.held_out, plain.positive, plain.weight)
        cards = {
            fold: ScaledCard(each.card, slope * each.unit, slope * each.shift + offset)
            for fold, each in size.cards.items()
        }
        if not isinstance(scale, IntegerPoints):
            cards = {k: ScaledCard(_in_log_odds(each)) for k, each in cards.items()}
        if isinstance(scale, PointsToDoubleOdds):
            by = np.log(2.0) / scale.pdo
            shift = scale.base_points * by - np.log(scale.base_odds)
            made = {k: to_double_odds(each.card, scale, 1.0, 0.0) for k, each in cards.items()}
            cards = {k: ScaledCard(card, -by, float(shift)) for k, card in made.items()}
        held_out = round_scores(Size.of(cards, rows, self.design.kinds).held_out)
        curves = Curves.of_scores(rows.positive, held_out, rows.weight, rows.fold, rows.group)
        card, unit, shift = cards[None]
        return Pointed(card, abs(unit), shift, held_out, curves, size.is_full)

    @cached_property
    def unbinned(self) -> Curves | None:
        """Held-out scores of logistic regression without bins; None without held-out rows."""
        rows = self.rows
        if rows.fold is None:
            return None
        scores = unbinned_scores(rows, self.design.kinds, self.grown.passed)
        return Curves.of_scores(rows.positive, scores, rows.weight, rows.fold, rows.group)

    @cached_property
    def prices(self) -> DirectionPrices:
        """What directions cost: cards without crosses that keep some of them."""
        directions = self.design.settings.directions if self.rows.fold is not None else ()
        requested = [(each.name, each.requested) for each in directions]
        return DirectionPrices(requested, self._with_directions)

    def _with_directions(self, kept: Sequence[int]) -> Curves:
        rows, every = self.rows, self.design.settings.directions
        ask = CardAsk(max_crosses=0, directions=[every[k] for k in kept])
        grown = grow_card(rows, self.design.kinds, ask)
        scores = grown.tried[grown.chosen].held_out
        return Curves.of_scores(rows.positive, scores, rows.weight, rows.fold)

    @cached_property
    def constant(self) -> Pointed:
        """The card without lines, which predicts the share of positives."""
        rows, kinds = self.rows, self.design.kinds
        share = float(rows.unpriced.weight @ rows.positive) / float(rows.unpriced.weight.sum())
        card = Card(0.0, tuple(np.zeros(of_column.n_cells) for of_column in kinds))
        scores = np.full(len(rows.positive), float(logit(share)))
        curves = Curves.of_scores(rows.positive, scores, rows.weight, rows.fold, rows.group)
        return Pointed(card, 1.0, float(logit(share)), scores, curves, is_full=False)

    def fitted(self, metric: Metric, guarantee: Guarantee | None, apart: Rows | None) -> Fitted:
        """Return the delivered size for a metric, with all other sizes."""
        sizes, index = self.pointed, self.index
        if self.is_chance and isinstance(self.design.settings.max_lines, str):
            sizes, index = [self.constant, *sizes], 0
        others = [] if self.unbinned is None else [self.unbinned]
        comparison = compare(metric, [*(each.curves for each in sizes), *others])
        every = []
        for k, size in enumerate(sizes):
            reserved = None
            if apart is not None:
                reserved = GuardedEvidence(apart, size.log_odds(apart.X))
            choice = Choice.only(metric, size.curves, sizes_of(self.rows), OF_LINES)
            if size is not self.constant:
                choice = replace(choice, trials=self.trials)
            evidence = GuardedEvidence(self.rows, size.scores)
            end = finish(metric, choice, evidence, guarantee, reserved)
            line = np.array([size.unit, size.shift - end.point.threshold])
            make = in_scores if self.design.settings.scale is None else finished
            card, result = make(size.card, end.result(line))
            report = self._report((comparison, k, len(sizes) - 1), size, end, card)
            every.append(Fitted(result, report, card))
        return every[index]._replace(sizes=(*every[:index], *every[index + 1 :]))

    def _report(
        self, compared: tuple[Comparison, int, int], size: Pointed, end: End, card: Card
    ) -> DirectReport:
        """Report how the card was made, and how it compares with others.

        ``compared`` has the comparison of all sizes and of the model without bins, which of them
        the card is, and which the full card.
        """
        (comparison, k, full), grown, kinds = compared, self.grown, self.design.kinds
        metric, losses, folds = end.point.metric, comparison.losses, comparison.fold_losses
        used = sum(bool(np.ptp(points)) for points in card.columns)
        n_lines = card.count_lines(kinds)
        name = f"logistic scorecard: {used} columns, {n_lines} lines"
        why = "One penalised likelihood, with a variance for each column."
        if grown.tried:
            why += (
                f" Of {len(grown.tried)}, held-out log loss chose {grown.tried[grown.chosen].name}."
            )
        sign = -1.0 if metric.greater_is_better else 1.0
        tried = CandidateResult(name, float(sign * losses[k]), *_by_fold(sign * folds[k]))

        def ahead_of(other: int) -> Gap:
            return Gap.of_folds(float(losses[other] - losses[k]), folds[other] - folds[k])

        full_lines = self.sizes[-1].lines
        settings, passed = self.design.settings, grown.passed
        flat = flat_columns(settings.directions, card.columns)
        return DirectReport(
            metric,
            self.rows.name,
            (tried,),
            name,
            why,
            end.assessment.estimate if end.assessment.is_known else UNKNOWN,
            None,
            unbinned_baseline=None if self.unbinned is None else ahead_of(full + 1),
            directions=self.prices.of(metric, flat),
            chance=end.assessment.chance,
            size=None if size.is_full else CardSize(n_lines, full_lines, ahead_of(full)),
            ties=ties_split(metric, size.curves) if size.card.is_whole else None,
            columns_tried=None if passed is None else (int(passed[None].sum()), len(kinds)),
        )


def _by_fold(values: FloatArray) -> tuple[float, tuple[float, ...]]:
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    return error, tuple(values.tolist())


def _in_log_odds(scaled: ScaledCard) -> Card:
    return scaled.card.affine(scaled.unit, scaled.shift)
