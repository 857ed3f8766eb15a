"""The Gaussian-Laplacian mixture prior, under which most coefficients become zero: Algorithm 3."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from directrix._typing import AnyArray, FloatArray
from directrix.papers.hasan_pal_2015.continuation import (
    RADIUS,
    SHRINK,
    SPACING,
    TOL,
    gradient_descent,
    sharpness_levels,
)
from directrix.papers.hasan_pal_2015.search import ConstantObjective, probe_values

# ── The prior ─────────────────────────────────────────────────────────────────────────────────────

# Widths below this are zero but for rounding; their logarithms and inverses are still finite.
_TINY = 1e-30


class SparseSolution(NamedTuple):
    """Coefficients, intercept last, of which most are zero, and the indices of the others.

    `n_iter` is the number of rounds.
    """

    coef: FloatArray
    kept: AnyArray
    prior: GaussianLaplace
    n_iter: int


@dataclass(frozen=True)
class GaussianLaplace:
    r"""A mixture of a wide Gaussian and a narrow Laplacian (Hasan and Pal 2015, eq. 41).

    .. math:: p(a) = \pi_g\, \mathcal N(a; 0, \sigma^2)
              + \pi_l\, \frac{1}{2 b_l} e^{-|a| / b_l}, \qquad \pi_g + \pi_l = 1

    ``share`` is π_g, ``variance`` is σ² and ``scale`` is b_l.
    """

    share: float
    variance: float
    scale: float

    @classmethod
    def of_clusters(
        cls, coef: FloatArray, narrow: AnyArray, before: GaussianLaplace | None
    ) -> GaussianLaplace:
        """Return the prior of maximum likelihood for coefficients in two clusters.

        The hyper-parameter updates of Hasan and Pal 2015, Algorithm 3, line 9: no width and no
        share is kept from zero, but for a width below rounding. An empty cluster keeps its width.
        `narrow` are those of the Laplacian.
        """
        wide, size = coef[~narrow], np.abs(coef[narrow])
        variance = float(np.mean(wide**2)) if len(wide) else before.variance if before else 1.0
        scale = float(size.mean()) if len(size) else before.scale if before else 1.0
        return cls(float(np.mean(~narrow)), max(variance, _TINY), max(scale, _TINY))

    def __call__(self, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return minus the log density at each absolute value, and its slope by it (eq. 42–44)."""
        wide, narrow = self._logs(size)
        wide_share = expit(wide - narrow)
        slope = wide_share * size / self.variance + (1.0 - wide_share) / self.scale
        return -np.logaddexp(wide, narrow), slope

    def more_laplacian(self, size: FloatArray) -> AnyArray:
        """Return for which absolute values the Laplacian has the greater posterior."""
        wide, narrow = self._logs(size)
        return narrow > wide

    def _logs(self, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the logarithm of each part of the mixture."""
        with np.errstate(divide="ignore"):  # a share may be zero
            shares = np.log(self.share), np.log1p(-self.share)
        wide = shares[0] - 0.5 * np.log(2.0 * np.pi * self.variance)
        narrow = shares[1] - np.log(2.0 * self.scale)
        return wide - 0.5 * size**2 / self.variance, narrow - size / self.scale


# ── Algorithm 3 of Hasan and Pal: SLA under the Gaussian-Laplacian prior, for sparse models ───────

#: Rounds of the stages for each sharpness at most: the prior is another in each round, so that
#: rounds may go on lowering the value for ever. And updates of the prior in stage 2 at most.
_MOST_STAGES, _MOST_UPDATES = 20, 20
#: Width of the Laplacian, as a share of the Gaussian's, below which its cluster is zero: either it
#: goes to zero but for rounding, or the descent stops where many coefficients nearly cancel.
_NARROW = 1e-4


@dataclass(frozen=True)
class MixtureObjective:
    r"""Minus the log posterior (eq. 41) over the weight W of all rows.

    .. math:: F(a, b) = L(X a + b) - \frac1W \sum_j \log p_{\mathrm{prior}}(a_j)

    Its gradient is that of eq. 42–44, with zero for the slope of \|a\| at zero. Without a prior it
    is the objective with its ridge.
    """

    objective: ConstantObjective
    prior: GaussianLaplace | None

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``, intercept last."""
        if self.prior is None:
            return self.objective(coef)
        value, grad = replace(self.objective, ridge=0.0)(coef)
        cost, slope = self.prior(np.abs(coef[:-1]))
        total = float(self.objective.weight.sum())
        grad[:-1] += np.sign(coef[:-1]) * slope / total
        return value + float(cost.sum()) / total, grad

    def probe(self, coef: FloatArray, index: int, offsets: FloatArray) -> FloatArray:
        """Return the values with each offset added to one coefficient."""
        if self.prior is None:
            return probe_values(self.objective, coef, index, offsets, 1.0)
        values = probe_values(replace(self.objective, ridge=0.0), coef, index, offsets, 1.0)
        costs = self.prior(np.abs(coef[:-1]))[0]
        total: FloatArray = np.full(len(offsets), costs.sum())
        if index < len(costs):
            total += self.prior(np.abs(coef[index] + offsets))[0] - costs[index]
        values += total / self.objective.weight.sum()
        return values


def sparse_sla(
    objective: ConstantObjective,
    start: FloatArray,
    *,
    radius: float = RADIUS,
    spacing: float = SPACING,
    **sharpness: float,
) -> SparseSolution:
    r"""Minimise a loss of increasing sharpness under the Gaussian-Laplacian prior.

    Hasan and Pal 2015, Algorithm 1 with Algorithm 3 for Algorithm 2. For each sharpness γ these
    stages are repeated until the last finds nothing:

    1. gradient descent;
    2. sparsification: coefficients near zero are the Laplacian cluster. Then, until no cluster
       changes: shares and widths of the prior are fitted to the clusters, gradient descent on
       eq. 41, and each coefficient goes to the cluster of the greater posterior;
    3. probing: for each coefficient the offsets ε, −ε, 2ε, −2ε, …, R, −R, until the first that
       lowers the value by tol of it; the stages begin again there.

    What the paper leaves open: the objective of the first descent, before there is a prior, has the
    ridge; "near zero" is below the median size at first, and the greater posterior of the last
    prior later. At the end the coefficients of the Laplacian cluster are set to zero, since the
    paper does not count them as support vectors, unless that cluster is wide. If all are in it,
    they are on their way to zero, where eq. 41 has no bound: :math:`-\log p \to -\infty` as
    :math:`a = 0` and :math:`b_l \to 0`. Then all are set to zero, and the intercept is fitted
    alone.

    The columns of the objective are those that the coefficients multiply. `radius` and `spacing`
    are R and ε of `sla`, `sharpness` the parameters of its `sharpness_levels`.
    """
    coef, n_iter = np.array(start, dtype=np.float64), 0
    prior: GaussianLaplace | None = None
    fitted = GaussianLaplace(0.5, 1.0, 1.0)
    narrow: AnyArray = np.zeros(len(coef) - 1, dtype=bool)
    for gamma in sharpness_levels(**sharpness):
        sharp = objective.sharpened(gamma)
        steps = np.arange(1, int(radius / spacing + 1e-9) + 1) * spacing
        offsets = np.column_stack([steps, -steps]).ravel()
        for _ in range(_MOST_STAGES):
            n_iter += 1
            coef, _, _ = gradient_descent(MixtureObjective(sharp, prior), coef)
            coef, fitted, narrow = _sparsify(sharp, coef, prior)
            prior = fitted
            moved = _first_gain(MixtureObjective(sharp, prior), coef, offsets)
            if moved is None:
                break
            coef = moved
        radius, spacing = radius * SHRINK, spacing * SHRINK
    if narrow.all():
        alone = replace(sharp, X=sharp.X[:, :0], ridge=0.0)
        coef = np.append(np.zeros(len(narrow)), gradient_descent(alone, np.zeros(1))[0])
    elif fitted.scale <= _NARROW * fitted.variance**0.5:
        coef = np.where(np.append(narrow, False), 0.0, coef)
    return SparseSolution(coef, np.flatnonzero(coef[:-1]), fitted, n_iter)


def _sparsify(
    objective: ConstantObjective, coef: FloatArray, prior: GaussianLaplace | None
) -> tuple[FloatArray, GaussianLaplace, AnyArray]:
    """Run stage 2; return the coefficients, the prior, and which are in the Laplacian cluster."""
    size = np.abs(coef[:-1])
    narrow = size < np.median(size) if prior is None else prior.more_laplacian(size)
    fitted = GaussianLaplace.of_clusters(coef[:-1], narrow, prior)
    for update in range(_MOST_UPDATES):
        if update:
            fitted = GaussianLaplace.of_clusters(coef[:-1], narrow, fitted)
        coef, _, _ = gradient_descent(MixtureObjective(objective, fitted), coef)
        before, narrow = narrow, fitted.more_laplacian(np.abs(coef[:-1]))
        if (narrow == before).all():
            break
    return coef, fitted, narrow


def _first_gain(
    objective: MixtureObjective, coef: FloatArray, offsets: FloatArray
) -> FloatArray | None:
    """Run stage 3; return the coefficients moved by the first offset that helps, if any."""
    value = objective(coef)[0]
    for index in range(len(coef)):
        gains = value - objective.probe(coef, index, offsets) >= TOL * abs(value)
        if gains.any():
            moved = coef.copy()
            moved[index] += offsets[int(gains.argmax())]
            return moved
    return None
