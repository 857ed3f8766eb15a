"""Plateaus and sharpness learned together with the coefficients (BBLR⁴)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from directrix.losses.beta_bernoulli import BetaBernoulli
from directrix.solve import lbfgs

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.objectives import DataObjective
    from directrix.solve import Solution

LEARNABLE = ("mixing", "prior_mean", "gamma")

# ϖ = 1 would leave nothing of the line; a line search may well look there.
_MOST_MIXING = 0.999
_MOST_LOG_GAMMA = 20.0


class Learned(NamedTuple):
    """Coefficients, and the loss that was learned with them."""

    solution: Solution
    coef: FloatArray
    loss: BetaBernoulli


@dataclass(frozen=True)
class JointObjective:
    r"""A Beta-Bernoulli objective as a function of the line and of the loss's own parameters.

    .. math:: F(w, b, t, u, v) = L_{\varpi, \theta, \gamma}(X w + b) + \frac{\lambda}{2} \|w\|^2
              - \frac1W \log \varpi (1 - \varpi) - \frac1W \log \theta (1 - \theta)
              + \frac{v^2}{2 W}, \qquad
              \varpi = \sigma(t),\ \theta = \sigma(u),\ \gamma = e^v

    with the partials of Hasan and Pal 2015, eq. 31–35, and the chain rule. W is the weight of all
    rows. Each parameter has a prior that weighs as much as a row or two: Beta(2, 2) for ϖ and θ,
    without which ϖ has no best value on rows that a line separates, and the standard normal one
    for log γ. Without that the best γ is infinite: since (γ, λ) and (1, λ/γ²) are the same model,
    learning γ from the training rows would do away with the penalty.

    Parameters
    ----------
    objective : DataObjective
        With the loss to begin with.
    names : sequence of str
        Of "mixing", "prior_mean" and "gamma"; the others keep their values.
    """

    objective: DataObjective
    names: tuple[str, ...]

    def __call__(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at a line, intercept last, followed by t, u and v."""
        coef, own = self.split(point)
        loss, rates = self.loss_at(own)
        rows = self.objective
        value, grad = replace(rows, loss=loss)(coef)
        partials = loss.partials(rows.positive, rows.scores(coef), rows.weight)
        total = float(rows.weight.sum())
        slopes = []
        for name, unbounded in zip(self.names, own, strict=True):
            cost, slope = _prior(name, float(unbounded))
            value += cost / total
            slopes.append(rates[name] * getattr(partials, name) + slope / total)
        return value, np.append(grad, slopes)

    def start(self, coef: FloatArray) -> FloatArray:
        """Return the point of a line and the loss to begin with."""
        loss: Any = self.objective.loss
        unbounded = {
            "mixing": logit(loss.mixing / _MOST_MIXING),
            "prior_mean": logit(loss.prior_mean),
            "gamma": np.log(loss.gamma),
        }
        # A parameter at the end of its range would never leave it.
        own = [np.clip(unbounded[name], -_FAR, _FAR) for name in self.names]
        return np.append(coef, own)

    def split(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the line, and the loss's own parameters."""
        return point[: -len(self.names)], point[-len(self.names) :]

    def loss_at(self, own: FloatArray) -> tuple[BetaBernoulli, dict[str, float]]:
        """Return the loss, and how fast each of its parameters goes with that without bounds."""
        values, rates = {}, {}
        for name, unbounded in zip(self.names, own, strict=True):
            if name == "gamma":
                gamma = float(np.exp(np.clip(unbounded, -_MOST_LOG_GAMMA, _MOST_LOG_GAMMA)))
                values[name] = rates[name] = gamma
            else:
                most = _MOST_MIXING if name == "mixing" else 1.0
                values[name] = float(most * expit(unbounded))
                rates[name] = float(most * expit(unbounded) * expit(-unbounded))
        loss: Any = self.objective.loss
        return replace(loss, **values), rates


_FAR = 6.0


def _prior(name: str, unbounded: float) -> tuple[float, float]:
    """Return minus the log prior of a parameter without bounds, and its slope."""
    if name == "gamma":
        return 0.5 * unbounded**2, unbounded
    # −log σ(t) σ(−t), to the slope 2σ(t) − 1.
    cost = float(np.logaddexp(0.0, -unbounded) + np.logaddexp(0.0, unbounded))
    return cost, float(2.0 * expit(unbounded) - 1.0)


def learn(
    objective: DataObjective, start: FloatArray, names: tuple[str, ...], **options: Any
) -> Learned:
    """Minimise over the line and the loss's own parameters at once.

    Parameters
    ----------
    objective : DataObjective
    start : array of shape (d + 1,)
    names : sequence of str
    **options
        Of `lbfgs`.
    """
    joint = JointObjective(objective, names)
    solution = lbfgs(joint, joint.start(start), **options)
    coef, own = joint.split(solution.coef)
    return Learned(solution, coef, joint.loss_at(own)[0])
