"""Algorithm 3 of Hasan and Pal: SLA under the Gaussian-Laplacian prior, for sparse models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.classifiers.beta_bernoulli.sparse_prior import GaussianLaplace
from directrix.classifiers.fitting.solvers import probe_values
from directrix.solve import sharpness_levels
from directrix.solve.continuation import gradient_descent

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.objectives import DataObjective


class SparseFound(NamedTuple):
    """Result of `sparse_sla`.

    Parameters
    ----------
    coef : array of shape (d + 1,)
        Coefficients, intercept last; those of the Laplacian cluster are zero.
    kept : array of int
        Indices of the coefficients that are not zero: the Gaussian cluster.
    prior : GaussianLaplace
    n_iter : int
        Number of rounds of the three stages.
    """

    coef: FloatArray
    kept: AnyArray
    prior: GaussianLaplace
    n_iter: int


@dataclass(frozen=True)
class MixtureObjective:
    r"""Minus the log posterior (eq. 41) over the weight W of all rows.

    .. math:: F(a, b) = L(X a + b) - \frac1W \sum_j \log p_{\mathrm{prior}}(a_j)

    Its gradient is that of eq. 42–44, with zero for the slope of \|a\| at zero. Without a prior it
    is the objective with its ridge.

    Parameters
    ----------
    objective : DataObjective
    prior : GaussianLaplace or None
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


def sparse_sla(  # noqa: PLR0913
    objective: DataObjective,
    start: FloatArray,
    *,
    gamma_min: float = 2.0,
    gamma_max: float = 200.0,
    growth: float = 10.0,
    radius: float = 8.0,
    spacing: float = 0.2,
    shrink: float = 0.5,
    max_rounds: int = 20,
    max_updates: int = 20,
    tol: float = 1e-5,
) -> SparseFound:
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

    Parameters
    ----------
    objective : DataObjective
        Its columns are those that the coefficients multiply.
    start : array of shape (d + 1,)
        Initial coefficients, intercept last.
    gamma_min, gamma_max, growth, radius, spacing, shrink
        As in `directrix.solve.sla`.
    max_rounds : int
        Largest number of rounds of the stages for each γ. The prior is another in each round, so
        that rounds may go on lowering the value for ever.
    max_updates : int
        Largest number of updates of the prior in stage 2.
    tol : float
        Decrease, relative to the value, that counts as one (ε_L).
    """
    coef, n_iter = np.array(start, dtype=np.float64), 0
    prior: GaussianLaplace | None = None
    fitted = GaussianLaplace(0.5, 1.0, 1.0)
    narrow: AnyArray = np.zeros(len(coef) - 1, dtype=bool)
    for gamma in sharpness_levels(gamma_min, gamma_max, growth):
        sharp = objective.sharpened(gamma)
        steps = np.arange(1, int(radius / spacing + 1e-9) + 1) * spacing
        offsets = np.column_stack([steps, -steps]).ravel()
        for _ in range(max_rounds):
            n_iter += 1
            coef, _, _ = gradient_descent(MixtureObjective(sharp, prior), coef, tol)
            coef, fitted, narrow = _sparsify(sharp, coef, prior, max_updates, tol)
            prior = fitted
            moved = _first_gain(MixtureObjective(sharp, prior), coef, offsets, tol)
            if moved is None:
                break
            coef = moved
        radius, spacing = radius * shrink, spacing * shrink
    if not narrow.all():
        coef = np.where(np.append(narrow, False), 0.0, coef)
    return SparseFound(coef, np.flatnonzero(coef[:-1]), fitted, n_iter)


def _sparsify(
    objective: DataObjective,
    coef: FloatArray,
    prior: GaussianLaplace | None,
    max_updates: int,
    tol: float,
) -> tuple[FloatArray, GaussianLaplace, AnyArray]:
    """Run stage 2; return the coefficients, the prior, and which are in the Laplacian cluster."""
    size = np.abs(coef[:-1])
    narrow = size < np.median(size) if prior is None else prior.more_laplacian(size)
    fitted = GaussianLaplace.of_clusters(coef[:-1], narrow, prior)
    for update in range(max_updates):
        if update:
            fitted = GaussianLaplace.of_clusters(coef[:-1], narrow, fitted)
        coef, _, _ = gradient_descent(MixtureObjective(objective, fitted), coef, tol)
        before, narrow = narrow, fitted.more_laplacian(np.abs(coef[:-1]))
        if (narrow == before).all():
            break
    return coef, fitted, narrow


def _first_gain(
    objective: MixtureObjective, coef: FloatArray, offsets: FloatArray, tol: float
) -> FloatArray | None:
    """Run stage 3; return the coefficients moved by the first offset that helps, if any."""
    value = objective(coef)[0]
    for index in range(len(coef)):
        gains = value - objective.probe(coef, index, offsets) >= tol * abs(value)
        if gains.any():
            moved = coef.copy()
            moved[index] += offsets[int(gains.argmax())]
            return moved
    return None
