"""Solves many problems of the row frontier together: recipes, each without each of some folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from directrix.frontier._curvature import Anchor, Curvature
from directrix.frontier._pair_problems import PairProblems
from directrix.frontier._row_batch import RowBatch
from directrix.frontier._sigmoid_problems import SigmoidProblems
from directrix.solve import batched_lbfgs

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier._row_batch import BatchProblems, Problem
    from directrix.frontier.recipes import Key
    from directrix.losses.base import Loss

    Solutions = Mapping[tuple[Key, int | None], FloatArray]

#: Problems that are solved in one block: as many as have so many scores together, within limits;
#: of very many features fewer, because the solver keeps a dozen vectors for each problem. Blocks do
#: not depend on the number of jobs, so that the lines do not.
_SCORES_OF_BLOCK, _COEFFICIENTS_OF_BLOCK = 1 << 18, 1 << 20
_LEAST_PROBLEMS, _MOST_PROBLEMS = 8, 64


class BatchSolver:
    """Solves problems of the same rows in blocks, by `batched_lbfgs`.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Standardised.
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    fold : array of int of shape (n,), optional
    tol : float
        Relative decrease that is not worth another iteration.
    n_jobs : int, optional
        Threads among which blocks are divided, as in scikit-learn.
    starts : mapping of fold to line, optional
        Where recipes without a start begin; zero by default.
    signs : array of int of shape (d + 1,), optional
        Signs that coefficients keep, as in `batched_lbfgs`.
    """

    def __init__(
        self,
        X: Any,
        positive: AnyArray,
        weight: FloatArray,
        fold: IntArray | None,
        tol: float,
        n_jobs: int | None = None,
        starts: Mapping[int | None, FloatArray] | None = None,
        signs: IntArray | None = None,
    ) -> None:
        self._batch = RowBatch(X, positive, weight, fold)
        self._curvature = Curvature(self._batch)
        self._tol = tol
        self._signs = signs
        self._starts = {} if starts is None else starts
        fitting = max(_LEAST_PROBLEMS, _SCORES_OF_BLOCK // len(positive))
        most = max(1, _COEFFICIENTS_OF_BLOCK // self._batch.n_coef)
        self._block_size = min(fitting, most, _MOST_PROBLEMS)
        self._parallel = Parallel(n_jobs=n_jobs, prefer="threads")

    @staticmethod
    def can_solve(loss: Loss) -> bool:
        """Whether problems with a loss can be solved together."""
        return _family(loss) is not None

    def solve(
        self,
        problems: Sequence[Problem],
        solutions: Solutions,
        stop: Callable[[], bool] | None = None,
    ) -> dict[tuple[Key, int | None], FloatArray]:
        """Return the solutions of problems; fewer if there is no time for all.

        Parameters
        ----------
        problems : sequence of (Recipe, int or None)
        solutions : mapping
            What is solved already: each problem starts from the solution of its recipe's start, in
            the same fold.
        stop : callable, optional
            If it returns True, blocks that are not yet solved are given up.
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
        results = self._parallel(solve(block, solutions, stop) for block in blocks)
        return {
            (recipe.key, fold): line
            for block, lines in zip(blocks, results, strict=True)
            if lines is not None
            for (recipe, fold), line in zip(block, lines, strict=True)
        }

    def _solve_block(
        self,
        problems: Sequence[Problem],
        solutions: Solutions,
        stop: Callable[[], bool] | None,
    ) -> FloatArray | None:
        """Return the lines of problems of one family; None if there was no time."""
        if stop is not None and stop():
            return None
        zero = np.zeros(self._batch.n_coef)
        starts = np.stack(
            [
                self._starts.get(fold, zero)
                if recipe.start is None
                else solutions[recipe.start.key, fold]
                for recipe, fold in problems
            ]
        )
        members = _members(self._batch, problems)
        anchors = [_anchor(problem, solutions) for problem in problems]
        precondition = self._curvature.preconditioner(anchors, members.ridge)
        solved = batched_lbfgs(
            members.evaluate, starts, precondition, tol=self._tol, signs=self._signs, stop=stop
        )
        return None if solved is None else solved.coef


def _family(loss: Loss) -> Hashable:
    """Return what losses that are evaluated together have in common; None if it is nothing."""
    if loss.sigmoid_mixture is not None:
        return loss.sigmoid_mixture[0] > 0.0  # without a floor there is less to compute
    return None if loss.pair_kernel(np.zeros(1)) is None else loss


def _members(batch: RowBatch, problems: Sequence[Problem]) -> BatchProblems:
    loss = problems[0][0].loss
    return (PairProblems if loss.sigmoid_mixture is None else SigmoidProblems)(batch, problems)


def _anchor(problem: Problem, solutions: Solutions) -> Anchor:
    """Return the last unweighted logistic regression on the way to a problem."""
    recipe, fold = problem
    before = recipe.start
    while before is not None and not before.is_plain:
        before = before.start
    if before is None:
        return Anchor(fold)
    return Anchor(fold, before.key, solutions[before.key, fold])
