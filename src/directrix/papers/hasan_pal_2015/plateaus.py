"""Plateaus of a Beta-Bernoulli model: given, or learned with or between the coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, log
from typing import Any, NamedTuple
from warnings import warn

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import find_stacklevel, is_silenced
from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.lbfgs import lbfgs
from directrix.linear.objectives import DataObjective
from directrix.papers.hasan_pal_2015.search import (
    START_GAMMAS,
    ConstantObjective,
    search_errors,
)
from directrix.papers.hasan_pal_2015.sparse_prior import sparse_sla

# ── Plateaus of a Beta-Bernoulli model: the least and the greatest probability that it gives ──────

# Bounds of plateaus from rates: with mixing 1 scores would not matter, with 0 losses are unbounded.
_MIXING = (0.01, 0.9)
_PRIOR_MEAN = (0.05, 0.95)


def loss_of(
    plateaus: Any, positive: AnyArray, weight: FloatArray, scores: FloatArray
) -> BetaBernoulli:
    r"""Return the loss with the plateaus of a name or of a pair (a, b).

    .. math:: \mu(s) = a + b\, \sigma(s) = \varpi \theta + (1 - \varpi)\, \sigma(s), \qquad
              \varpi = \frac{\alpha + \beta}{\alpha + \beta + n}, \quad
              \theta = \frac{\alpha}{\alpha + \beta}

    Hasan and Pal 2015, eq. 5, 16 and 19. ``"robust"`` is a = 0.15 and b = 0.7; ``"weak"``, α = β =
    1 and n = 100; ``"empirical"``, α, β and n the weight of the positives, of the negatives and of
    all; ``"learned"``, the start of the learning (eq. 29–30), from the scores of logistic
    regression.
    """
    if isinstance(plateaus, str):
        if plateaus == "robust":
            return BetaBernoulli(mixing=0.3)
        if plateaus == "weak":
            return BetaBernoulli(mixing=2.0 / 102.0)
        if plateaus == "empirical":
            share = float(weight[positive].sum() / weight.sum())
            return BetaBernoulli(mixing=0.5, prior_mean=share)
        return from_rates(positive, weight, scores)
    a, b = plateaus
    mixing = 1.0 - b
    # With mixing 0 the prior mean has no effect.
    return BetaBernoulli(mixing, min(a / mixing, 1.0) if mixing > 0 else 0.5)


def checked_plateaus(plateaus: Any) -> Any:
    """Return a valid name or pair of floats; raise ValueError for anything else."""
    if isinstance(plateaus, str):
        if plateaus in ("robust", "weak", "empirical", "learned"):
            return plateaus
    else:
        numbers = np.asarray(plateaus, dtype=np.float64)
        # The tolerance is for rounding in sums such as 0.9 + 0.1.
        if numbers.shape == (2,) and numbers[0] >= 0 < numbers[1] and numbers.sum() <= 1 + 1e-12:
            return tuple(numbers.tolist())
    msg = (
        "plateaus must be 'robust', 'weak', 'empirical', 'learned', or a pair (a, b) with a from "
        "zero up, b above zero and a + b at most one (probabilities are between a and a + b), not "
        f"{plateaus!r}"
    )
    raise ValueError(msg)


def from_rates(positive: AnyArray, weight: FloatArray, scores: FloatArray) -> BetaBernoulli:
    r"""Return the loss with the error rates of a linear model as plateaus.

    Hasan and Pal 2015, eq. 27–30.

    .. math:: \varpi = 2 - (\mathrm{TNR} + \mathrm{TPR}), \qquad
              \theta = \frac{1 - \mathrm{TNR}}{2 - (\mathrm{TNR} + \mathrm{TPR})}

    Both are kept away from 0 and 1, since a model without errors does not determine plateaus.
    """
    miss_rate, false_alarm_rate = (
        float(weight[in_class & wrong].sum() / weight[in_class].sum())
        for in_class, wrong in ((positive, scores <= 0), (~positive, scores > 0))
    )
    mixing = miss_rate + false_alarm_rate
    prior_mean = false_alarm_rate / mixing if mixing > 0 else 0.5
    return BetaBernoulli(float(np.clip(mixing, *_MIXING)), float(np.clip(prior_mean, *_PRIOR_MEAN)))


def pair_of(loss: BetaBernoulli) -> tuple[float, float]:
    """Return a and b of eq. 5: probabilities are from a to a + b."""
    return loss.mixing * loss.prior_mean, 1.0 - loss.mixing


def probability(loss: BetaBernoulli, share: FloatArray) -> FloatArray:
    """Return μ, the probability of the positive class (eq. 19), from σ(γ s) for each score s."""
    a, b = pair_of(loss)
    return np.clip(a + b * share, a, _upper_plateau(loss))


def _upper_plateau(loss: BetaBernoulli) -> float:
    """Return a + b, computed so that one minus it is not rounded below zero."""
    return 1.0 - loss.mixing * (1.0 - loss.prior_mean)


def even_score(loss: BetaBernoulli) -> float:
    r"""Return the score at which both classes are equally probable.

    .. math:: \mu(s) = \frac12 \iff s = \frac1\gamma \log \frac{1/2 - a}{a + b - 1/2}

    Zero if both plateaus are equally high; infinite if one class is more probable at every score.
    """
    a, b = pair_of(loss)
    below, above = 0.5 - a, a + b - 0.5
    if below <= 0:
        return -inf
    if above <= 0:
        return inf
    return log(below / above) / loss.gamma


# ── Plateaus learned jointly with the coefficients, and with the sharpness in turn (BBLR⁴) ────────

_PLATEAUS = ("mixing", "prior_mean")

# With ϖ = 1 scores would not matter, and a line search may try that.
_MOST_MIXING = 0.999
_MOST_LOG_GAMMA = 20.0
# A parameter that starts at the end of its range would never leave it.
_MOST_START = 6.0


class Found(NamedTuple):
    """Coefficients (intercept last), their loss, the ridge, and the number of iterations.

    With a sparse prior also the indices of the coefficients that are not zero.
    """

    coef: FloatArray
    loss: BetaBernoulli
    ridge: float
    n_iter: int
    kept: AnyArray | None = None


@dataclass(frozen=True)
class JointObjective:
    r"""A Beta-Bernoulli objective as a function of the coefficients and of the loss parameters.

    .. math:: F(w, b, t, u) = L_{\varpi, \theta}(X w + b) + \frac{\lambda}{2} \|w\|^2
              - \frac1W \log \varpi (1 - \varpi) - \frac1W \log \theta (1 - \theta), \qquad
              \varpi = \sigma(t),\ \theta = \sigma(u)

    with the partials of Hasan and Pal 2015, eq. 31–35, and the chain rule. W is the weight of all
    rows. ϖ and θ have the prior Beta(2, 2), with the weight of a row or two, without which ϖ has
    no best value on linearly separable rows.

    ``sharpness=True`` adds γ = exp(v) and, as the paper, leaves out the priors. It is for given
    coefficients: since (γ, λ) and (1, λ/γ²) are the same model, learning γ with them would remove
    the penalty.

    The loss of `objective` has the values to start from.
    """

    objective: DataObjective
    sharpness: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the loss that follow the coefficients."""
        return (*_PLATEAUS, "gamma") if self.sharpness else _PLATEAUS

    def __call__(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at coefficients, intercept last, then t, u and perhaps v."""
        coef, unbounded = self.split(point)
        loss, rates = self.loss_at(unbounded)
        rows = self.objective
        value, grad = replace(rows, loss=loss)(coef)
        partials = loss.partials(rows.positive, rows.scores(coef), rows.weight)
        total = float(rows.weight.sum())
        slopes = []
        for name, parameter in zip(self.names, unbounded, strict=True):
            cost, slope = (0.0, 0.0) if self.sharpness else _prior(float(parameter))
            value += cost / total
            slopes.append(rates[name] * getattr(partials, name) + slope / total)
        return value, np.append(grad, slopes)

    def start(self, coef: FloatArray) -> FloatArray:
        """Return the point of some coefficients and the loss to start from."""
        loss: Any = self.objective.loss
        unbounded = {
            "mixing": logit(loss.mixing / _MOST_MIXING),
            "prior_mean": logit(loss.prior_mean),
            "gamma": np.log(loss.gamma),
        }
        start = [np.clip(unbounded[name], -_MOST_START, _MOST_START) for name in self.names]
        return np.append(coef, start)

    def split(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients and the unconstrained parameters of the loss."""
        return point[: -len(self.names)], point[-len(self.names) :]

    def loss_at(self, unbounded: FloatArray) -> tuple[BetaBernoulli, dict[str, float]]:
        """Return the loss and d(parameter)/d(unconstrained parameter)."""
        values, rates = {}, {}
        for name, parameter in zip(self.names, unbounded, strict=True):
            if name == "gamma":
                gamma = float(np.exp(np.clip(parameter, -_MOST_LOG_GAMMA, _MOST_LOG_GAMMA)))
                values[name] = rates[name] = gamma
            else:
                most = _MOST_MIXING if name == "mixing" else 1.0
                values[name] = float(most * expit(parameter))
                rates[name] = float(most * expit(parameter) * expit(-parameter))
        loss: Any = self.objective.loss
        return replace(loss, **values), rates


def _prior(unbounded: float) -> tuple[float, float]:
    """Return minus the log prior of an unconstrained parameter, and its slope."""
    # −log σ(t) σ(−t), whose slope is 2σ(t) − 1.
    cost = float(np.logaddexp(0.0, -unbounded) + np.logaddexp(0.0, unbounded))
    return cost, float(2.0 * expit(unbounded) - 1.0)


def learn(objective: DataObjective, start: FloatArray, **options: Any) -> Found:
    """Minimise over the coefficients and the plateaus jointly, by `lbfgs`."""
    joint = JointObjective(objective)
    solution = lbfgs(joint, joint.start(start), **options)
    coef, unbounded = joint.split(solution.coef)
    return Found(coef, joint.loss_at(unbounded)[0], objective.ridge, solution.n_iter)


# ── Searches for the least training error, and the loss that goes with the result ─────────────────

# The paper does not say how many updates of the parameters there are.
_MOST_ROUNDS = 10
_LEAST_GAIN = 1e-3
# Bounds of logit ϖ and logit θ: a model without errors has no best plateaus.
_MOST_LOGIT = 6.0
# Bound of the logarithm of γ times the median size of the scores.
_MOST_LOG_SHARPNESS = 10.0


def search(
    objective: ConstantObjective,
    start: FloatArray,
    solver: str,
    *,
    learns_plateaus: bool,
    sparse: bool = False,
) -> Found:
    """Search for the least training error, and learn plateaus and sharpness in turn with it.

    Hasan and Pal 2015, section 5. Without `learns_plateaus`, this is one run of SLA (BBLR¹ and
    BBLR²) or of SLAM (BBLR³), and γ is the last sharpness of the path. Otherwise (BBLR⁴) these
    steps are repeated as long as the likelihood of the training rows grows:

    1. SLA or SLAM with the present ϖ and θ. SLAM chooses r, γ_min, γ_max and λ on held-out rows
       each time; its start is made with the present γ;
    2. gradient descent in ϖ, θ and γ on the likelihood of the training rows at these coefficients
       (eq. 31–35), without priors.

    The paper learns λ by gradient descent on the training rows too. That descent has no end but λ =
    0, since the derivative of eq. 39 by λ is ½‖w‖², so λ is left to the held-out rows of SLAM.

    With `sparse` the coefficients have the Gaussian-Laplacian prior, and the search is
    `sparse_sla`.
    """
    run = sparse_sla if sparse else None
    loss: Any = replace(objective.loss, gamma=1.0)  # type: ignore[type-var]
    gammas: tuple[float, ...] = START_GAMMAS
    best, best_cost, n_iter = Found(start, loss, objective.ridge, 0), np.inf, 0
    for _ in range(_MOST_ROUNDS if learns_plateaus else 1):
        rows = replace(objective, loss=loss)
        found = search_errors(solver, rows, start, gammas=gammas, run=run)
        start, n_iter = found.solution.coef, n_iter + found.solution.n_iter
        loss = replace(loss, gamma=found.gamma)
        if learns_plateaus:
            loss = most_likely(replace(objective, loss=loss), start)
        cost = replace(objective, loss=loss, ridge=0.0)(start)[0]
        if np.isfinite(best_cost) and not cost < best_cost - _LEAST_GAIN * abs(best_cost):
            break
        best, best_cost = Found(start, loss, found.ridge, n_iter), cost
        if sparse:
            best = best._replace(kept=found.solution.kept)
        gammas = (loss.gamma,)
        loss = replace(loss, gamma=1.0)
    problem = None
    if best.kept is not None and len(best.kept) == 0:
        problem = (
            "the prior has followed every coefficient to zero, where eq. 41 has no bound, and all "
            "rows are of one class: give a smaller lam"
        )
    elif best.kept is not None and len(best.kept) == len(best.coef) - 1:
        problem = (
            "the Laplacian of the prior did not become narrow, and no coefficient is set to zero: "
            "give a greater lam"
        )
    if problem and not is_silenced(ConvergenceWarning):
        warn(problem, ConvergenceWarning, stacklevel=find_stacklevel())
    return best._replace(n_iter=n_iter)


def most_likely(objective: DataObjective, coef: FloatArray) -> BetaBernoulli:
    """Return the loss with the parameters of a maximum of the likelihood.

    It is the maximum that descent from the values of the loss reaches. The sharpness alone is
    searched first, so that the descent starts at the scale of the scores.
    """
    scale = -np.log(max(float(np.median(np.abs(objective.scores(coef)))), 1e-300))
    reach = (scale - _MOST_LOG_SHARPNESS, scale + _MOST_LOG_SHARPNESS)

    def sharp(log_gamma: float) -> DataObjective:
        loss: Any = objective.loss
        return replace(objective, loss=replace(loss, gamma=float(np.exp(log_gamma))), ridge=0.0)

    best = minimize_scalar(lambda at: sharp(at)(coef)[0], bounds=reach, method="bounded")
    joint = JointObjective(sharp(best.x), sharpness=True)
    _, start = joint.split(joint.start(coef))
    bounds = [(-_MOST_LOGIT, _MOST_LOGIT)] * 2 + [reach]

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
