"""The fit of DirectClassifier to rows that live elsewhere: two passes, however many rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.classifiers.direct.fit import FALL, Fitted, gap_to_logistic
from directrix.fitting.class_weights import class_factors, reweighted
from directrix.fitting.corrections import Corrections
from directrix.fitting.histogram_choice import (
    guaranteed_threshold,
    select_from_histograms,
)
from directrix.fitting.standardization import Standardization
from directrix.fitting.two_passes import TwoPasses
from directrix.frontier.compare import Comparison
from directrix.frontier.moment_candidates import moment_candidates
from directrix.frontier.row_frontier import RowFrontier
from directrix.frontier.search import MOST_FEATURES, Search
from directrix.models.report import DirectReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray
    from directrix.engines.tasks import Surveyed
    from directrix.fitting.guarantee import Guarantee
    from directrix.fitting.histogram_choice import HistogramChoice
    from directrix.frontier.compare import Candidate
    from directrix.frontier.row_frontier import CorrectedCandidate
    from directrix.metrics.base import Metric
    from directrix.moments import Moments
    from directrix.rows.sample import RowSample

#: Rows of each class in the sample that both frontiers are built on, however many partitions.
MOST_ROWS = 20_000
#: Candidates that the second pass counts: those within so many standard errors of the best on the
#: sample, at least and at most so many.
_STANDARD_ERRORS, _FEWEST, _MOST = 2.0, 4, 32


@dataclass(frozen=True)
class DirectSource:
    """A fit in two passes.

    The first pass takes the moments of the folds and a sample of the rows, from which both
    frontiers are built; the second counts held-out scores of the best candidates in histograms of
    all rows, which choose the line, set its threshold and calibrate it.

    Parameters
    ----------
    metric : Metric
    two : TwoPasses
    class_weight : dict, "balanced" or None
    guarantee : Guarantee, optional
        The last fold is then set apart: nothing is built from it or chosen by it.
    n_jobs : int, optional
        Threads of the search.
    refine : int
        Number of corrections of the best candidates of the sample by all rows, each with a pass.
    """

    metric: Metric
    two: TwoPasses
    class_weight: Any
    guarantee: Guarantee | None = None
    n_jobs: int | None = None
    refine: int = 0

    def survey(self) -> Surveyed:
        """Make the first pass."""
        return self.two.survey(MOST_ROWS, self._apart)

    @property
    def _apart(self) -> int | None:
        """The last fold, if it only sets the threshold."""
        return None if self.guarantee is None else self.two.fold.n_folds - 1

    def fit(self, surveyed: Surveyed) -> Fitted:
        """Build the candidates, make the second pass, and choose."""
        moments = surveyed.moments
        if self._apart is not None:
            moments = replace(moments, parts=moments.parts[: self._apart])
        factors = class_factors(self.class_weight, moments)
        moments = reweighted(moments, factors)
        if surveyed.sample is None:
            msg = "there are no rows to learn from"
            raise ValueError(msg)
        units, found = self._candidates(moments, surveyed.sample)
        candidates: list[Any] = [*found, *self._corrected(found, units, surveyed, factors)]
        lines = np.stack([candidate.line for candidate in candidates])
        fold_lines = [
            np.stack(lines_of_fold)
            for lines_of_fold in zip(*(each.fold_lines for each in candidates), strict=True)
        ]
        n_folds = len(fold_lines)
        if self._apart is not None:
            fold_lines.append(lines)
        folds = self.two.histograms(fold_lines, surveyed)
        chosen = select_from_histograms(self.metric, folds[:n_folds], factors)
        guaranteed = None
        if self.guarantee is not None:
            guaranteed = guaranteed_threshold(self.metric, self.guarantee, folds[-1], chosen)
        line = lines[chosen.index]
        fitted = chosen.finalize(self.metric, line, moments, guaranteed)
        report = report_of_choice(self.metric, candidates, chosen)
        return Fitted(fitted, report)

    def _corrected(
        self,
        candidates: Sequence[Candidate],
        units: Standardization,
        surveyed: Surveyed,
        factors: tuple[float, float],
    ) -> list[CorrectedCandidate]:
        """Return the best candidates of the sample, after each of some corrections by all rows."""
        moments = surveyed.moments

        def weights(without: tuple[int, ...]) -> FloatArray:
            kept = [part for fold, part in enumerate(moments.parts) if fold not in without]
            return np.array([sum(part[k].weight for part in kept) for k in range(2)])

        n_folds = self.two.fold.n_folds - (self._apart is not None)
        corrections = Corrections(n_folds, weights, np.array(factors), self._apart)
        current = corrections.start(candidates) if self.refine else []
        corrected: list[CorrectedCandidate] = []
        for _ in range(self.refine if current else 0):
            slopes = corrections.slopes(current)
            in_features = [
                replace(each.losses, coefs=np.stack([*map(units.line_back, each.losses.coefs)]))
                for each in slopes
            ]
            gradients = [
                np.stack([*map(units.gradient_there, gradient)])
                for gradient in self.two.gradients(in_features, surveyed)
            ]
            current = corrections.corrected(current, slopes, gradients)
            corrected += current
        return corrected

    def _candidates(
        self, moments: Moments, sample: RowSample
    ) -> tuple[Standardization, list[Candidate]]:
        """Return the candidates that are best on the sample, logistic regression among them.

        With them, the units in which those of the rows are solved.
        """
        sample = sample.sorted()  # or sums in single precision would depend on the partitions
        positive = sample.y == moments.classes[-1]
        require_all_folds(sample.fold, positive, len(moments.folds))
        class_weights = np.array([moments.negative.weight, moments.positive.weight])
        weight = weights_of_sample(sample.weight, positive, class_weights)
        units = Standardization.of(sample.X, weight)
        rows = RowFrontier(
            units.rows(sample.X),
            positive,
            weight,
            sample.fold,
            fall=FALL,
            to_features=units.line_back,
            n_jobs=self.n_jobs,
        )
        rows_of_sample = sample.X, positive, weight, sample.fold
        from_moments = partial(moment_candidates, moments, *rows_of_sample)
        narrow = sample.X.shape[1] <= MOST_FEATURES
        search = Search(rows, self.metric, from_moments if narrow else None)
        comparison = search.run()
        logistic = [candidate.complexity == 0.0 for candidate in search.candidates]
        return units, [search.candidates[k] for k in _worth_counting(comparison, logistic)]


def _worth_counting(comparison: Comparison, logistic: list[bool]) -> list[int]:
    """Return the candidates that all rows may show to be the best, the best first.

    Every candidate costs time on every row. One that is worse on the sample by more than two
    standard errors of its difference to the best, over folds, is hardly the best on all rows.

    Parameters
    ----------
    comparison : Comparison
        Losses on the sample.
    logistic : list of bool
        Which candidates are logistic regression; the best of them is always among the result.
    """
    losses = comparison.losses
    order = np.argsort(losses, kind="stable")
    behind = losses - losses[comparison.best]
    near = behind <= _STANDARD_ERRORS * comparison.standard_errors(comparison.best)
    count = min(max(int(near.sum()), _FEWEST), _MOST)
    counted = [*order[near[order]], *order[~near[order]]][:count]
    return [int(k) for k in dict.fromkeys([*[k for k in order if logistic[k]][:1], *counted])]


def report_of_choice(
    metric: Metric, candidates: Sequence[Any], chosen: HistogramChoice, skipped: Sequence[str] = ()
) -> DirectReport:
    """Return the report on candidates that were compared on all rows, held out.

    Parameters
    ----------
    metric : Metric
    candidates : sequence of Candidate
    chosen : HistogramChoice
    skipped : sequence of str
        Steps of the search for which there was no time.
    """
    sign = -1.0 if metric.greater_is_better else 1.0
    no_folds = np.empty((len(candidates), 0))
    comparison = Comparison(chosen.values, sign * chosen.values, no_folds)
    simplest = np.flatnonzero([candidate.complexity == 0.0 for candidate in candidates])
    gap = 0.0
    if candidates[chosen.index].complexity > 0.0:
        gap = gap_to_logistic(chosen.assessment, simplest)
    return DirectReport.of(
        metric,
        "all rows, held out",
        candidates,
        comparison,
        chosen.index,
        chosen.assessment.estimate,
        gap,
        skipped=skipped,
        chance=chosen.assessment.chance,
    )


def weights_of_sample(
    weight: FloatArray, positive: AnyArray, class_weights: FloatArray
) -> FloatArray:
    """Return weights of a sample, scaled so that each class has the weight of all its rows.

    Parameters
    ----------
    weight : array of shape (n,)
    positive : array of bool of shape (n,)
    class_weights : array of shape (2,)
        Weight of all negatives, and of all positives.
    """
    total = np.array([weight[~positive].sum(), weight[positive].sum()])
    scaled: FloatArray = weight * (class_weights / total)[positive.astype(np.intp)]
    return scaled


def require_all_folds(fold: AnyArray, positive: AnyArray, n_folds: int) -> None:
    """Refuse so few rows that a fold has none of a class."""
    for number in range(n_folds):
        classes = positive[fold == number]
        if not classes.any() or classes.all():
            msg = (
                f"fold {number} has no rows of one class: there are too few for folds by a hash. "
                "Give fold=HashFolds(2), or read the rows and use fit."
            )
            raise ValueError(msg)
