"""Compact cards of rows that live elsewhere: one more pass counts their held-out scores.

The cards of all folds are compressed from the sample or the counts that they were made from; a pass
then scores every row by the compressed cards that were made without its fold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.designs.compact import (
    MOST_LINES,
    SizeRule,
    in_scores,
    largest_loss_of_area,
    sizes_to_make,
)
from directrix.designs.points import scaled_without_rows
from directrix.fitting.fit_rows import Fitted
from directrix.fitting.fit_source import CandidateGroup
from directrix.fitting.guarantee import Guarantee
from directrix.fitting.histogram_choice import (
    best_values_of,
    compare_histograms,
    guaranteed_threshold,
    histogram_curve,
    select_from_histograms,
)
from directrix.frontier.compare import OneStandardError
from directrix.metrics import AUC
from directrix.models.card import Card
from directrix.models.operating_point import EffectiveCounts, ranking_variance
from directrix.models.report import CardSize, Gap
from directrix.moments.score_histogram import ScoreHistogram, side_by_side
from directrix.rows.sums import tree_sum

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.fitting.choice import SelectionRule
    from directrix.fitting.fit_source import Chosen, HistogramSelection, SourceFit
    from directrix.frontier.choice_validation import Rule
    from directrix.models.card import Scale
    from directrix.tables.bins import Bins

    #: From the cards of all rows (None) and without each fold, and sizes, to cards of each size.
    MakeSizes = Callable[
        [Mapping[int | None, Card], Sequence[int]], Mapping[int, Mapping[int | None, Card]]
    ]


class CardScores(NamedTuple):
    """Several cards as a coding of cells: the features of a row are its points by each card."""

    cards: tuple[Card, ...]

    def rows(self, cells: IntArray) -> FloatArray:
        """Return the points of rows, of shape (n, cards)."""
        return np.column_stack([card.points(cells) for card in self.cards])


class _SizeCandidate(NamedTuple):
    """A size among the cards of `CardScores`."""

    line: FloatArray
    fold_lines: Sequence[FloatArray]


@dataclass(frozen=True)
class FixedSize:
    """Chooses a candidate, and then a size of it; see `SizeRule`."""

    base: Rule
    chosen: int
    n_candidates: int
    size: int
    complexities: None = None

    def among(self, candidates: IntArray) -> FixedSize:  # noqa: ARG002 - none are left out
        """Return the rule for the same candidates and sizes."""
        return self

    def __call__(self, losses: FloatArray) -> int:
        """Return the index of the selected candidate or size."""
        candidate = self.base(losses[: self.n_candidates])
        return self.n_candidates + self.size if candidate == self.chosen else candidate


@dataclass(frozen=True)
class SourceSizes:
    """Compact cards of the candidate that was chosen in passes.

    ``bins`` are those of each column, and ``make`` compresses cards.
    """

    fit: SourceFit
    selection: HistogramSelection
    bins: Sequence[Bins]
    scale: Scale | None
    make: MakeSizes

    def run(self, chosen: Chosen, full: Fitted, max_lines: int | str) -> Fitted:
        """Return the compact card that is asked for, with others in ``sizes``.

        ``full`` is the fit of the full card.
        """
        fit, selection = self.fit, self.selection
        cards = self._full_cards(chosen.number)
        full_lines = full.card.count_lines(self.bins) if full.card else 0
        sizes = sizes_to_make(max_lines, full_lines)
        if not sizes:
            return full
        of_size = self.make(cards, sizes)
        counted = fit.selection(selection.features, selection.label, np.array(selection.factors))
        counted.count([self._group(of_size)])
        before, after = selection.by_fold, counted.by_fold
        by_fold = [side_by_side(both) for both in zip(before, after, strict=True)]
        held_out = tuple(by_fold[: fit.n_folds])
        k = len(selection.candidates)
        behind = self._behind(held_out, [chosen.number, *range(k, k + len(sizes))])
        rule = self._auto_rule(held_out, chosen.number, sizes, behind, full_lines)
        index = sizes.index(max_lines) if not isinstance(max_lines, str) else rule.first
        made = []
        for number, size in enumerate(sizes):
            of_this: SelectionRule = FixedSize(rule.base, chosen.number, k, number)
            if isinstance(max_lines, str) and number == index:
                of_this = rule
            card = of_size[size][None]
            size_of = CardSize(
                card.count_lines(self.bins),
                full_lines,
                Gap.of_folds(-float(behind[number].mean()), -behind[number]),
            )
            made.append(self._fitted(card, by_fold, of_this, full, size_of))
        if index >= len(sizes):
            return full._replace(sizes=tuple(made))
        return made[index]._replace(sizes=(*made[:index], *made[index + 1 :], full))

    def _full_cards(self, index: int) -> dict[int | None, Card]:
        """Return the cards of a candidate: of all rows, and without each fold."""
        groups = [group for group in self.selection.groups for _ in group.candidates]
        candidate = self.selection.candidates[index]
        codings: Sequence[Any] = groups[index].codings
        cards: dict[int | None, Card] = {None: Card.of(codings[-1], candidate.line)}
        for fold, line in enumerate(candidate.fold_lines):
            cards[fold] = Card.of(codings[fold], line)
        return cards

    def _group(self, of_size: Mapping[int, Mapping[int | None, Card]]) -> CandidateGroup:
        n_folds = self.fit.n_folds
        codings: list[Any] = [
            CardScores(tuple(cards[fold] for cards in of_size.values()))
            for fold in (*range(n_folds), None)
        ]
        lines = np.column_stack([np.eye(len(of_size)), np.zeros(len(of_size))])
        candidates = [_SizeCandidate(line, [line] * n_folds) for line in lines]
        return CandidateGroup(candidates, codings)

    def _behind(self, folds: tuple[ScoreHistogram, ...], index: Sequence[int]) -> FloatArray:
        """Return by how much sizes are worse than the full card, of shape (sizes, folds)."""
        metric, factors = self.fit.metric, self.selection.factors
        values = np.array([best_values_of(metric, (fold,), factors)[list(index)] for fold in folds])
        sign = 1.0 if metric.greater_is_better else -1.0
        behind: FloatArray = sign * (values[:, :1] - values[:, 1:]).T
        return behind

    def _auto_rule(
        self,
        folds: tuple[ScoreHistogram, ...],
        chosen: int,
        sizes: Sequence[int],
        behind: FloatArray,
        full_lines: int,
    ) -> SizeRule:
        """Return the rule by which a size is chosen; ``first`` is the one."""
        n_candidates = len(self.selection.candidates)
        few = sum(size <= MOST_LINES for size in sizes)
        factors = self.selection.factors
        areas = best_values_of(AUC(), folds, factors)
        histogram = tree_sum(folds)
        n_neg, n_pos = (histogram.weight**2 / histogram.weight_sq).tolist()
        curve = histogram_curve(histogram.counts[chosen], factors)
        variance = ranking_variance(curve, EffectiveCounts(n_pos, n_neg), AUC())
        allowed = largest_loss_of_area(float(np.sqrt(variance)))
        worse = np.flatnonzero(areas[chosen] - areas[n_candidates:][:few] > allowed)
        errors = behind[:few].std(axis=1, ddof=1) / np.sqrt(len(folds))
        errors = np.maximum(errors, np.median(errors)) if few else errors
        worse_by_metric = np.flatnonzero(behind[:few].mean(axis=1) > errors)
        first = 1 + max(int(worse.max(initial=-1)), int(worse_by_metric.max(initial=-1)))
        first = first if full_lines <= MOST_LINES else min(first, few - 1)
        before = tuple(self.selection.by_fold[: self.fit.n_folds])
        base = compare_histograms(self.fit.metric, before, factors, self._complexities)
        by = OneStandardError.of(base, self._complexities)
        return SizeRule(by, chosen, n_candidates, first, errors)

    @property
    def _complexities(self) -> list[float]:
        return [candidate.complexity for candidate in self.selection.candidates]

    def _fitted(
        self,
        card: Card,
        by_fold: Sequence[ScoreHistogram],
        rule: SelectionRule,
        full: Fitted,
        size: CardSize,
    ) -> Fitted:
        """Set the threshold of a size, and say what to expect of it."""
        fit, selection = self.fit, self.selection
        held_out = tuple(by_fold[: fit.n_folds])
        trials = selection.trials
        best = select_from_histograms(
            fit.metric, held_out, selection.factors, trials, self._complexities, rule
        )
        guarantee: Guarantee | None = fit.guarantee
        guaranteed = None
        if guarantee is not None:
            guaranteed = guaranteed_threshold(fit.metric, guarantee, by_fold[-1], best)
        fitted = best.finalize(fit.metric, np.array([1.0, 0.0]), None, guaranteed)
        made, fitted = in_scores(card, fitted)
        if self.scale is not None:
            made, fitted = scaled_without_rows(self.scale, made, fitted)
            size = size._replace(lines=made.count_lines(self.bins))
        report = replace(
            full.report,
            expected=best.assessment.estimate,
            size=size,
            gap=_joined(full.report.gap, size.gap),
        )
        return Fitted(fitted, report, made)


def _joined(full: Gap | None, size: Gap) -> Gap | None:
    """Return how much better a size is than a simpler model that the full card is compared with.

    Both differences are known with errors of their own, which are taken for independent.
    """
    if full is None:
        return None
    mean, reach = full.mean + size.mean, np.hypot(full.high - full.mean, size.high - size.mean)
    return Gap(mean, float(mean - reach), float(mean + reach))
