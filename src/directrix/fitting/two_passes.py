"""Two passes over rows that live elsewhere: moments by fold, then score histograms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines import HashFolds
from directrix.engines.base import run
from directrix.engines.plan import Plan
from directrix.engines.tasks import Counted, Fingerprint, Histograms, Sampling, Survey, Surveyed
from directrix.fitting.corrections import Gradients, LossSlopes, Summed
from directrix.moments import Moments
from directrix.moments.score_histogram import LineHistograms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.engines.tasks import Fingerprint


@dataclass(frozen=True)
class TwoPasses:
    """The two passes over a source of rows.

    Parameters
    ----------
    source : whatever `summarize` reads
    plan : Plan
        Roles of the columns; its folds are `HashFolds`.
    engine, progress : as in `summarize`
    """

    source: Any
    plan: Plan
    engine: str = "auto"
    progress: bool = True

    @classmethod
    def of(cls, source: Any, *, engine: str, progress: bool, **roles: Any) -> TwoPasses:
        """Return the passes with these roles of columns; see `summarize`."""
        return cls(source, replace(Plan.of(**roles), identified=True), engine, progress)

    @property
    def fold(self) -> HashFolds:
        """How rows are held out."""
        folds: HashFolds = self.plan.fold
        return folds

    def survey(self, most: int = 0, apart: int | None = None) -> Surveyed:
        """Return the moments of the folds and a sample of the rows: the first pass.

        Another pass takes a full sample if the rows of a class are spread so unequally over
        partitions that the sample has less than half of the rows it should have, or not all of a
        class that has no more.

        Parameters
        ----------
        most : int
            Rows of each class in the sample; 0 for no sample.
        apart : int, optional
            Fold whose rows are not sampled.
        """
        surveyed: Surveyed = self._run(Survey(most, apart))
        if None not in surveyed.grouped.by_group:
            msg = "there are no rows to learn from"
            raise ValueError(msg)
        sample = surveyed.sample
        if sample is None:
            return surveyed
        counts = _class_counts(surveyed.moments, apart)
        if sample.is_too_small(counts):
            sampling = Sampling.of_counts(sample.most, counts, apart)
            again: Surveyed = self._run(sampling)
            require_same_rows(surveyed.fingerprint, again.fingerprint)
            sample = sample if again.sample is None else again.sample
        return replace(surveyed, sample=sample.ordered())

    def histograms(self, lines: list[FloatArray], surveyed: Surveyed) -> tuple[LineHistograms, ...]:
        """Return the held-out scores of the candidates, fold by fold: the second pass.

        Parameters
        ----------
        lines : list of arrays of shape (k, d + 1)
            For each fold the lines made without it.
        surveyed : Surveyed
            Result of the first pass; the last of its classes is positive.
        """
        positive = surveyed.moments.classes[-1]
        counted: Counted = self._run(Histograms(np.stack(lines), positive))
        require_same_rows(surveyed.fingerprint, counted.fingerprint)
        return counted.folds

    def gradients(self, losses: Sequence[LossSlopes], surveyed: Surveyed) -> tuple[FloatArray, ...]:
        """Return sums over all rows of the gradients of losses: a pass between both.

        Parameters
        ----------
        losses : sequence of LossSlopes
            With coefficients of the features.
        surveyed : Surveyed
            Result of the first pass; the last of its classes is positive.
        """
        positive = surveyed.moments.classes[-1]
        summed: Summed = self._run(Gradients(losses, positive))
        require_same_rows(surveyed.fingerprint, summed.fingerprint)
        return summed.gradients

    def _run(self, task: Any) -> Any:
        """Make a pass over the rows."""
        return run(self.source, self.plan, task, engine=self.engine, progress=self.progress)


def _class_counts(moments: Moments, apart: int | None) -> dict[Any, int]:
    """Return the number of rows of each class, without those of a fold."""
    folds = [part for number, part in enumerate(moments.parts) if number != apart]
    return {
        label: sum(part[index].count for part in folds)
        for index, label in enumerate(moments.classes.tolist())
    }


def source_folds(fold: Any, cv: Any) -> HashFolds:
    """Return how the rows of a source are held out: in as many folds as `cv` if it is a number."""
    if fold is None:
        return HashFolds(int(cv)) if isinstance(cv, int | np.integer) else HashFolds()
    if not isinstance(fold, HashFolds):
        msg = "fit_source holds rows out by a hash: give fold=HashFolds(5, key=...), or none"
        raise TypeError(msg)
    return fold


def check_refine(refine: Any) -> None:
    """Raise ValueError if a number of corrections is not a whole number, zero or more."""
    if not isinstance(refine, int | np.integer) or isinstance(refine, bool) or refine < 0:
        msg = f"refine must be a whole number, 0 or more, not {refine!r}"
        raise ValueError(msg)


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
