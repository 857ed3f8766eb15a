"""StraightLines: logistic regression without bins, with which a card is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.classifiers.direct.fit import FALL
from directrix.designs.card import CardDesign
from directrix.fitting.choice import Choice, Selection
from directrix.frontier.compare import FoldDesigns, compare
from directrix.frontier.recipes import Recipe, Sweep
from directrix.frontier.row_frontier import RowCandidate, RowFrontier
from directrix.losses import Logistic
from directrix.models.report import Gap
from directrix.tables.coding.coded_rows import Coding
from directrix.tables.coding.prior import CellKinds, cell_weights, straight_basis

if TYPE_CHECKING:
    from directrix.classifiers.direct.fit import BestFit
    from directrix.fitting.training_rows import TrainingRows


@dataclass
class StraightLines:
    """Logistic regression without bins, on the same held-out rows as a card.

    A number is the mean of its bin, so that missing values and long tails do it no harm.

    Parameters
    ----------
    kinds : sequence of CellKinds
    rows : TrainingRows
        With cells as their features.
    n_jobs : int, optional
    screen : mapping of fold to columns, optional
        Columns that are used, as in `StructureSearch`; by default all.
    out_of_time : callable, optional
    """

    kinds: Sequence[CellKinds]
    rows: TrainingRows
    n_jobs: int | None
    screen: Mapping[int | None, Sequence[int]] | None = None
    out_of_time: Callable[..., bool] | None = None
    #: What there was no time for.
    skipped: list[str] = field(default_factory=list, init=False)

    def gap(self, card: BestFit) -> Gap | None:
        """Return how much better a card is expected to be on new rows.

        None if no rows are held out, or time is up.
        """
        if self.rows.fold is None or card.choice is None:
            return None
        if not self._candidates:
            self.skipped = ["logistic regression without bins"]
            return None
        metric, report = card.choice.metric, card.fit.report
        comparison = compare(metric, [candidate.curves for candidate in self._candidates])
        best, sign = comparison.best, -1.0 if metric.greater_is_better else 1.0
        chosen = next(tried for tried in report.tried if tried.name == report.chosen)
        mean = float(comparison.losses[best]) - sign * chosen.metric
        if metric.limit is None:  # with a limit, both promise too much alike: of their thresholds
            lines = Selection.of(self.rows, self._candidates, comparison, best)
            without_bins = Choice.of(metric, lines, card.choice.sizes).expected().metric
            mean = sign * (without_bins - card.choice.expected().metric)
        return Gap.of_folds(mean, comparison.fold_losses[best] - sign * np.array(chosen.folds))

    @cached_property
    def _candidates(self) -> list[RowCandidate]:
        """Lines of several ridges; none if there was no time."""
        if self.out_of_time is not None and self.out_of_time():
            return []
        frontier = RowFrontier(
            self._designs(),
            *self.rows[1:4],
            fall=FALL,
            out_of_time=self.out_of_time,
            n_jobs=self.n_jobs,
        )
        candidates = frontier.plan(Recipe(Logistic(), ridge) for ridge in Sweep().ridges)
        frontier.solve_together(candidates, frontier.folds)
        return [] if frontier.stopped else [each for each in candidates if each.fit()]

    def _designs(self) -> Any:
        """Return the rows as straight lines see them."""
        rows = self.rows
        bases = [
            straight_basis(kinds, cell_weights(kinds, cells, rows.weight))
            for kinds, cells in zip(self.kinds, rows.X.T, strict=True)
        ]
        if self.screen is None:
            return CardDesign(Coding(bases)).rows(rows.X)
        designs = {
            fold: CardDesign(
                Coding([basis if k in columns else basis[:, :0] for k, basis in enumerate(bases)])
            ).rows(rows.X)
            for fold, columns in self.screen.items()
        }
        whole = designs.pop(None)
        return FoldDesigns(
            whole, {fold: rows for fold, rows in designs.items() if fold is not None}
        )
