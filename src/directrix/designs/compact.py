"""Compact cards: a fitted card in several sizes, each judged on held-out rows.

The cards of all folds are compressed as the card of all rows is, so that held-out rows are scored
by compressed cards: the threshold, the rates, the intervals and the probabilities are those of the
card that is printed. How many lines are needed is one more choice on held-out rows; it is repeated
with that of the candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.designs.compression import Compression, Teacher
from directrix.designs.points import (
    finished,
    largest_unit,
    log_odds_line,
    points_as_rows,
    rounded_card,
    ties_split,
    to_double_odds,
)
from directrix.fitting.choice import HeldOutArea
from directrix.fitting.finalize import FittedLine, Lines, centre_and_scale, finalize
from directrix.fitting.fit_rows import Draft
from directrix.frontier.compare import Curves, FoldDesigns, compare, curve_maker
from directrix.models.card import IntegerPoints, PointsToDoubleOdds
from directrix.models.report import CardSize, Estimate, Gap

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.designs.merging import Groups
    from directrix.fitting.choice import Choice, Selection
    from directrix.fitting.fit_rows import BestFit
    from directrix.fitting.training_rows import TrainingRows
    from directrix.frontier.choice_validation import Rule
    from directrix.frontier.compare import Comparison
    from directrix.metrics.base import Metric
    from directrix.models.card import Card, Scale
    from directrix.tables.coding.card_coding import Direction
    from directrix.tables.coding.prior import CellKinds

#: Lines of the sizes that are kept of every fit, beside that which is asked for.
SIZES = (10, 15, 20, 30, 40, 60, 80, 100, 150)
#: Lines if no rows can be held out to choose by.
_CAUTIOUS = 40
#: A loss of area that nobody misses.
_MARGIN = 1e-3
#: Log-odds of the teacher grow at least so fast with its scores, even if held-out rows show noise.
_LEAST_SLOPE = 0.1
_LINE = np.array([1.0, 0.0])


@dataclass(frozen=True)
class SizeRule:
    """Chooses a candidate, and then the smallest size within one standard error of it.

    Losses are those of the candidates, then those of the sizes, the smallest first.

    ``chosen``: index of the candidate that sizes are known of. ``eligible``: sizes that rank rows
    as well as the full card. ``errors``: standard errors of the differences between sizes and full.
    """

    base: Rule
    chosen: int
    n_candidates: int
    eligible: tuple[int, ...]
    errors: FloatArray
    complexities: FloatArray | None = None

    def among(self, candidates: IntArray) -> SizeRule:  # noqa: ARG002 - none are left out
        """Return the rule for the same candidates and sizes."""
        return self

    def __call__(self, losses: FloatArray) -> int:
        """Return the index of the selected candidate or size."""
        candidate = self.base(losses[: self.n_candidates])
        if candidate != self.chosen:
            return candidate
        sizes = losses[self.n_candidates :]
        within = sizes - losses[candidate] <= self.errors
        return next((self.n_candidates + k for k in self.eligible if within[k]), candidate)


class _Sized(NamedTuple):
    """A size: its card, the rows with the points of each fold's card as their only feature."""

    card: Card
    rows: TrainingRows


@dataclass(frozen=True)
class CompactFit:
    """Makes the compact cards of a fitted card.

    ``seen``: rows that the candidates were compared on, with cells as their features.
    ``max_lines``: "auto" or the largest number of lines. ``used_up``: whether all time is used up;
    then only the size that is asked for is made. ``of_cells``: from the fit of a card of these
    cells to one of raw rows.
    """

    scale: Scale | None
    metric: Metric
    seen: TrainingRows
    kinds: Sequence[CellKinds]
    directions: Sequence[Direction]
    max_lines: int | str
    used_up: Callable[[], bool]
    of_cells: Callable[[Draft], Draft]

    def run(
        self, best: BestFit, cards: Mapping[int | None, Card], full_draft: Callable[..., Draft]
    ) -> Draft:
        """Return the card of the size that is asked for, with others in ``sizes``.

        ``cards``: the fitted card (None), and those made without each fold. ``full_draft``: makes
        the fit of the full card; ``search=False`` if it is not the one that is asked for.
        """
        n_ordered = [of_column.n_ordered for of_column in self.kinds]
        slope, offset = log_odds_line(best.scores, self.seen)
        to_log_odds = max(slope, _LEAST_SLOPE), offset
        full = self._restated_full(cards[None], to_log_odds)
        full_lines = full.count_lines(n_ordered)
        sizes = self._sizes(full_lines)
        if not sizes:
            return full_draft()
        made = self._compressed(cards, sizes, to_log_odds)
        lines = Lines(_LINE, [_LINE] * (len(cards) - 1))
        held_out = [lines.on_one_scale(size.rows).held_out for size in made]
        rows = self.seen
        curves = [
            Curves(rows.positive, scores, rows.weight, rows.fold)
            for scores in (best.scores, *held_out)
        ]
        comparison = compare(self.metric, curves)
        chosen, rule = self._chosen(best, sizes, comparison, held_out)
        whole = full_draft(search=chosen is None)
        drafts = []
        for k, size in enumerate(made):
            selection, choice = best.selection, best.choice
            if k == chosen and rule is not None:
                selection = _with_sizes(selection, rule, comparison, held_out, k)
                choice = None
            gap = self._gap(comparison, 1 + k)
            counted = size.card.count_lines(n_ordered)
            about = CardSize(counted, full_lines, gap)
            drafts.append(self._draft(best, size, (selection, choice), about, curves[1 + k]))
        if chosen is None:
            return whole._replace(sizes=tuple(drafts))
        others = (*drafts[:chosen], *drafts[chosen + 1 :], whole)
        return drafts[chosen]._replace(sizes=others)

    def _sizes(self, full_lines: int) -> list[int]:
        """Return the sizes to be made, in increasing order; none if the card is small enough."""
        asked = self.max_lines
        if isinstance(asked, str):
            made = {*SIZES} if self.seen.fold is not None and not self.used_up() else {_CAUTIOUS}
        elif asked >= full_lines:
            return []
        else:
            made = {asked} if self.used_up() else {*SIZES, asked}
        return sorted(size for size in made if size < full_lines)

    def _chosen(
        self,
        best: BestFit,
        sizes: Sequence[int],
        comparison: Comparison,
        held_out: Sequence[FloatArray],
    ) -> tuple[int | None, SizeRule | None]:
        """Return the index of the size, None for the full card, and by what rule it is chosen."""
        if not isinstance(self.max_lines, str):
            return list(sizes).index(self.max_lines), None
        rows = self.seen
        if rows.fold is None or len(sizes) == 1:
            return 0, None
        folds = range(int(rows.fold.max()) + 1)
        areas = [HeldOutArea.of(scores, rows, folds) for scores in (best.scores, *held_out)]
        eligible = []
        for k, area in enumerate(areas[1:]):
            error = float(np.sqrt(np.square(area.influence - areas[0].influence).sum()))
            if areas[0].area - area.area <= max(error, _MARGIN):
                eligible.append(k)
        n_candidates = best.selection.scores.shape[1]
        errors = comparison.standard_errors(0)[1:]
        rule = SizeRule(
            best.selection.rule, best.selection.chosen, n_candidates, tuple(eligible), errors
        )
        losses = np.append(best.selection.losses, comparison.losses[1:])
        losses[best.selection.chosen] = comparison.losses[0]
        index = rule(losses)
        return (index - n_candidates, rule) if index >= n_candidates else (None, None)

    def _compressed(
        self,
        cards: Mapping[int | None, Card],
        sizes: Sequence[int],
        to_log_odds: tuple[float, float],
    ) -> list[_Sized]:
        """Return all sizes of all cards, those of the folds made without their rows.

        ``to_log_odds``: from the scores of the card of all rows, slope and offset.
        """
        centre, spread = self._centre(cards[None], None)
        of_size: dict[int, dict[int | None, Card]] = {size: {} for size in sizes}
        for fold, card in cards.items():
            of_fold, scale = self._centre(card, fold)
            same = card.affine(spread / scale, centre - of_fold * spread / scale)
            in_odds = (card if fold is None else same).affine(*to_log_odds)
            kept = slice(None) if fold is None else np.flatnonzero(self.seen.fold != fold)
            cells, weight = self.seen.X[kept], self.seen.weight[kept]
            weight = weight / weight.mean()
            teacher = Teacher(in_odds, cells, in_odds.points(cells), weight)
            compression = Compression(teacher, self.kinds, self.directions)
            for size, groups in compression.path(sizes).items():
                of_size[size][fold] = self._restated(compression, groups)
        return [self._sized(by_fold) for by_fold in of_size.values()]

    def _restated(self, compression: Compression, groups: Groups) -> Card:
        """Return the card of a size on the scale that is asked for; by default in log-odds."""
        if isinstance(self.scale, IntegerPoints):
            return compression.compact(groups, self.scale.largest)
        card = compression.compact(groups)
        if isinstance(self.scale, PointsToDoubleOdds):
            return to_double_odds(card, self.scale, 1.0, 0.0)
        return card

    def _restated_full(self, card: Card, to_log_odds: tuple[float, float]) -> Card:
        """Return the full card with points as they are printed."""
        if isinstance(self.scale, IntegerPoints):
            return rounded_card(card, largest_unit(card, self.scale.largest))
        if isinstance(self.scale, PointsToDoubleOdds):
            return to_double_odds(card, self.scale, *to_log_odds)
        return card

    def _centre(self, card: Card, fold: int | None) -> tuple[float, float]:
        rows = self.seen
        kept = slice(None) if fold is None else np.flatnonzero(rows.fold != fold)
        scores = card.points(rows.X[kept])
        return centre_and_scale(scores, rows.positive[kept], rows.weight[kept])

    def _sized(self, cards: Mapping[int | None, Card]) -> _Sized:
        cells = self.seen.X
        without = {
            fold: points_as_rows(card, cells) for fold, card in cards.items() if fold is not None
        }
        whole = points_as_rows(cards[None], cells)
        X = FoldDesigns(whole, without) if without else whole
        return _Sized(cards[None], self.seen._replace(X=X))

    def _gap(self, comparison: Comparison, index: int) -> Gap:
        """Return how much better a size is than the full card on held-out rows."""
        folds = comparison.fold_losses
        mean = float(comparison.losses[0] - comparison.losses[index])
        return Gap.of_folds(mean, folds[0] - folds[index])

    def _draft(
        self,
        best: BestFit,
        size: _Sized,
        chosen: tuple[Selection, Choice | None],
        about: CardSize,
        held_out: Curves,
    ) -> Draft:
        """Set the threshold of a size, and say what to expect of it."""
        lines = Lines(_LINE, [_LINE] * len(best.lines.without))
        selection, choice = chosen
        selection = replace(selection, rows=size.rows)
        final = finalize(self.metric, selection, lines, choice=choice)
        assessment = final.assessment
        whole = size.card.is_whole
        report = replace(
            best.report,
            expected=Estimate(assessment.expected.metric, *assessment.intervals.metric),
            size=about,
            rounding=None,
            ties=ties_split(self.metric, held_out) if whole else None,
        )
        curve = curve_maker(self.seen.positive, self.seen.weight)(final.scores)
        features = partial(points_as_rows, size.card)
        make = finished if self.scale is not None else _in_scores
        draft = Draft(final.fitted, report, curve, features, partial(make, size.card))
        return self.of_cells(draft)


def _with_sizes(
    selection: Selection,
    rule: SizeRule,
    comparison: Comparison,
    held_out: Sequence[FloatArray],
    chosen: int,
) -> Selection:
    """Return the choice among candidates and sizes."""
    return replace(
        selection,
        scores=np.column_stack([selection.scores, *held_out]),
        losses=np.append(selection.losses, comparison.losses[1:]),
        values=np.append(selection.values, comparison.values[1:]),
        chosen=selection.scores.shape[1] + chosen,
        rule=rule,
    )


def _in_scores(card: Card, fitted: FittedLine) -> tuple[Card, FittedLine]:
    """Return a card whose points are scores, with the threshold at zero."""
    slope, intercept = fitted.line.tolist()
    made = card.affine(slope, intercept)
    point = replace(fitted.operating_point, threshold=-made.intercept)
    return made, fitted._replace(line=_LINE.copy(), operating_point=point)
