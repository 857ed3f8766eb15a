"""Candidates in closed form from counts of bins over all rows, with folds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.direct.fit_source import require_all_folds
from directrix.classifiers.scorecard.fit_counts import coded_moments, coding_of_counts
from directrix.classifiers.scorecard.trainers import CountTrainer
from directrix.designs.card import CardDesign
from directrix.frontier.moment_candidates import SummaryCandidate, ridge_settings, with_ridges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.designs.card import Direction
    from directrix.metrics.base import Metric
    from directrix.moments.score_histogram import LineHistograms
    from directrix.tables import BinCounts

#: Number of candidates whose held-out scores are worth counting.
_MOST = 8


class CountedCandidates(NamedTuple):
    """Candidates of additive cards, and their design.

    Parameters
    ----------
    design : CardDesign
    candidates : list of SummaryCandidate
    """

    design: CardDesign
    candidates: list[SummaryCandidate]


def counted_candidates(
    metric: Metric,
    counts: BinCounts,
    label: Any,
    directions: Sequence[Direction],
    n_folds: int,
    *,
    baseline: bool,
) -> CountedCandidates:
    """Return the candidates of least predicted risk on held-out counts.

    Parameters
    ----------
    metric : Metric
    counts : BinCounts
        With folds.
    label : label
        The positive class.
    directions : sequence of Direction
    n_folds : int
        Folds that are held out; a later one does not count.
    baseline : bool
        Whether the cards of equal trade-off are the simplest candidates, of complexity zero; the
        best of them is then always returned.
    """
    kept = replace(counts, parts=counts.parts[:n_folds])
    _require_both_classes(kept, label, n_folds)
    coding = coding_of_counts(kept, directions)
    settings = ridge_settings(CountTrainer.ridges)
    lines = coded_moments(kept, coding, label)[0].lines(settings)
    risk, risks, fold_lines = metric.risk(kept.weight), np.zeros(len(settings)), []
    for number in range(n_folds):
        others = coded_moments(kept.without_fold(number), coding, label)[0]
        fold_lines.append(others.lines(settings))
        held_out, prior = coded_moments(kept.folds[number], coding, label)
        risks += np.asarray(risk.profile(*held_out.line_scores(fold_lines[-1]), prior)[0])
    source = "bin counts of all rows"
    candidates = with_ridges(source, settings, lines, fold_lines, baseline=baseline)
    order = np.argsort(risks, kind="stable")
    plain = [k for k in order if candidates[k].complexity == 0.0][:1]
    chosen = dict.fromkeys([*plain, *order[:_MOST]])
    return CountedCandidates(CardDesign(coding), [candidates[k] for k in chosen])


def _require_both_classes(counts: BinCounts, label: Any, n_folds: int) -> None:
    """Refuse so few rows that a fold has none of a class."""
    positives = [fold.class_moments(label).weight for fold in counts.folds]
    others = [fold.weight - of_fold for fold, of_fold in zip(counts.folds, positives, strict=True)]
    fold, positive = np.nonzero(np.array([others, positives]).T > 0.0)
    require_all_folds(fold, positive > 0, n_folds)


def require_counts_of(counts: BinCounts, label: Any, histograms: Sequence[LineHistograms]) -> None:
    """Raise ValueError if rows are not those that were counted, or have other folds.

    Parameters
    ----------
    counts : BinCounts
        With folds.
    label : label
        The positive class.
    histograms : sequence of LineHistograms
        Held-out scores of the rows, fold by fold.
    """
    for number, (counted, scored) in enumerate(zip(counts.folds, histograms, strict=True)):
        positive = counted.class_moments(label).weight
        expected = np.array([counted.weight - positive, positive])
        if not np.allclose(scored.weight, expected, rtol=1e-6, atol=0.0):
            negatives, positives = expected.tolist()
            msg = (
                f"counts= are not those of these rows: in fold {number} they have {positives:,g} "
                f"rows of class {label!r} and {negatives:,g} others, and the rows "
                f"{scored.weight[1]:,g} and {scored.weight[0]:,g} (sums of weights). Count the "
                "same rows, with the same fold=HashFolds(..., key=...) and weight="
            )
            raise ValueError(msg)
