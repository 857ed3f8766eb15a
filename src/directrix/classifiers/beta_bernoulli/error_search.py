"""Searches for the least training error, by SLA or SLAM, and the loss that goes with the result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import warn

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from directrix.classifiers.beta_bernoulli.learned_plateaus import JointObjective
from directrix.classifiers.beta_bernoulli.sparse_search import sparse_sla
from directrix.classifiers.fitting.solvers import START_GAMMAS, search_errors
from directrix.exceptions import find_stacklevel

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.beta_bernoulli.sparse_prior import GaussianLaplace
    from directrix.losses import BetaBernoulli
    from directrix.objectives import DataObjective

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
