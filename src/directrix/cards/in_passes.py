"""The fit of a card in two passes: a sample that the card is grown from, and counts of all rows.

The first pass samples rows, from which come the bins and the card in all its sizes, as from a table
in memory. The second counts held-out scores of all sizes, on all rows, together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import Card
from directrix.cards.judged import (
    CardSettings,
    FittedCard,
    HeldOutSizes,
    JudgedCard,
)
from directrix.cards.prior import CellKinds
from directrix.engines.tasks import CellFeatures
from directrix.fit.compare import MOST_ROWS
from directrix.fit.fit_source import (
    CandidateGroup,
    CountedScores,
    FoldLines,
    SourceFit,
    profile_of_source,
    standing_weights,
)
from directrix.metrics import AUC
from directrix.tables import Binner, Column
from directrix.tables.profile import TableProfile

#: What reports call the rows whose scores are counted.
_ROWS = "all rows, each held out once"


@dataclass(frozen=True, eq=False)
class CardScores:
    """Several cards as a coding of cells: the features of a row are its points by each card."""

    cards: tuple[Card, ...]

    def rows(self, cells: IntArray) -> FloatArray:
        """Return the points of rows, of shape (n, cards)."""
        return np.column_stack([card.points(cells) for card in self.cards])


def sizes_to_count(judged: JudgedCard) -> CandidateGroup:
    """Return the sizes as lines of points, for a pass that counts the scores of all rows."""
    pointed = judged.pointed
    folds = sorted(fold for fold in pointed[0].cards if fold is not None)

    def lines(fold: int | None) -> FloatArray:
        scaled = [each.cards[fold] for each in pointed]
        return np.column_stack(
            [np.diag([each.unit for each in scaled]), [each.shift for each in scaled]]
        )

    by_fold = [lines(fold) for fold in folds]
    candidates = [
        FoldLines(line, [each[k] for each in by_fold]) for k, line in enumerate(lines(None))
    ]
    codings = [
        CardScores(tuple(each.cards[fold].card for each in pointed)) for fold in (*folds, None)
    ]
    return CandidateGroup(candidates, codings)


def on_counts(judged: JudgedCard, counted: CountedScores, share: float) -> HeldOutSizes:
    """Return what counts of the scores of all rows show.

    ``share`` is that of the rows that the card was grown from among them.
    """
    pairs = [counted.evidence(k) for k in range(len(judged.pointed))]
    evidence = [(replace(a, log_odds=True), b and replace(b, log_odds=True)) for a, b in pairs]
    curves, metric, index, trials = counted.curves, AUC(), 0, judged.trials
    if not judged.is_empty:
        folds = [each.folds or (each.whole,) for each in curves]
        areas = [np.mean([metric.best_value(curve) for curve in each]) for each in folds]
        index = judged.good_size(np.array(areas))
    trials = None if trials is None else replace(trials, share=share)
    return HeldOutSizes(_ROWS, evidence, index, trials)


@dataclass(frozen=True, eq=False)
class SourceCard:
    """A card that was fitted in passes, its bins, and both labels, the positive one last.

    ``seen`` is what columns were.
    """

    fit: FittedCard
    binner: Binner
    classes: AnyArray
    seen: TableProfile


@dataclass(frozen=True, eq=False)
class SourceCardFit:
    """Fit of a card to rows that are read in several passes.

    ``settings`` maps bins to the settings of the card. A ``binner`` that is fitted is kept.
    ``two_labels`` maps the labels of the rows to both, the positive one last, and refuses any other
    number. ``check`` looks at the columns, the values and the positives of the sample.
    """

    fit: SourceFit
    settings: Callable[[Sequence[Any]], CardSettings]
    binner: Any
    two_labels: Callable[[AnyArray], AnyArray]
    check: Callable[[Sequence[Column], FloatArray, AnyArray], None]

    def run(self) -> SourceCard:
        """Make the passes."""
        fit, passes = self.fit, self.fit.passes
        binner = Binner() if isinstance(self.binner, str) else clone(self.binner)
        known = hasattr(binner, "bins_")  # frozen
        if known and passes.plan.raw:
            columns = tuple(Column(bins.name, bins.kind) for bins in binner.bins_)
            passes.plan = replace(passes.plan, columns=columns)
        surveyed = passes.survey(MOST_ROWS, fit.apart)
        sample = surveyed.sample
        assert sample is not None  # noqa: S101 - it was asked for
        classes = self.two_labels(surveyed.totals.classes)
        counts = surveyed.totals.counts(without_fold=fit.apart)
        n_rows = sum(counts.values())
        if not known:
            weight = standing_weights(sample, counts)
            binner.fit_table(sample.X, weight, complete=len(sample.y) >= n_rows)
        self.check(sample.X.columns, sample.X.values, sample.y == classes[-1])
        rows, factors = fit.sampled_rows(surveyed, classes)
        rows = rows._replace(X=binner.cells(rows.X))
        kinds = [CellKinds.of(bins) for bins in binner.bins_]
        judged = JudgedCard.of(rows, kinds, self.settings(binner.bins_))
        counted = fit.count(sizes_to_count(judged), CellFeatures(binner), classes[-1], factors)
        held_out = on_counts(judged, counted, len(rows.positive) / n_rows)
        made = judged.fitted(fit.metric, fit.guarantee, held_out)

        def complete(made: FittedCard) -> FittedCard:
            card = made.card.with_rows(binner.bins_, counted.cells)
            return replace(made, card=card, sizes=tuple(map(complete, made.sizes)))

        seen = profile_of_source(fit, surveyed, binner)
        return SourceCard(complete(made), binner, classes, seen)
