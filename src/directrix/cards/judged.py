"""The end of the fit of a card: every size on its scale, and what held-out rows show of each.

Held-out rows are scored by cards that were made without their fold, with the points that are
printed. These are rows in memory, or all rows of a source whose scores are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import logit

from directrix._typing import FloatArray
from directrix.cards.card import Card, IntegerPoints, PointsToDoubleOdds, Scale
from directrix.cards.growth import CardAsk, Grown, grow_card
from directrix.cards.guard import guarded_line
from directrix.cards.points import finished, in_scores, to_double_odds
from directrix.cards.prior import CellKinds
from directrix.cards.sizes import ScaledCard, Size, good_size, sizes_of_card, weights_without
from directrix.cards.unbinned import unbinned_scores
from directrix.fit.choice import Choice
from directrix.fit.compare import Comparison, compare
from directrix.fit.curves import Curves, ScoreCurves, round_scores
from directrix.fit.directions import Direction, DirectionPrices, flat_columns
from directrix.fit.evidence import Evidence, RowEvidence
from directrix.fit.finish import End, FitResult, finish
from directrix.fit.gap import Gap
from directrix.fit.guarantee import Guarantee
from directrix.fit.operating_point import OF_LINES
from directrix.fit.report import CandidateResult, CardSize, DirectReport
from directrix.fit.training_rows import Rows
from directrix.fit.trials import HeldOutArea, Trials, label_noise
from directrix.metrics.base import Metric

#: Standard errors by which the full card must be ahead of chance to have lines at all.
_AHEAD = 1.64


@dataclass(frozen=True)
class CardSettings:
    """Settings of a card that do not depend on the metric.

    ``max_lines`` is "auto", the largest number of printed lines, or None for the full card;
    ``scale`` says what a point is worth; None if points are log-odds.
    """

    max_lines: int | str | None = None
    max_crosses: int | None = None
    directions: Sequence[Direction] = ()
    max_columns: int | str | None = None
    scale: Scale | None = None

    @property
    def largest(self) -> int | None:
        """The largest number of points of a line, if points are small whole numbers."""
        return self.scale.largest if isinstance(self.scale, IntegerPoints) else None


@dataclass(frozen=True, eq=False)
class EditStart:
    """Full cards in log-odds, of all rows (None) and without each fold, and the rows they score.

    ``rows`` have cells as their features, and ``values`` those of their columns, in the same order.
    ``n_lines`` is the number of lines that a fit has chosen, None for those of the full card.
    """

    cards: Mapping[int | None, Card]
    rows: Rows
    values: FloatArray
    n_lines: int | None


@dataclass(frozen=True, eq=False)
class FittedCard:
    """A card with its threshold, and its report.

    ``sizes`` are the same fit in other sizes, and ``start`` is what an editor of the card begins
    with, if it was asked for.
    """

    fitted: FitResult
    report: DirectReport
    card: Card
    sizes: tuple[FittedCard, ...] = ()
    start: EditStart | None = None


# ── What held-out rows show of each size: rows in memory, or counts of the scores of a source ─────


@dataclass(frozen=True, eq=False)
class HeldOutSizes:
    """Evidence from held-out rows for each size of a card.

    ``evidence`` has the scores of held-out rows and of rows set apart, if there are such. ``index``
    is the size to deliver. ``unbinned`` are the rates of logistic regression without bins on the
    same rows, if they are known.
    """

    name: str
    evidence: Sequence[tuple[Evidence, Evidence | None]]
    index: int
    trials: Trials | None
    unbinned: Curves | None = None


# ── The sizes of a card on their scale ────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Pointed:
    """A size on its scale: the cards of all rows (None) and without each fold, as printed."""

    cards: Mapping[int | None, ScaledCard]
    is_full: bool = False
    is_constant: bool = False

    @property
    def card(self) -> Card:
        """The card of all rows."""
        return self.cards[None].card

    @property
    def line(self) -> FloatArray:
        """The log-odds, as a line of points in favour of the positive class."""
        made = self.cards[None]
        return np.array([abs(made.unit), made.shift])


@dataclass(frozen=True, eq=False)
class JudgedCard:
    """A card in all sizes, scored on held-out rows, from which one size is delivered."""

    rows: Rows
    kinds: Sequence[CellKinds]
    settings: CardSettings
    grown: Grown
    sizes: Sequence[Size]

    @classmethod
    def of(cls, rows: Rows, kinds: Sequence[CellKinds], settings: CardSettings) -> JudgedCard:
        """Grow a card from rows with cells as their features, and compress it."""
        asked = settings.max_crosses, settings.max_columns, settings.directions
        grown = grow_card(rows, kinds, CardAsk(*asked))
        given = settings.directions, settings.max_lines, settings.largest
        return cls(rows, kinds, settings, grown, sizes_of_card(grown.cards, rows, kinds, *given))

    @cached_property
    def _areas(self) -> list[HeldOutArea]:
        folds = range(int(self.rows.fold.max()) + 1) if self.rows.fold is not None else []
        scores = [each.held_out for each in self.grown.tried]
        scores += [size.held_out for size in self.sizes[:-1]]
        return [HeldOutArea.of(each, self.rows, folds) for each in scores] if len(folds) else []

    def _rule(self, losses: FloatArray) -> int:
        """Return the index of the chosen candidate, from the losses of structures and sizes."""
        n_tried = len(self.grown.tried)
        size = self.good_size(-np.append(losses[n_tried:], losses[:n_tried].min()))
        is_full = size == len(self.sizes) - 1
        return int(np.argmin(losses[:n_tried])) if is_full else n_tried + size

    def good_size(self, areas: FloatArray) -> int:
        """Return the size to deliver; ``areas`` are those of all sizes on held-out rows."""
        return good_size(self.sizes, areas, self.rows, self.settings.max_lines)

    @cached_property
    def trials(self) -> Trials | None:
        """Every structure and size that held-out rows chose among; None without held-out rows."""
        if not self._areas:
            return None
        influence = np.stack([each.influence for each in self._areas])
        area = np.array([each.area for each in self._areas])
        return Trials(area, influence @ influence.T, self._rule)

    @cached_property
    def is_empty(self) -> bool:
        """Whether a card without lines is delivered: the full one is not better than chance."""
        if self.trials is None or not isinstance(self.settings.max_lines, str):
            return False
        chosen = self.grown.chosen
        area = float(self.trials.areas[chosen])
        variance = float(self.trials.covariance[chosen, chosen])
        error = np.sqrt((1.0 + label_noise(area, variance)) * variance)
        return bool(area - 0.5 < _AHEAD * error)

    @cached_property
    def pointed(self) -> list[Pointed]:
        """All sizes on their scale, the full card last; the card without lines is the first."""
        made = [self._pointed(size) for size in self.sizes]
        return [self._constant, *made] if self.is_empty else made

    def _pointed(self, size: Size) -> Pointed:
        plain, scale = self.rows.unpriced, self.settings.scale
        slope, offset = guarded_line(size.held_out, plain.positive, plain.weight)
        cards = {
            fold: ScaledCard(each.card, slope * each.unit, slope * each.shift + offset)
            for fold, each in size.cards.items()
        }
        if not isinstance(scale, IntegerPoints):
            cards = {k: ScaledCard(each.card.affine(*each[1:])) for k, each in cards.items()}
        if isinstance(scale, PointsToDoubleOdds):
            by = np.log(2.0) / scale.pdo
            shift = scale.base_points * by - np.log(scale.base_odds)
            made = {k: to_double_odds(each.card, scale, 1.0, 0.0) for k, each in cards.items()}
            cards = {
                k: ScaledCard(card, -by, float(shift)).with_means(self._weights[k], self.kinds)
                for k, card in made.items()
            }
        return Pointed(cards, size.is_full)

    @cached_property
    def _weights(self) -> dict[int | None, list[FloatArray]]:
        return {k: weights_without(k, self.rows, self.kinds) for k in self.grown.cards}

    @property
    def _constant(self) -> Pointed:
        plain = self.rows.unpriced
        share = float(plain.weight @ plain.positive) / float(plain.weight.sum())
        card = Card(0.0, tuple(np.zeros(of_column.n_cells) for of_column in self.kinds))
        scaled = ScaledCard(card, 1.0, float(logit(share)))
        return Pointed(dict.fromkeys(self.sizes[0].cards, scaled), is_constant=True)

    @cached_property
    def prices(self) -> DirectionPrices:
        """Price of each direction, from cards without crosses that keep only some directions."""
        directions = self.settings.directions if self.rows.fold is not None else ()
        requested = [(each.name, each.requested) for each in directions]
        return DirectionPrices(requested, self._with_directions)

    @property
    def _flat(self) -> list[str]:
        """The columns whose direction the rows contradict; a column that was left out says nothing.

        What the full card has is what counts: a short one has few columns.
        """
        columns, directions = self.grown.cards[None].columns, self.settings.directions
        if self.settings.max_columns is not None or self.grown.passed is not None:
            directions = [each for each in directions if columns[each.column].any()]
        return flat_columns(directions, columns)

    def _with_directions(self, kept: Sequence[int]) -> Curves:
        every = self.settings.directions
        ask = CardAsk(max_crosses=0, directions=[every[k] for k in kept])
        grown = grow_card(self.rows, self.kinds, ask)
        return self._curves(grown.tried[grown.chosen].held_out)

    def _curves(self, scores: FloatArray) -> Curves:
        rows = self.rows
        return ScoreCurves(rows.positive, scores, rows.weight, rows.fold, rows.group)

    def on_rows(self, apart: Rows | None) -> HeldOutSizes:
        """Score all sizes on the held-out rows and on rows set apart; features are cells."""
        rows, index, unbinned = self.rows, 0, None
        scores = [
            round_scores(Size.of(each.cards, rows, self.kinds).held_out) for each in self.pointed
        ]
        reserved: list[RowEvidence | None] = [None] * len(scores)
        if apart is not None:
            of_apart = (each.cards[None].log_odds(apart.X) for each in self.pointed)
            reserved = [RowEvidence(apart, round_scores(odds), log_odds=True) for odds in of_apart]
        evidence = [
            (RowEvidence(rows, odds, log_odds=True), by)
            for odds, by in zip(scores, reserved, strict=True)
        ]
        if self.trials is None:
            index = self.good_size(np.zeros(len(self.sizes)))
        elif not self.is_empty:
            areas = self.trials.areas
            full = areas[self.grown.chosen]
            index = self.good_size(np.append(areas[len(self.grown.tried) :], full))
        if rows.fold is not None:
            unbinned = self._curves(unbinned_scores(rows, self.kinds, self.grown.passed))
        return HeldOutSizes(rows.name, evidence, index, self.trials, unbinned)

    def edit_start(self, values: FloatArray, size: CardSize | None) -> EditStart:
        """Return the cards and rows from which an editor starts; ``values`` are raw columns."""
        return EditStart(self.grown.cards, self.rows, values, None if size is None else size.lines)

    def fitted(
        self, metric: Metric, guarantee: Guarantee | None, held_out: HeldOutSizes
    ) -> FittedCard:
        """Return the delivered size for a metric, with all other sizes."""
        curves: list[Curves] = [known.curves for known, _ in held_out.evidence]
        others = [] if held_out.unbinned is None else [held_out.unbinned]
        comparison = compare(metric, [*curves, *others])
        every = []
        for k, size in enumerate(self.pointed):
            evidence, reserved = held_out.evidence[k]
            choice = Choice.only(metric, evidence, OF_LINES)
            if not size.is_constant:
                choice = replace(choice, trials=held_out.trials)
            end = finish(metric, choice, evidence, guarantee, reserved)
            line = size.line - np.array([0.0, end.point.threshold])
            make = in_scores if self.settings.scale is None else finished
            card, result = make(size.card, end.result(line))
            report = self._report((comparison, k), held_out, end, card)
            every.append(FittedCard(result, report, card))
        index = held_out.index
        return replace(every[index], sizes=(*every[:index], *every[index + 1 :]))

    def _report(
        self, compared: tuple[Comparison, int], held_out: HeldOutSizes, end: End, card: Card
    ) -> DirectReport:
        """Report how the card was made, and how it compares with others.

        ``compared`` has the comparison of all sizes and of the model without bins, and which of
        the sizes the card is.
        """
        (comparison, k), grown, kinds = compared, self.grown, self.kinds
        metric, losses, folds = end.point.metric, comparison.losses, comparison.fold_losses
        size, full = self.pointed[k], len(self.pointed) - 1
        crossed = {column for cross in card.crosses for column in cross.columns}
        used = sum(k in crossed or bool(np.ptp(part)) for k, part in enumerate(card.columns))
        n_lines, full_lines = card.count_lines(kinds), self.pointed[full].card.count_lines(kinds)
        name = f"logistic scorecard: {used} columns, {n_lines} lines"
        why = "One penalised likelihood, with a variance for each column."
        if grown.tried:
            chosen = grown.tried[grown.chosen].name
            why += f" Of {len(grown.tried)} variants, held-out log loss chose {chosen}."
        sign = -1.0 if metric.greater_is_better else 1.0
        tried = CandidateResult.of(name, sign * losses[k], sign * folds[k])

        def ahead_of(other: int) -> Gap:
            behind = float(losses[other] - losses[k])
            return Gap.of_folds(behind, folds[other] - folds[k], metric.largest_gap)

        passed = grown.passed
        return DirectReport(
            metric,
            held_out.name,
            (tried,),
            name,
            why,
            unbinned_baseline=None if held_out.unbinned is None else ahead_of(full + 1),
            directions=self.prices.of(metric, self._flat),
            chance=float("nan") if end.choice is None else end.choice.chance,
            size=None if size.is_full else CardSize(n_lines, full_lines, ahead_of(full)),
            columns_tried=None if passed is None else (int(passed[None].sum()), len(kinds)),
        )
