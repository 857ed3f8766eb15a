"""Compact cards of rows that live elsewhere: one more pass counts their held-out scores.

The cards of all folds are compressed from the sample or the counts that they were made from; a pass
then scores every row by the compressed cards that were made without its fold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import FloatArray, IntArray
from directrix.designs.compact import SizeRule, in_scores, sizes_to_make
from directrix.designs.points import scaled_without_rows
from directrix.engines.tasks import CellFeatures
from directrix.fitting.choice import SelectionRule
from directrix.fitting.fit_rows import Fitted
from directrix.fitting.fit_source import (
    CandidateGroup,
    CountedScores,
    FoldLines,
    SourceFit,
)
from directrix.fitting.histogram_choice import (
    HistogramChoice,
    compare_histograms,
    finish_counts,
    select_from_histograms,
)
from directrix.fitting.trials import Trials
from directrix.frontier.choice_validation import Rule
from directrix.frontier.compare import OneStandardError
from directrix.frontier.curves import Curves
from directrix.metrics import AUC
from directrix.metrics.base import Metric
from directrix.models.card import Card, Scale
from directrix.models.gap import Gap
from directrix.models.report import CardSize
from directrix.moments.score_histogram import ScoreHistogram, side_by_side
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

    ``counted`` are the scores of the ``group`` of candidates, and ``trials`` what was compared on a
    sample of the rows before. ``features`` and ``label`` are those of the pass that scores them.
    ``bins`` are those of each column, and ``make`` compresses cards.
    """

    fit: SourceFit
    group: CandidateGroup
    counted: CountedScores
    trials: Trials | None
    features: CellFeatures
    label: Any
    bins: Sequence[Bins]
    scale: Scale | None
    make: MakeSizes

    def run(self, chosen: int, full: Fitted, max_lines: int | str) -> Fitted:
        """Return the compact card that is asked for, with others in ``sizes``.

        ``full`` is the fit of the full card, which is that of the ``chosen`` candidate.
        """
        fit, before = self.fit, self.counted
        cards = self._full_cards(chosen)
        full_lines = full.card.count_lines(self.bins) if full.card else 0
        sizes = sizes_to_make(max_lines, full_lines)
        if not sizes:
            return full
        of_size = self.make(cards, sizes)
        counted = fit.count(self._sizes(of_size), self.features, self.label, before.factors)
        held_out = tuple(map(side_by_side, zip(before.folds, counted.folds, strict=True)))
        k = len(self.group.candidates)
        behind = self._behind(fit.metric, held_out, chosen)
        rule = self._candidate_rule
        by_rule = None
        if isinstance(max_lines, str):
            both = behind, self._behind(AUC(), held_out, chosen)
            size_rule = SizeRule.of(rule, chosen, k, fit.metric, both, full_lines)
            by_rule = self._choice(held_out, size_rule)
            index = by_rule.index - k  # below zero it is the full card
        else:
            index = sizes.index(max_lines)
        made = []
        for number, size in enumerate(sizes):
            if by_rule is not None and number == index:
                choice = by_rule
            else:
                choice = self._choice(held_out, FixedSize(rule, chosen, k, number))
            card = of_size[size][None]
            gap = Gap.of_folds(-float(behind[number].mean()), -behind[number])
            size_of = CardSize(0, full_lines, gap)
            made.append(self._fitted(card, counted, number, choice, full, size_of))
        if index < 0:
            return full._replace(sizes=tuple(made))
        return made[index]._replace(sizes=(*made[:index], *made[index + 1 :], full))

    def _full_cards(self, index: int) -> dict[int | None, Card]:
        """Return the cards of a candidate: of all rows, and without each fold."""
        candidate = self.group.candidates[index]
        codings: Sequence[Any] = self.group.codings
        cards: dict[int | None, Card] = {None: Card.of(codings[-1], candidate.line)}
        for fold, line in enumerate(candidate.fold_lines):
            cards[fold] = Card.of(codings[fold], line)
        return cards

    def _sizes(self, of_size: Mapping[int, Mapping[int | None, Card]]) -> CandidateGroup:
        n_folds = self.fit.n_folds
        codings: list[Any] = [
            CardScores(tuple(cards[fold] for cards in of_size.values()))
            for fold in (*range(n_folds), None)
        ]
        lines = np.column_stack([np.eye(len(of_size)), np.zeros(len(of_size))])
        candidates = [FoldLines(line, [line] * n_folds) for line in lines]
        return CandidateGroup(candidates, codings)

    def _behind(self, metric: Metric, folds: tuple[ScoreHistogram, ...], chosen: int) -> FloatArray:
        """Return by how much sizes are worse than the full card, of shape (sizes, folds)."""
        factors, n_candidates = self.counted.factors, len(self.group.candidates)
        values = np.array(
            [
                [metric.best_value(each.whole) for each in Curves.of_counts((fold,), factors)]
                for fold in folds
            ]
        )
        sign = 1.0 if metric.greater_is_better else -1.0
        behind: FloatArray = sign * (values[:, chosen, None] - values[:, n_candidates:]).T
        return behind

    @cached_property
    def _candidate_rule(self) -> OneStandardError:
        """Return the rule by which the candidate was chosen."""
        curves = self.counted.curves
        of_candidates = compare_histograms(self.fit.metric, curves, self._complexities)
        return OneStandardError.of(of_candidates, self._complexities)

    @property
    def _complexities(self) -> list[float]:
        return [candidate.complexity for candidate in self.group.candidates]

    def _choice(self, folds: tuple[ScoreHistogram, ...], rule: SelectionRule) -> HistogramChoice:
        """Choose by a rule among the candidates and the sizes, and set the threshold."""
        metric, factors = self.fit.metric, self.counted.factors
        return select_from_histograms(metric, folds, factors, self.trials, self._complexities, rule)

    def _fitted(
        self,
        card: Card,
        counted: CountedScores,
        number: int,
        best: HistogramChoice,
        full: Fitted,
        size: CardSize,
    ) -> Fitted:
        """Return the fit of a size, whose number it is among the ``counted`` scores of sizes."""
        sizes, reserved = counted.evidence(number)
        evidence = replace(best.evidence, segments=sizes.segments, weighted_by=sizes.weighted_by)
        limits = self.fit.guarantee, reserved
        fitted = finish_counts(best.choice, evidence, np.array([1.0, 0.0]), *limits)
        made, fitted = in_scores(card, fitted)
        if self.scale is not None:
            made, fitted = scaled_without_rows(self.scale, made, fitted)
        report = replace(
            full.report,
            expected=best.best.assessment.estimate,
            size=size._replace(lines=made.count_lines(self.bins)),  # of the points that are printed
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
