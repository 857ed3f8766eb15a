"""The fit of a card in two passes: a sample that the card is grown from, and counts of all rows.

The first pass samples rows, from which come the bins and the card in all its sizes, as from a table
in memory. The second counts held-out scores of all sizes, on all rows, together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from directrix._typing import AnyArray, FloatArray
from directrix.cards.judged import CardSettings, FittedCard, JudgedCard
from directrix.engines.table_roles import TableRoles
from directrix.engines.tasks import CellFeatures
from directrix.fitting.fit_source import SourceFit, profile_of_source, standing_weights
from directrix.frontier.compare import MOST_ROWS
from directrix.tables import Binner, Column
from directrix.tables.coding.prior import CellKinds
from directrix.tables.profile import TableProfile

#: What reports call the rows whose scores are counted.
_ROWS = "all rows, each held out once"


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
    """A fit of a card in passes.

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
        if known and isinstance(passes.plan, TableRoles):
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
        counted = fit.count(judged.to_count, CellFeatures(binner), classes[-1], factors)
        held_out = judged.on_counts(counted, _ROWS, len(rows.positive) / n_rows)
        made = judged.fitted(fit.metric, fit.guarantee, held_out)

        def complete(made: FittedCard) -> FittedCard:
            card = replace(made.card, bins=tuple(binner.bins_), counts=counted.cells)
            return replace(made, card=card, sizes=tuple(map(complete, made.sizes)))

        seen = profile_of_source(fit, surveyed, binner)
        return SourceCard(complete(made), binner, classes, seen)
