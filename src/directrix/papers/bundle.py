"""BMRM: a cutting-plane method for non-smooth convex risks, with a lower bound."""

from __future__ import annotations

from math import inf

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.linear.lbfgs import Callback, Objective, Path, Solution, warn_not_converged

# ── Active-set solver for the small quadratic program of the bundle method ────────────────────────

_TOLERANCE = 1e-13


_MOST_ROUNDS = 1000


def solve_qp(
    gram: FloatArray,
    gain: FloatArray,
    equal: FloatArray,
    start: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    r"""Maximise a concave quadratic under equalities and signs, by an active-set method.

    .. math:: \max_{x \ge 0,\ E x = E x_0}\ c \cdot x - \tfrac12 x^\top Q x

    Follows the method of Lawson and Hanson for least squares (1974, chapter 23). The variable at
    zero with the largest gain is set free, the problem in the free variables is solved exactly, and
    the step towards its solution stops where a variable reaches zero. A round costs the cube of the
    number of free variables, which a warm start keeps small.

    ``gram``, of shape (k, k), is Q, which is positive semidefinite. ``gain``, of shape (k,), is c,
    and ``equal``, of shape (m, k), is E. ``start``, of shape (k,), is the feasible point
    :math:`x_0`. The method stops after 1,000 rounds; every round is feasible and none
    lowers the value. Returns the maximiser, and the multiplier of each equality.
    """
    scale = max(float(np.diag(gram).max(initial=0.0)), float(np.abs(gain).max(initial=0.0)))
    scale = scale or 1.0
    gram, gain = gram / scale, gain / scale
    x = start.copy()
    free = x > 0
    price = np.zeros(len(equal))
    entering = int(x.argmax())
    for _ in range(_MOST_ROUNDS):
        target, price = _maximum_over_free(free, gram, gain, equal, x)
        x, free, step = _step_towards(x, target, free)
        if step < 1:
            if step == 0 and not free[entering]:  # the variable set free gains only rounding error
                break
            continue
        reduced_gain = gain - gram @ x - price @ equal
        reduced_gain[free] = -np.inf
        entering = int(reduced_gain.argmax())
        if reduced_gain[entering] <= _TOLERANCE:
            break
        free[entering] = True
    return x, scale * price


def _maximum_over_free(
    free: AnyArray, gram: FloatArray, gain: FloatArray, equal: FloatArray, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the maximiser over the free variables, and the multiplier of each equality."""
    k, m = int(free.sum()), len(equal)
    system = np.zeros((k + m, k + m))
    system[:k, :k] = gram[np.ix_(free, free)]
    # A ridge of the size of rounding makes the system regular when planes are dependent. It pulls
    # towards x, so it does not move a solution.
    system[np.arange(k), np.arange(k)] += _TOLERANCE
    system[:k, k:] = equal[:, free].T
    system[k:, :k] = equal[:, free]
    right_side = np.concatenate([gain[free] + _TOLERANCE * x[free], equal @ x])
    solved = _solve(system, right_side)
    target = np.zeros_like(x)
    target[free] = solved[:k]
    return target, solved[k:]


def _solve(system: FloatArray, right_side: FloatArray) -> AnyArray:
    """Solve a linear system by elimination, or by least squares (10 times slower) if that fails."""
    try:
        solved = np.linalg.solve(system, right_side)
    except np.linalg.LinAlgError:
        pass
    else:
        if np.abs(system @ solved - right_side).max() <= 10.0 * _TOLERANCE:  # false for NaN
            return solved
    return np.linalg.lstsq(system, right_side, rcond=1e-15)[0]


def _step_towards(
    x: FloatArray, target: FloatArray, free: AnyArray
) -> tuple[FloatArray, AnyArray, float]:
    """Step towards a target until a variable reaches zero; such variables are fixed at zero.

    Returns the new point, the variables that are still free, and the share of the step taken.
    """
    # A free variable may be zero because of an equality.
    target = np.where(np.abs(target) < _TOLERANCE, 0.0, target)
    crosses_zero = free & (target < 0)
    if not crosses_zero.any():
        return target, free, 1.0
    share = np.full(len(x), np.inf)
    share[crosses_zero] = x[crosses_zero] / (x[crosses_zero] - target[crosses_zero])
    step = float(share.min())
    free = free & (share > step)
    return np.where(free, x + step * (target - x), 0.0), free, step


# ── BMRM: a cutting-plane method for non-smooth convex risks, with a lower bound ──────────────────

_MOST_IDLE = 40  # iterations after which an unused plane is dropped


def bundle(
    risk: Objective,
    start: FloatArray,
    *,
    ridge: float,
    penalised: AnyArray | None = None,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise a convex risk plus a ridge penalty, by a model of tangent planes.

    .. math:: J(w) = R(w) + \tfrac\lambda2 \|w\|^2, \qquad
              w_{k+1} = \arg\min_w\ \max_{i \le k}\, [g_i \cdot w + b_i] + \tfrac\lambda2 \|w\|^2

    This is the bundle method of Teo and others (2010), with which Zhang, Saha and Vishwanathan 2011
    compare. The planes lie below R, so the minimum of the model is a lower bound of J, returned as
    ``lower_bound``; the best J so far is above the optimum by at most the gap between them. The
    program is solved in its dual, :math:`\max_\alpha b \cdot \alpha - \frac{1}{2\lambda} \|G^\top
    \alpha\|^2` with :math:`\alpha` in the simplex. A coefficient without penalty adds the equality
    :math:`\sum_i \alpha_i g_{ij} = 0`. A box bounds such a coefficient until planes do
    on both sides; the box grows where the risk decreases beyond it, and a lower bound counts only
    where the box is not active.

    Parameters
    ----------
    risk : callable
        Returns R and a subgradient.
    start : array
        Initial coefficients.
    ridge : float
        λ, above zero.
    penalised : array of bool, optional
        Coefficients that the ridge applies to; by default all but the last, the intercept. A
        coefficient that the risk does not depend on must be penalised, or rounding errors in its
        slope make it diverge.
    max_iter : int
        Largest number of planes.
    tol : float
        Gap between J and its lower bound at which to stop, relative to J.
    callback : callable, optional
        Called with the best coefficients and value after each plane; return True to stop.
    """
    coef = np.array(start, dtype=np.float64)
    if not 0.0 < ridge < inf:
        msg = f"ridge must be above zero, not {ridge!r}: it keeps the model bounded"
        raise ValueError(msg)
    all_but_last = np.arange(len(coef)) < len(coef) - 1
    is_penalised = all_but_last if penalised is None else np.asarray(penalised)
    if is_penalised.shape != coef.shape or is_penalised.dtype != bool:
        msg = f"penalised must be {len(coef)} truth values, one for each coefficient"
        raise ValueError(msg)
    model = _Model(ridge, is_penalised, 10.0 * max(1.0, float(np.abs(coef).max(initial=0.0))))
    best, value, bound, norm = coef, inf, -inf, inf
    path: Path | None = None
    while True:
        risk_value, slope = risk(coef)
        current = risk_value + 0.5 * ridge * float(coef[is_penalised] @ coef[is_penalised])
        if current < value:
            best, value = coef, current
            norm = float(np.linalg.norm(slope + ridge * np.where(is_penalised, coef, 0.0)))
        if path is None:
            path = Path(value, callback)
        elif not path.record(best, value):
            break
        tolerance = tol * abs(value)
        if value - bound <= tolerance or path.n_iter >= max_iter:
            break
        model.add(slope, risk_value - float(slope @ coef), coef)
        coef, model_bound = model.minimise()
        bound = max(bound, model_bound)
    converged = value - bound <= tolerance
    solution = Solution(best, value, norm, path.n_iter, converged, tuple(path.values), bound)
    remainder = f"a gap of {value - bound:.1e}, above the tolerance of {tolerance:.1e}"
    return solution if path.stopped else warn_not_converged(solution, "BMRM", remainder)


class _Model:
    """Maximum of tangent planes, plus the ridge penalty.

    The dual has a variable for each side of the box of each unpenalised coefficient, and then a
    variable for each plane.

    ``box`` is the initial bound of the unpenalised coefficients.
    """

    def __init__(self, ridge: float, penalised: AnyArray, box: float) -> None:
        self._ridge, self._penalised, self._box = ridge, penalised, box
        self._unpenalised = np.flatnonzero(~penalised)
        self._n_sides = 2 * len(self._unpenalised)
        self._planes = np.zeros((0, len(penalised)))
        self._offset = np.zeros(0)
        self._gram = np.zeros((0, 0))
        self._idle = np.zeros(0, dtype=np.int64)
        self._dual = np.zeros(self._n_sides)

    def add(self, slope: FloatArray, offset: float, coef: FloatArray) -> None:
        """Add the tangent plane at ``coef``; widen the box if R decreases beyond it."""
        unpenalised = self._unpenalised
        at_side = np.abs(coef[unpenalised]) >= self._box * (1.0 - 1e-9)
        if (at_side & (slope * coef < 0)[unpenalised]).any():
            self._box *= 10.0
        kept = self._idle <= _MOST_IDLE
        self._planes = np.vstack([self._planes[kept], slope])
        self._offset = np.append(self._offset[kept], offset)
        self._idle = np.append(self._idle[kept], 0)
        products = self._planes[:, self._penalised] @ slope[self._penalised]
        gram = np.empty((len(products), len(products)))
        gram[:-1, :-1] = self._gram[np.ix_(kept, kept)]
        gram[-1] = gram[:, -1] = products
        self._gram = gram
        sides, planes = np.split(self._dual, [self._n_sides])
        self._dual = np.concatenate([sides, planes[kept], [0.0]])
        if len(products) == 1:  # a feasible start: the only plane, and the sides that balance it
            up, down = np.maximum(-slope[unpenalised], 0.0), np.maximum(slope[unpenalised], 0.0)
            self._dual = np.concatenate([up, down, [1.0]])

    def minimise(self) -> tuple[FloatArray, float]:
        """Return the minimiser of the model, and a lower bound of J (−∞ if the box is active)."""
        n_sides, unpenalised = self._n_sides, self._unpenalised
        k = n_sides + len(self._offset)
        gram = np.zeros((k, k))
        gram[n_sides:, n_sides:] = self._gram / self._ridge
        gain = np.concatenate([np.full(n_sides, -self._box), self._offset])
        # Σα = 1, and for each unpenalised coefficient Σ α g + (upper side) − (lower side) = 0.
        equal = np.zeros((1 + len(unpenalised), k))
        equal[0, n_sides:] = 1.0
        equal[1:, n_sides:] = self._planes[:, unpenalised].T
        equal[1:, :n_sides] = np.hstack([np.eye(len(unpenalised)), -np.eye(len(unpenalised))])
        self._dual, price = solve_qp(gram, gain, equal, self._dual)
        alpha = np.maximum(self._dual[n_sides:], 0.0)
        alpha /= alpha.sum()
        self._idle = np.where(alpha > 0, 0, self._idle + 1)
        gradient = alpha @ self._planes
        coef = -gradient / self._ridge
        coef[unpenalised] = np.clip(-price[1:], -self._box, self._box)
        penalised_gradient = gradient[self._penalised]
        penalty = float(penalised_gradient @ penalised_gradient) / (2.0 * self._ridge)
        bound = float(alpha @ self._offset) - penalty
        # Within the box, rounding errors of the equalities lower the bound by at most this much.
        bound -= self._box * float(np.abs(gradient[unpenalised]).sum())
        box_active = self._dual[:n_sides].max(initial=0.0) > 1e-12
        return coef, -inf if box_active else bound
