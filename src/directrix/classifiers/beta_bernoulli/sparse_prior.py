"""The Gaussian-Laplacian mixture prior, under which most coefficients become zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from directrix._typing import AnyArray, FloatArray
from directrix.fitting.solvers import probe_values
from directrix.linear.objectives import DataObjective
from directrix.solve import lbfgs, sharpness_levels
from directrix.solve.papers.continuation import RADIUS, SHRINK, SPACING, TOL, gradient_descent

# ── An objective with a slightly penalised intercept, and Newton steps that refine its minimum ────

_INTERCEPT_PENALTY = 1e-8
_MOST_COLUMNS = 1000
_MOST_VALUES = 20_000_000
_MOST_STEPS = 10


@dataclass(frozen=True)
class PenalizedInterceptObjective(DataObjective):
    r"""A loss of a linear model with a ridge, and a tiny penalty of the intercept.

    .. math:: F(w, b) = L(X w + b) + \frac{\lambda}{2} \|w\|^2 + \frac{10^{-8}}{2} b^2

    If a class has a smaller share than its plateau allows for, a loss with plateaus decreases with
    the intercept for ever. With the penalty the intercept is then about 15; otherwise the penalty
    moves it by a few times 1e-7.
    """

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``, intercept last."""
        value, grad = super().__call__(coef)
        grad[-1] += _INTERCEPT_PENALTY * coef[-1]
        return value + 0.5 * _INTERCEPT_PENALTY * float(coef[-1]) ** 2, grad


def newton_refine(objective: PenalizedInterceptObjective, coef: FloatArray) -> FloatArray:
    r"""Return the minimum next to nearly optimal coefficients, to rounding, by Newton steps.

    .. math:: (\tilde X^\top C \tilde X + \Lambda)\, \delta = -\nabla F

    with C the curvature of the loss at each score. L-BFGS stops when the objective no longer
    decreases, which leaves half of the digits of the coefficients. A step that does not reduce the
    gradient is not taken. With very many rows or columns the coefficients are returned unchanged.
    """
    if len(coef) > _MOST_COLUMNS or objective.X.shape[0] * len(coef) > _MOST_VALUES:
        return coef
    X = objective.X.toarray() if sparse.issparse(objective.X) else objective.X
    X = np.column_stack([X, np.ones(len(X))])
    penalty = np.append(np.full(len(coef) - 1, objective.ridge), _INTERCEPT_PENALTY)
    loss: Any = objective.loss
    _, grad = objective(coef)
    for _ in range(_MOST_STEPS):
        curvature = loss.curvature(objective.positive, X @ coef, objective.weight)
        try:
            step = np.linalg.solve((X.T * curvature) @ X + np.diag(penalty), grad)
        except np.linalg.LinAlgError:
            return coef
        _, next_grad = objective(coef - step)
        if not np.linalg.norm(next_grad) < np.linalg.norm(grad):
            return coef
        coef, grad = coef - step, next_grad
    return coef


# ── The Gaussian-Laplacian mixture prior, under which most coefficients become zero ───────────────

_MOST_ROUNDS = 50
_MOST_ITERATIONS = 500
# Least width of the Laplacian, relative to the Gaussian. Its density at zero has no bound, and the
# gain in log-likelihood that keeps a coefficient grows with its logarithm, to about five nats here.
_LEAST_WIDTH = 0.01
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

    def fitted(self, coef: FloatArray, narrow: AnyArray, least: float) -> GaussianLaplace:
        """Return the prior fitted to coefficients assigned to its parts: a hard M-step.

        `narrow` are those assigned to the Laplacian, whose width is at least half of the current
        one. Coefficients of similar columns, such as those of a kernel, are all small at first, and
        a narrow Laplacian would take all of them at once. The variance of the Gaussian is at least
        `least`.
        """
        wide, size = coef[~narrow], np.abs(coef[narrow])
        variance = max(float(np.mean(wide**2)), least) if wide.any() else self.variance
        scale = float(size.mean()) if len(size) else 0.0
        # One pseudo-count for each part, so that neither share is zero. The share is at least one
        # half: the smaller it is, the more a coefficient must gain to be kept, and the fewer are
        # kept. With similar columns, such as those of a kernel, that goes on until none is left.
        share = max((len(wide) + 1.0) / (len(coef) + 2.0), 0.5)
        scale = max(scale, 0.5 * self.scale, _LEAST_WIDTH * variance**0.5)
        return GaussianLaplace(share, variance, scale)

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

    def near(self, other: GaussianLaplace) -> bool:
        """Return whether another prior has the same widths, to one per cent."""
        return bool(
            np.allclose([self.variance, self.scale], [other.variance, other.scale], 1e-2, 0.0)
        )

    def __call__(self, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return minus the log density at each absolute value, and its slope by it (eq. 42–44)."""
        wide, narrow = self._logs(size)
        wide_share = expit(wide - narrow)
        slope = wide_share * size / self.variance + (1.0 - wide_share) / self.scale
        return -np.logaddexp(wide, narrow), slope

    def narrow(self, coef: FloatArray) -> AnyArray:
        """Return which coefficients more probably come from the Laplacian: a hard E-step.

        Those beyond one standard deviation of the Gaussian do not, although the Laplacian has the
        heavier tail far out.
        """
        size = np.abs(coef)
        return self.more_laplacian(size) & (size**2 < self.variance)

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


@dataclass(frozen=True)
class SparseObjective:
    r"""Minus the log posterior (eq. 41) over the weight W of all rows, in two orthants.

    .. math:: F(p, q, b) = L(X (p - q) + b)
              - \frac1W \sum_j \log p_{\mathrm{prior}}(p_j + q_j), \qquad p, q \ge 0

    At the minimum p or q is zero, so that p + q is |a|. There is no corner at zero that a descent
    would step over, but a bound at which it stops, so that zeros are exact.
    """

    objective: PenalizedInterceptObjective
    prior: GaussianLaplace

    def __call__(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at p, q and b."""
        plus, minus, intercept = self.split(point)
        value, grad = self.objective(np.append(plus - minus, intercept))
        cost, slope = self.prior(plus + minus)
        slope /= self.objective.weight.sum()
        value += float(cost.sum() / self.objective.weight.sum())
        return value, np.concatenate([slope + grad[:-1], slope - grad[:-1], grad[-1:]])

    def minimized(self, coef: FloatArray) -> FloatArray:
        """Return the coefficients, intercept last, of the local minimum next to these."""
        weight = coef[:-1]
        start = np.concatenate([np.maximum(weight, 0.0), np.maximum(-weight, 0.0), coef[-1:]])
        bounds = [(0.0, None)] * (2 * len(weight)) + [(None, None)]
        result = minimize(
            self,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": _MOST_ITERATIONS, "ftol": 1e-15, "gtol": 1e-10},
        )
        plus, minus, intercept = self.split(result.x)
        return np.append(plus - minus, intercept)

    @staticmethod
    def split(point: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return p, q and b."""
        half = len(point) // 2
        return point[:half], point[half:-1], point[-1:]


def prune(objective: PenalizedInterceptObjective, coef: FloatArray, least: float) -> SparseSolution:
    """Make coefficients sparse, by our variant of stage 2 of the paper's Algorithm 3.

    The algorithm as printed is `sparse_sla`. Here coefficients below the median size are assigned
    to the Laplacian first. Then, until nothing changes: the prior is fitted to the two groups, the
    objective is minimised under it (eq. 41), and each coefficient is assigned to the more probable
    part of the mixture. At the end those of the Laplacian are set to zero, and the others are
    fitted again under the Gaussian alone. There is no probing (stage 3), the widths and the share
    of the Gaussian have least values, and the minimisation is L-BFGS in two orthants.

    The objective has no ridge; its columns are those that the coefficients multiply. They start at
    the minimum with a ridge, whose variance is `least`, the least of the Gaussian.
    """
    size = np.abs(coef[:-1])
    narrow = size < np.median(size)
    variance = max(float(np.mean(size**2)), least) or 1.0
    prior, rounds = GaussianLaplace(0.5, variance, variance**0.5), 0
    next_prior = prior.fitted(coef[:-1], narrow, least)
    for rounds in range(1, _MOST_ROUNDS + 1):  # noqa: B007 - reported after the loop
        prior = next_prior
        coef = SparseObjective(objective, prior).minimized(coef)
        before, narrow = narrow, prior.narrow(coef[:-1])
        next_prior = prior.fitted(coef[:-1], narrow, least)
        if (narrow == before).all() and next_prior.near(prior):
            break
    kept = np.flatnonzero(~narrow)
    ridge = 1.0 / prior.variance / float(objective.weight.sum())
    reduced = replace(objective, X=objective.X[:, kept], ridge=ridge)
    refitted = newton_refine(reduced, lbfgs(reduced, np.append(coef[kept], coef[-1])).coef)
    sparse_coef = np.zeros_like(coef)
    sparse_coef[kept], sparse_coef[-1] = refitted[:-1], refitted[-1]
    return SparseSolution(sparse_coef, kept, prior, rounds)


# ── Algorithm 3 of Hasan and Pal: SLA under the Gaussian-Laplacian prior, for sparse models ───────

#: Rounds of the stages for each sharpness at most: the prior is another in each round, so that
#: rounds may go on lowering the value for ever. And updates of the prior in stage 2 at most.
_MOST_STAGES, _MOST_UPDATES = 20, 20


@dataclass(frozen=True)
class MixtureObjective:
    r"""Minus the log posterior (eq. 41) over the weight W of all rows.

    .. math:: F(a, b) = L(X a + b) - \frac1W \sum_j \log p_{\mathrm{prior}}(a_j)

    Its gradient is that of eq. 42–44, with zero for the slope of \|a\| at zero. Without a prior it
    is the objective with its ridge.
    """

    objective: DataObjective
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
    objective: DataObjective,
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
    paper does not count them as support vectors; if all are in that cluster, all are kept.

    The columns of the objective are those that the coefficients multiply. `radius` and `spacing`
    are R and ε of `directrix.solve.sla`, `sharpness` the parameters of its `sharpness_levels`.
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
    if not narrow.all():
        coef = np.where(np.append(narrow, False), 0.0, coef)
    return SparseSolution(coef, np.flatnonzero(coef[:-1]), fitted, n_iter)


def _sparsify(
    objective: DataObjective, coef: FloatArray, prior: GaussianLaplace | None
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
