"""Solves many problems of the row frontier together: recipes, each without each of some folds.

Rows are sorted by class and fold, so that leaving out a fold is a weight of zero for some blocks
of them, and multiplied by the sign of their class, so that a product with a line is the margin. An
iteration of all problems is then one matrix product, one pass of elementwise arithmetic, and one
matrix product back. Many rows are held in single precision, half the memory and the time of such a
pass. That moves a line by less than the tolerance of the solver, and the final fit does not take
part in it. Few rows hardly determine a line, which rounding would move.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed  # that of scikit-learn sets the filters of warnings
from scipy import sparse
from scipy.linalg import lapack, toeplitz

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.linear.lbfgs import batched_lbfgs
from directrix.linear.loss import Loss
from directrix.linear.recipes import Key, Recipe

#: A recipe, and the fold that it leaves out.
Problem = tuple[Recipe, int | None]
Solutions = Mapping[tuple[Key, int | None], FloatArray]

# ── Rows for many problems: sorted by class and fold, times the sign of their class ───────────────

#: Numbers that fit into a processor's cache together with what is computed from them.
CACHED_NUMBERS = 1 << 15
#: So many rows at most are in double precision.
_FEW_ROWS = 1 << 13
#: Rows of a part of a block at least and at most.
_LEAST_ROWS, _MOST_ROWS = 64, 8192


class Block(NamedTuple):
    """Consecutive rows of one class and one fold."""

    start: int
    stop: int
    positive: bool
    fold: int


class RowBatch:
    """Rows for many problems at once, standardised.

    `rows` are in the order of the blocks, negatives first, times the sign of the class, with the
    sign as their last column. ``dtype`` is their precision.
    """

    def __init__(
        self, X: Any, positive: AnyArray, weight: FloatArray, fold: IntArray | None
    ) -> None:
        fold = np.zeros(len(positive), dtype=np.int64) if fold is None else fold
        order = np.lexsort((fold, positive))
        self.dtype: Any = np.float64 if len(order) <= _FEW_ROWS else np.float32
        sign = np.where(positive[order], 1.0, -1.0).astype(self.dtype)[:, None]
        self.rows = _signed(X, order, sign)
        # In units of the mean: single precision has no room for others.
        self.weight: FloatArray = weight[order] / weight.mean()
        self.equal_weights = bool(np.ptp(weight) == 0)
        group = positive[order] * (int(fold.max()) + 1) + fold[order]
        cuts = [0, *(np.flatnonzero(np.diff(group)) + 1), len(order)]
        self.blocks = [
            Block(int(a), int(b), bool(positive[order[a]]), int(fold[order[a]]))
            for a, b in pairwise(cuts)
        ]
        self.positive = np.array([block.positive for block in self.blocks])
        self.sparse = not isinstance(self.rows, np.ndarray)
        self._of_blocks = [self.rows[block.start : block.stop] for block in self.blocks]

    @property
    def n_coef(self) -> int:
        """Coefficients of a line."""
        return int(self.rows.shape[1])

    @property
    def block_of_row(self) -> IntArray:
        """Index of the block of each row."""
        return np.repeat(np.arange(len(self.blocks)), [b.stop - b.start for b in self.blocks])

    def totals(self) -> FloatArray:
        """Return the weight of each block."""
        return np.array([self.weight[block.start : block.stop].sum() for block in self.blocks])

    def parts(self, block: int, n_problems: int) -> Iterator[tuple[Any, FloatArray]]:
        """Return rows and weights of a block in parts that fit into the cache.

        Sparse rows are not cut: that takes longer than what it saves.
        """
        rows, (start, stop, *_) = self._of_blocks[block], self.blocks[block]
        size = stop - start
        step = min(max(_LEAST_ROWS, CACHED_NUMBERS // n_problems), _MOST_ROWS)
        step = size if self.sparse else step
        for a in range(0, size, step):
            b = min(a + step, size)
            part = rows if b - a == size else rows[a:b]
            yield part, self.weight[start + a : start + b]


class BatchProblems(ABC):
    """Problems of one family of losses on a batch of rows.

    `share` has, for each problem and block, the factor of the weights of the block's rows: zero if
    its fold is left out.
    """

    def __init__(self, batch: RowBatch, problems: Sequence[Problem]) -> None:
        self.batch = batch
        self.ridge = np.array([recipe.ridge for recipe, _ in problems])
        fold = np.array([block.fold for block in batch.blocks])
        kept = np.array([np.ones(len(fold)) if out is None else fold != out for _, out in problems])
        self.share = self._shares(kept.astype(np.float64), problems)

    @abstractmethod
    def _shares(self, kept: FloatArray, problems: Sequence[Problem]) -> FloatArray:
        """Return `share`, from ones for blocks that are kept and zeros for others."""

    @abstractmethod
    def _loss(self, lines: FloatArray, problems: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the losses of some problems, and their gradients by lines."""

    def evaluate(self, lines: FloatArray, problems: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return values and gradients of some problems, at lines in rows."""
        value, gradient = self._loss(lines, problems)
        ridge, coef = self.ridge[problems], lines[:, :-1]
        value += 0.5 * ridge * np.einsum("kp,kp->k", coef, coef)
        gradient[:, :-1] += ridge[:, None] * coef
        return value, gradient


def margins(lines: FloatArray, rows: Any) -> AnyArray:
    """Return lines times rows, of shape (k, rows), in the precision of the rows."""
    lines = lines.astype(rows.dtype)
    if not isinstance(rows, np.ndarray):
        return np.ascontiguousarray((rows @ lines.T).T)
    return _product(lines, rows.T)


def back(slopes: AnyArray, rows: Any) -> AnyArray:
    """Return the sums of rows times slopes, of shape (k, d + 1), in the precision of both."""
    if not isinstance(rows, np.ndarray):
        return np.asarray((rows.T @ slopes.T).T)
    return _product(slopes, rows)


def _product(left: AnyArray, right: AnyArray) -> AnyArray:
    """Return the product of two matrices, without a warning if it is not a number.

    A line search rejects a trial whose loss is not a number. And some BLAS kernels report an
    invalid operation for finite numbers: they calculate with lanes that they then discard.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(left @ right)


def _signed(X: Any, order: IntArray, sign: AnyArray) -> Any:
    if sparse.issparse(X):
        signs = sparse.diags_array(sign[:, 0])
        ones = sparse.csr_array(np.ones((len(sign), 1)))
        signed = signs @ sparse.hstack([sparse.csr_array(X)[order], ones])
        return sparse.csr_array(signed, dtype=sign.dtype)
    rows = np.empty((len(order), X.shape[1] + 1), dtype=sign.dtype)
    np.multiply(X[order], sign, out=rows[:, :-1], casting="same_kind")
    rows[:, -1:] = sign
    return rows


# ── Preconditioners: Fisher information matrices of logistic regressions ──────────────────────────
#
# The Hessians of the candidates of a fold resemble each other: up to a factor, which the solver
# learns, all are covariances of rows with more weight on those near the line. So a problem takes
# the information of the unweighted logistic regression that its chain of starts has passed last,
# in its fold. Labels of held-out rows have no say in it: a preconditioner that folds shared would
# let them decide into which minimum of a non-convex loss a descent falls.

#: Features up to which every logistic regression has an information of its own; up to which a fold
#: has one, that of a line of zeros; beyond that only its diagonal is taken.
_MOST_AT_LINE, _MOST_AT_ZERO = 300, 1_000
#: Share of the mean diagonal that is added to an information, so that it can be inverted.
_JITTER = 1e-9
#: Rows whose products are summed at a time.
_BLOCK = 1 << 14


class Anchor(NamedTuple):
    """The unweighted logistic regression whose information serves a problem, without one fold.

    `key` is that of its recipe, `line` its line without the fold; None stands for a line of zeros.
    """

    fold: int | None
    key: Key | None = None
    line: FloatArray | None = None


class Curvature:
    """Information matrices of a batch of rows, made when they are first needed."""

    def __init__(self, batch: RowBatch) -> None:
        self._batch = batch
        self._known: dict[tuple[Key | None, int | None], FloatArray] = {}

    def preconditioner(
        self, anchors: Sequence[Anchor], ridge: FloatArray
    ) -> Callable[[FloatArray, IntArray], FloatArray]:
        """Return a function from vectors and problems to inverse information times vectors.

        The problems have these anchors and ridges.
        """
        numbers: dict[tuple[Key | None, int | None, float], int] = {}
        group: list[int] = []
        factors: list[AnyArray] = []
        for anchor, strength in zip(anchors, ridge.tolist(), strict=True):
            if self._batch.n_coef - 1 > _MOST_AT_LINE:
                anchor = Anchor(anchor.fold)  # noqa: PLW2901 - this is all that is used of it
            key = anchor.key, anchor.fold, strength
            if key not in numbers:
                numbers[key] = len(factors)
                factors.append(_factor(self._information(anchor), strength, self._batch.dtype))
            group.append(numbers[key])
        factor_of = np.array(group)

        def precondition(vectors: FloatArray, problems: IntArray) -> FloatArray:
            result, used = np.empty_like(vectors), factor_of[problems]
            for number in np.unique(used):
                result[used == number] = _solved(factors[number], vectors[used == number])
            return result

        return precondition

    def _information(self, anchor: Anchor) -> FloatArray:
        """Return the information of a line: a matrix or, of many features, its diagonal."""
        key = anchor.key, anchor.fold
        if key not in self._known:
            batch = self._batch
            weight = batch.weight.copy()
            for block in batch.blocks:
                if block.fold == anchor.fold:
                    weight[block.start : block.stop] = 0.0
            weight /= weight.sum()
            if anchor.line is None:
                weight /= 4.0
            else:
                chance = 1.0 / (1.0 + np.exp(-np.abs(margins(anchor.line[None], batch.rows)[0])))
                weight *= chance * (1.0 - chance)
            self._known[key] = _gram(batch.rows, weight)
        return self._known[key]


def _solved(factor: AnyArray, vectors: FloatArray) -> FloatArray:
    if factor.ndim == 1:
        return vectors / factor
    # Half the time of scipy.linalg.cho_solve, whose checks count here.
    solve = lapack.dpotrs if factor.dtype == np.float64 else lapack.spotrs
    return np.asarray(solve(factor, vectors.T)[0].T)


def _gram(rows: Any, weight: FloatArray) -> FloatArray:
    """Return the weighted sum of products of rows with themselves, or its diagonal."""
    p = rows.shape[1]
    wide = p - 1 > _MOST_AT_ZERO
    if sparse.issparse(rows):
        if wide:
            return np.asarray(rows.multiply(rows).T @ weight, dtype=np.float64)
        products = rows.T @ (sparse.diags_array(weight) @ rows)
        return np.asarray(products.todense(), dtype=np.float64)
    total = np.zeros(p) if wide else np.zeros((p, p))
    for start in range(0, len(weight), _BLOCK):
        part = slice(start, start + _BLOCK)
        scaled = rows[part] * np.sqrt(weight[part]).astype(rows.dtype)[:, None]
        total += np.einsum("ij,ij->j", scaled, scaled) if wide else scaled.T @ scaled
    return total


def _factor(information: FloatArray, ridge: float, dtype: Any) -> AnyArray:
    """Return the Cholesky factor of an information with a ridge; a diagonal stays one.

    Large factors are in the precision of the rows: an error costs iterations if rows are many.
    """
    diagonal = information if information.ndim == 1 else np.einsum("ii->i", information)
    added = np.full(len(diagonal), ridge)
    added[-1] = 0.0
    shifted = diagonal + added
    level = float(shifted.mean())
    dtype = np.float64 if len(diagonal) - 1 <= _MOST_AT_LINE else dtype
    factorize = lapack.dpotrf if dtype == np.float64 else lapack.spotrf
    tiny = float(np.finfo(dtype).tiny)
    if information.ndim == 2:
        # What is not positive definite by rounding is so with more on its diagonal.
        for jitter in (_JITTER, 1e2 * _JITTER, 1e4 * _JITTER, 1e6 * _JITTER):
            matrix = information.astype(dtype)
            matrix[np.diag_indices(len(matrix))] += (added + jitter * level + tiny).astype(dtype)
            factor, failed = factorize(matrix)
            if not failed:
                return np.asarray(factor)
    return np.asarray(shifted + _JITTER * level + tiny)


# ── Problems of pairwise losses, many at a time, with scores on a grid ────────────────────────────
#
# A pairwise loss is the mean of a kernel φ of the difference of every positive's score to every
# negative's. Each score is shared between its two neighbours on a grid, in proportion to its
# distance; the loss is then that of the weights p and q of the two classes on the nodes g,
#
# .. math:: L = \sum_{a, b} p_a\, q_b\, \varphi(g_a - g_b)
#
# one product with a matrix for all problems together, and no sort. That is the loss of a kernel
# which is linear between nodes: exact enough to tell candidates apart. The final fit takes the
# loss itself.

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
        self._weight = (self.share[:, batch.block_of_row] * batch.weight).astype(batch.dtype)
        self._n_neg = sum(block.stop - block.start for block in batch.blocks if not block.positive)

    def _shares(self, kept: FloatArray, problems: Sequence[Problem]) -> FloatArray:  # noqa: ARG002
        total, positive = self.batch.totals(), self.batch.positive
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
            slope = np.zeros(potential.shape, dtype=self.batch.dtype)
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
    return on_grid.reshape(k, _NODES)


# ── Problems of the logistic loss and of the robust loss, many at a time ──────────────────────────
#
# All are members of one family of losses of the margin z,
#
# .. math:: \phi(z) = -\log\big(a + (1 - 2a)\, \sigma(\gamma z)\big)
#           = \log \frac{1 + e}{1 - a + a e}, \qquad e = \exp(-\gamma z)
#
# the logistic loss for a = 0 and the Beta-Bernoulli loss with equal plateaus otherwise.

#: Exponents beyond this make no difference to a sum with one.
_LARGEST_EXPONENT = 80.0
#: Up to so many scores all blocks are evaluated in one go, those of a left-out fold too.
_FEW_SCORES = 2 * CACHED_NUMBERS


class SigmoidProblems(BatchProblems):
    """Problems whose losses have a `Loss.sigmoid_mixture`; see `BatchProblems`."""

    def __init__(self, batch: RowBatch, problems: Sequence[Problem]) -> None:
        super().__init__(batch, problems)
        mixtures = np.array([recipe.loss.sigmoid_mixture for recipe, _ in problems], dtype=float)
        self.floor, self.sharpness = mixtures.T[:, :, None]
        self._block_of_row = batch.block_of_row

    def _shares(self, kept: FloatArray, problems: Sequence[Problem]) -> FloatArray:
        total, positive = self.batch.totals(), self.batch.positive
        for number, (recipe, _) in enumerate(problems):
            if recipe.ratio is not None:
                sums = [float(kept[number, side] @ total[side]) for side in (positive, ~positive)]
                kept[number, ~positive] *= recipe.ratio * sums[0] / sums[1]
        return kept / (kept @ total)[:, None]

    def _loss(self, lines: FloatArray, problems: IntArray) -> tuple[FloatArray, FloatArray]:
        floor, sharpness = self.floor[problems], self.sharpness[problems]
        factor = -(1.0 - 2.0 * floor) * sharpness
        lines = -sharpness * lines
        few = len(problems) * len(self.batch.weight) <= _FEW_SCORES
        if few:
            weight = self.share[problems][:, self._block_of_row] * self.batch.weight
            weight = weight.astype(self.batch.dtype)
            value, gradient = _weighted(lines, self.batch.rows, weight, floor)
            return value.astype(np.float64), factor * gradient
        value, gradient = np.zeros(len(problems)), np.zeros_like(lines)
        for block in range(len(self.batch.blocks)):
            share = self.share[problems, block]
            used = np.flatnonzero(share)
            if not len(used):
                continue
            for rows, weight in self.batch.parts(block, len(used)):
                given = None if self.batch.equal_weights else weight.astype(self.batch.dtype)
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


# ── The solver ────────────────────────────────────────────────────────────────────────────────────

#: Problems that are solved in one block: as many as have so many scores together, within limits;
#: of very many features fewer, because the solver keeps a dozen vectors for each problem. Blocks do
#: not depend on the number of jobs, so that the lines do not.
_SCORES_OF_BLOCK, _COEFFICIENTS_OF_BLOCK = 1 << 18, 1 << 20
_LEAST_PROBLEMS, _MOST_PROBLEMS = 8, 64


class BatchSolver:
    """Solves problems of the same rows in blocks, by `batched_lbfgs`.

    `tol` is the relative decrease that is not worth another iteration. Blocks are divided among
    `n_jobs` threads; `signs` are those that coefficients keep.
    """

    def __init__(
        self,
        X: Any,
        positive: AnyArray,
        weight: FloatArray,
        fold: IntArray | None,
        tol: float,
        n_jobs: int | None = None,
        signs: IntArray | None = None,
    ) -> None:
        self._batch = RowBatch(X, positive, weight, fold)
        self._curvature = Curvature(self._batch)
        self._tol = tol
        self._signs = signs
        fitting = max(_LEAST_PROBLEMS, _SCORES_OF_BLOCK // len(positive))
        most = max(1, _COEFFICIENTS_OF_BLOCK // self._batch.n_coef)
        self._block_size = min(fitting, most, _MOST_PROBLEMS)
        self._parallel = Parallel(n_jobs=n_jobs, prefer="threads")

    def solve(
        self,
        problems: Sequence[Problem],
        solutions: Solutions,
    ) -> dict[tuple[Key, int | None], FloatArray]:
        """Return the solutions of problems.

        Each problem starts from the solution of its recipe's start, in the same fold, which
        `solutions` must have.
        """
        families: dict[Hashable, list[Problem]] = {}
        for problem in problems:
            families.setdefault(_family(problem[0].loss), []).append(problem)
        blocks = [
            members[start : start + self._block_size]
            for members in families.values()
            for start in range(0, len(members), self._block_size)
        ]
        solve = delayed(self._solve_block)
        results = self._parallel(solve(block, solutions) for block in blocks)
        return {
            (recipe.key, fold): line
            for block, lines in zip(blocks, results, strict=True)
            for (recipe, fold), line in zip(block, lines, strict=True)
        }

    def _solve_block(self, problems: Sequence[Problem], solutions: Solutions) -> FloatArray:
        zero = np.zeros(self._batch.n_coef)
        starts = [
            zero if before is None else solutions[before.key, fold]
            for before, fold in ((recipe.start, fold) for recipe, fold in problems)
        ]
        mixture = problems[0][0].loss.sigmoid_mixture
        members = (PairProblems if mixture is None else SigmoidProblems)(self._batch, problems)
        anchors = [_anchor(problem, solutions) for problem in problems]
        precondition = self._curvature.preconditioner(anchors, members.ridge)
        problem = members.evaluate, np.stack(starts), precondition
        return batched_lbfgs(*problem, tol=self._tol, signs=self._signs)


def _family(loss: Loss) -> Hashable:
    """Return what losses that are evaluated together have in common."""
    if loss.sigmoid_mixture is not None:
        return loss.sigmoid_mixture[0] > 0.0  # without a floor there is less to compute
    return loss


def _anchor(problem: Problem, solutions: Solutions) -> Anchor:
    """Return the last unweighted logistic regression on the way to a problem."""
    recipe, fold = problem
    before = recipe.start
    while before is not None and before.complexity > 0.0:  # another loss, or with costs
        before = before.start
    if before is None:
        return Anchor(fold)
    return Anchor(fold, before.key, solutions[before.key, fold])
