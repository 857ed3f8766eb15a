"""The fit to rows that live elsewhere: a few passes over them, however many rows there are.

A survey takes a summary and a sample of the rows, from which a design makes candidates as from rows
in memory. The next pass counts held-out scores in histograms of all rows, which choose the
candidate, set its threshold and calibrate it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.engines import HashFolds
from directrix.engines.base import run
from directrix.engines.column_roles import ColumnRoles
from directrix.engines.tasks import (
    CellFeatures,
    Fingerprint,
    FoldModels,
    NumberFeatures,
    PassSums,
    Score,
    Surveyed,
    survey,
)
from directrix.fit.choice import Chosen, choose
from directrix.fit.compare import compare
from directrix.fit.evidence import CountEvidence
from directrix.fit.guarantee import Guarantee
from directrix.fit.training_rows import (
    Rows,
    class_factors,
    require_all_folds,
    reweighted,
)
from directrix.metrics.base import Metric
from directrix.metrics.score_histogram import ScoreHistogram
from directrix.metrics.segment_scores import SegmentScores
from directrix.metrics.segments import InEverySegment
from directrix.metrics.table import resolve
from directrix.moments import Moments
from directrix.rows.labels import WeightUnit
from directrix.rows.sample import RowSample
from directrix.tables import Table
from directrix.tables.profile import TableProfile

# ── SourcePasses: passes over rows that live elsewhere, which must find the same rows ─────────────


@dataclass
class SourcePasses:
    """The passes over a source of rows: a survey, and as many that score rows as a fit needs.

    ``plan`` has the roles of the columns, of numbers or of a raw table; its folds
    are `HashFolds`.
    """

    source: Any
    plan: ColumnRoles
    engine: str = "auto"
    progress: bool = True
    #: Number of passes made so far.
    n_passes: int = 0
    #: Mean weight of the rows: after the first pass, weights are in this unit.
    unit: WeightUnit | None = None
    _fingerprint: Fingerprint | None = None

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        engine: str,
        progress: bool,
        **roles: Any,
    ) -> SourcePasses:
        """Return the passes with these roles of columns; see `summarize`."""
        return cls(source, replace(ColumnRoles.of(**roles), identified=True), engine, progress)

    @property
    def fold(self) -> HashFolds:
        """How rows are held out."""
        folds: HashFolds = self.plan.fold
        return folds

    def survey(self, most: int = 0, apart: int | None = None) -> Surveyed:
        """Return a summary of the rows and a sample of them: the first pass.

        Another pass takes a full sample if the rows of a class are spread unequally over
        partitions. So does one over a raw table whose parts have different kinds of columns:
        numbers are not hashed as texts are, so rows are identified by the common kinds.

        ``most`` is the largest number of rows of each class in the sample; 0 for no sample.
        ``apart`` is the fold whose rows are not sampled.
        """
        surveyed = survey(self._run, most, apart)
        if self.plan.raw and surveyed.summary is not None:
            kinds = surveyed.table.kinds
            self.plan = replace(self.plan, columns=kinds.columns)
            if kinds.is_mixed:
                self._fingerprint = None
                surveyed = survey(self._run, most, apart)
        sample = surveyed.sample
        if surveyed.summary is None or (most and sample is None):
            msg = "there are no rows to learn from"
            raise ValueError(msg)
        if self.plan.weight is not None:
            totals = surveyed.totals
            weight, n_rows = float(totals.weights(None).sum()), sum(totals.counts().values())
            self.unit = WeightUnit.of(weight, n_rows)
        if sample is None:
            return self._in_units(surveyed)
        if self.plan.raw:
            sample = replace(sample, X=Table.of(sample.X, self.plan.columns))
        # By the values of rows: sums in single precision would else depend on the partitions.
        return self._in_units(surveyed.with_sample(sample.sorted()))

    def _in_units(self, surveyed: Surveyed) -> Surveyed:
        self.plan = replace(self.plan, unit=self.unit)
        return surveyed if self.unit is None else surveyed.in_units(self.unit)

    def score(self, task: Score) -> PassSums:
        """Make a later pass."""
        scored: PassSums = self._run(task)
        return scored

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


# ── The fit to rows that live elsewhere: a few passes over them, however many rows there are ──────


class FoldLines(NamedTuple):
    """A candidate that is nothing but its lines: that of all rows, and those without each fold."""

    line: FloatArray
    fold_lines: Sequence[FloatArray]


class CandidateGroup(NamedTuple):
    """Candidates of one design, which score rows after the same codings.

    ``codings`` are those without each fold, and that of all rows last; None for numbers, which are
    scored as they are.
    """

    candidates: Sequence[Any]
    codings: Sequence[Any]

    def models(self, fold: int) -> FoldModels:
        """Return the lines that score the rows of a fold, which were made without it.

        The rows of a fold that is set apart are scored by the lines of all other rows. Their scores
        by segment have numbers of their own, after those of the candidates on held-out rows.
        """
        n_folds = len(self.codings) - 1
        if fold < n_folds:
            lines = [each.fold_lines[fold] for each in self.candidates]
            return FoldModels(fold, np.stack(lines), self.codings[fold])
        lines = [each.line for each in self.candidates]
        return FoldModels(fold, np.stack(lines), self.codings[-1], first=len(lines))


@dataclass(frozen=True, eq=False)
class CountedScores:
    """Held-out scores of candidates, counted in one pass.

    ``folds`` has the histograms of all candidates, fold by fold, and ``apart`` those of a fold that
    is set apart. ``factors`` are the class weights of the negatives and of the positives.
    ``cells`` has for each column the weight of the negatives and of the positives in its cells.
    ``segments`` are the scores by segment, if rows have any: those of rows set apart, if there are
    such. ``weighted_by`` says what makes rows count differently.
    """

    folds: tuple[ScoreHistogram, ...]
    apart: ScoreHistogram | None
    factors: tuple[float, float]
    cells: tuple[FloatArray, ...] = ()
    segments: SegmentScores | None = None
    weighted_by: str = ""

    @cached_property
    def curves(self) -> list[CountEvidence]:
        """The held-out scores of each candidate."""
        number = range(len(self.folds[0].counts))
        by = self.weighted_by
        return [CountEvidence(self.folds, k, self.factors, weighted_by=by) for k in number]

    def evidence(self, index: int) -> tuple[CountEvidence, CountEvidence | None]:
        """Return the scores of a candidate on held-out rows, and on rows set apart, if any are."""
        held_out, segments, apart = self.curves[index], None, self.apart
        if self.segments is not None:
            number = index if apart is None else index + len(self.curves)
            segments = list(self.segments.of_model(number))
        if apart is None:
            return replace(held_out, segments=segments), None
        return held_out, replace(held_out, histograms=(apart,), segments=segments)

    def choose(self, metric: Metric, candidates: Sequence[Any]) -> Chosen:
        """Choose among the candidates as on rows; see `choose`."""
        curves, complexities = self.curves, [each.complexity for each in candidates]
        comparison = compare(metric, curves, curves[0].criterion(metric), complexities)
        return choose(metric, candidates, comparison, curves[0].sizes, curves)


@dataclass(frozen=True)
class SourceFit:
    """A fit in passes.

    With a ``guarantee``, the last fold is set apart: nothing is built from it or chosen by it.
    ``pool`` has new names of segments.
    """

    metric: Metric
    passes: SourcePasses
    class_weight: Any
    guarantee: Guarantee | None = None
    pool: Mapping[Any, Any] = field(default_factory=dict)

    @classmethod
    def asked(
        cls,
        classifier: Any,
        source: Any,
        roles: dict[str, Any],
        reading: dict[str, Any],
        *,
        raw: bool = False,
    ) -> SourceFit:
        """Return the fit that a classifier's parameters ask for; refuse those it does not have.

        ``roles`` and ``reading`` are those of `SourcePasses.of`, and ``raw`` says whether the
        features are a raw table.
        """
        metric, limits = resolve(classifier.metric), classifier.limits
        if classifier.takes_costs_or_days:
            column = classifier.training_columns[0]
            msg = f"fit_source has no costs or days of single rows, {column!r}: use fit"
            raise ValueError(msg)
        every = limits if isinstance(limits, InEverySegment) else None
        if every is not None and roles["segment"] is None:
            msg = f"{every.label} needs the segment of each row: name its column with segment="
            raise ValueError(msg)
        guarantee = Guarantee.asked(metric, limits, classifier.guarantee)
        folds = source_folds(roles["fold"], classifier.cv)
        if guarantee is not None:
            if roles["weight"] is not None:
                msg = "guarantee= counts rows, each once: leave weight= out"
                raise ValueError(msg)
            folds = replace(folds, n_folds=folds.n_folds + 1)
        passes = SourcePasses.of(source, raw=raw, **reading, **roles | {"fold": folds})
        pool = {} if every is None else every.pool
        return cls(metric, passes, classifier.class_weight, guarantee, pool)

    @property
    def apart(self) -> int | None:
        """The last fold, if it only sets the threshold."""
        return None if self.guarantee is None else self.passes.fold.n_folds - 1

    @property
    def n_folds(self) -> int:
        """Number of folds that are held out to compare candidates."""
        return self.passes.fold.n_folds - (self.apart is not None)

    def count(
        self,
        group: CandidateGroup,
        features: NumberFeatures | CellFeatures,
        label: Any,
        factors: tuple[float, float],
    ) -> CountedScores:
        """Count the scores of candidates on held-out rows, in one pass."""
        models = [group.models(fold) for fold in range(self.passes.fold.n_folds)]
        scored = self.passes.score(Score(features, label, models))
        segments, by_fold = scored.segments, scored.histograms
        if segments is not None and self.pool:
            segments = segments.pooled(self.pool)
        apart = None if self.apart is None else by_fold[-1]
        folds = by_fold[: self.n_folds]
        by = weighted_by(self.passes.plan.weight, self.class_weight)
        return CountedScores(folds, apart, factors, scored.cells, segments, by)

    def moments(self, surveyed: Surveyed) -> Moments:
        """Return the summary of the rows to fit to, with class weights."""
        moments = surveyed.moments
        if self.apart is not None:
            moments = replace(moments, parts=moments.parts[: self.apart])
        return reweighted(moments, self.class_weight)

    def sampled_rows(
        self, surveyed: Surveyed, classes: AnyArray
    ) -> tuple[Rows, tuple[float, float]]:
        """Return sampled rows, and the class weights of the negatives and of the positives.

        The weights of the rows give each class the weight of all its rows.
        """
        label, sample = classes[-1], surveyed.sample
        assert sample is not None  # noqa: S101 - a survey with a sample has one
        weights = surveyed.totals.weights(label, without_folds=(self.apart,))
        factors = class_factors(self.class_weight, classes.tolist(), weights.tolist())
        class_weights = weights * np.array(factors)
        positive = sample.y == label
        require_all_folds(sample.fold, positive, self.n_folds)
        total = np.array([sample.weight[~positive].sum(), sample.weight[positive].sum()])
        weight = sample.weight * (class_weights / total)[positive.astype(np.intp)]
        negative, positives = factors
        return Rows(sample.X, positive, weight, sample.fold), (negative, positives)


def weighted_by(weight: Any, class_weight: Any) -> str:
    """Return what makes the rows of a source count differently; empty if nothing does."""
    given = {"sample_weight": weight, "class_weight": class_weight}
    return " and ".join(name for name, value in given.items() if value is not None)


def profile_of_source(fit: SourceFit, surveyed: Surveyed, binner: Any = None) -> Any:
    """Return what the columns of sampled rows are, which stand for all; None without a sample."""
    sample = surveyed.sample
    if sample is None:
        return None
    weight = standing_weights(sample, surveyed.totals.counts(without_fold=fit.apart))
    if binner is None:
        return TableProfile.of_numbers(sample.X, weight)
    return TableProfile.of_bins(binner, binner.table_of(sample.X), weight)


def standing_weights(sample: RowSample, of_class: dict[Any, int]) -> FloatArray:
    """Return weights with which sampled rows stand for all, as many in all as are sampled.

    A bin then needs as many sampled rows as it would need rows of a table in memory.
    """
    labels, codes, sampled = np.unique(sample.y, return_inverse=True, return_counts=True)
    rows = np.array([of_class[label.item()] for label in labels])
    weight = (rows / sampled)[codes]
    standing: FloatArray = weight * (len(weight) / weight.sum())
    return standing
