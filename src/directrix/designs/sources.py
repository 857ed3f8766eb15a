"""Lines and cards of rows that live elsewhere: what a fit in passes needs to know of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from directrix._typing import AnyArray, FloatArray
from directrix.designs.card import BASELINES, CardCandidates, CardSettings
from directrix.designs.compact import CompactFit, teacher_odds
from directrix.designs.compact_source import MakeSizes, SourceSizes
from directrix.designs.counted import CountedSizes, counted_candidates, require_counts_of
from directrix.designs.points import scaled_without_rows
from directrix.engines.table_roles import TableRoles
from directrix.engines.tasks import CellFeatures, Score, Surveyed
from directrix.fitting.fit_rows import Compared, Fitted
from directrix.fitting.fit_source import (
    CandidateGroup,
    CountedScores,
    Preselection,
    SourceFit,
)
from directrix.fitting.histogram_choice import finish_counts
from directrix.fitting.training_rows import (
    Rows,
    Standardization,
    factors_of,
)
from directrix.fitting.trials import Trials
from directrix.frontier.compare import MOST_ROWS, REACH
from directrix.frontier.moment_frontier import moment_candidates
from directrix.frontier.row_frontier import RowFrontier
from directrix.frontier.search import FTOL, MOST_FEATURES
from directrix.metrics import AUC
from directrix.metrics.base import Metric
from directrix.models.card import Card
from directrix.moments import Moments
from directrix.rows.sample import RowSample
from directrix.tables import BinCounts, Binner, Column
from directrix.tables.coding.prior import CellKinds
from directrix.tables.profile import TableProfile

# ── Lines, from the moments of all rows and a sample of them ──────────────────────────────────────


#: Rows of each class in the sample of a fit of lines, however many partitions there are.
ROWS_OF_LINES = 20_000
#: What reports call the rows whose scores are counted.
ROWS_OF_COUNTS = "all rows, each held out once"
#: Which lines, and which cards, of a sample are counted on all rows.
COUNTED_LINES = Preselection(fewest=4, most=32, baseline_first=True)
COUNTED_CARDS = Preselection(fewest=1, most=12, baseline_first=False)


def profile_of_source(fit: SourceFit, surveyed: Surveyed, binner: Any = None) -> Any:
    """Return what the columns of sampled rows are, which stand for all; None without a sample."""
    sample = surveyed.sample
    if sample is None:
        return None
    weight = _row_weights(sample, surveyed.totals.counts(without_fold=fit.apart))
    if binner is None:
        return TableProfile.of_numbers(sample.X, weight)
    return TableProfile.of_bins(binner, binner.table_of(sample.X), weight)


def compared_lines(metric: Metric, moments: Moments, rows: Rows, n_jobs: int | None) -> Compared:
    """Compare lines of the moments of all rows with those of sampled rows.

    ``moments`` have class weights, and folds that are held out.
    """
    units = Standardization.of(rows.X, rows.weight)
    frontier = RowFrontier(
        units.rows(rows.X),
        *rows[1:4],
        ftol=FTOL,
        to_features=units.line_back,
        n_jobs=n_jobs,
        reach=REACH,
    )
    narrow = rows.X.shape[1] <= MOST_FEATURES
    return Compared.of(metric, frontier, moment_candidates(moments, *rows[:4]) if narrow else ())


# ── Cards, from a sample of the rows and counts of bins ───────────────────────────────────────────


@dataclass(frozen=True)
class CardSource:
    """The bins of a card, the structure and the candidates of a sample, and its compact cards."""

    binner: Binner
    settings: CardSettings
    n_folds: int

    @property
    def features(self) -> CellFeatures:
        """The cells of raw rows."""
        return CellFeatures(self.binner)

    def candidates(self, metric: Metric, cells: Rows) -> tuple[CandidateGroup, Trials | None]:
        """Learn a structure from sampled rows, with cells as features; return what to count.

        Also return the structures that were compared, to repeat their choice.
        """
        folds = range(self.n_folds)
        kinds = [CellKinds.of(bins) for bins in self.binner.bins_]
        search = self.settings.structure_search(kinds, cells)
        structure = search.run()
        coded = cells._replace(X=search.designs(structure, [None, *folds]))
        candidates = CardCandidates(coded, structure.ridge, "rows", n_jobs=self.settings.n_jobs)
        codings = [search.design(structure, fold) for fold in (*folds, None)]
        group = CandidateGroup(COUNTED_CARDS(candidates.compared(metric)), codings)
        return group, search.trials if search.tried else None

    def compressed(
        self, cards: Mapping[int | None, Card], sizes: Sequence[int], cells: Rows
    ) -> dict[int, dict[int | None, Card]]:
        """Return cards in several sizes, compressed by sampled rows with cells as features.

        Their scores have the scale of those of the cards.
        """
        kinds = [CellKinds.of(bins) for bins in self.binner.bins_]
        scores = np.empty(len(cells.positive))
        for fold, card in cards.items():
            if fold is not None:
                tested = np.flatnonzero(cells.fold == fold)
                scores[tested] = card.points(cells.X[tested])
        slope, offset = teacher_odds(scores, cells)
        fit = CompactFit(None, AUC(), cells, kinds, self.settings.directions, "auto", lambda x: x)
        made = fit.cards(cards, sizes, (slope, offset))
        return {
            size: {
                fold: card.affine(1.0 / slope, -offset / slope) for fold, card in by_fold.items()
            }
            for size, by_fold in made.items()
        }


class FittedSource(NamedTuple):
    """A card that was fitted in passes, its bins, and both labels, the positive one last.

    ``seen`` is what columns were, if rows were sampled.
    """

    fit: Fitted
    binner: Binner
    classes: AnyArray
    seen: TableProfile | None = None


@dataclass(frozen=True)
class CardSourceFit:
    """A fit of a card in passes.

    From a sample come the bins, the structure and the candidates of the rows, as from a table in
    memory. With ``learn_from="counts"``, counts of pairs of bins give closed-form candidates.

    ``settings`` maps bins to the settings of the card. A ``binner`` that is fitted is kept.
    ``two_labels`` maps the labels of the rows to both, the positive one last, and refuses any other
    number. ``check`` looks at the columns, the values and the positives of the sample.
    """

    fit: SourceFit
    settings: Callable[[Sequence[Any]], CardSettings]
    binner: Any
    learn_from: str
    two_labels: Callable[[AnyArray], AnyArray]
    check: Callable[[Sequence[Column], FloatArray, AnyArray], None]

    def run(self) -> FittedSource:
        """Make the passes."""
        fit, passes = self.fit, self.fit.passes
        binner = Binner() if isinstance(self.binner, str) else clone(self.binner)
        known, by_counts = hasattr(binner, "bins_"), self.learn_from == "counts"  # known: frozen
        if known and isinstance(passes.plan, TableRoles):
            columns = tuple(Column(bins.name, bins.kind) for bins in binner.bins_)
            counted = binner if by_counts else None
            passes.plan = replace(passes.plan, columns=columns, binner=counted)
        surveyed = passes.survey(MOST_ROWS, fit.apart)
        classes = self.two_labels(surveyed.totals.classes)
        counts = surveyed.totals.counts(without_fold=fit.apart)
        n_rows = sum(counts.values())
        if not known and surveyed.sample is not None:
            sample = surveyed.sample
            complete = len(sample.y) >= n_rows
            binner.fit_table(sample.X, _row_weights(sample, counts), complete=complete)
        if surveyed.sample is not None:
            table = surveyed.sample.X
            self.check(table.columns, table.values, surveyed.sample.y == classes[-1])
        seen = profile_of_source(fit, surveyed, binner)
        if by_counts:
            made = self.run_counts(surveyed.table.counts, binner, classes)
            return made._replace(seen=seen)
        design = CardSource(binner, self.settings(binner.bins_), fit.n_folds)
        rows, factors = fit.sampled_rows(surveyed, classes)
        cells = rows._replace(X=binner.cells(rows.X))
        group, trials = design.candidates(fit.metric, cells)
        if trials is not None:
            trials = replace(trials, share=len(rows.positive) / n_rows)
        counted = fit.count(group, design.features, classes[-1], factors)
        compressed = partial(design.compressed, cells=cells)
        made = self._finished(design, group, counted, trials, classes, compressed)
        return made._replace(seen=seen)

    def run_counts(
        self, counts: BinCounts | None, binner: Binner, classes: AnyArray
    ) -> FittedSource:
        """Compare closed-form cards on held-out rows, in one pass.

        ``counts`` are of all rows, with their folds; if they are not known, another pass counts.
        """
        fit, label = self.fit, classes[-1]
        design = CardSource(binner, self.settings(binner.bins_), fit.n_folds)
        if counts is None:
            counts = fit.passes.score(Score(design.features, label, count=True)).counts
        counts = BinCounts.empty(binner) if counts is None else counts
        directions = design.settings.directions
        coding, closed = counted_candidates(fit.metric, counts, label, directions, fit.n_folds)
        group = CandidateGroup(closed, [coding] * (fit.n_folds + 1))
        kept = counts.folds[: fit.n_folds]
        weights = [sum(fold.class_moments(each).weight for fold in kept) for each in classes]
        negatives, positives = factors_of(fit.class_weight, classes, np.array(weights)).tolist()
        counted = fit.count(group, design.features, label, (negatives, positives))
        apart = [] if counted.apart is None else [counted.apart]
        require_counts_of(counts, label, (*counted.folds, *apart))

        def compressed(
            cards: Mapping[int | None, Card], sizes: Sequence[int]
        ) -> Mapping[int, Mapping[int | None, Card]]:
            used = replace(counts, parts=counts.parts[: fit.n_folds])
            made = CountedSizes(fit.metric, used, label, directions)
            by_fold = {
                fold: made.cards(used if fold is None else used.without_fold(fold), card, sizes)
                for fold, card in cards.items()
            }
            return {size: {fold: by_fold[fold][size] for fold in cards} for size in sizes}

        return self._finished(design, group, counted, None, classes, compressed)

    def _finished(
        self,
        design: CardSource,
        group: CandidateGroup,
        counted: CountedScores,
        trials: Trials | None,
        classes: AnyArray,
        compressed: MakeSizes,
    ) -> FittedSource:
        """Choose a candidate, and make its card; ``compressed`` makes compact ones."""
        chosen = counted.choose(self.fit.metric, group.candidates, trials)
        index, settings, bins = chosen.index, design.settings, tuple(design.binner.bins_)
        evidence, reserved = counted.evidence(index)
        ends = evidence, chosen.candidate.line, self.fit.guarantee, reserved
        fitted = finish_counts(chosen.choice, *ends)
        coding: Any = group.codings[-1]
        card, report = Card.of(coding, fitted.line), chosen.report(ROWS_OF_COUNTS)
        if settings.scale is not None:
            card, fitted = scaled_without_rows(settings.scale, card, fitted)
        made = Fitted(fitted, replace(report, baseline=BASELINES[self.learn_from]), card)
        if settings.max_lines is not None:
            sizes = SourceSizes(
                *(self.fit, group, counted, trials, design.features, classes[-1], bins),
                settings.scale,
                compressed,
            )
            made = sizes.run(index, made, settings.max_lines)

        def complete(fit: Fitted) -> Fitted:
            return fit._replace(
                card=fit.card and replace(fit.card, bins=bins, counts=counted.cells),
                sizes=tuple(map(complete, fit.sizes)),
            )

        return FittedSource(complete(made), design.binner, classes)


def _row_weights(sample: RowSample, of_class: dict[Any, int]) -> FloatArray:
    """Return weights with which sampled rows stand for all, as many in all as are sampled.

    A bin then needs as many sampled rows as it would need rows of a table in memory.
    """
    labels, codes, sampled = np.unique(sample.y, return_inverse=True, return_counts=True)
    rows = np.array([of_class[label.item()] for label in labels])
    weight = (rows / sampled)[codes]
    standing: FloatArray = weight * (len(weight) / weight.sum())
    return standing
