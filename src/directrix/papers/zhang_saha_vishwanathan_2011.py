"""Zhang, Saha and Vishwanathan 2011: smoothed risks of break-even point and ROC area.

"Smoothing Multivariate Performance Measures". A risk that is a maximum over labellings is smoothed
by a prox-function, below it by ε at most, and then minimised by L-BFGS or Nesterov's method; its
rival is the bundle method BMRM on the risk itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.linear.lbfgs import Callback, Objective, Path, Solution, lbfgs
from directrix.linear.loss import Loss, require_above_zero, require_both
from directrix.linear.pairwise import PairwiseHinge
from directrix.papers.base import PaperClassifier, choice, objective_of
from directrix.papers.bundle import bundle

__all__ = [
    "SmoothedPRBEP",
    "SmoothedPRBEPClassifier",
    "SmoothedROCArea",
    "SmoothedROCAreaClassifier",
    "nesterov",
]

# ── Soft choice of the largest values up to a quota of weight: a projection without a sort ────────

_MOST_STEPS = 100  # a handful is enough; after 100 halvings the bracket is empty
_ROUNDING = 1e-13  # relative to the quota: sums of weights are no more exact


class SoftTop(NamedTuple):
    """A soft choice of rows: the share of every row, and the threshold θ."""

    share: FloatArray
    threshold: float


def soft_top(values: FloatArray, weight: FloatArray, quota: float, kappa: float) -> SoftTop:
    r"""Return :math:`\pi_i = \min(1, (t_i - \theta)_+ / \kappa)` with :math:`\omega\cdot\pi = k`.

    These maximise :math:`\sum_i \omega_i (t_i \pi_i - \tfrac\kappa2 \pi_i^2)` among all shares
    from 0 to 1 that fill the quota. θ is within κ below the edge, so only rows near the edge are
    looked at more than once. Without κ, rows at the edge share what is left of the quota.
    """
    lowest = float(weight.min())
    unit = lowest if lowest > 0 and lowest == weight.max() else weight
    edge = kth_largest(values, unit, quota)
    if edge - kappa == edge:  # κ is zero, or lost in the rounding of the values
        share = (values > edge).astype(np.float64)
        at = values == edge
        left = (quota - _mass(unit, share)) / _mass(unit, at)
        share[at] = min(max(left, 0.0), 1.0)
        return SoftTop(share, edge)
    near = (values > edge - kappa) & (values < edge + kappa)
    full = _mass(unit, values >= edge + kappa)
    unit_near = unit if isinstance(unit, float) else unit[near]
    threshold = _threshold(values[near], unit_near, quota - full, kappa, edge)
    share = values - threshold
    share /= kappa
    np.clip(share, 0.0, 1.0, out=share)
    return SoftTop(share, threshold)


def _mass(weight: FloatArray | float, share: AnyArray) -> float:
    """Return the total weight of shares of rows; equal weights are one number, for speed."""
    if not isinstance(weight, float):
        return float(weight @ share)
    return weight * float(np.count_nonzero(share) if share.dtype == bool else share.sum())


def _threshold(
    values: FloatArray, weight: FloatArray | float, quota: float, kappa: float, edge: float
) -> float:
    """Return θ by Newton's method inside a bracket: the sum is piecewise linear."""
    low, high = edge - kappa, edge
    threshold = 0.5 * (low + high)
    share = np.empty_like(values)
    for _ in range(_MOST_STEPS):
        np.subtract(values, threshold, out=share)
        share /= kappa
        np.clip(share, 0.0, 1.0, out=share)
        excess = _mass(weight, share) - quota
        if abs(excess) <= _ROUNDING * quota:
            break
        if excess > 0:
            low = threshold
        else:
            high = threshold
        moving = _mass(weight, (share > 0) & (share < 1))
        threshold += excess * kappa / moving if moving else np.inf
        if not low < threshold < high:
            threshold = 0.5 * (low + high)
        if not low < threshold < high:
            break
    return threshold


def kth_largest(values: FloatArray, weight: FloatArray | float, quota: float) -> float:
    """Return the value at which the largest ones reach a quota of weight."""
    if isinstance(weight, float):
        rank = len(values) - min(max(ceil(quota / weight), 1), len(values))
        return float(np.partition(values, rank)[rank])
    counted = weight > 0
    values, mass = values[counted], weight[counted]
    while len(values) > 1:  # every round drops at least half of them
        middle = len(values) // 2
        pivot = np.partition(values, middle)[middle]
        above, below = values > pivot, values < pivot
        over = float(mass @ above)
        if over >= quota:
            values, mass = values[above], mass[above]
            continue
        quota -= over + float(mass[~(above | below)].sum())
        if quota <= 0 or not below.any():
            return float(pivot)
        values, mass = values[below], mass[below]
    return float(values[0])


# ── The risks, smoothed, in the paper's units ─────────────────────────────────────────────────────


def _require_epsilon(epsilon: float) -> None:
    if not 0.0 <= epsilon < inf:
        msg = f"epsilon must be a number from zero up, not {epsilon!r}"
        raise ValueError(msg)


@dataclass(frozen=True)
class SmoothedPRBEP(Loss):
    r"""Smoothed risk of the break-even point (Zhang, Saha and Vishwanathan 2011, eq. 2, 8 and 13).

    .. math:: L(s) = \max_{\beta \in [0, 1]^n} \Big[ \frac{1}{n_+} \sum_{i \in P} \beta_i
              - \frac2n \sum_i y_i s_i \beta_i - \frac\mu2 \sum_i \beta_i^2 \Big], \qquad
              \sum_{i \in P} \beta_i = \sum_{j \in N} \beta_j

    β is the chance of a wrong label; only as many positives as negatives may be wrong, so the box
    of eq. 8 is cut by a plane. The prox-function is :math:`\frac12 \|\beta\|^2`, at most
    :math:`D = n / 2`, and μ is :math:`\varepsilon / D`: the paper's μ̂ has ε = 0.001. The best β is
    a soft choice of the top n₊ rows, less the right labels; it is computed by selection and a few
    steps of Newton's method. It is unique, though θ of Property 1 is not. A row of weight k is k
    rows.

    Parameters
    ----------
    epsilon : float
        ε = μD, the most by which smoothing lowers the loss; 0 is the risk itself, with one of its
        subgradients.
    """

    name: ClassVar[str] = "smoothed_prbep"
    epsilon: float = 0.001

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the loss, and its partial derivative by every score: 2ω/n times ∓β."""
        _require_epsilon(self.epsilon)
        n_pos, n_neg = require_both(positive, weight)
        # In units of 2 n₊ / n the margin is one, and the soft edge is 2 ε n₊ / n wide.
        unit = 2.0 * n_pos / (n_pos + n_neg)
        scores, width = unit * np.asarray(scores, dtype=np.float64), unit * self.epsilon
        # The slopes sum to zero, so all values may be shifted, here by the width.
        taken = soft_top(scores - (1.0 - width) * positive, weight, n_pos, width)
        away = taken.share
        away -= positive
        slope = weight * away
        value = float((scores - taken.threshold) @ slope) - float(slope @ positive)
        value -= 0.5 * width * float(slope @ away)
        slope *= unit / n_pos
        return value / n_pos, slope


@dataclass(frozen=True)
class SmoothedROCArea(Loss):
    r"""Smoothed risk of the ROC area, as Zhang, Saha and Vishwanathan (2011) define it.

    .. math:: L(s) = \frac12 + \frac1m \max_{\beta \in [-1, 1]^m} \sum_{i \in P} \sum_{j \in N}
              \left[ \left( s_i - s_j - \tfrac12 \right) \beta_{ij} - (s_i - s_j)
              - \frac{\mu m}{2} \beta_{ij}^2 \right], \qquad m = n_+ n_-

    (eq. 3, 11 and 13.) Three differences to the printed equations: weights, with which a row
    of weight k is k rows; the constant ½, which they ignore after eq. 11; and the term
    :math:`s_i - s_j` of the right labels, which eq. 3 lacks, so that as printed the risk charges
    pairs that are in order by more than a half. Without smoothing, the loss of a pair is the hinge
    :math:`(1 - 2 (s_i - s_j))_+`: scores have the paper's units, in which the margin is a half.

    The prox-function :math:`d(\beta) = \frac12 \|\beta\|^2` is :math:`D = m / 2` at most, and μ is
    :math:`\varepsilon / D`, so the only parameter is ε. The paper's μ̂ has ε = 0.001, and 100 μ̂
    has ε = 0.1. Smoothing lowers the loss by ε at most.

    With :math:`\kappa = 8 \varepsilon` and a margin of :math:`1 + 4 \varepsilon` it is the
    `PairwiseHinge` of the scores 2s, less ε: on :math:`[-1, 1]^m` the prox-function rounds both
    sides of the corner alike, on the :math:`[0, 1]^m` of `PairwiseHinge` its inner side only.

    Parameters
    ----------
    epsilon : float
        ε = μD, the most by which smoothing lowers the loss; 0 is the risk itself, with one of its
        subgradients.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix.papers.zhang_saha_vishwanathan_2011 import SmoothedROCArea
    >>> positive, scores = np.array([True, True, False]), np.array([0.55, 0.2, 0.0])
    >>> SmoothedROCArea(epsilon=0.0).value_and_grad(positive, scores, np.ones(3))[0]
    0.3
    >>> value, slope = SmoothedROCArea(epsilon=0.1).value_and_grad(positive, scores, np.ones(3))
    >>> print(f"{value:.4f}", slope)
    0.2281 [-0.375 -1.     1.375]
    """

    name: ClassVar[str] = "smoothed_roc_area"
    epsilon: float = 0.001

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the mean over pairs, and its partial derivative by every score."""
        _require_epsilon(self.epsilon)
        value, slope = self._hinge.value_and_grad(positive, 2.0 * scores, weight)
        slope *= 2.0
        return value - self.epsilon, slope

    @property
    def _hinge(self) -> PairwiseHinge:
        """The hinge of the doubled scores that the loss is, less ε."""
        return PairwiseHinge(kappa=8.0 * self.epsilon, margin=1.0 + 4.0 * self.epsilon)


# ── Nesterov's accelerated gradient method, with rate 1/k² on smoothed convex risks ───────────────


def nesterov(
    objective: Objective,
    start: FloatArray,
    *,
    lipschitz: float | None = None,
    max_iter: int = 2000,
    tol: float = 1e-5,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise a convex smooth function by gradient steps from extrapolated points.

    .. math:: w_{k+1} = y_k - \tfrac1L \nabla F(y_k), \qquad
              y_{k+1} = w_{k+1} + \frac{a_k - 1}{a_{k+1}} (w_{k+1} - w_k), \qquad
              a_{k+1} = \tfrac12 \big(1 + \sqrt{1 + 4 a_k^2}\big)

    This is the method of Zhang, Saha and Vishwanathan 2011 (§1.1 and appendix A) for their smoothed
    risks, where :math:`L = \|A\|^2 / \mu + \lambda`. That constant is far too large in practice,
    so by default L is determined by backtracking: doubled until
    :math:`F(w_{k+1}) \le F(y_k) - \|\nabla F(y_k)\|^2 / 2L`, and lowered by a tenth before each
    step. Momentum is reset where it points uphill (O'Donoghue and Candès 2015). `lbfgs` needs
    fewer evaluations, as the paper also reports.

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
        Initial coefficients.
    lipschitz : float, optional
        L, constant for all steps; by default it is determined by backtracking.
    max_iter : int
        Largest number of iterations. An iteration costs two evaluations, and one more for each
        doubling of L.
    tol : float
        Gradient norm at which to stop, relative to that at the start if that is above one.
    callback : callable, optional
        Called with coefficients and value after each iteration; return True to stop.
    """
    if lipschitz is not None and not lipschitz > 0:
        msg = f"lipschitz must be above zero, not {lipschitz!r}"
        raise ValueError(msg)
    coef = np.array(start, dtype=np.float64)
    value, grad = objective(coef)
    norm = float(np.linalg.norm(grad))
    enough = tol * max(1.0, norm)
    path = Path(value, callback)
    curvature = lipschitz or _initial_curvature(objective, coef, grad)
    ahead, ahead_value, ahead_grad, momentum = coef, value, grad, 1.0
    while norm > enough and path.n_iter < max_iter:
        square = float(ahead_grad @ ahead_grad)
        while True:
            trial = ahead - ahead_grad / curvature
            value, grad = objective(trial)
            # A smaller decrease is rounding error.
            rounding = 4.0 * np.finfo(float).eps * abs(ahead_value)
            if lipschitz or value <= ahead_value - square / (2.0 * curvature) + rounding:
                break
            curvature *= 2.0
        move, coef = trial - coef, trial
        norm = float(np.linalg.norm(grad))
        if not path.record(coef, value):
            break
        if float(ahead_grad @ move) > 0:
            momentum = 1.0
        next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = coef + (momentum - 1.0) / next_momentum * move
        momentum = next_momentum
        ahead_value, ahead_grad = objective(ahead)
        curvature = lipschitz or 0.9 * curvature
    return path.finish("Nesterov's method", coef, value, norm, converged=norm <= enough, tol=enough)


def _initial_curvature(objective: Objective, coef: FloatArray, grad: FloatArray) -> float:
    """Return the rate of change of the gradient along itself, a lower estimate of L."""
    length = float(np.linalg.norm(grad))
    if length == 0:
        return 1.0
    step = 1e-4 * max(1.0, float(np.linalg.norm(coef)))
    change = objective(coef - (step / length) * grad)[1] - grad
    return float(np.linalg.norm(change)) / step or 1.0


# ── The classifiers ───────────────────────────────────────────────────────────────────────────────

_MEMORY = 6
#: L-BFGS also stops where one iteration lowers the objective by less than this share.
_FALL = 1e-8


class _SmoothedClassifier(PaperClassifier):
    """The regularised risk of a loss (eq. 1), and its solvers."""

    _loss: ClassVar[Any]

    def __init__(
        self,
        *,
        lam: float = 1e-3,
        epsilon: float = 1e-3,
        fit_intercept: bool = False,
        solver: str = "lbfgs",
        max_iter: int = 2000,
        tol: float = 1e-5,
    ) -> None:
        self.lam = lam
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any) -> Self:
        """Minimise the smoothed risk of rows, or with "bundle" the risk itself, from zero.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        """
        choice("solver", self.solver, ("lbfgs", "nesterov", "bundle"))
        require_above_zero(lam=self.lam)
        X, positive = self._rows(X, y)
        start = np.zeros(X.shape[1])
        stop: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol}
        if self.solver == "bundle":
            risk = objective_of(X, positive, self._loss(0.0), 0.0, intercept=False)
            every = np.ones(len(start), dtype=bool)
            solution = bundle(risk, start, ridge=self.lam, penalised=every, **stop)
        else:
            smoothed = objective_of(
                X, positive, self._loss(self.epsilon), self.lam, intercept=False
            )
            if self.solver == "lbfgs":
                solution = lbfgs(smoothed, start, memory=_MEMORY, ftol=_FALL, **stop)
            else:
                solution = nesterov(smoothed, start, **stop)
        self._keep(solution, intercept=False)
        if self.fit_intercept:
            scores = np.sort(X @ solution.coef)[::-1]
            n_pos = int(positive.sum())
            self.intercept_ = np.array([-0.5 * float(scores[n_pos - 1] + scores[n_pos])])
        return self


class SmoothedPRBEPClassifier(_SmoothedClassifier):
    r"""J_μ of the break-even point (Zhang, Saha and Vishwanathan 2011, eq. 1, 2 and 13).

    .. math:: \min_w\ \frac\lambda2 \|w\|^2 + g_\mu^*(A^\top w)

    with the risk of `SmoothedPRBEP`. Features are taken as they are.

    Parameters
    ----------
    lam : float
        λ of eq. 1.
    epsilon : float
        ε, the accuracy that smoothing gives up: μ is ε / D.
    fit_intercept : bool
        Whether to set the intercept, on which the risk does not depend, so that as many training
        rows are predicted positive as are; the paper has no intercept.
    solver : "lbfgs", "nesterov" or "bundle"
        L-BFGS with a memory of six or Nesterov's method on the smoothed risk, or BMRM on the risk
        itself.
    max_iter : int
        Largest number of iterations.
    tol : float
        Gradient norm at which to stop, or for "bundle" the relative gap to its lower bound.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    classes_ : array of shape (2,)
    solution_ : Solution
        Value of the objective, and its history; with "bundle" a lower bound, too.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from directrix.metrics import PRBEP
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = SmoothedPRBEPClassifier().fit(scale(X), y)
    >>> round(PRBEP().score(y == 1, classifier.decision_function(scale(X))), 2)
    0.99
    """

    _loss = SmoothedPRBEP


class SmoothedROCAreaClassifier(_SmoothedClassifier):
    r"""J_μ of the ROC area (Zhang, Saha and Vishwanathan 2011, eq. 1, 3 and 13).

    .. math:: \min_w\ \frac\lambda2 \|w\|^2 + g_\mu^*(A^\top w)

    with the risk of `SmoothedROCArea`. Parameters and attributes are those of
    `SmoothedPRBEPClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = SmoothedROCAreaClassifier().fit(scale(X), y)
    >>> print(f"{roc_auc_score(y, classifier.decision_function(scale(X))):.3f}")
    0.999
    """

    _loss = SmoothedROCArea
