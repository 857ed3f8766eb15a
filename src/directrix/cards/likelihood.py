r"""One penalised likelihood for all points of a card, with a variance for each column.

With features :math:`\phi_i` of row i (`directrix.cards.basis`), labels :math:`y_i = \pm 1` and
weights :math:`w_i` of mean one, coefficients are those of least

.. math:: \sum_i w_i \log(1 + e^{-y_i \phi_i^\top \beta})
          + \frac12 \sum_j \frac{|\beta_j|^2}{v_j}

where :math:`v_j` is the prior variance of column j. Near a point :math:`\beta_0` with gradient g
and curvature :math:`A = \Phi^\top H \Phi` of the first term, the likelihood is a parabola, so that
for given variances the coefficients have the posterior

.. math:: \Sigma = (A + V^{-1})^{-1}, \qquad \beta = \Sigma\,(A \beta_0 - g)

and the marginal likelihood of the variances has a maximum where
:math:`v_j = |\beta_j|^2 / \gamma_j`, with :math:`\gamma_j = d_j - \mathrm{tr}(\Sigma_{jj}) / v_j`
of the :math:`d_j` coefficients known from the rows (MacKay 1992). A column that explains nothing so
loses its variance, and no search over columns is needed. The fixed point is approached by

.. math:: v_j \leftarrow v_j \Bigl(\frac{|\beta_j|^2 + \epsilon \bar v}
          {(\gamma_j + \epsilon)\, v_j}\Bigr)^{3/2}, \qquad
          \bar v = \frac{\sum_j |\beta_j|^2}{\sum_j \gamma_j}

and stays within a range around the mean variance. Folds share the curvature, which has no sign of a
label, and nothing else: each starts from nothing and sees its own rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.special import expit, logit

from directrix._typing import AnyArray, FloatArray, IntArray

#: Ridge of the first fit, as a share of the rows.
RIDGE = 3e-3
#: Steps of a descent, and the relative decrease that ends it.
_STEPS, _CONVERGED = 12, 1e-5
#: Rounds of the first fit; in some of them the curvature is measured anew, on so many rows a
#: coefficient, or so many rows.
_ROUNDS, _MEASURED, _ROWS_EACH, _LEAST_ROWS = 8, (0, 1, 3), 15, 6_000
_HALVINGS = 6
#: Rounds, extrapolation and pseudo-coefficients of the variances, and their range.
_TURNS, _POWER, _PSEUDO, _RANGE = 4, 1.5, 0.05, (0.003, 50.0)
#: Change of the logarithm of a variance that ends the rounds.
_SETTLED = 0.1
#: Least mean variance: labels that nothing explains leave no energy.
_LEAST_VARIANCE = 1e-8
#: Penalty of the intercept, relative to the curvature of a coefficient.
_SLIGHT = 1e-7


class Problem(NamedTuple):
    """One fit of all rows, or of those outside a fold.

    ``penalty`` are the inverse variances of the coefficients, and ``gram`` the curvature of the
    rows. The descent begins at ``start``.
    """

    without: int | None
    penalty: FloatArray
    gram: FloatArray
    start: FloatArray


def product(left: AnyArray, right: AnyArray) -> AnyArray:
    """Return the product of two matrices in single precision, without a warning.

    Some BLAS kernels report an invalid operation for finite numbers: they calculate with lanes that
    they then discard. What is not finite is seen by the losses.
    """
    with np.errstate(invalid="ignore"):
        made: AnyArray = left @ right
    return made


@dataclass(frozen=True, eq=False)
class Features:
    """Features of rows: dense, with a column of ones last, then indicators of cells of crosses."""

    dense: AnyArray
    crossed: Any = None

    def scores(self, coef: FloatArray) -> AnyArray:
        """Return the scores of rows, of shape (n, k), by coefficients of shape (d, k)."""
        narrow, size = coef.astype(np.float32), self.dense.shape[1]
        made = product(self.dense, narrow[:size])
        return made if self.crossed is None else made + self.crossed @ narrow[size:]

    def gradient(self, residual: AnyArray) -> FloatArray:
        """Return the sums of features times residuals of shape (n, k)."""
        narrow = residual.astype(np.float32)
        made = product(self.dense.T, narrow)
        if self.crossed is not None:
            made = np.concatenate([made, self.crossed.T @ narrow])
        return made.astype(np.float64)

    def gram(self, curvature: FloatArray, rows: Any = slice(None)) -> FloatArray:
        """Return the curvature of the likelihood; ``rows`` are those that it is measured on."""
        root = np.sqrt(curvature[rows]).astype(np.float32)[:, None]
        dense = self.dense[rows] * root
        made = product(dense.T, dense).astype(np.float64)
        return made if self.crossed is None else self.bordered(made, curvature, rows)

    def bordered(self, gram: FloatArray, curvature: FloatArray, rows: Any) -> FloatArray:
        """Return the curvature with that of the crosses added to that of the dense features."""
        weighted = self.crossed[rows].multiply(curvature[rows][:, None]).tocsr()
        edge = np.asarray(weighted.T @ self.dense[rows], dtype=np.float64)
        corner = (weighted.T @ self.crossed[rows]).toarray().astype(np.float64)
        return np.block([[gram, edge.T], [edge, corner]])


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood of labelled rows in folds, for given features.

    ``block`` has the column or cross of each coefficient, −1 for the intercept, and ``signs`` are 1
    for coefficients that may not be negative. ``weight`` has mean one.
    """

    features: Features
    block: IntArray
    signs: IntArray
    positive: AnyArray
    weight: FloatArray
    fold: IntArray | None

    @property
    def n_folds(self) -> int:
        """Number of folds; none without held-out rows."""
        return 0 if self.fold is None else int(self.fold.max()) + 1

    def rows_without(self, fold: int | None) -> AnyArray:
        """Return which rows are outside a fold: all of them, if it is None."""
        every = np.ones(len(self.weight), dtype=bool)
        return every if fold is None or self.fold is None else self.fold != fold

    def first_fit(self) -> FloatArray:
        """Return the coefficients of all rows at one ridge, by damped Newton steps."""
        rate = float(self.weight @ self.positive) / float(self.weight.sum())
        coef, ridge = np.zeros(len(self.block)), self.ridge(None)
        coef[self.block < 0] = logit(rate)
        scores = self.features.scores(coef[:, None])[:, 0]
        loss = self._loss(scores, coef, ridge)
        gram: Any = None
        for turn in range(_ROUNDS):
            if turn in _MEASURED:
                few = max(_ROWS_EACH * len(coef), _LEAST_ROWS)
                rows = slice(None, None, max(len(scores) // few, 1))
                curvature = self.curvature(scores)
                factor = curvature.sum() / curvature[rows].sum()
                gram = factor * self.features.gram(curvature, rows)
            gradient = self.gradient(scores, None) + ridge * coef
            step = _step(gram, ridge, gradient, coef, self.signs)
            change, before = self.features.scores(step[:, None])[:, 0], loss
            for halving in range(_HALVINGS):
                size = 0.5**halving
                trial = scores + size * change, coef + size * step
                loss = self._loss(*trial, ridge)
                if loss < before:
                    scores, coef = trial
                    break
            if not before - loss > _CONVERGED * before:
                break
        return coef

    def ridge(self, fold: int | None) -> FloatArray:
        """Return the penalty of the first fit, which the intercept does not have."""
        total = float(self.weight[self.rows_without(fold)].sum())
        return np.where(self.block < 0, 0.0, RIDGE * total)

    def curvature(self, scores: AnyArray) -> FloatArray:
        """Return w p (1 − p) of each row."""
        chance = expit(scores.astype(np.float64))
        return np.asarray(self.weight * chance * (1.0 - chance))

    def gradient(self, scores: AnyArray, without: int | None) -> FloatArray:
        """Return the gradient of the likelihood of the rows outside a fold."""
        residual = self.weight * (expit(scores.astype(np.float64)) - self.positive)
        residual[~self.rows_without(without)] = 0.0
        return self.features.gradient(residual[:, None])[:, 0]

    def grams(self, curvature: FloatArray) -> dict[int | None, FloatArray]:
        """Return the curvature of all rows, and of the rows outside each fold."""
        parts = [
            self.features.gram(curvature, np.flatnonzero(self.fold == k))
            for k in range(self.n_folds)
        ]
        whole = sum(parts[1:], parts[0]) if parts else self.features.gram(curvature)
        return {None: whole, **{k: whole - part for k, part in enumerate(parts)}}

    def descend(self, problems: Sequence[Problem]) -> FloatArray:
        """Return the coefficients of several problems, of shape (d, problems).

        All of them are in the same products. Steps are those of a fixed curvature, halved until
        the loss falls.
        """
        coef = np.column_stack([each.start for each in problems])
        penalty = np.column_stack([each.penalty for each in problems])
        factors = [
            None if self.signs.any() else cho_factor(_with_penalty(each.gram, each.penalty))
            for each in problems
        ]
        weight = np.column_stack(
            [np.where(self.rows_without(each.without), self.weight, 0.0) for each in problems]
        )
        scores = self.features.scores(coef)
        loss = self._losses(scores, weight) + 0.5 * (penalty * coef**2).sum(axis=0)
        live = np.arange(len(problems))
        for _ in range(_STEPS):
            residual = weight[:, live] * (expit(scores[:, live]) - self.positive[:, None])
            gradient = self.features.gradient(residual) + penalty[:, live] * coef[:, live]
            step = np.empty_like(gradient)
            for k, number in enumerate(live.tolist()):
                if factors[number] is not None:
                    step[:, k] = -cho_solve(factors[number], gradient[:, k])
                else:
                    each = problems[number]
                    given = each.penalty, gradient[:, k], coef[:, number], self.signs
                    step[:, k] = _step(each.gram, *given)
            change, before = self.features.scores(step), loss[live].copy()
            left, size = np.arange(len(live)), np.ones(len(live))
            for _ in range(_HALVINGS):
                of = live[left]
                moved = scores[:, of] + change[:, left] * size[left].astype(np.float32)
                trial = coef[:, of] + step[:, left] * size[left]
                value = self._losses(moved, weight[:, of])
                value += 0.5 * (penalty[:, of] * trial**2).sum(axis=0)
                good = value < loss[of]
                scores[:, of[good]], coef[:, of[good]] = moved[:, good], trial[:, good]
                loss[of[good]] = value[good]
                left = left[~good]
                if not left.size:
                    break
                size[left] /= 2.0
            live = live[before - loss[live] > _CONVERGED * before]
            if not live.size:
                break
        return coef

    def held_out(self, coef: FloatArray) -> FloatArray:
        """Return the scores of the rows of each fold by coefficients of shape (d, folds)."""
        scores = self.features.scores(coef)
        made: FloatArray = scores[np.arange(len(scores)), self.fold].astype(np.float64)
        return made

    def _loss(self, scores: AnyArray, coef: FloatArray, penalty: FloatArray) -> float:
        loss = self._losses(scores[:, None], self.weight[:, None])[0]
        return float(loss) + 0.5 * float(penalty @ coef**2)

    def _losses(self, scores: AnyArray, weight: FloatArray) -> FloatArray:
        against = np.where(self.positive[:, None], -scores, scores)
        made: FloatArray = np.einsum("nk,nk->k", np.logaddexp(0.0, against), weight)
        return made


def fold_losses(
    scores: FloatArray, positive: AnyArray, weight: FloatArray, fold: IntArray
) -> FloatArray:
    """Return the mean log loss of each fold."""
    loss = weight * np.logaddexp(0.0, np.where(positive, -scores, scores))
    made: FloatArray = np.bincount(fold, loss) / np.bincount(fold, weight)
    return made


def _with_penalty(gram: FloatArray, penalty: FloatArray) -> FloatArray:
    matrix, diagonal = gram.copy(), np.diag_indices(len(gram))
    matrix[diagonal] += penalty + _SLIGHT * max(float(gram[diagonal].mean()), 1.0)
    return matrix


def variances(
    gram: FloatArray,
    linear: FloatArray,
    block: IntArray,
    signs: IntArray,
    start: float,
) -> FloatArray:
    """Return the variance of each block by the marginal likelihood of a parabola.

    The parabola is half of ``x @ gram @ x`` less ``linear @ x``. ``block`` and ``signs`` are as in
    `Likelihood`, and ``start`` is the variance that all blocks begin with.
    """
    free = block >= 0
    n_blocks = int(block.max(initial=-1)) + 1
    used = np.bincount(block[free], minlength=n_blocks) > 0
    variance = np.full(n_blocks, start)
    for turn in range(_TURNS if used.any() else 0):
        matrix = _with_penalty(gram, np.append(1.0 / variance, 0.0)[block])
        found, spread, kept = _posterior(matrix, linear, signs)
        inner = np.flatnonzero(kept & free)
        of = block[inner]
        known = np.bincount(of, minlength=n_blocks) - (
            np.bincount(of, spread[inner], n_blocks) / variance
        )
        known = np.maximum(known, 1e-3)
        energy = np.bincount(of, found[inner] ** 2, n_blocks)
        mean = max(float(energy[used].sum() / known[used].sum()), _LEAST_VARIANCE)
        ratio = (energy + _PSEUDO * mean) / ((known + _PSEUDO) * variance)
        moved = variance * ratio ** (_POWER if turn else 1.0)
        moved = np.clip(moved, _RANGE[0] * mean, _RANGE[1] * mean)
        change = np.abs(np.log(moved / variance))[used].max(initial=0.0)
        variance = moved
        if change < _SETTLED:
            break
    return variance


def _posterior(
    matrix: FloatArray, linear: FloatArray, signs: IntArray
) -> tuple[FloatArray, FloatArray, AnyArray]:
    """Return the mean and the variances of the posterior, and what is not held at zero."""
    kept = np.ones(len(linear), dtype=bool)
    if signs.any():
        found, kept = _least(matrix, linear, signs)
        matrix = matrix[np.ix_(kept, kept)]
    factor, lower = cho_factor(matrix)
    if not signs.any():
        found = cho_solve((factor, lower), linear)
    spread = np.zeros(len(linear))
    spread[kept] = dpotri(factor, lower=lower)[0].diagonal()
    return found, spread, kept


def _step(
    gram: FloatArray,
    penalty: FloatArray,
    gradient: FloatArray,
    coef: FloatArray,
    signs: IntArray,
) -> FloatArray:
    """Return the step to the minimum of a parabola; coefficients with a sign stay above zero."""
    matrix = _with_penalty(gram, penalty)
    found, _ = _least(matrix, matrix @ coef - gradient, signs, coef)
    return found - coef


def _least(
    matrix: FloatArray, linear: FloatArray, signs: IntArray, start: FloatArray | None = None
) -> tuple[FloatArray, AnyArray]:
    r"""Minimise :math:`\tfrac12 x^\top M x - c^\top x`, where some x may not be negative.

    Projected Newton steps (Bertsekas 1982): coefficients that are zero and would fall stay, and
    Newton's step of all others is cut off at zero, and halved until the value falls. Return also
    which coefficients are not held at zero.
    """
    if not signs.any():
        return cho_solve(cho_factor(matrix), linear), np.ones(len(linear), dtype=bool)
    signed = signs > 0
    x = np.zeros(len(linear)) if start is None else np.where(signed, np.maximum(start, 0.0), start)
    held = signed & (x <= 0.0)
    for _ in range(_STEPS + len(signs)):
        slope = matrix @ x - linear
        held = signed & (x <= 0.0) & (slope >= 0.0)
        free = np.flatnonzero(~held)
        step = np.zeros(len(x))
        step[free] = -cho_solve(cho_factor(matrix[np.ix_(free, free)]), slope[free])
        value = 0.5 * x @ matrix @ x - linear @ x
        for halving in range(2 * _HALVINGS):
            trial = x + 0.5**halving * step
            trial[signed] = np.maximum(trial[signed], 0.0)
            if 0.5 * trial @ matrix @ trial - linear @ trial < value:
                break
        else:
            break
        fell = value - (0.5 * trial @ matrix @ trial - linear @ trial)
        x = trial
        if fell <= _CONVERGED * abs(value):
            break
    return x, ~held
