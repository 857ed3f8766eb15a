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
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.compression import RowCompression, Teacher
from directrix.cards.merging import Groups
from directrix.designs.points import (
    finished,
    log_odds_line,
    points_as_rows,
    ties_split,
    to_double_odds,
)
from directrix.fitting.choice import Selection
from directrix.fitting.finalize import Finalized, Lines, finalize
from directrix.fitting.finish import FitResult
from directrix.fitting.fit_rows import BestFit, Draft
from directrix.fitting.training_rows import Rows
from directrix.frontier.choice_validation import Rule
from directrix.frontier.compare import (
    Comparison,
    FoldDesigns,
    centre_and_scale,
    compare,
    curve_maker,
)
from directrix.frontier.curves import Curves
from directrix.metrics import AUC
from directrix.metrics.base import Metric
from directrix.models.card import Card, IntegerPoints, PointsToDoubleOdds, Scale
from directrix.models.gap import Gap
from directrix.models.report import SMALL_LOSS, CardSize, DirectReport
from directrix.tables.coding.card_coding import Direction
from directrix.tables.coding.prior import CellKinds

#: Lines of the sizes that are kept of every fit, beside that which is asked for.
SIZES = (10, 20, 30, 40, 60, 80, 100)
#: Lines of a card of which nobody said how many, at most; and if no rows can be held out.
MOST_LINES, CAUTIOUS_LINES = 100, 40
#: Log-odds of the teacher grow at least so fast with its scores, even if held-out rows show noise,
#: and have at most this deviation: classes that are separated have no curvature.
_LEAST_SLOPE, _MOST_SPREAD = 0.1, 4.0
_LINE = np.array([1.0, 0.0])


def sizes_to_make(max_lines: int | str, full_lines: int, *, only_one: bool = False) -> list[int]:
    """Return the sizes to be made, in increasing order; none if the full card is small enough.

    With ``only_one`` no size is made but the one that is asked for.
    """
    if isinstance(max_lines, str):
        made = {CAUTIOUS_LINES} if only_one else {*SIZES}
    elif max_lines >= full_lines:
        return []
    else:
        made = {max_lines} if only_one else {*SIZES, max_lines}
    return sorted(size for size in made if size < full_lines)


@dataclass(frozen=True)
class SizeRule:
    """One-standard-error rule for sizes: the smallest that is as good as the full card.

    It chooses a candidate and then, of the candidate whose sizes are known, the smallest size that
    is at most one standard error behind the full card, in the metric and in the area under the ROC
    curve. If there is none it is the full card, or the largest size if the full card has too many
    lines. Losses are those of the candidates, then those of the sizes, the smallest first.

    ``chosen`` is the index of the candidate that sizes are known of. ``errors`` are how much worse
    each size may be, and ``has_area`` says whether its area is large enough.
    """

    base: Rule
    chosen: int
    n_candidates: int
    errors: FloatArray
    has_area: AnyArray
    may_be_full: bool = False
    complexities: FloatArray | None = None

    @classmethod
    def of(
        cls,
        base: Rule,
        chosen: int,
        n_candidates: int,
        metric: Metric,
        behind: tuple[FloatArray, FloatArray],
        full_lines: int,
    ) -> SizeRule:
        """Return the rule for sizes that are compared with the full card on held-out folds.

        ``behind`` says by how much sizes are worse than the full card, in the metric and in the
        area; both have the shape (sizes, folds).
        """
        of_metric, of_area = behind
        errors = largest_losses(of_metric, 0.0 if metric.uses_threshold else SMALL_LOSS)
        has_area = as_good(of_area.mean(axis=1), largest_losses(of_area, SMALL_LOSS))
        small = full_lines <= MOST_LINES
        return cls(base, chosen, n_candidates, errors, has_area, may_be_full=small)

    def among(self, candidates: IntArray) -> SizeRule:  # noqa: ARG002 - none are left out
        """Return the rule for the same candidates and sizes."""
        return self

    def __call__(self, losses: FloatArray) -> int:
        """Return the index of the selected candidate or size."""
        candidate = self.base(losses[: self.n_candidates])
        size = None if candidate != self.chosen else self.size(losses)
        return candidate if size is None else self.n_candidates + size

    def size(self, losses: FloatArray) -> int | None:
        """Return the index of the selected size; None for the full card."""
        sizes = slice(self.n_candidates, self.n_candidates + len(self.errors))
        fine = self.has_area & as_good(losses[sizes] - losses[self.chosen], self.errors)
        if fine.any():
            return int(fine.argmax())
        return None if self.may_be_full else len(fine) - 1


def as_good(behind: FloatArray, largest: FloatArray) -> AnyArray:
    """Return which sizes, the smallest first, are as good as the full card.

    ``behind`` says by how much each is worse, and ``largest`` how much that may be. A small card
    is better than a larger one of the same path by chance alone, so the losses are first made to
    fall with the size, by isotonic regression.
    """
    return _falling(behind) <= largest


def largest_losses(behind: FloatArray, margin: float = 0.0) -> FloatArray:
    """Return how much worse a size may be: one standard error over folds, or the margin.

    ``behind`` of shape (sizes, folds) says by how much each is worse. Standard errors are made to
    fall with the size, as differences to the full card do.
    """
    errors = behind.std(axis=1, ddof=1) / np.sqrt(behind.shape[1])
    return np.maximum(_falling(errors), margin)


def _falling(values: FloatArray) -> FloatArray:
    nearest: FloatArray = isotonic_regression(values, increasing=False).x
    return nearest


class Behind(NamedTuple):
    """How much better the full card is than a simpler model, and the model's losses by fold."""

    gap: Gap
    folds: FloatArray


class _Sized(NamedTuple):
    """A size: its card, the rows with the points of each fold's card as their only feature."""

    card: Card
    rows: Rows


@dataclass(frozen=True)
class CompactFit:
    """Makes the compact cards of a fitted card.

    ``seen`` are the rows that the candidates were compared on, with cells as their features.
    ``max_lines`` is "auto" or the largest number of lines. ``of_cells`` turns the fit of a card of
    these cells into one of raw rows.
    """

    scale: Scale | None
    metric: Metric
    seen: Rows
    kinds: Sequence[CellKinds]
    directions: Sequence[Direction]
    max_lines: int | str
    of_cells: Callable[[Draft], Draft]

    def run(
        self,
        best: BestFit,
        cards: Mapping[int | None, Card],
        full: Draft,
        full_lines: int,
        unbinned: Behind | None = None,
    ) -> Draft:
        """Return the card of the size that is asked for, with others in ``sizes``.

        ``cards`` are the fitted card (None) and those made without each fold. ``full`` is the fit
        of the full card on its scale, of ``full_lines`` printed lines. ``unbinned`` says how far a
        model without bins is behind the full card.
        """
        to_log_odds = teacher_odds(best.scores, self.seen)
        only_one = self.seen.fold is None  # no rows tell which size is as good as the full card
        sizes = sizes_to_make(self.max_lines, full_lines, only_one=only_one)
        if not sizes:
            return full
        made = [self._sized(each) for each in self.cards(cards, sizes, to_log_odds).values()]
        lines = Lines(_LINE, [_LINE] * (len(cards) - 1))
        scaled = [lines.on_one_scale(size.rows) for size in made]
        rows = self.seen
        curves = [
            Curves.of_scores(rows.positive, scores, rows.weight, rows.fold)
            for scores in (best.scores, *(each.held_out for each in scaled))
        ]
        comparison = compare(self.metric, curves)
        terms = [best.selection.criterion.terms(each.whole) for each in curves]
        comparison = comparison._replace(pooled=np.array([of_metric for of_metric, _ in terms]))
        selection = _with_sizes(best.selection, comparison, [each.held_out for each in scaled])
        chosen, rule = self._chosen(selection, sizes, comparison, curves, full_lines)
        finals = []
        for k, size in enumerate(made):
            of_size, choice = replace(best.selection, rows=size.rows), best.choice
            if rule is not None and k == chosen:  # the choice of a size is repeated too
                index = rule.n_candidates + k
                of_size, choice = replace(selection, rows=size.rows, chosen=index, rule=rule), None
            final = finalize(self.metric, of_size, lines, choice=choice, scaled=scaled[k])
            finals.append(final)
        simple = None
        if best.simple_folds is not None and best.report.gap is not None:
            simple = Behind(best.report.gap, best.simple_folds)
        drafts = []
        for k, (size, final) in enumerate(zip(made, finals, strict=True)):
            losses = comparison.fold_losses[1 + k]
            gap = Gap.of_folds(
                float(comparison.losses[0] - comparison.losses[1 + k]),
                comparison.fold_losses[0] - losses,
            )
            report = replace(
                best.report,
                expected=final.assessment.estimate,
                size=CardSize(0, full_lines, gap),
                gap=_behind_by(simple, gap, losses) or best.report.gap,
                unbinned_baseline=_behind_by(unbinned, gap, losses),
                ties=ties_split(self.metric, curves[1 + k]) if size.card.is_whole else None,
            )
            drafts.append(self._draft(size, final, report))
        if chosen is None:  # the full card is small, and no smaller one is as good
            return full._replace(sizes=tuple(drafts))
        return drafts[chosen]._replace(sizes=(*drafts[:chosen], *drafts[chosen + 1 :], full))

    def _chosen(
        self,
        selection: Selection,
        sizes: Sequence[int],
        comparison: Comparison,
        curves: Sequence[Curves],
        full_lines: int,
    ) -> tuple[int | None, SizeRule | None]:
        """Return the index of the size, None for the full card, and by what rule it is chosen."""
        if not isinstance(self.max_lines, str):
            return list(sizes).index(self.max_lines), None
        if self.seen.fold is None or len(sizes) == 1:
            return 0, None
        areas = comparison
        if not isinstance(self.metric, AUC):
            areas = compare(AUC(), curves)
        of_metric, of_area = (
            each.fold_losses[1:] - each.fold_losses[0] for each in (comparison, areas)
        )
        n_candidates = len(selection.losses) - len(sizes)
        base = selection.rule, selection.chosen, n_candidates
        rule = SizeRule.of(*base, self.metric, (of_metric, of_area), full_lines)
        size = rule.size(selection.losses)
        return size, None if size is None else rule

    def cards(
        self,
        cards: Mapping[int | None, Card],
        sizes: Sequence[int],
        to_log_odds: tuple[float, float],
    ) -> dict[int, dict[int | None, Card]]:
        """Return all sizes of all cards, on the scale that is asked for.

        Those of the folds are made without their rows. ``to_log_odds`` are the slope and the offset
        from scores of the card of all rows to log-odds.
        """
        of_size: dict[int, dict[int | None, Card]] = {size: {} for size in sizes}
        for fold, in_odds in self.teachers(cards, to_log_odds).items():
            kept = slice(None) if fold is None else np.flatnonzero(self.seen.fold != fold)
            cells, weight = self.seen.X[kept], self.seen.weight[kept]
            weight = weight / weight.mean()
            teacher = Teacher(in_odds, cells, in_odds.points(cells), weight)
            compression = RowCompression(teacher, self.kinds, self.directions)
            for size, groups in compression.path(sizes).items():
                of_size[size][fold] = self._on_scale(compression, groups)
        return of_size

    def teachers(
        self, cards: Mapping[int | None, Card], to_log_odds: tuple[float, float]
    ) -> dict[int | None, Card]:
        """Return the full cards with points in log-odds, those of the folds on the same scale."""
        centre, spread = self._centre(cards[None], None)
        made = {}
        for fold, card in cards.items():
            of_fold, scale = self._centre(card, fold)
            same = card.affine(spread / scale, centre - of_fold * spread / scale)
            made[fold] = (card if fold is None else same).affine(*to_log_odds)
        return made

    def _on_scale(self, compression: RowCompression, groups: Groups) -> Card:
        """Return the card of a size on the scale that is asked for; by default in log-odds."""
        if isinstance(self.scale, IntegerPoints):
            return compression.compact(groups, self.scale.largest)
        card = compression.compact(groups)
        if isinstance(self.scale, PointsToDoubleOdds):
            return to_double_odds(card, self.scale, 1.0, 0.0)
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

    def _draft(self, size: _Sized, final: Finalized, report: DirectReport) -> Draft:
        """Return the fit of a size."""
        curve = curve_maker(self.seen.positive, self.seen.weight)(final.scores)
        features = partial(points_as_rows, size.card)
        make = partial(finished if self.scale is not None else in_scores, size.card)
        lines = make(final.fitted)[0].count_lines(self.kinds)  # of the points that are printed
        report = replace(report, size=report.size and report.size._replace(lines=lines))
        return self.of_cells(Draft(final.fitted, report, curve, features, make))


def teacher_odds(scores: FloatArray, rows: Rows) -> tuple[float, float]:
    """Return slope and offset of the log-odds that a teacher's held-out scores stand for."""
    slope, offset = log_odds_line(scores, rows)
    slope = max(slope, _LEAST_SLOPE)
    factor = min(1.0, _MOST_SPREAD / max(slope * float(scores.std()), 1e-12))
    return factor * slope, factor * offset


def _behind_by(full: Behind | None, size: Gap, losses: FloatArray) -> Gap | None:
    """Return how much better a size is than a simpler model.

    ``full`` is what the full card is better by than that model, and ``size`` what the size is
    better by than the full card. ``losses`` are those of the size, by fold.
    """
    return None if full is None else Gap.of_folds(full.gap.mean + size.mean, full.folds - losses)


def _with_sizes(
    selection: Selection, comparison: Comparison, scores: Sequence[FloatArray]
) -> Selection:
    """Return the choice with sizes of the chosen candidate, of these held-out scores, as others.

    ``comparison`` is that of the full card, first, and the sizes.
    """
    # By what a size is behind the full card in the metric, it is behind in what chose that card.
    losses = selection.losses[selection.chosen] + comparison.losses[1:] - comparison.losses[0]
    return replace(
        selection,
        scores=np.column_stack([selection.scores, *scores]),
        criterion=selection.criterion.with_more(len(scores)),
        losses=np.append(selection.losses, losses),
        pooled=np.append(selection.pooled, comparison.pooled[1:]),
        values=np.append(selection.values, comparison.values[1:]),
    )


def in_scores(card: Card, fitted: FitResult) -> tuple[Card, FitResult]:
    """Return a card whose points are scores, with the threshold at zero."""
    slope, intercept = fitted.line.tolist()
    made = card.affine(slope, intercept)
    point = replace(fitted.operating_point, threshold=-made.intercept)
    return made, replace(fitted, line=_LINE.copy(), operating_point=point)
