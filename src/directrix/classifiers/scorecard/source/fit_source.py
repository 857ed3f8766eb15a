"""The fit of ScorecardClassifier to rows that live elsewhere: a few passes, however many rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from directrix.classifiers.base import two_classes
from directrix.classifiers.direct.fit_source import (
    report_of_choice,
    require_all_folds,
    weights_of_sample,
)
from directrix.classifiers.labels import ending_with
from directrix.classifiers.scorecard.fit import BASELINES, Candidates, CardSettings
from directrix.classifiers.scorecard.points_fit import scaled_without_rows
from directrix.classifiers.scorecard.source.contest import Contest, Family
from directrix.classifiers.scorecard.source.counted_candidates import (
    counted_candidates,
    require_counts_of,
)
from directrix.classifiers.scorecard.source.passes import CardPasses
from directrix.classifiers.scorecard.source.table_plan import TablePlan
from directrix.classifiers.scorecard.source.tasks import CardSlopes, TableSurvey
from directrix.fitting.class_weights import factors_of
from directrix.fitting.corrections import Corrections
from directrix.fitting.histogram_choice import guaranteed_threshold
from directrix.fitting.progress import Clock
from directrix.fitting.training_rows import TrainingRows
from directrix.fitting.two_passes import check_refine, source_folds
from directrix.frontier.compare import MOST_ROWS, Comparison
from directrix.models.card import Card
from directrix.models.report import DirectReport
from directrix.tables import Binner
from directrix.tables.coding.prior import CellKinds

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.scorecard.source.class_totals import ClassTotals
    from directrix.classifiers.scorecard.source.table_sample import TableSample
    from directrix.fitting.finalize import FittedLine
    from directrix.fitting.guarantee import Guarantee
    from directrix.fitting.trials import Trials
    from directrix.metrics.base import Metric
    from directrix.tables import BinCounts

#: Candidates whose held-out scores are counted: the best on the sample, or by predicted risk.
_COUNTED = 12
#: Candidates of the sample that are corrected by all rows.
_CORRECTED = 2
#: Pairs of columns, and cells, that are counted for cards in closed form beside those of the rows.
_MOST_PAIRS, _MOST_CELLS = 300, 2_000


class FittedSource(NamedTuple):
    """A card that was fitted in passes over a source.

    Parameters
    ----------
    fitted : FittedLine
    report : DirectReport
    card : Card
        With its bins, and the weight of the rows in each.
    binner : Binner
    classes : array
        The positive label is last.
    """

    fitted: FittedLine
    report: DirectReport
    card: Card
    binner: Binner
    classes: AnyArray


class SampleFit(NamedTuple):
    """Candidates of a sample of the rows.

    Parameters
    ----------
    family : Family
    skipped : sequence of str
        Steps of the search for which there was no time.
    trials : Trials, optional
        The structures that were compared.
    """

    family: Family
    skipped: Sequence[str]
    trials: Trials | None


@dataclass(frozen=True)
class CardSource:
    """A fit in passes.

    From a sample come the bins, the structure and the candidates of the rows, as from a table in
    memory. A second pass counts bins and corrects the best candidates by their gradients over all
    rows; with ``train_on="counts"``, the counts of pairs of bins give closed-form candidates. A
    third pass counts held-out scores in histograms, which choose the card, set its threshold and
    calibrate it.

    Parameters
    ----------
    metric : Metric
    passes : CardPasses
    settings : callable
        From bins to the settings of the card.
    binner : "auto" or Binner
        One that is fitted is kept.
    train_on : "rows" or "counts"
    class_weight : dict, "balanced" or None
    positive : label, optional
        Label to catch; by default the last of both.
    refine : int
        Corrections of the candidates of the sample by all rows at most, each with one pass; they
        end when held-out rows are scored no better.
    guarantee : Guarantee, optional
        The last fold is then set apart: nothing is built from it or chosen by it.
    """

    metric: Metric
    passes: CardPasses
    settings: Callable[[Sequence[Any]], CardSettings]
    binner: Any
    train_on: str
    class_weight: Any
    positive: Any
    refine: int
    guarantee: Guarantee | None = None

    @property
    def _apart(self) -> int | None:
        """The last fold, if it only sets the threshold."""
        return None if self.guarantee is None else self.passes.fold.n_folds - 1

    @property
    def _n_folds(self) -> int:
        """Number of folds that are held out to compare candidates."""
        return self.passes.fold.n_folds - (self._apart is not None)

    def fit(self) -> FittedSource:
        """Make the passes."""
        binner = Binner() if isinstance(self.binner, str) else clone(self.binner)
        known = hasattr(binner, "bins_")  # frozen
        if known:
            self.passes.read_as(binner.bins_)
        by_counts = self.train_on == "counts"
        survey = TableSurvey(MOST_ROWS, self._apart, binner if known and by_counts else None)
        totals, sample, counts = self.passes.survey(survey)
        classes = ending_with(self.positive, two_classes(totals.classes))
        if not known:
            binner.fit_table(
                sample.table, _row_weights(sample, totals.counts(without_fold=self._apart))
            )
        if not by_counts:
            return self._fit_rows(binner, classes, sample, totals)
        if counts is None:
            counts = self.passes.count(binner, classes[-1])
        return self.fit_counts(counts, binner, classes)

    def fit_counts(self, counts: BinCounts, binner: Binner, classes: AnyArray) -> FittedSource:
        """Compare closed-form cards on held-out rows, in one pass; see `fit`.

        Parameters
        ----------
        counts : BinCounts
            Of all rows, with their folds.
        binner : Binner
        classes : array of two labels
            The positive one is last.
        """
        settings = self.settings(binner.bins_)
        family = self._counted(counts, classes[-1], settings, baseline=True)
        kept = counts.folds[: self._n_folds]
        weights = [sum(fold.class_moments(each).weight for fold in kept) for each in classes]
        factors = factors_of(self.class_weight, classes, np.array(weights))
        contest = self._contest(binner, classes[-1], factors)
        contest.count([family])
        require_counts_of(counts, classes[-1], contest.by_fold)
        return self._finish(contest, settings, classes)

    def _contest(self, binner: Binner, label: Any, factors: FloatArray) -> Contest:
        negative, positive = factors.tolist()
        weights = negative, positive
        return Contest(self.metric, self.passes, binner, label, weights, self._n_folds)

    def _counted(
        self, counts: BinCounts, label: Any, settings: CardSettings, *, baseline: bool
    ) -> Family:
        """Return the candidates in closed form of additive cards."""
        design, candidates = counted_candidates(
            self.metric, counts, label, settings.directions, self._n_folds, baseline=baseline
        )
        return Family(candidates, design, [design] * self._n_folds)

    def _fit_rows(
        self, binner: Binner, classes: AnyArray, sample: TableSample, totals: ClassTotals
    ) -> FittedSource:
        """Correct candidates of the sample by all rows, and compare them on held-out rows."""
        label, settings = classes[-1], self.settings(binner.bins_)
        weights = totals.weights(label, without_folds=(self._apart,))
        factors = factors_of(self.class_weight, classes, weights)
        sampled = self._family_of_sample(binner, sample, sample.rows.y == label, weights * factors)
        family = sampled.family
        corrections = Corrections(
            self._n_folds, partial(totals.weights, label), factors, self._apart
        )
        corrected = corrections.start(family.candidates)
        designs = [*family.fold_designs, family.design]
        contest, waiting = self._contest(binner, label, factors), [family]
        n_rows = sum(totals.counts(without_fold=self._apart).values())
        if sampled.trials is not None:
            contest.trials = replace(sampled.trials, share=len(sample.rows.y) / n_rows)
        for step in range(self.refine):
            slopes = corrections.slopes(corrected)
            tasks = [CardSlopes(designs[k], each.losses) for k, each in enumerate(slopes)]
            pairs = step == 0 and settings.max_columns is None and _is_countable(binner)
            scored = contest.count(waiting, tasks, pairs=pairs)
            if step and not contest.has_improved(len(waiting)):
                waiting = []
                break
            corrected = corrections.corrected(corrected, slopes, scored.gradients)
            waiting = [family._replace(candidates=corrected)] if corrected else []
            if scored.counts is not None:
                waiting.append(self._counted(scored.counts, label, settings, baseline=False))
        if waiting:
            contest.count(waiting)
        return self._finish(contest, settings, classes, sampled.skipped)

    def _family_of_sample(
        self, binner: Binner, sample: TableSample, positive: AnyArray, class_weights: FloatArray
    ) -> SampleFit:
        """Return the best candidates of the sample, and what the search did.

        Parameters
        ----------
        binner : Binner
        sample : TableSample
        positive : array of bool of shape (n,)
            Which sampled rows are of the positive class.
        class_weights : array of shape (2,)
            Weight of all negatives and of all positives.
        """
        rows, folds, clock = sample.rows, range(self._n_folds), Clock(None)
        require_all_folds(rows.fold, positive, self._n_folds)
        weight = weights_of_sample(rows.weight, positive, class_weights)
        seen = TrainingRows(binner.cells(sample.table), positive, weight, rows.fold)
        settings = self.settings(binner.bins_)
        kinds = [CellKinds.of(bins) for bins in binner.bins_]
        search = settings.structure_search(kinds, seen, clock)
        structure = search.run()
        coded = seen._replace(X=search.designs(structure, [None, *folds]))
        candidates = Candidates(coded, structure.ridge, "rows", clock, settings.n_jobs)
        compared = candidates.compared(self.metric)
        chosen = _promising(compared.comparison, compared.candidates)
        family = Family(
            [compared.candidates[k] for k in chosen],
            search.design(structure, None),
            [search.design(structure, fold) for fold in folds],
        )
        trials = search.trials if search.tried else None
        return SampleFit(family, (*search.skipped, *compared.skipped), trials)

    def _finish(
        self,
        contest: Contest,
        settings: CardSettings,
        classes: AnyArray,
        skipped: Sequence[str] = (),
    ) -> FittedSource:
        """Choose a candidate, and set its threshold."""
        metric, candidates, chosen = self.metric, contest.candidates, contest.choose()
        guaranteed = None
        if self.guarantee is not None:
            apart = contest.by_fold[-1]
            guaranteed = guaranteed_threshold(metric, self.guarantee, apart, chosen)
        line = candidates[chosen.index].line
        fitted = chosen.finalize(metric, line, guaranteed=guaranteed)
        report = report_of_choice(metric, candidates, chosen, skipped)
        report = replace(report, baseline=BASELINES[self.train_on])
        card = Card.of(contest.design(chosen.index), fitted.line)
        if settings.scale is not None:
            card, fitted = scaled_without_rows(settings.scale, card, fitted)
        bins = tuple(contest.binner.bins_)
        card = replace(card, bins=bins, counts=contest.cells)
        return FittedSource(fitted, report, card, contest.binner, classes)


def fit_source(
    classifier: Any,
    metric: Metric,
    source: Any,
    roles: dict[str, Any],
    reading: dict[str, Any],
    *,
    counts: BinCounts | None,
    refine: Any,
) -> FittedSource:
    """Fit a `ScorecardClassifier` to a source; see its method of this name.

    Parameters
    ----------
    classifier : ScorecardClassifier
        Its parameters have been checked.
    metric : Metric
    source : whatever `summarize` reads
    roles, reading : dict
        Roles of the columns, and how they are read.
    counts : BinCounts, optional
    refine : int
    """
    if classifier.time_budget is not None:
        msg = "fit_source has no time_budget=: leave it out, or use fit"
        raise ValueError(msg)
    check_refine(refine)
    if classifier.max_columns is not None and (
        classifier.train_on == "counts" or counts is not None
    ):
        msg = "max_columns= needs rows to choose by: leave counts out, and use train_on='rows'"
        raise ValueError(msg)
    guarantees = classifier._guarantees([metric])  # noqa: SLF001 - made by this very classifier
    folds = source_folds(roles["fold"], classifier.cv)
    if guarantees is not None:
        if roles["weight"] is not None:
            msg = "guarantee= counts rows, each once: leave weight= out"
            raise ValueError(msg)
        folds = replace(folds, n_folds=folds.n_folds + 1)
    plan = TablePlan.of(**roles | {"fold": folds}, identified=True)
    card_source = CardSource(
        metric,
        CardPasses(source, plan, **reading),
        classifier._settings,  # noqa: SLF001
        classifier.binner,
        classifier.train_on,
        classifier.class_weight,
        classifier.positive,
        int(refine),
        guarantees[0] if guarantees else None,
    )
    if counts is None:
        return card_source.fit()
    if counts.n_folds != folds.n_folds:
        msg = (
            f"counts= have {counts.n_folds} folds and the rows {folds.n_folds}: give counts of the "
            "same folds, fold=HashFolds(...)"
        )
        raise ValueError(msg)
    classes = ending_with(classifier.positive, two_classes(counts.classes))
    return card_source.fit_counts(counts, counts.binner, classes)


def _is_countable(binner: Binner) -> bool:
    """Return whether pairs of cells are few enough to be counted beside gradients."""
    n_columns, n_cells = len(binner.bins_), sum(bins.n_cells for bins in binner.bins_)
    return n_columns * (n_columns - 1) // 2 <= _MOST_PAIRS and n_cells <= _MOST_CELLS


def _row_weights(sample: TableSample, of_class: dict[Any, int]) -> FloatArray:
    """Return weights with which sampled rows stand for all, as many in all as are sampled.

    A bin then needs as many sampled rows as it would need rows of a table in memory.
    """
    labels, codes, sampled = np.unique(sample.rows.y, return_inverse=True, return_counts=True)
    rows = np.array([of_class[label.item()] for label in labels])
    weight = (rows / sampled)[codes]
    standing: FloatArray = weight * (len(weight) / weight.sum())
    return standing


def _promising(comparison: Comparison, candidates: Sequence[Any]) -> list[int]:
    """Return the candidates within two standard errors of the best, best first.

    The best logistic regression is always among them.
    """
    errors = comparison.standard_errors(comparison.best)
    order = np.argsort(comparison.losses, kind="stable")
    near = comparison.losses <= comparison.losses.min() + 2.0 * errors
    plain = [k for k in order if candidates[k].complexity == 0.0][:1]
    good = [k for k in order if near[k]][:_COUNTED]
    return [int(k) for k in dict.fromkeys([*good, *plain])]
