r"""A card from counts of bins alone, without rows.

The class moments of coded bins are linear in the counts, so that lines of every ridge and trade-off
come in closed form. With folds, each line is judged on the counts of the fold it was made without:
mean and variance of its scores in both classes, of which the metric is a closed-form risk if scores
are normal, as the sum of many bounded points nearly is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.scorecard.points_fit import scaled_without_rows
from directrix.classifiers.scorecard.trainers import CountTrainer
from directrix.classifiers.scorecard.training_table import two_sides
from directrix.designs.card import CardDesign, column_codings
from directrix.fitting.finalize import FittedLine, finalize_on_moments
from directrix.frontier.moment_candidates import ridge_settings
from directrix.frontier.pencil import RidgeMoments
from directrix.models.card import Card
from directrix.moments.projection import ScoreMoments
from directrix.tables import BinCounts
from directrix.tables.coding.coded_rows import Coding
from directrix.tables.coding.prior import CellKinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.designs.card import Direction
    from directrix.metrics.base import Metric
    from directrix.models.card import Scale

#: Ridge where counts have no folds to choose one by.
_CAUTIOUS = 0.1


class CountedCard(NamedTuple):
    """A card from counts.

    Parameters
    ----------
    fitted : FittedLine
    card : Card
    ridge, angle : float
        The chosen line.
    risk : float
        Mean risk on held-out counts, if scores are normal; NaN without folds.
    """

    fitted: FittedLine
    card: Card
    ridge: float
    angle: float
    risk: float


def cards_of_counts(
    metric: Metric,
    counts: BinCounts,
    positives: Sequence[Any],
    directions: Sequence[Direction] = (),
    scale: Scale | None = None,
) -> list[CountedCard]:
    """Return a card for each of some classes against the others, with its bins and their counts.

    Parameters
    ----------
    metric : Metric
    counts : BinCounts
    positives : sequence of labels
    directions : sequence of Direction
        Of columns whose points may only rise.
    scale : Scale, optional
        What a point is worth; by default points are those of the line.
    """
    by_class = [np.asarray(counts.cells(k), dtype=np.float64) for k in range(len(counts.bins))]
    cards = []
    for label in positives:
        made = card_of_counts(metric, counts, label, directions)
        if scale is not None:
            card, fitted = scaled_without_rows(scale, made.card, made.fitted)
            made = made._replace(card=card, fitted=fitted)
        sides = two_sides(by_class, counts.classes == label)
        cards.append(made._replace(card=replace(made.card, bins=counts.bins, counts=sides)))
    return cards


def card_of_counts(
    metric: Metric, counts: BinCounts, label: Any, directions: Sequence[Direction] = ()
) -> CountedCard:
    """Return the best card for a metric, with one class against the others.

    Parameters
    ----------
    metric : Metric
    counts : BinCounts
    label : label
        The positive class.
    directions : sequence of Direction
        Of columns whose points may only rise.
    """
    coding = coding_of_counts(counts, directions)
    risk = metric.risk(counts.weight)
    whole, prior = coded_moments(counts, coding, label)
    if counts.n_folds > 1:
        settings = ridge_settings(CountTrainer.ridges)
        risks = np.zeros(len(settings))
        for number, fold in enumerate(counts.folds):
            lines = coded_moments(counts.without_fold(number), coding, label)[0].lines(settings)
            held_out, fold_prior = coded_moments(fold, coding, label)
            values, _ = risk.profile(*held_out.line_scores(lines), fold_prior)
            risks += np.asarray(values) / counts.n_folds
    else:
        settings = ridge_settings([_CAUTIOUS])
        risks = np.asarray(risk.profile(*whole.line_scores(whole.lines(settings)), prior)[0])
    best = int(np.argmin(risks))
    line = whole.lines([settings[best]])[0]
    gap, var_pos, var_neg = (float(part[0]) for part in whole.line_scores(line[None]))
    _, threshold = risk.profile(np.array([gap]), np.array([var_pos]), np.array([var_neg]), prior)
    # Scores of the negatives have mean zero; where one class is best for all, out of reach of both.
    reach = float(np.clip(threshold[0], -abs(gap) - 1e3, abs(gap) + 1e3))
    line[-1] -= reach
    scores = ScoreMoments(gap - reach, var_pos, -reach, var_neg, prior)
    fitted = finalize_on_moments(metric, line, scores, counts.weight)
    card = Card.of(CardDesign(coding), line)
    held_out_risk = float(risks[best]) if counts.n_folds > 1 else float("nan")
    return CountedCard(fitted, card, *settings[best], held_out_risk)


def coding_of_counts(counts: BinCounts, directions: Sequence[Direction]) -> Coding:
    """Return the coding of all columns; it looks at no label."""
    rank = CountTrainer.rank_of(len(counts.bins))
    weights = [counts.cells(k).sum(axis=0).astype(np.float64) for k in range(len(counts.bins))]
    kinds = [CellKinds.of(bins) for bins in counts.bins]
    bases, signs = column_codings(kinds, weights, rank, directions)
    return Coding(bases, signs=np.concatenate([np.empty(0, dtype=np.int64), *signs]))


def coded_moments(counts: BinCounts, coding: Coding, label: Any) -> tuple[RidgeMoments, float]:
    """Return the class moments of coded bins, and the share of positives."""
    matrix = coding.main_matrix
    others = [each for each in counts.classes.tolist() if each != label]
    weights, means, seconds = [], [], []
    for group in ([label], others):
        parts = [counts.class_moments(each) for each in group]
        total = sum(part.weight for part in parts)
        shares = [part.weight / total if total else 0.0 for part in parts]
        mean = sum(share * part.mean for share, part in zip(shares, parts, strict=True))
        second = sum(share * part.second for share, part in zip(shares, parts, strict=True))
        weights.append(total)
        means.append(matrix.T @ mean)
        seconds.append(np.asarray((matrix.T @ second @ matrix).todense()))
    covariances = [
        second - np.outer(mean, mean) for mean, second in zip(means, seconds, strict=True)
    ]
    signs = None if coding.signs is None else coding.signs[:-1]
    moments = RidgeMoments(means[0] - means[1], means[1], covariances[0], covariances[1], signs)
    return moments, float(weights[0] / sum(weights))
