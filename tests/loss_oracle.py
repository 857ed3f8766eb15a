"""Losses computed from their definitions: all pairs, or a general solver."""

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.margin import Logistic
from directrix.linear.pairwise import PairwiseHinge
from directrix.linear.ramp import Ramp
from directrix.papers.chuang_2017 import Exponential, Hinge, Squared
from directrix.papers.hasan_pal_2015.losses import Sigmoid, ZeroOne
from directrix.papers.zhang_saha_vishwanathan_2011 import SmoothedROCArea


def corner(u, kappa):
    """Return the rounded hinge as the mean of hinges with margins from 0 to κ."""
    if not kappa:
        return np.maximum(u, 0.0)
    # The mean of (u − x)_+ over x, whose integral is a difference of two squares.
    return (np.maximum(u, 0.0) ** 2 - np.maximum(u - kappa, 0.0) ** 2) / (2.0 * kappa)


def plateau(loss, z, positive):
    """Return the likelihood of a label under a mixture of a coin and the logistic model."""
    coin = np.where(positive, loss.prior_mean, 1.0 - loss.prior_mean)
    return loss.mixing * coin + (1.0 - loss.mixing) / (1.0 + np.exp(-loss.gamma * z))


OF_ROW = {
    Logistic: lambda _, z: np.log(1.0 + np.exp(-z)),
    Exponential: lambda _, z: np.exp(-z),
    Squared: lambda _, z: (1.0 - z) ** 2 / 2.0,
    Hinge: lambda _, z: np.maximum(1.0 - z, 0.0),
    Sigmoid: lambda loss, z: 1.0 / (1.0 + np.exp(loss.gamma * z)),
    ZeroOne: lambda _, z: 1.0 * (z <= 0.0),
}


def best_beta(apart, mu_m):
    """Return the maximum over β from −1 to 1 of β(d − ½) − (μm / 2) β², pair by pair."""
    beta = np.clip((apart - 0.5) / mu_m, -1.0, 1.0) if mu_m else np.sign(apart - 0.5)
    return beta * (apart - 0.5) - mu_m / 2.0 * beta**2


OF_PAIR = {
    SmoothedROCArea: lambda loss, d: 0.5 - d + best_beta(d, 2.0 * loss.epsilon),
    PairwiseHinge: lambda loss, d: corner(loss.margin - d, loss.kappa),
}


def by_definition(loss, positive, scores, weight):
    """Return the value of a loss, slowly."""
    loss_class = type(loss)
    if loss_class is Ramp:
        parts = (by_definition(p, positive, loss.gamma * scores, weight) for p in loss.parts())
        return next(parts) - next(parts)
    if loss_class in OF_ROW or loss_class is BetaBernoulli:
        z = np.where(positive, scores, -scores)
        if loss_class is BetaBernoulli:
            row = -np.log(plateau(loss, z, positive))
        else:
            row = OF_ROW[loss_class](loss, z)
        return np.average(row, weights=weight)
    if loss_class in OF_PAIR:
        d = np.subtract.outer(scores[positive], scores[~positive])
        pairs = np.multiply.outer(weight[positive], weight[~positive])
        return np.average(OF_PAIR[loss_class](loss, d), weights=pairs)
    return break_even(loss, positive, scores, weight)


def most(objective, slope, n, total, weight):
    """Maximise a concave function of shares from 0 to 1 whose weights sum to a total."""
    start = np.full(n, total / weight.sum())
    solution = minimize(
        lambda x: -objective(x),
        start,
        jac=lambda x: -slope(x),
        bounds=[(0.0, 1.0)] * n,
        constraints=[LinearConstraint(weight[None, :], total, total)],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return -solution.fun


def break_even(loss, positive, scores, weight):
    """Return the smoothed break-even risk as a quadratic program in β of eq. 8, in n₊ of n rows."""
    n_pos, n = weight[positive].sum(), weight.sum()
    y = np.where(positive, 1.0, -1.0)
    mu = 2.0 * loss.epsilon / n

    def beta(x):
        return np.where(positive, 1.0 - x, x)  # x: whether a row is labelled positive

    def objective(x):
        wrong = beta(x)
        missed = weight @ (wrong * positive) / n_pos
        return missed - 2.0 / n * weight @ (y * scores * wrong) - mu / 2.0 * weight @ wrong**2

    def slope(x):
        by_beta = weight * (positive / n_pos - 2.0 / n * y * scores - mu * beta(x))
        return np.where(positive, -by_beta, by_beta)

    return most(objective, slope, len(scores), n_pos, weight)
