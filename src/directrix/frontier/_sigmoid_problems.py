r"""Problems of the logistic loss and of the robust loss, many at a time.

All are members of one family of losses of the margin z,

.. math:: \phi(z) = -\log\big(a + (1 - 2a)\, \sigma(\gamma z)\big)
          = \log \frac{1 + e}{1 - a + a e}, \qquad e = \exp(-\gamma z)

the logistic loss for a = 0 and the Beta-Bernoulli loss with equal plateaus otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.frontier._row_batch import CACHED_NUMBERS, BatchProblems, back, margins
from directrix.tables.coding.coded_rows import CodedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier._row_batch import Problem, RowBatch

#: Exponents beyond this make no difference to a sum with one.
_LARGEST_EXPONENT = 80.0
#: Up to so many scores all blocks are evaluated in one go, those of a left-out fold too.
_FEW = 2 * CACHED_NUMBERS


class SigmoidProblems(BatchProblems):
    """Problems whose losses have a `Loss.sigmoid_mixture`; see `BatchProblems`."""

    def __init__(self, batch: RowBatch, problems: Sequence[Problem]) -> None:
        super().__init__(batch, problems)
        mixtures = np.array([recipe.loss.sigmoid_mixture for recipe, _ in problems], dtype=float)
        self.floor, self.sharpness = mixtures.T[:, :, None]
        self._block_of_row = batch.block_of_row

    def _shares(self, kept: FloatArray, problems: Sequence[Problem]) -> FloatArray:
        total = self.batch.totals()
        positive = np.array([block.positive for block in self.batch.blocks])
        for number, (recipe, _) in enumerate(problems):
            if recipe.ratio is not None:
                sums = [float(kept[number, side] @ total[side]) for side in (positive, ~positive)]
                kept[number, ~positive] *= recipe.ratio * sums[0] / sums[1]
        shares: FloatArray = kept / (kept @ total)[:, None]
        return shares

    def _loss(self, lines: FloatArray, problems: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the losses of some problems, and their gradients by lines."""
        floor, sharpness = self.floor[problems], self.sharpness[problems]
        factor = -(1.0 - 2.0 * floor) * sharpness
        lines = -sharpness * lines
        few = len(problems) * len(self.batch.weight) <= _FEW
        if few or isinstance(self.batch.rows, CodedRows):  # points are the same for all blocks
            weight = self.share[problems][:, self._block_of_row] * self.batch.weight
            value, gradient = _weighted(lines, self.batch.rows, weight.astype(np.float32), floor)
            return value.astype(np.float64), factor * gradient
        value, gradient = np.zeros(len(problems)), np.zeros_like(lines)
        for block in range(len(self.batch.blocks)):
            share = self.share[problems, block]
            used = np.flatnonzero(share)
            if not len(used):
                continue
            for rows, weight in self.batch.parts(block, len(used)):
                given = None if self.batch.equal_weights else weight.astype(np.float32)
                of_part = _weighted(lines[used], rows, given, floor[used])
                scale = share[used] * (weight[0] if self.batch.equal_weights else 1.0)
                value[used] += scale * of_part[0]
                gradient[used] += scale[:, None] * of_part[1]
        return value, factor * gradient


def _weighted(
    lines: FloatArray, rows: Any, weight: AnyArray | None, floor: FloatArray
) -> tuple[AnyArray, AnyArray]:
    """Return weighted sums over rows: of the loss, and of e / ((1 + e)(1 − a + a e)) times the row.

    Weights are for all problems together, or one row for each. Every array is overwritten as soon
    as it is not needed: this is where a search spends its time.
    """
    exponent = margins(lines, rows)  # lines are multiplied by −γ
    floor = floor.astype(exponent.dtype)
    excess = None
    if exponent.max(initial=0.0) > _LARGEST_EXPONENT:
        if not floor.all():  # without a floor the loss goes on along a line
            excess = np.where(floor > 0.0, 0.0, np.maximum(exponent - _LARGEST_EXPONENT, 0.0))
        np.minimum(exponent, _LARGEST_EXPONENT, out=exponent)
    slope = np.exp(exponent, out=exponent)
    loss = slope + 1.0
    if floor.any():
        bottom = slope * floor
        bottom += 1.0 - floor
        slope /= loss
        loss /= bottom
        slope /= bottom
    else:
        slope /= loss
    np.log(loss, out=loss)
    if excess is not None:
        loss += excess
    if weight is None:
        return loss.sum(axis=1), back(slope, rows)
    slope *= weight
    value = loss @ weight if weight.ndim == 1 else np.einsum("km,km->k", loss, weight)
    return value, back(slope, rows)
