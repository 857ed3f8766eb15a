"""Losses computed from their definitions: all pairs, all labellings, or a general solver."""

from itertools import product

import numpy as np
from scipy.optimize import LinearConstraint, brentq, linprog, minimize
from scipy.special import expit

from directrix.losses import (
    BetaBernoulli,
    BreakEven,
    Exponential,
    FBetaEnvelope,
    FBetaIsotonic,
    GeneralizedLogistic,
    Hinge,
    Logistic,
    OneMinusTanh,
    PairwiseHinge,
    PairwiseLogistic,
    PairwiseSquare,
    PairwiseSquaredHinge,
    PrecisionTop,
    QuantileSigmoid,
    Ramp,
    RecallTop,
    Sigmoid,
    SmoothedROCArea,
    SquaredHinge,
    TopNegatives,
    ZeroOne,
)


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
    SquaredHinge: lambda _, z: np.where(z < 1.0, (1.0 - z) ** 2, 0.0),
    Hinge: lambda loss, z: corner(loss.margin - z, loss.kappa),
    GeneralizedLogistic: lambda loss, z: np.log(1.0 + np.exp(loss.gamma * (1.0 - z))) / loss.gamma,
    Sigmoid: lambda loss, z: 1.0 / (1.0 + np.exp(loss.gamma * z)),
    OneMinusTanh: lambda loss, z: 0.5 * (1.0 - np.tanh(loss.gamma * z)),
    ZeroOne: lambda _, z: 1.0 * (z <= 0.0),
}


def best_beta(apart, mu_m):
    """Return the maximum over β from −1 to 1 of β(d − ½) − (μm / 2) β², pair by pair."""
    beta = np.clip((apart - 0.5) / mu_m, -1.0, 1.0) if mu_m else np.sign(apart - 0.5)
    return beta * (apart - 0.5) - mu_m / 2.0 * beta**2


OF_PAIR = {
    SmoothedROCArea: lambda loss, d: 0.5 - d + best_beta(d, 2.0 * loss.epsilon),
    PairwiseHinge: lambda loss, d: corner(loss.margin - d, loss.kappa),
    PairwiseSquaredHinge: lambda loss, d: np.maximum(loss.margin - d, 0.0) ** 2,
    PairwiseSquare: lambda loss, d: (loss.margin - d) ** 2,
    PairwiseLogistic: lambda _, d: np.log(1.0 + np.exp(-d)),
}
#: Computed by a general solver, which is slow.
FEW_ROWS = (BreakEven, PrecisionTop, RecallTop, TopNegatives, FBetaEnvelope, FBetaIsotonic)


def has_definition(loss):
    """Return whether the value of a loss can be computed here; a new loss need not be."""
    loss_class = type(loss.base)
    return loss_class is BetaBernoulli or loss_class in OF_ROW | OF_PAIR | SLOW


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
    return SLOW[loss_class](loss, positive, scores, weight)


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


def top(loss, positive, scores, weight):
    """Return a loss of the top rows as a quadratic program."""
    n_pos, n_neg = weight[positive].sum(), weight[~positive].sum()
    k = n_pos
    if not isinstance(loss, BreakEven):
        k = loss.k if isinstance(loss.k, int) else loss.k * (n_pos + n_neg)
    unit = k if isinstance(loss, PrecisionTop) else n_pos
    perfect = np.where(positive, min(1.0, k / n_pos), max(0.0, (k - n_pos) / n_neg))

    def objective(x):
        away = x - perfect
        missed = loss.margin * (unit - weight @ (x * positive))
        return missed + (weight * scores) @ away - loss.kappa / 2.0 * weight @ away**2

    def slope(x):
        return weight * (scores - loss.margin * positive - loss.kappa * (x - perfect))

    return most(objective, slope, len(scores), k, weight) / unit


def top_negatives(loss, positive, scores, weight):
    """Return the mean of the top negatives as a quadratic program, and the hinges above it."""
    s, w = scores[~positive], weight[~positive]
    k = max(1.0, loss.fpr * w.sum())
    level = (
        most(
            lambda x: (w * s) @ x - loss.kappa / 2.0 * w @ (x - k / w.sum()) ** 2,
            lambda x: w * (s - loss.kappa * (x - k / w.sum())),
            len(s),
            k,
            w,
        )
        / k
    )
    hinges = corner(loss.margin - scores[positive] + level, loss.kappa)
    return np.average(hinges, weights=weight[positive])


def quantile(loss, positive, scores, weight):
    """Return the sigmoids above the root of the quantile's equation."""
    s, w = scores[~positive], weight[~positive]

    def above(q):
        return w @ np.clip(0.5 + loss.gamma * (s - q), 0.0, 1.0) - (loss.fpr + 1e-9) * w.sum()

    q = brentq(above, s.min() - 1.0 / loss.gamma, s.max() + 1.0 / loss.gamma, xtol=1e-14)
    return np.average(expit(-loss.gamma * (scores[positive] - q)), weights=weight[positive])


def one_minus_f(beta, n_pos, misses, alarms):
    """Return one minus F_β of counts."""
    hits = n_pos - misses
    wrong = beta**2 * misses + alarms
    return wrong / ((1.0 + beta**2) * hits + wrong)


def f_beta(loss, positive, scores, weight):
    """Return a bound of F_β as a program over distributions of the two counts.

    A point of the distribution is a number of misses, taken in the order of the scores, and a
    number of false alarms on a fine grid. Of the envelope only the mean of the misses is tied to
    the labels; of the other bound, how often each row is missed. Squares are replaced by tangents.
    """
    order = np.argsort(scores[positive], kind="stable")
    s_pos, w_pos = scores[positive][order], weight[positive][order]
    s_neg, w_neg = scores[~positive], weight[~positive]
    n_pos, n_neg = w_pos.sum(), w_neg.sum()
    steps = np.append(0.0, np.cumsum(w_pos))
    alarms = np.linspace(0.0, n_neg, 401)
    lost = loss.margin * one_minus_f(loss.beta, n_pos, steps[:, None], alarms[None, :])
    missed = (np.arange(len(steps))[:, None] > np.arange(len(s_pos))[None, :]).astype(float)
    n_points, n_rows = lost.size, len(s_pos) + len(s_neg)
    if isinstance(loss, FBetaEnvelope):
        mean = np.repeat(steps, len(alarms))[None, :]
        ties = np.concatenate([mean, -w_pos[None, :] @ np.eye(len(s_pos), n_rows)], axis=1)
    else:
        ties = np.concatenate(
            [np.repeat(missed, len(alarms), axis=0).T, -np.eye(len(s_pos), n_rows)], axis=1
        )
    in_neg = np.append(np.zeros(len(s_pos)), w_neg)
    equal = np.vstack(
        [
            ties,
            np.concatenate([np.tile(alarms, len(steps)), -in_neg])[None, :],
            np.append(np.ones(n_points), np.zeros(n_rows))[None, :],
        ]
    )
    right = np.append(np.zeros(len(equal) - 1), 1.0)
    w = np.concatenate([w_pos, w_neg])
    gain = np.concatenate([-s_pos, s_neg])
    width = loss.kappa * n_pos / (n_pos + n_neg)
    # −x²/2 is the lower envelope of its tangents: one more unknown and many rows for each label.
    at = np.linspace(0.0, 1.0, 201)
    tangents = np.zeros((n_rows * len(at), n_points + 2 * n_rows))
    for i, (row, t) in enumerate(product(range(n_rows), at)):
        tangents[i, n_points + row] = t
        tangents[i, n_points + n_rows + row] = 1.0
    cost = np.concatenate([lost.ravel(), w * gain / n_pos, width * w / n_pos])
    solution = linprog(
        -cost,
        A_eq=np.concatenate([equal, np.zeros((len(equal), n_rows))], axis=1),
        b_eq=right,
        A_ub=tangents,
        b_ub=np.tile(at**2 / 2.0, n_rows),
        bounds=[(0.0, None)] * n_points + [(0.0, 1.0)] * n_rows + [(None, 0.0)] * n_rows,
    )
    return -solution.fun


def all_labellings(beta, positive, scores, margin=1.0):
    """Return the unsmoothed bound of F_β that maximises over all 2ⁿ labellings, of rows alike."""
    n_pos = positive.sum()
    worst = -np.inf
    for flips in product([False, True], repeat=len(scores)):
        flip = np.array(flips)
        lost = one_minus_f(beta, n_pos, (flip & positive).sum(), (flip & ~positive).sum())
        gain = np.where(positive, -scores, scores) @ flip / n_pos
        worst = max(worst, margin * lost + gain)
    return worst


SLOW = {
    BreakEven: top,
    PrecisionTop: top,
    RecallTop: top,
    TopNegatives: top_negatives,
    QuantileSigmoid: quantile,
    FBetaEnvelope: f_beta,
    FBetaIsotonic: f_beta,
}
