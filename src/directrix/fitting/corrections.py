"""Corrections of the candidates of a sample by their gradients over all rows of a source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.frontier.recipes import balance_factor
from directrix.frontier.row_frontier import CorrectedCandidate, RowCandidate

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.frontier.compare import Candidate
    from directrix.losses.base import Loss

#: Candidates of a sample that are corrected.
_MOST = 2


@dataclass(frozen=True, eq=False)
class LossSlopes:
    """Losses of linear models whose gradients a pass adds up.

    ``coefs`` (k, d + 1): intercepts last. ``losses``: for each line of coefficients; means over
    rows. ``factors`` (k, 2): factors of the weights of the negatives and of the positives.
    ``without``: folds whose rows do not count.
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

        ``rows_of``: from indices of rows to their features, a matrix as far as products go.
        ``dtype``: in which scores are made.
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

    ``fold``: None for candidates of all rows. ``weights``: weight of all rows that count, for each
    candidate.
    """

    fold: int | None
    losses: LossSlopes
    weights: FloatArray


@dataclass(frozen=True)
class Corrections:
    """What a pass adds up to correct candidates, and the correction.

    ``weights``: from folds that do not count to the weight of all other negatives and positives.
    ``factors``: class weights of the negatives and of the positives. ``apart``: a fold that is set
    apart.
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

        ``slopes``: made of these candidates. ``gradients`` (k, d + 1): sums over all rows, for each
        of the slopes, in the units of the coefficients.
        """
        means = {
            each.fold: gradient / each.weights[:, None]
            for each, gradient in zip(slopes, gradients, strict=True)
        }
        return [
            each.corrected({fold: mean[k] for fold, mean in means.items()})
            for k, each in enumerate(candidates)
        ]
