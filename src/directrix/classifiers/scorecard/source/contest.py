"""Contest: candidates that are compared on held-out rows of a whole source, over several passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.scorecard.source.tasks import CardModels, ScoreCards
from directrix.fitting.histogram_choice import (
    HistogramChoice,
    best_values_of,
    select_from_histograms,
)
from directrix.moments.score_histogram import LineHistograms

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.classifiers.scorecard.source.passes import CardPasses
    from directrix.classifiers.scorecard.source.tasks import CardSlopes, Scored
    from directrix.designs.card import CardDesign
    from directrix.fitting.trials import Trials
    from directrix.metrics.base import Metric
    from directrix.tables import Binner


class Family(NamedTuple):
    """Candidates of one structure: their designs, learned without each fold, and their lines.

    Parameters
    ----------
    candidates : sequence of Candidate
    design : CardDesign
        Of all rows.
    fold_designs : list of CardDesign
    """

    candidates: Sequence[Any]
    design: CardDesign
    fold_designs: list[CardDesign]

    def models(self, fold: int) -> CardModels:
        """Return the cards that score the rows of a fold, which were made without it.

        The rows of a fold that is set apart are scored by the cards of all other rows.
        """
        if fold < len(self.fold_designs):
            lines = [each.fold_lines[fold] for each in self.candidates]
            return CardModels(self.fold_designs[fold], np.stack(lines), fold)
        return CardModels(self.design, np.stack([each.line for each in self.candidates]), fold)


@dataclass
class Contest:
    """Counts held-out scores of families of candidates, and chooses among all of them.

    Parameters
    ----------
    metric : Metric
    passes : CardPasses
    binner : Binner
    label : label
        The positive class.
    factors : tuple of float
        Class weights of the negatives and of the positives.
    n_folds : int
        Folds that are held out; a later one is set apart.
    """

    metric: Metric
    passes: CardPasses
    binner: Binner
    label: Any
    factors: tuple[float, float]
    n_folds: int
    #: Families whose held-out scores are counted, and their histograms by fold.
    families: list[Family] = field(default_factory=list)
    histograms: list[list[LineHistograms]] = field(default_factory=list)
    #: Structures that were compared on a sample of the rows.
    trials: Trials | None = None
    #: For each column the weight of the negatives and of the positives in its cells.
    cells: tuple[FloatArray, ...] = ()

    def count(
        self, families: Sequence[Family], slopes: Sequence[CardSlopes] = (), *, pairs: bool = False
    ) -> Scored:
        """Count the held-out scores of more candidates, in one pass.

        Parameters
        ----------
        families : sequence of Family
        slopes : sequence of CardSlopes
            Cards whose gradients are added up in the same pass.
        pairs : bool
            Whether pairs of cells are counted, too.
        """
        folds = range(self.passes.fold.n_folds)
        models = [family.models(fold) for family in families for fold in folds]
        scored = self.passes.score(ScoreCards(self.binner, self.label, models, slopes, pairs))
        for k, family in enumerate(families):
            self.families.append(family)
            start = k * len(folds)
            self.histograms.append(list(scored.histograms[start : start + len(folds)]))
        self.cells = scored.cells
        return scored

    def has_improved(self, n_last: int) -> bool:
        """Return whether one of the last families is better than all before.

        Parameters
        ----------
        n_last : int
            How many families are the last.
        """
        values = [
            best_values_of(self.metric, tuple(folds[: self.n_folds]), self.factors)
            for folds in self.histograms
        ]
        sign = 1.0 if self.metric.greater_is_better else -1.0
        best = [float((sign * of_family).max()) for of_family in values]
        return max(best[-n_last:]) > max(best[:-n_last])

    @property
    def candidates(self) -> list[Any]:
        """All candidates."""
        return [each for family in self.families for each in family.candidates]

    def design(self, index: int) -> CardDesign:
        """Return the design of a candidate."""
        return [family.design for family in self.families for _ in family.candidates][index]

    @property
    def by_fold(self) -> list[LineHistograms]:
        """The histograms of all candidates, fold by fold."""
        return [
            LineHistograms.side_by_side(of_fold) for of_fold in zip(*self.histograms, strict=True)
        ]

    def choose(self) -> HistogramChoice:
        """Return the candidate that is best on held-out rows."""
        held_out = tuple(self.by_fold[: self.n_folds])
        return select_from_histograms(self.metric, held_out, self.factors, self.trials)
