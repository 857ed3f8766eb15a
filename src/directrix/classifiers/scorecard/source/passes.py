"""CardPasses: passes over a source of raw rows, which must find the same rows every time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from directrix.classifiers.scorecard.source.table_plan import TablePlan
from directrix.classifiers.scorecard.source.tasks import (
    ScoreCards,
    Scored,
    TableSurvey,
    TableSurveyed,
)
from directrix.engines import HashFolds
from directrix.engines.base import run
from directrix.engines.tasks import Sampling
from directrix.fitting.two_passes import require_same_rows
from directrix.tables import BinCounts, Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.classifiers.scorecard.source.class_totals import ClassTotals
    from directrix.classifiers.scorecard.source.table_sample import TableSample
    from directrix.engines.tasks import Fingerprint
    from directrix.tables import Binner
    from directrix.tables.bins import Bins


@dataclass
class CardPasses:
    """The passes over a source of raw rows.

    Parameters
    ----------
    source : whatever `summarize` reads
    plan : TablePlan
    engine : str
    progress : bool
    """

    source: Any
    plan: TablePlan
    engine: str = "auto"
    progress: bool = True
    #: Number of passes made so far.
    n_passes: int = 0
    _fingerprint: Fingerprint | None = None

    @property
    def fold(self) -> HashFolds:
        """How rows are held out."""
        fold: HashFolds = self.plan.fold
        return fold

    def survey(self, task: TableSurvey) -> tuple[ClassTotals, TableSample, BinCounts | None]:
        """Return totals of classes, a sample in order, and counts of known bins: the first pass."""
        surveyed: TableSurveyed = self._run(task)
        columns = surveyed.kinds.columns
        self.plan = replace(self.plan, columns=columns)
        if surveyed.kinds.is_mixed:
            # Numbers are not hashed as texts are, so rows are identified by the common kinds.
            self._fingerprint = None
            surveyed = self._run(task)
        sample = surveyed.sample
        if sample is None:
            msg = "there are no rows to learn from"
            raise ValueError(msg)
        counts = surveyed.totals.counts(without_fold=task.apart)
        if sample.rows.is_too_small(counts):
            # Rows are spread unequally over partitions: take all rows below known thresholds.
            sampling = Sampling.of_counts(sample.rows.most, counts, task.apart)
            again = replace(task, binner=None, thresholds=sampling.thresholds)
            sample = self._run(again).sample or sample
        return surveyed.totals, sample.read_as(columns).ordered(), surveyed.counts

    def read_as(self, bins: Sequence[Bins]) -> None:
        """Read the columns as the kinds of known bins."""
        self.plan = replace(self.plan, columns=tuple(Column(b.name, b.kind) for b in bins))

    def count(self, binner: Binner, positive: Any) -> BinCounts:
        """Return the counts of pairs of cells, by fold."""
        counted = self.score(ScoreCards(binner, positive, count=True)).counts
        return BinCounts.empty(binner) if counted is None else counted

    def score(self, task: ScoreCards) -> Scored:
        """Make a later pass."""
        scored: Scored = self._run(task)
        return scored

    def _run(self, task: Any) -> Any:
        result = run(self.source, self.plan, task, engine=self.engine, progress=self.progress)
        self.n_passes += 1
        if self._fingerprint is None:
            self._fingerprint = result.fingerprint
        else:
            require_same_rows(self._fingerprint, result.fingerprint)
        return result
