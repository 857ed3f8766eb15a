"""Corrections of the candidates of a sample by their gradients over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.scorecard.source.tasks import CardSlopes
from directrix.frontier import CorrectedCandidate, balance_factor

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.classifiers.scorecard.source.class_totals import ClassTotals
    from directrix.classifiers.scorecard.source.contest import Family


class Slopes(NamedTuple):
    """Gradients of candidates that are made without a fold.

    Parameters
    ----------
    fold : int, optional
        None for candidates of all rows.
    task : CardSlopes
    weights : array of shape (k,)
        Weight of all rows that count, for each candidate.
    """

    fold: int | None
    task: CardSlopes
    weights: FloatArray


@dataclass(frozen=True)
class Corrections:
    """What a pass adds up to correct candidates, and the correction.

    Parameters
    ----------
    family : Family
        Whose designs the candidates have.
    totals : ClassTotals
    label : label
        The positive class.
    factors : array of shape (2,)
        Class weights of the negatives and of the positives.
    apart : int, optional
        A fold that is set apart.
    """

    family: Family
    totals: ClassTotals
    label: Any
    factors: FloatArray
    apart: int | None = None

    def slopes(self, candidates: Sequence[CorrectedCandidate]) -> list[Slopes]:
        """Return the gradients to add up: without each fold, and of all rows."""
        if not candidates:
            return []
        slopes = []
        designs = [*self.family.fold_designs, self.family.design]
        left_out: list[int | None] = [*range(len(self.family.fold_designs)), None]
        for fold, design in zip(left_out, designs, strict=True):
            without = tuple(each for each in {fold, self.apart} if each is not None)
            weights = self.totals.weights(self.label, without_folds=without)
            factors = np.array([self.factors] * len(candidates))
            for k, each in enumerate(candidates):
                if each.recipe.ratio is not None:
                    negatives, positives = (weights * self.factors).tolist()
                    factors[k, 0] *= balance_factor(negatives, positives, each.recipe.ratio)
            coefs = np.stack([each.coefs[fold] for each in candidates])
            losses = [each.recipe.loss for each in candidates]
            task = CardSlopes(design, coefs, losses, factors, without)
            slopes.append(Slopes(fold, task, factors @ weights))
        return slopes

    @staticmethod
    def corrected(
        candidates: Sequence[CorrectedCandidate],
        slopes: Sequence[Slopes],
        gradients: Sequence[FloatArray],
    ) -> list[CorrectedCandidate]:
        """Return candidates after one correction.

        Parameters
        ----------
        candidates : sequence of CorrectedCandidate
        slopes : sequence of Slopes
            Made of these candidates.
        gradients : sequence of arrays of shape (k, d + 1)
            Sums over all rows, for each of the slopes.
        """
        means = {
            each.fold: gradient / each.weights[:, None]
            for each, gradient in zip(slopes, gradients, strict=True)
        }
        return [
            each.corrected({fold: mean[k] for fold, mean in means.items()})
            for k, each in enumerate(candidates)
        ]
