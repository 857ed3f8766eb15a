r"""Many fits to the same rows at once: every recipe without every fold.

All losses here are those of one family,

.. math:: \phi(s) = -\log\big(a + (1 - 2a)\, \sigma(\pm \gamma s)\big)

which is the logistic loss for a = 0 and the Beta-Bernoulli loss with equal plateaus otherwise. An
iteration of all problems is then one matrix product, one pass of elementwise arithmetic over a
block of scores, and one matrix product back. Rows are sorted by class and fold, so that a block
has one sign, and leaving out its fold is a weight of zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from directrix.solve import batched_lbfgs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier.recipes import Recipe

#: Scores that fit into a processor's cache together with what is computed from them.
_ELEMENTS = 1 << 15
#: Rows of a block at least and at most.
_LEAST_ROWS, _MOST_ROWS = 64, 8192
#: Exponents beyond this make no difference to a sum with one.
_LARGEST_EXPONENT = 300.0
#: Share of the mean diagonal that is added to a Hessian, so that it can be inverted.
_JITTER = 1e-9


class _Block(NamedTuple):
    """Consecutive rows of one class and one fold."""

    start: int
    stop: int
    positive: bool
    fold: int


class RowBatch:
    """Rows on which many problems are solved at once.

    Parameters
    ----------
    X : array of shape (n, d)
        Standardised, dense.
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    fold : array of int of shape (n,), optional
    """

    def __init__(
        self, X: FloatArray, positive: AnyArray, weight: FloatArray, fold: IntArray | None
    ) -> None:
        fold = np.zeros(len(positive), dtype=np.int64) if fold is None else fold
        order = np.lexsort((fold, positive))
        self.rows = np.column_stack([X[order], np.ones(len(order))])
        self.weight: FloatArray = weight[order]
        self.equal_weights = bool(np.ptp(weight) == 0)
        group = positive[order] * (int(fold.max()) + 1) + fold[order]
        cuts = [0, *(np.flatnonzero(np.diff(group)) + 1), len(order)]
        self.blocks = [
            _Block(int(a), int(b), bool(positive[order[a]]), int(fold[order[a]]))
            for a, b in pairwise(cuts)
        ]

    def solve(
        self,
        recipes: Sequence[Recipe],
        left_out: Sequence[int | None],
        starts: FloatArray,
        tol: float,
    ) -> FloatArray:
        """Return the coefficients of each problem, one per column.

        Parameters
        ----------
        recipes : sequence of Recipe
            Of each problem.
        left_out : sequence of int or None
            Fold that each problem leaves out.
        starts : array of shape (d + 1, k)
        tol : float
            As in `batched_lbfgs`.
        """
        problems = _Problems.of(self, recipes, left_out)
        precondition = _SharedHessians(self, problems, recipes, starts)
        return batched_lbfgs(problems.evaluate, starts, precondition, tol=tol).coef


@dataclass(frozen=True)
class _Problems:
    """Problems of the family above, on one batch of rows.

    Parameters
    ----------
    batch : RowBatch
    floor, sharpness, ridge : arrays of shape (k,)
        a, γ and the ridge of each problem.
    share : array of shape (blocks, k)
        Factor of the weights of a block's rows in each problem; zero if its fold is left out.
    """

    batch: RowBatch
    floor: FloatArray
    sharpness: FloatArray
    ridge: FloatArray
    share: FloatArray

    @classmethod
    def of(
        cls, batch: RowBatch, recipes: Sequence[Recipe], left_out: Sequence[int | None]
    ) -> _Problems:
        """Collect the constants of problems."""
        mixtures = np.array([recipe.loss.sigmoid_mixture for recipe in recipes], dtype=np.float64)
        total = np.array([batch.weight[block.start : block.stop].sum() for block in batch.blocks])
        positive = np.array([block.positive for block in batch.blocks])
        fold = np.array([block.fold for block in batch.blocks])
        share = np.empty((len(total), len(recipes)))
        for k, (recipe, number) in enumerate(zip(recipes, left_out, strict=True)):
            kept = np.ones(len(total)) if number is None else (fold != number).astype(float)
            if recipe.ratio is not None:
                sums = [float((kept * total)[side].sum()) for side in (positive, ~positive)]
                kept = np.where(positive, kept, kept * (recipe.ratio * sums[0] / sums[1]))
            share[:, k] = kept / float(kept @ total)
        ridge = np.array([recipe.ridge for recipe in recipes])
        return cls(batch, mixtures[:, 0], mixtures[:, 1], ridge, share)

    def evaluate(self, coef: FloatArray, problems: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return values and gradients of some problems, at coefficients in columns."""
        value = np.zeros(len(problems))
        gradient = np.zeros((len(problems), len(coef)))
        for number, block in enumerate(self.batch.blocks):
            used = np.flatnonzero(self.share[number, problems])
            if len(used):
                columns = problems[used]
                of_block = self._evaluate_block(block, coef[:, used], columns)
                share = self.share[number, columns]
                value[used] += share * of_block[0]
                gradient[used] += share[:, None] * of_block[1]
        ridge = self.ridge[problems]
        value += 0.5 * ridge * (coef[:-1] ** 2).sum(axis=0)
        gradient[:, :-1] += (ridge * coef[:-1]).T
        return value, np.ascontiguousarray(gradient.T)

    def _evaluate_block(
        self, block: _Block, coef: FloatArray, problems: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the weighted sums of the loss and of its gradient over the rows of a block."""
        batch, floor = self.batch, self.floor[problems][:, None]
        slope = 1.0 - 2.0 * floor
        toward = (1.0 if block.positive else -1.0) * self.sharpness[problems]
        lines = np.ascontiguousarray((-toward * coef).T)
        plain = not floor.any()
        unit = float(batch.weight[0]) if batch.equal_weights else 1.0
        value = np.zeros(len(problems))
        gradient = np.zeros((len(problems), len(coef)))
        step = min(max(_LEAST_ROWS, _ELEMENTS // len(problems)), _MOST_ROWS)
        for start in range(block.start, block.stop, step):
            stop = min(start + step, block.stop)
            rows = batch.rows[start:stop]
            weight = batch.weight[start:stop]
            wrong = lines @ rows.T  # minus the margin
            if wrong.max() > _LARGEST_EXPONENT:  # without a floor the loss goes on along a line
                excess = np.maximum(wrong - _LARGEST_EXPONENT, 0.0)
                value += np.where(floor[:, 0] > 0, 0.0, excess @ weight / unit)
                np.minimum(wrong, _LARGEST_EXPONENT, out=wrong)
            np.exp(wrong, out=wrong)
            right = np.add(wrong, 1.0)
            np.reciprocal(right, out=right)  # σ(margin)
            wrong *= right  # σ(−margin)
            if plain:
                probability, factor = right, wrong
            else:
                factor = wrong * right
                right *= slope
                right += floor
                probability = right
                factor /= probability
                factor *= slope
            loss = np.log(probability, out=probability)
            if batch.equal_weights:
                value -= loss.sum(axis=1)
            else:
                value -= loss @ weight
                factor = factor * weight
            gradient += factor @ rows
        return unit * value, -unit * toward[:, None] * gradient

    def fisher_weights(self, coef: FloatArray, problem: int) -> FloatArray:
        """Return the weight of each row in the Fisher information of a problem, over all folds."""
        batch = self.batch
        floor, sharpness = self.floor[problem], self.sharpness[problem]
        margin = np.clip(sharpness * (batch.rows @ coef), -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
        right = 1.0 / (1.0 + np.exp(-margin))
        slope = (1.0 - 2.0 * floor) * sharpness * right * (1.0 - right)
        chance = floor + (1.0 - 2.0 * floor) * right
        weights: FloatArray = slope**2 / np.maximum(chance * (1.0 - chance), np.finfo(float).tiny)
        return weights * batch.weight


class _SharedHessians:
    """Preconditioner: one Fisher information per recipe, which its folds share.

    Parameters
    ----------
    batch : RowBatch
    problems : _Problems
    recipes : sequence of Recipe
        Of each problem; equal recipes share a Hessian.
    starts : array of shape (d + 1, k)
        The information is that at the mean of the starts of a recipe.
    """

    def __init__(
        self, batch: RowBatch, problems: _Problems, recipes: Sequence[Recipe], starts: FloatArray
    ) -> None:
        keys = {recipe.key: number for number, recipe in enumerate(recipes)}
        numbers = {key: number for number, key in enumerate(keys)}
        self._which = np.array([numbers[recipe.key] for recipe in recipes])
        self._factors = []
        for number, problem in enumerate(keys.values()):
            mean = starts[:, self._which == number].mean(axis=1)
            weights = problems.fisher_weights(mean, problem)
            for block, share in zip(batch.blocks, _shares_of_all(problems, problem), strict=True):
                weights[block.start : block.stop] *= share
            scaled = batch.rows * np.sqrt(weights)[:, None]
            information = scaled.T @ scaled
            diagonal = np.einsum("ii->i", information)
            diagonal[:-1] += problems.ridge[problem]
            diagonal += _JITTER * float(diagonal.mean()) + np.finfo(float).tiny
            self._factors.append(cho_factor(information, check_finite=False))

    def __call__(self, vectors: FloatArray, problems: IntArray) -> FloatArray:
        """Return the inverse information of each problem times its vector."""
        result = np.empty_like(vectors)
        which = self._which[problems]
        for number in np.unique(which):
            columns = which == number
            result[:, columns] = cho_solve(
                self._factors[number], vectors[:, columns], check_finite=False
            )
        return result


def _shares_of_all(problems: _Problems, problem: int) -> FloatArray:
    """Return the shares of a problem's blocks as if no fold were left out."""
    share = problems.share[:, problem].copy()
    blocks = problems.batch.blocks
    for positive in (True, False):
        side = np.array([block.positive == positive for block in blocks])
        share[side] = share[side].max()
    return share
