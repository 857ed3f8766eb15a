"""The fit to rows that live elsewhere: a few passes over them, however many rows there are.

A survey takes a summary and a sample of the rows, from which a design makes candidates as from rows
in memory. Later passes correct the best of them by their gradients over all rows. The last one
counts held-out scores in histograms of all rows, which choose the candidate, set its threshold and
calibrate it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.engines import HashFolds
from directrix.engines.base import run
from directrix.engines.column_roles import ColumnRoles, RawRows, TableRoles
from directrix.engines.tasks import (
    CellFeatures,
    Fingerprint,
    FoldModels,
    ModelSlopes,
    NumberFeatures,
    PassSums,
    Score,
    Survey,
    Surveyed,
    add_present,
)
from directrix.fitting.choice import Trials
from directrix.fitting.finalize import FittedLine
from directrix.fitting.fit_rows import Compared, gap_to_logistic
from directrix.fitting.guarantee import Guarantee
from directrix.fitting.histogram_choice import (
    HistogramChoice,
    compare_histograms,
    guaranteed_threshold,
    select_from_histograms,
)
from directrix.fitting.training_rows import (
    Standardization,
    TrainingRows,
    factors_of,
    require_all_folds,
)
from directrix.frontier.compare import Candidate
from directrix.frontier.recipes import balance_factor
from directrix.frontier.row_frontier import CorrectedCandidate, RowCandidate
from directrix.losses.base import Loss
from directrix.metrics.base import Metric
from directrix.models.report import DirectReport
from directrix.moments.score_histogram import ScoreHistogram, side_by_side
from directrix.moments.segment_scores import SegmentCounts, SegmentScores
from directrix.tables.coding.card_coding import CardCoding

# ── SourcePasses: passes over rows that live elsewhere, which must find the same rows ─────────────


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
    ) -> tuple[ScoreHistogram, ...]:
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


# ── Corrections of the candidates of a sample by their gradients over all rows of a source ────────


#: Candidates of a sample that are corrected.
_MOST = 2


@dataclass(frozen=True, eq=False)
class LossSlopes:
    """Losses of linear models whose gradients a pass adds up.

    ``coefs`` of shape (k, d + 1) have their intercepts last. ``losses`` are means over rows, one
    for each line of coefficients. ``factors`` of shape (k, 2) are those of the weights of the
    negatives and of the positives. ``without`` are the folds whose rows do not count.
    """

    coefs: FloatArray
    losses: Sequence[Loss]
    factors: FloatArray
    without: tuple[int, ...] = ()

    def sums(
        self,
        rows_of: Callable[[AnyArray], Any],
        positive: AnyArray,
        weight: FloatArray,
        fold: AnyArray,
        dtype: Any = np.float64,
    ) -> FloatArray:
        """Return sums of weighted gradients over rows, of shape (k, d + 1).

        ``rows_of`` maps indices of rows to their features, a matrix as far as products go.
        ``dtype`` is that of the scores.
        """
        rows = np.flatnonzero(~np.isin(fold, self.without))
        X, positive, weight = rows_of(rows), positive[rows], weight[rows]
        coefs: AnyArray = self.coefs.astype(dtype)
        scores = X @ coefs[:, :-1].T + coefs[:, -1]
        slopes = np.zeros_like(scores)
        for k, loss in enumerate(self.losses if len(rows) else ()):
            effective = weight * self.factors[k, positive.astype(np.intp)]
            column = scores[:, k].astype(np.float64)
            mean = loss.value_and_grad(positive, column, effective)[1]
            slopes[:, k] = mean * float(effective.sum())
        return np.column_stack([(X.T @ slopes).T, slopes.sum(axis=0, dtype=np.float64)])


class Slopes(NamedTuple):
    """Gradients of candidates that are made without a fold.

    ``fold`` is None for candidates of all rows. ``weights`` are the weights of all rows that count,
    for each candidate.
    """

    fold: int | None
    losses: LossSlopes
    weights: FloatArray


@dataclass(frozen=True)
class Corrections:
    """What a pass adds up to correct candidates, and the correction.

    ``weights`` maps folds that do not count to the weight of all other negatives and positives.
    ``factors`` are the class weights of the negatives and of the positives. ``apart`` is a fold
    that is set apart.
    """

    n_folds: int
    weights: Callable[[tuple[int, ...]], FloatArray]
    factors: FloatArray
    apart: int | None = None

    @staticmethod
    def start(candidates: Sequence[Candidate]) -> list[CorrectedCandidate]:
        """Return the first candidates that can be corrected: their loss is a mean over rows."""
        of_rows = [each for each in candidates if isinstance(each, RowCandidate)]
        separable = [each for each in of_rows if each.recipe.loss.separable]
        return [CorrectedCandidate.of(each) for each in separable[:_MOST]]

    def slopes(self, candidates: Sequence[CorrectedCandidate]) -> list[Slopes]:
        """Return the gradients to add up: without each fold, and of all rows."""
        if not candidates:
            return []
        slopes = []
        for fold in (*range(self.n_folds), None):
            without = tuple(each for each in {fold, self.apart} if each is not None)
            weights = self.weights(without)
            factors = np.array([self.factors] * len(candidates))
            for k, each in enumerate(candidates):
                if each.recipe.ratio is not None:
                    negatives, positives = (weights * self.factors).tolist()
                    factors[k, 0] *= balance_factor(negatives, positives, each.recipe.ratio)
            coefs = np.stack([each.coefs[fold] for each in candidates])
            losses = LossSlopes(coefs, [each.recipe.loss for each in candidates], factors, without)
            slopes.append(Slopes(fold, losses, factors @ weights))
        return slopes

    @staticmethod
    def corrected(
        candidates: Sequence[CorrectedCandidate],
        slopes: Sequence[Slopes],
        gradients: Sequence[FloatArray],
    ) -> list[CorrectedCandidate]:
        """Return candidates after one correction.

        ``slopes`` are those of these candidates. ``gradients`` of shape (k, d + 1) are sums over
        all rows, for each of the slopes, in the units of the coefficients.
        """
        means = {
            each.fold: gradient / each.weights[:, None]
            for each, gradient in zip(slopes, gradients, strict=True)
        }
        return [
            each.corrected({fold: mean[k] for fold, mean in means.items()})
            for k, each in enumerate(candidates)
        ]


# ── The fit to rows that live elsewhere: a few passes over them, however many rows there are ──────


#: Added to the numbers of models that score rows set apart, for scores by segment.
_APART = 1 << 20
#: Standard errors of its difference to the best on the sample up to which a candidate is counted.
_STANDARD_ERRORS = 2.0


class FoldLines(NamedTuple):
    """A candidate that is nothing but its lines: that of all rows, and those without each fold."""

    line: FloatArray
    fold_lines: Sequence[FloatArray]


class CandidateGroup(NamedTuple):
    """Candidates of one design, which score rows after the same codings.

    ``codings`` are those without each fold, and that of all rows last; None for numbers, which are
    scored as they are. ``units`` are those in which candidates are corrected, if they are not the
    features' own.
    """

    candidates: Sequence[Any]
    codings: Sequence[CardCoding | None]
    units: Standardization | None = None

    def models(self, fold: int, first: int = 0) -> FoldModels:
        """Return the lines that score the rows of a fold, which were made without it.

        The rows of a fold that is set apart are scored by the lines of all other rows. ``first`` is
        the number of the first candidate among those of all groups.
        """
        n_folds = len(self.codings) - 1
        lines = [each.fold_lines[fold] if fold < n_folds else each.line for each in self.candidates]
        return FoldModels(fold, np.stack(lines), self.codings[min(fold, n_folds)], first)

    def slopes(self, slopes: Sequence[Slopes]) -> list[ModelSlopes]:
        """Return the gradients to add up, by coefficients of the features."""
        tasks = []
        for each, coding in zip(slopes, self.codings, strict=bool(slopes)):
            losses = each.losses
            if self.units is not None:
                coefs = np.stack([self.units.line_back(line) for line in losses.coefs])
                losses = replace(losses, coefs=coefs)
            tasks.append(ModelSlopes(losses, coding))
        return tasks

    def gradients(self, gradients: Sequence[FloatArray]) -> list[FloatArray]:
        """Return gradients by coefficients of the features in the units of the candidates."""
        if self.units is None:
            return list(gradients)
        there = self.units.gradient_there
        return [np.stack([there(gradient) for gradient in part]) for part in gradients]


@dataclass
class HistogramSelection:
    """Counts held-out scores of groups of candidates over passes, and chooses among all of them.

    ``factors`` are the class weights of the negatives and of the positives. ``n_folds`` is the
    number of folds that are held out; a later one is set apart. ``trials`` are what was compared on
    a sample of the rows before. ``pool`` has new names of segments.
    """

    metric: Metric
    passes: SourcePasses
    features: NumberFeatures | CellFeatures
    label: Any
    factors: tuple[float, float]
    n_folds: int
    trials: Trials | None = None
    pool: Mapping[Any, Any] = field(default_factory=dict)
    #: Groups whose held-out scores are counted, and their histograms by fold.
    groups: list[CandidateGroup] = field(default_factory=list)
    histograms: list[list[ScoreHistogram]] = field(default_factory=list)
    #: For each column the weight of the negatives and of the positives in its cells.
    cells: tuple[FloatArray, ...] = ()
    #: Scores of all candidates by segment; those of rows set apart have other numbers.
    segments: SegmentScores | None = None

    def count(
        self,
        groups: Sequence[CandidateGroup],
        slopes: Sequence[ModelSlopes] = (),
        *,
        pairs: bool = False,
    ) -> PassSums:
        """Count the held-out scores of more candidates, in one pass.

        The same pass adds up gradients and, if asked for ``pairs``, counts pairs of cells.
        """
        folds, first, models = range(self.passes.fold.n_folds), len(self.candidates), []
        for group in groups:
            models += [
                group.models(fold, first + _APART * (fold == self.n_folds)) for fold in folds
            ]
            first += len(group.candidates)
        scored = self.passes.score(Score(self.features, self.label, models, slopes, pairs))
        self.segments = add_present(self.segments, scored.segments)
        for k, group in enumerate(groups):
            self.groups.append(group)
            start = k * len(folds)
            self.histograms.append(list(scored.histograms[start : start + len(folds)]))
        self.cells = scored.cells
        return scored

    def has_improved(self, n_last: int) -> bool:
        """Return whether one of the last groups is better than all before."""
        best = [
            float(compare_histograms(self.metric, held_out, self.factors).deciding.min())
            for held_out in (tuple(folds[: self.n_folds]) for folds in self.histograms)
        ]
        return min(best[-n_last:]) < min(best[:-n_last])

    @property
    def candidates(self) -> list[Any]:
        """All candidates."""
        return [each for group in self.groups for each in group.candidates]

    def codings(self, index: int) -> list[Any]:
        """Return the codings of a candidate, without each fold and of all rows."""
        return [list(group.codings) for group in self.groups for _ in group.candidates][index]

    def coding(self, index: int) -> Any:
        """Return the coding of all rows of a candidate."""
        return self.codings(index)[-1]

    @property
    def by_fold(self) -> list[ScoreHistogram]:
        """The histograms of all candidates, fold by fold."""
        return [side_by_side(of_fold) for of_fold in zip(*self.histograms, strict=True)]

    def in_segments(self, index: int) -> list[SegmentCounts] | None:
        """Return the scores of a candidate in each segment; None if rows have no segments.

        They are those of rows set apart, if there are such.
        """
        if self.segments is None:
            return None
        pooled = self.segments.pooled(self.pool) if self.pool else self.segments
        apart = self.passes.fold.n_folds > self.n_folds
        return list(pooled.of_model(index + _APART * apart))

    def choose(self) -> HistogramChoice:
        """Return the candidate that is best on held-out rows."""
        held_out = tuple(self.by_fold[: self.n_folds])
        complexities = [candidate.complexity for candidate in self.candidates]
        return select_from_histograms(
            self.metric, held_out, self.factors, self.trials, complexities
        )


class SampleCandidates(NamedTuple):
    """Candidates of a sample of the rows, and what makes features for them.

    ``codings`` and ``units`` are those of a `CandidateGroup`.
    """

    compared: Compared
    codings: Sequence[CardCoding | None]
    units: Standardization | None = None
    trials: Trials | None = None


class Preselection(NamedTuple):
    """How many candidates of a sample are counted on all rows, where each costs time on every row.

    Those within two standard errors of the best are: one that is worse by more is hardly the best
    on all rows. ``fewest`` and ``most`` bound their number; the best logistic regression is always
    among them, first or in its place.
    """

    fewest: int
    most: int
    baseline_first: bool

    def __call__(self, compared: Compared) -> list[int]:
        """Return the candidates to count, the best first."""
        comparison = compared.comparison
        losses, best = comparison.deciding, comparison.best
        order = np.argsort(losses, kind="stable")
        near = losses - losses[best] <= _STANDARD_ERRORS * comparison.standard_errors(best)
        count = min(max(int(near.sum()), self.fewest), self.most)
        counted = [*order[near[order]], *order[~near[order]]][:count]
        baseline = [k for k in order if compared.candidates[k].complexity == 0.0][:1]
        both = [*baseline, *counted] if self.baseline_first else [*counted, *baseline]
        return [int(k) for k in dict.fromkeys(both)]


class SourceDesign(Protocol):
    """What a fit in passes needs to know of lines or cards.

    ``most_rows`` is the number of rows of each class in the sample, however many partitions there
    are. ``stops_early`` says whether corrections end when held-out rows are scored no better.
    ``counted`` makes candidates in closed form from a metric, counts of pairs of cells of all rows,
    and a label; it is None if the first correction counts no pairs.
    """

    most_rows: ClassVar[int]
    preselection: ClassVar[Preselection]
    stops_early: ClassVar[bool]

    @property
    def features(self) -> NumberFeatures | CellFeatures:  # noqa: D102
        ...

    @property
    def counted(self) -> Callable[..., CandidateGroup] | None:  # noqa: D102
        ...

    def sample_candidates(self, metric: Metric, rows: TrainingRows) -> SampleCandidates:
        """Compare candidates on sampled rows, as on rows in memory."""
        ...


class Chosen(NamedTuple):
    """The chosen candidate: its line with a threshold, the report, and how it was chosen."""

    fitted: FittedLine
    report: DirectReport
    choice: HistogramChoice

    @property
    def number(self) -> int:
        """Its number among all candidates."""
        return self.choice.index


@dataclass(frozen=True)
class SourceFit:
    """A fit in passes.

    With a ``guarantee``, the last fold is set apart: nothing is built from it or chosen by it.
    ``refine`` is the largest number of corrections of the best candidates of the sample by all
    rows, each with one pass. ``pool`` has new names of segments.
    """

    metric: Metric
    passes: SourcePasses
    class_weight: Any
    guarantee: Guarantee | None = None
    refine: int = 0
    pool: Mapping[Any, Any] = field(default_factory=dict)

    @property
    def apart(self) -> int | None:
        """The last fold, if it only sets the threshold."""
        return None if self.guarantee is None else self.passes.fold.n_folds - 1

    @property
    def n_folds(self) -> int:
        """Number of folds that are held out to compare candidates."""
        return self.passes.fold.n_folds - (self.apart is not None)

    def select(
        self, design: SourceDesign, surveyed: Surveyed, classes: AnyArray
    ) -> HistogramSelection:
        """Correct candidates of the sample by all rows, and compare them on held-out rows.

        ``surveyed`` has a sample. The positive one of ``classes`` is last.
        """
        label, totals = classes[-1], surveyed.totals
        rows, factors = self.sampled_rows(surveyed, classes)
        sampled = design.sample_candidates(self.metric, rows)
        kept = [sampled.compared.candidates[k] for k in design.preselection(sampled.compared)]
        group = CandidateGroup(kept, sampled.codings, sampled.units)
        selection = self.selection(design.features, label, factors)
        if sampled.trials is not None:
            n_rows = sum(totals.counts(without_fold=self.apart).values())
            selection.trials = replace(sampled.trials, share=len(rows.positive) / n_rows)
        corrections = Corrections(self.n_folds, partial(totals.weights, label), factors, self.apart)
        corrected, waiting = corrections.start(kept) if self.refine else [], [group]
        counted = design.counted
        for step in range(self.refine if corrected or counted is not None else 0):
            slopes = corrections.slopes(corrected)
            pairs = step == 0 and counted is not None
            scored = selection.count(waiting, group.slopes(slopes), pairs=pairs)
            if step and design.stops_early and not selection.has_improved(len(waiting)):
                waiting = []
                break
            gradients = group.gradients(scored.gradients)
            corrected = corrections.corrected(corrected, slopes, gradients)
            waiting = [group._replace(candidates=corrected)] if corrected else []
            if counted is not None and scored.counts is not None:
                waiting.append(counted(self.metric, scored.counts, label))
        if waiting:
            selection.count(waiting)
        return selection

    def selection(
        self, features: NumberFeatures | CellFeatures, label: Any, factors: FloatArray
    ) -> HistogramSelection:
        """Return the selection among candidates that are yet to be counted."""
        negative, positive = factors.tolist()
        weights = negative, positive
        return HistogramSelection(
            self.metric, self.passes, features, label, weights, self.n_folds, pool=self.pool
        )

    def sampled_rows(
        self, surveyed: Surveyed, classes: AnyArray
    ) -> tuple[TrainingRows, FloatArray]:
        """Return sampled rows, and the class weights of the negatives and of the positives.

        The weights of the rows give each class the weight of all its rows.
        """
        label, sample = classes[-1], surveyed.sample
        assert sample is not None  # noqa: S101 - a survey with a sample has one
        weights = surveyed.totals.weights(label, without_folds=(self.apart,))
        factors = factors_of(self.class_weight, classes, weights)
        class_weights = weights * factors
        positive = sample.y == label
        require_all_folds(sample.fold, positive, self.n_folds)
        total = np.array([sample.weight[~positive].sum(), sample.weight[positive].sum()])
        weight = sample.weight * (class_weights / total)[positive.astype(np.intp)]
        return TrainingRows(sample.X, positive, weight, sample.fold), factors

    def chosen(self, selection: HistogramSelection) -> Chosen:
        """Choose a candidate, and set its threshold."""
        metric, candidates, best = self.metric, selection.candidates, selection.choose()
        guaranteed, segments = None, selection.in_segments(best.index)
        if self.guarantee is not None:
            apart = selection.by_fold[-1]
            guaranteed = guaranteed_threshold(metric, self.guarantee, apart, best, segments)
        fitted = best.finalize(metric, candidates[best.index].line, guaranteed, segments)
        simplest = np.flatnonzero([candidate.complexity == 0.0 for candidate in candidates])
        gap = 0.0
        if candidates[best.index].complexity > 0.0:
            gap = gap_to_logistic(best.assessment, simplest)
        report = DirectReport.of(
            metric,
            "all rows, each held out once",
            candidates,
            best.comparison,
            best.index,
            best.assessment.estimate,
            gap,
            chance=best.assessment.chance,
        )
        return Chosen(fitted, report, best)
