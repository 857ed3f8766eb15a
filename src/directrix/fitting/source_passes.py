"""SourcePasses: passes over rows that live elsewhere, which must find the same rows every time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines import HashFolds
from directrix.engines.base import run
from directrix.engines.column_roles import ColumnRoles
from directrix.engines.table_roles import RawRows, TableRoles
from directrix.engines.tasks import (
    Fingerprint,
    FoldModels,
    NumberFeatures,
    PassSums,
    Score,
    Survey,
    Surveyed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.moments.score_histogram import LineHistograms


@dataclass
class SourcePasses:
    """The passes over a source of rows: a survey, and as many that score rows as a fit needs.

    ``plan`` has the roles of the columns, of numbers or of a raw table (`TableRoles`); its folds
    are `HashFolds`.
    """

    source: Any
    plan: ColumnRoles
    engine: str = "auto"
    progress: bool = True
    #: Number of passes made so far.
    n_passes: int = 0
    _fingerprint: Fingerprint | None = None

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        engine: str,
        progress: bool,
        plan: type[ColumnRoles] = ColumnRoles,
        **roles: Any,
    ) -> SourcePasses:
        """Return the passes with these roles of columns; see `summarize`."""
        return cls(source, replace(plan.of(**roles), identified=True), engine, progress)

    @property
    def fold(self) -> HashFolds:
        """How rows are held out."""
        folds: HashFolds = self.plan.fold
        return folds

    def survey(self, most: int = 0, apart: int | None = None) -> Surveyed:
        """Return a summary of the rows and a sample of them: the first pass.

        Another pass takes a full sample if the rows of a class are spread so unequally over
        partitions that the sample has less than half of the rows it should have, or not all of a
        class that has no more. So does one over a raw table whose parts have different kinds of
        columns: numbers are not hashed as texts are, so rows are identified by the common kinds.

        ``most`` is the largest number of rows of each class in the sample; 0 for no sample.
        ``apart`` is the fold whose rows are not sampled.
        """
        task = Survey(most, apart)
        surveyed: Surveyed = self._run(task)
        if isinstance(self.plan, TableRoles) and surveyed.summary is not None:
            kinds = surveyed.table.kinds
            self.plan = replace(self.plan, columns=kinds.columns)
            if kinds.is_mixed:
                self._fingerprint = None
                surveyed = self._run(task)
        sample = surveyed.sample
        if surveyed.summary is None or (most and sample is None):
            msg = "there are no rows to learn from"
            raise ValueError(msg)
        if sample is None:
            return surveyed
        counts = surveyed.totals.counts(without_fold=apart)
        if sample.is_too_small(counts):
            sample = self._run(Survey.of_counts(sample.most, counts, apart)).sample or sample
        if isinstance(self.plan, TableRoles) and isinstance(sample.X, RawRows):
            sample = replace(sample, X=sample.X.read_as(self.plan.columns or ()))
        # By the values of rows: sums in single precision would else depend on the partitions.
        return replace(surveyed, sample=sample.ordered().sorted())

    def score(self, task: Score) -> PassSums:
        """Make a later pass."""
        scored: PassSums = self._run(task)
        return scored

    def histograms(
        self, fold_lines: Sequence[FloatArray], positive: Any
    ) -> tuple[LineHistograms, ...]:
        """Return the held-out scores of lines of numbers, fold by fold.

        ``fold_lines`` has for each fold the lines made without it, of shape (k, d + 1).
        """
        models = [FoldModels(fold, lines) for fold, lines in enumerate(fold_lines)]
        features = NumberFeatures(fold_lines[0].shape[1] - 1)
        return self.score(Score(features, positive, models)).histograms

    def _run(self, task: Any) -> Any:
        result = run(self.source, self.plan, task, engine=self.engine, progress=self.progress)
        self.n_passes += 1
        if self._fingerprint is None:
            self._fingerprint = result.fingerprint
        else:
            require_same_rows(self._fingerprint, result.fingerprint)
        return result


def source_folds(fold: Any, cv: Any) -> HashFolds:
    """Return how the rows of a source are held out: in as many folds as `cv` if it is a number."""
    if fold is None:
        return HashFolds(int(cv)) if isinstance(cv, int | np.integer) else HashFolds()
    if not isinstance(fold, HashFolds):
        msg = "fit_source holds rows out by a hash: give fold=HashFolds(5, key=...), or none"
        raise TypeError(msg)
    return fold


def require_same_rows(first: Fingerprint, later: Fingerprint) -> None:
    """Raise ValueError if a later pass did not read the rows of the first."""
    if first == later:
        return
    msg = (
        f"a later pass did not find the rows of the first: it read {later.rows:,} rows where the "
        f"first read {first.rows:,}, and they or their folds differ. A stream can be read only "
        "once; rows that are written meanwhile, and columns made by chance (rand()), change "
        "between passes: give something that stays the same (a saved table, a cached data frame, a "
        "function that opens a new stream). If only the order of the rows changes, name a key "
        "column: fold=HashFolds(5, key=...)"
    )
    raise ValueError(msg)
