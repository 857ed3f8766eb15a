"""Plateaus and sharpness learned jointly with the coefficients (BBLR⁴)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from directrix.losses import BetaBernoulli
from directrix.solve import lbfgs

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.objectives import DataObjective
    from directrix.solve import Solution

LEARNABLE = ("mixing", "prior_mean", "gamma")

# With ϖ = 1 scores would not matter, and a line search may try that.
_MOST_MIXING = 0.999
_MOST_LOG_GAMMA = 20.0
# A parameter that starts at the end of its range would never leave it.
_MOST_START = 6.0


class Learned(NamedTuple):
    """The solution, its coefficients (intercept last), and the loss learned with them."""

    solution: Solution
    coef: FloatArray
    loss: BetaBernoulli


@dataclass(frozen=True)
class JointObjective:
    r"""A Beta-Bernoulli objective as a function of the coefficients and of the loss parameters.

    .. math:: F(w, b, t, u, v) = L_{\varpi, \theta, \gamma}(X w + b) + \frac{\lambda}{2} \|w\|^2
              - \frac1W \log \varpi (1 - \varpi) - \frac1W \log \theta (1 - \theta)
              + \frac{v^2}{2 W}, \qquad
              \varpi = \sigma(t),\ \theta = \sigma(u),\ \gamma = e^v

    with the partials of Hasan and Pal 2015, eq. 31–35, and the chain rule. W is the weight of all
    rows. Each parameter has a prior with the weight of a row or two: Beta(2, 2) for ϖ and θ,
    without which ϖ has no best value on linearly separable rows, and the standard normal for log γ.
    Without it the best γ is infinite: since (γ, λ) and (1, λ/γ²) are the same model, learning γ
    from the training rows would remove the penalty.

    Parameters
    ----------
    objective : DataObjective
        Its loss has the values to start from.
    names : sequence of str
        Which of "mixing", "prior_mean" and "gamma" are learned; the others keep their values.
    priors : bool
        Whether the parameters have these priors; the paper has none.
    """

    objective: DataObjective
    names: tuple[str, ...]
    priors: bool = True

    def __call__(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at coefficients, intercept last, followed by t, u and v."""
        coef, unbounded = self.split(point)
        loss, rates = self.loss_at(unbounded)
        rows = self.objective
        value, grad = replace(rows, loss=loss)(coef)
        partials = loss.partials(rows.positive, rows.scores(coef), rows.weight)
        total = float(rows.weight.sum())
        slopes = []
        for name, parameter in zip(self.names, unbounded, strict=True):
            cost, slope = _prior(name, float(parameter)) if self.priors else (0.0, 0.0)
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


def _prior(name: str, unbounded: float) -> tuple[float, float]:
    """Return minus the log prior of an unconstrained parameter, and its slope."""
    if name == "gamma":
        return 0.5 * unbounded**2, unbounded
    # −log σ(t) σ(−t), whose slope is 2σ(t) − 1.
    cost = float(np.logaddexp(0.0, -unbounded) + np.logaddexp(0.0, unbounded))
    return cost, float(2.0 * expit(unbounded) - 1.0)


def learn(
    objective: DataObjective, start: FloatArray, names: tuple[str, ...], **options: Any
) -> Learned:
    """Minimise over the coefficients and the parameters of the loss jointly.

    Parameters
    ----------
    objective : DataObjective
    start : array of shape (d + 1,)
        Coefficients to start from, intercept last.
    names : sequence of str
        Parameters of the loss to learn.
    **options
        Options of `lbfgs`.
    """
    joint = JointObjective(objective, names)
    solution = lbfgs(joint, joint.start(start), **options)
    coef, unbounded = joint.split(solution.coef)
    return Learned(solution, coef, joint.loss_at(unbounded)[0])
