r"""Problems of pairwise losses, many at a time, with scores on a grid.

A pairwise loss is the mean of a kernel φ of the difference of every positive's score to every
negative's. Each score is shared between its two neighbours on a grid, in proportion to its
distance; the loss is then that of the weights p and q of the two classes on the nodes g,

.. math:: L = \sum_{a, b} p_a\, q_b\, \varphi(g_a - g_b)

one product with a matrix for all problems together, and no sort. That is the loss of a kernel which
is linear between nodes: exact enough to tell candidates apart. The final fit takes the loss
itself.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import toeplitz

from directrix.frontier._row_batch import BatchProblems, back, margins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier._row_batch import Problem, RowBatch
    from directrix.losses.base import Loss

#: Nodes of the grid, and nodes per unit of the score, in which the margin of a hinge is one. Under
#: a weak ridge a bounded loss makes scores as wide as it may: the grid must be wide before it is
#: fine. Scores beyond its ends count as at the ends.
_NODES, _PER_UNIT = 512, 4
#: Scores that are computed at a time.
_MOST_SCORES = 1 << 20


class PairProblems(BatchProblems):
    """Problems of one loss with a `Loss.pair_kernel`; see `BatchProblems`."""

    def __init__(self, batch: RowBatch, problems: Sequence[Problem]) -> None:
        super().__init__(batch, problems)
        self.kernel = _kernel_on_grid(problems[0][0].loss)
        self._weight = (self.share[:, batch.block_of_row] * batch.weight).astype(np.float32)
        self._n_neg = next(
            (block.start for block in batch.blocks if block.positive), len(batch.weight)
        )

    def _shares(self, kept: FloatArray, problems: Sequence[Problem]) -> FloatArray:  # noqa: ARG002
        total = self.batch.totals()
        positive = np.array([block.positive for block in self.batch.blocks])
        for side in (positive, ~positive):
            kept[:, side] /= (kept[:, side] @ total[side])[:, None]
        return kept

    def _loss(self, lines: FloatArray, problems: IntArray) -> tuple[FloatArray, FloatArray]:
        value, gradient = np.empty(len(lines)), np.empty_like(lines)
        step = max(1, _MOST_SCORES // len(self.batch.weight))
        for start in range(0, len(lines), step):
            part = slice(start, start + step)
            value[part], gradient[part] = self._loss_of_few(lines[part], problems[part])
        return value, gradient

    def _loss_of_few(self, lines: FloatArray, problems: IntArray) -> tuple[FloatArray, FloatArray]:
        k, n_neg = len(lines), self._n_neg
        weight = self._weight[problems]
        position = margins(lines, self.batch.rows)
        np.negative(position[:, :n_neg], out=position[:, :n_neg])  # rows have the sign of the class
        # The loss depends on differences only, so the grid may have any origin: a multiple of its
        # step, or the function would change with it.
        middle = np.rint(_PER_UNIT * np.einsum("km,km->k", position, weight) / 2.0)[:, None]
        position *= _PER_UNIT
        position -= (middle - _NODES // 2).astype(position.dtype)
        np.clip(position, 0.0, _NODES - 1.01, out=position)
        node = position.astype(np.int32)
        position -= node
        node += (_NODES * np.arange(k, dtype=np.int32))[:, None]
        sides = slice(None, n_neg), slice(n_neg, None)
        neg, pos = (
            _on_grid(node[:, side], position[:, side], weight[:, side], k) for side in sides
        )
        of_pos, of_neg = neg @ self.kernel.T, pos @ self.kernel
        value = np.einsum("kb,kb->k", pos, of_pos)
        for side, potential in zip(sides, (of_neg, of_pos), strict=True):
            slope = np.zeros(potential.shape, dtype=np.float32)
            slope[:, :-1] = _PER_UNIT * np.diff(potential, axis=1)
            weight[:, side] *= slope.ravel()[node[:, side]]
        np.negative(weight[:, :n_neg], out=weight[:, :n_neg])
        gradient = back(weight, self.batch.rows).astype(np.float64)
        gradient[:, -1] = 0.0  # the intercept shifts all scores alike
        return value, gradient


@cache
def _kernel_on_grid(loss: Loss) -> FloatArray:
    """Return the loss of a positive at each node and a negative at each."""
    kernel = loss.pair_kernel(np.arange(1 - _NODES, _NODES) / _PER_UNIT)
    if kernel is None:
        msg = f"{loss!r} has no kernel of pairs"
        raise TypeError(msg)
    return np.asarray(toeplitz(kernel[_NODES - 1 :], kernel[_NODES - 1 :: -1]), dtype=np.float64)


def _on_grid(node: AnyArray, position: AnyArray, weight: AnyArray, k: int) -> FloatArray:
    """Return the weight of the rows that every node stands for, of shape (k, nodes)."""
    right = (position * weight).ravel()
    flat = node.ravel()
    on_grid: FloatArray = np.bincount(flat, weight.ravel() - right, k * _NODES).astype(np.float64)
    on_grid[1:] += np.bincount(flat, right, k * _NODES)[:-1]
    grid: FloatArray = on_grid.reshape(k, _NODES)
    return grid
