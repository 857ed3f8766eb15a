"""Trials: models that were compared before the candidates, and the optimism of their choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from directrix._typing import FloatArray
from directrix.fit.choice_validation import Rule
from directrix.fit.training_rows import Rows
from directrix.metrics import AUC
from directrix.metrics.base import Curve

#: Up to this square of a standardised distance to chance, scores may be those of labels alone.
_DOUBTFUL = 8.0
_DRAWS = 400
#: Share of the excess by which rates are moved. The threshold is chosen again without some rows,
#: and shows part of it (measured where labels are noise).
_OF_RATES = 0.5
#: Rates are at least so far from zero and one before they are moved.
_INSIDE = 1e-6
#: Added to variances, so that models of equal scores have a covariance that can be factored.
_SLIGHT = 1e-10


class HeldOutArea(NamedTuple):
    """Area under the ROC curve on held-out rows, and what each row adds to it.

    ``area`` is the mean over folds. ``influence`` says by how much each row, or group of rows,
    moves the area. The sum of squares is the variance of the area (DeLong 1988), and that of
    differences the variance of a paired difference.
    """

    area: float
    influence: FloatArray

    @classmethod
    def of(cls, scores: FloatArray, rows: Rows, folds: Sequence[int]) -> HeldOutArea:
        """Measure the scores of the rows of some folds.

        Only ``scores`` of the rows of `folds` are looked at.
        """
        metric, areas = AUC(), []
        influence: FloatArray = np.zeros(len(scores))
        for fold in folds:
            tested = np.flatnonzero(rows.fold == fold)
            positive, weight = rows.positive[tested], rows.weight[tested]
            curve = Curve.of(positive, scores[tested], weight)
            areas.append(metric.best_value(curve))
            step = np.searchsorted(-curve.levels, -scores[tested])
            for side, values in zip((positive, ~positive), metric.row_values(curve), strict=True):
                share = weight[side] / weight[side].sum()
                added = values[step[side]]
                influence[tested[side]] = share * (added - share @ added) / len(folds)
        if rows.group is not None:  # rows of a group may all be alike
            influence = np.bincount(rows.group, influence).astype(np.float64)
        return cls(float(np.mean(areas)), influence)


@dataclass(frozen=True)
class Trials:
    r"""Models that were compared by the area under the ROC curve on held-out rows.

    The best of several models on held-out rows is worse on new ones. To repeat the choice without
    some of the rows, as for candidates, shows less than half of that excess: the labels of the rows
    left out have trained the models of the other folds. If :math:`T = \sum_{ij} y_i K_{ij} y_j` is
    what labels alone make of a kernel K, a part of share q left out has most of its terms in common
    with the rest, and :math:`1 / (2 - q)` of the excess stays. It also shows none where chance has
    put one model far ahead of all others, and there it is largest.

    So the excess is computed: areas under the curve of all models are drawn around their true
    values from a normal distribution, the rule chooses again, and the excess is the mean of what
    the chosen one shows above its true value.

    1. The covariance of the areas is that of what rows contribute (DeLong 1988). Where nothing
       can be learned it is twice that: T has twice the variance that it has if the scores are
       taken as given, because each label is also trained on. Scores that separate the classes
       beyond doubt vary less with single labels, and the factor falls to one (`label_noise`).
    2. True values are the measured ones, drawn together: by the share of their scatter that
       this covariance explains (James and Stein 1961).

    ``covariance`` of shape (k, k) is that of the areas, if scores are taken as given. ``rule`` maps
    losses, which are the areas negated, to the index of the chosen model. ``share`` is the share of
    these rows among all that judge the chosen model.
    """

    areas: FloatArray
    covariance: FloatArray
    rule: Rule
    share: float = 1.0

    @cached_property
    def excess(self) -> float:
        """By how much the area of the chosen model is expected to be above its true value."""
        k = len(self.areas)
        chosen = self.rule(-self.areas)
        noise = label_noise(float(self.areas[chosen]), float(self.covariance[chosen, chosen]))
        covariance = (1.0 + noise) * self.covariance + _SLIGHT * np.eye(k)
        scatter = self.areas - self.areas.mean()
        explained = float(np.trace(covariance) - covariance.mean() * k)
        total = max(float(scatter @ scatter), _SLIGHT)
        true = self.areas.mean() + max(0.0, 1.0 - explained / total) * scatter
        normal = np.random.default_rng(0).normal(size=(_DRAWS, k))
        drawn = true + normal @ np.linalg.cholesky(covariance).T
        again = np.apply_along_axis(self.rule, -1, -drawn)
        return self.share * float(np.mean(drawn[np.arange(_DRAWS), again] - true[again]))

    def without_excess(self, tpr: float, fpr: float) -> tuple[float, float]:
        """Return rates less what the choice promises too much.

        Rates are moved as if scores were normal: the classes come nearer by the distance that
        belongs to the excess of the area.
        """
        area = float(self.areas[self.rule(-self.areas)])
        ends = np.clip([area - _OF_RATES * self.excess, area], _INSIDE, 1.0 - _INSIDE)
        distance = float(np.sqrt(2.0) * np.diff(ndtri(ends))[0])
        z_values = ndtri(np.clip([tpr, fpr], _INSIDE, 1.0 - _INSIDE))
        moved = ndtr(z_values + distance * np.array([-0.5, 0.5]))
        return float(moved[0]), float(moved[1])


def label_noise(area: float, variance: float) -> float:
    """Return how far an area may be that of labels alone: 1 near chance, and 0 far from it.

    ``variance`` is that of the area if scores are taken as given.
    """
    return min(1.0, _DOUBTFUL * variance / max((area - 0.5) ** 2, _SLIGHT))
