"""Searches for the least training error, by SLA or SLAM, and the loss that goes with the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import warn

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from directrix.classifiers.beta_bernoulli.plateaus import JointObjective
from directrix.classifiers.beta_bernoulli.sparse_prior import GaussianLaplace
from directrix.exceptions import find_stacklevel
from directrix.fitting.solvers import START_GAMMAS, probe_values, search_errors
from directrix.solve import sharpness_levels
from directrix.solve.papers.continuation import gradient_descent

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.beta_bernoulli.sparse_prior import GaussianLaplace
    from directrix.losses import BetaBernoulli
    from directrix.objectives import DataObjective

# ── Algorithm 3 of Hasan and Pal: SLA under the Gaussian-Laplacian prior, for sparse models ───────


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


# ── Searches for the least training error, by SLA or SLAM, and the loss that goes with the res ────

# The paper does not say how many updates of the parameters there are.
_MOST_ROUNDS = 10
_LEAST_GAIN = 1e-3
# Bounds of logit ϖ and logit θ: a model without errors has no best plateaus.
_MOST_LOGIT = 6.0
# Bound of the logarithm of γ times the median size of the scores.
_MOST_LOG_SHARPNESS = 10.0


class Found(NamedTuple):
    """Coefficients (intercept last), their loss, the ridge, and the number of sweeps.

    With a sparse prior also the prior and the indices of the coefficients that are kept.
    """

    coef: FloatArray
    loss: BetaBernoulli
    ridge: float
    n_iter: int
    prior: GaussianLaplace | None = None
    kept: AnyArray | None = None


def search(
    objective: DataObjective,
    start: FloatArray,
    solver: str,
    names: tuple[str, ...],
    *,
    sparse: bool = False,
) -> Found:
    r"""Search for the least training error, and learn parameters of the loss in turn with it.

    Hasan and Pal 2015, section 5. Without parameters to learn, this is one run of SLA (BBLR¹ and
    BBLR²) or of SLAM (BBLR³), and γ is the last sharpness of the path. Otherwise (BBLR⁴) these
    steps are repeated as long as the likelihood of the training rows grows:

    1. SLA or SLAM with the present ϖ and θ. SLAM chooses r, γ_min, γ_max and λ on held-out rows
       each time; its start is made with the present γ;
    2. gradient descent in ϖ, θ and γ, as far as they are named, on the likelihood of the training
       rows at these coefficients (eq. 31–35), without priors.

    The paper learns λ by gradient descent on the training rows too. That descent has no end but
    λ = 0, since the derivative of eq. 39 by λ is ½‖w‖², so λ is left to the held-out rows of SLAM.

    Parameters
    ----------
    objective : DataObjective
        Its loss has the plateaus to start from.
    start : array of shape (d + 1,)
        Initial coefficients of SLA.
    solver : "sla" or "slam"
    names : sequence of str
        Which of "mixing", "prior_mean" and "gamma" are learned.
    sparse : bool
        Whether coefficients have the Gaussian-Laplacian prior, so that the search is `sparse_sla`.
    """
    run = sparse_sla if sparse else None
    loss: Any = replace(objective.loss, gamma=1.0)  # type: ignore[type-var]
    gammas: tuple[float, ...] = START_GAMMAS
    best, best_cost, n_iter = Found(start, loss, objective.ridge, 0), np.inf, 0
    for _ in range(_MOST_ROUNDS if names else 1):
        rows = replace(objective, loss=loss)
        found = search_errors(solver, rows, start, gammas=gammas, run=run)
        start, n_iter = found.solution.coef, n_iter + found.solution.n_iter
        loss = replace(loss, gamma=found.gamma)
        if names:
            loss = most_likely(replace(objective, loss=loss), start, names)
        cost = replace(objective, loss=loss, ridge=0.0)(start)[0]
        if np.isfinite(best_cost) and not cost < best_cost - _LEAST_GAIN * abs(best_cost):
            break
        best, best_cost = Found(start, loss, found.ridge, n_iter), cost
        if sparse:
            best = best._replace(prior=found.solution.prior, kept=found.solution.kept)
        gammas = (loss.gamma,) if "gamma" in names else START_GAMMAS
        loss = replace(loss, gamma=1.0)
    if best.prior is not None and best.prior.share == 0.0:
        warn(
            "every coefficient is in the cluster of the Laplacian, and none is kept from zero: "
            f"with solver={solver!r} the prior 'gaussian-laplace' may follow them to zero. "
            "Give another alpha, or solver='lbfgs', whose prior has least widths.",
            ConvergenceWarning,
            stacklevel=find_stacklevel(),
        )
    return best._replace(n_iter=n_iter)


def most_likely(
    objective: DataObjective, coef: FloatArray, names: tuple[str, ...]
) -> BetaBernoulli:
    """Return the loss with the named parameters of a maximum of the likelihood.

    It is the maximum that descent from the values of the loss reaches. The sharpness alone is
    searched first, so that the descent starts at the scale of the scores.

    Parameters
    ----------
    objective : DataObjective
        Its loss has the values to start from.
    coef : array of shape (d + 1,)
    names : sequence of str
    """
    scale = -np.log(max(float(np.median(np.abs(objective.scores(coef)))), 1e-300))
    reach = (scale - _MOST_LOG_SHARPNESS, scale + _MOST_LOG_SHARPNESS)

    def cost(log_gamma: float) -> float:
        loss: Any = objective.loss
        sharp = replace(objective, loss=replace(loss, gamma=float(np.exp(log_gamma))), ridge=0.0)
        return sharp(coef)[0]

    if "gamma" in names:
        best = minimize_scalar(cost, bounds=reach, method="bounded")
        loss: Any = objective.loss
        objective = replace(objective, loss=replace(loss, gamma=float(np.exp(best.x))))
    joint = JointObjective(replace(objective, ridge=0.0), names, priors=False)
    _, start = joint.split(joint.start(coef))
    bounds = [reach if name == "gamma" else (-_MOST_LOGIT, _MOST_LOGIT) for name in names]

    def value_and_slopes(unbounded: FloatArray) -> tuple[float, FloatArray]:
        value, grad = joint(np.append(coef, unbounded))
        return value, grad[len(coef) :]

    solution = minimize(
        value_and_slopes,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    return joint.loss_at(solution.x)[0]
