"""Ghanbari, Li and Scheinberg 2019: F_n01 and F_nrank, by L-BFGS or with Hessian products.

"Novel and Efficient Approximations for Zero-One Loss of Linear Classifiers". The risks are those of
2018 with a penalty that fixes the length of w; the solver is L-BFGS with Wolfe conditions.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

import numpy as np
from scipy.optimize import line_search, minimize

from directrix._typing import FloatArray
from directrix.linear.lbfgs import Objective, Path, Solution
from directrix.moments.risks import CostRisk, RankingRisk
from directrix.papers.base import Remembered, choice
from directrix.papers.moment_risk import MomentRiskClassifier

__all__ = ["NormalErrorClassifier", "NormalRankingClassifier", "newton_cg", "wolfe_lbfgs"]

# ── Newton's method with conjugate gradients, for objectives with a Hessian-vector product ────────


class CurvedObjective(Objective, Protocol):
    """Protocol for objectives with a Hessian-vector product."""

    def hessian_product(self, coef: FloatArray, vector: FloatArray) -> FloatArray:
        """Return the Hessian at ``coef`` times a vector."""


def newton_cg(
    objective: CurvedObjective,
    start: FloatArray,
    *,
    max_iter: int = 200,
    tol: float = 1e-6,
) -> Solution:
    """Minimise with SciPy's truncated Newton method in a trust region.

    A second-order method based on Hessian-vector products, as Ghanbari, Li and Scheinberg 2019
    compare with L-BFGS (§4, alternative methods).

    Parameters
    ----------
    objective : callable
        Returns value and gradient, and has ``hessian_product``.
    start : array
        Initial coefficients.
    max_iter : int
        Largest number of iterations.
    tol : float
        Gradient norm at which to stop.
    """
    evaluated = Remembered(objective)
    path = Path(evaluated(np.asarray(start, dtype=np.float64))[0], None)

    def after_iteration(coef: FloatArray) -> None:
        path.record(coef, evaluated(coef)[0])

    result = minimize(
        evaluated,
        start,
        jac=True,
        hessp=objective.hessian_product,
        method="trust-ncg",
        callback=after_iteration,
        options={"maxiter": max_iter, "gtol": tol},
    )
    value, grad = evaluated(result.x)
    norm = float(np.linalg.norm(grad))
    return path.finish("Newton-CG", result.x, value, norm, converged=norm <= tol, tol=tol)


# ── L-BFGS with a Wolfe line search, as in Ghanbari, Li and Scheinberg 2019, §4 ───────────────────

_MEMORY = 20  # pairs of steps and gradient changes that are kept
_WOLFE = 1e-4, 0.9
_FIRST_STEP = 0.1  # length of the first trial, as a share of the length of the start


def wolfe_lbfgs(
    objective: Objective,
    start: FloatArray,
    *,
    max_iter: int = 500,
    tol: float = 1e-4,
) -> Solution:
    """Minimise a smooth function by L-BFGS with the constants of the paper.

    The recursion is written here because SciPy's L-BFGS-B fixes the first Wolfe constant at 1e-3,
    while that of the paper is 1e-4. The line search is SciPy's. The length of the first trial is a
    tenth of that of the start: a longer one, such as that of the gradient or one, may jump onto the
    plateau on which every row is of one class, where both Wolfe conditions hold.

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
        Initial coefficients.
    max_iter : int
        Largest number of iterations.
    tol : float
        Gradient norm at which to stop.
    """
    coef = np.array(start, dtype=np.float64)
    evaluated = Remembered(objective)
    value, grad = evaluated(coef)
    path, before = Path(value, None), None
    first = _FIRST_STEP * (float(np.linalg.norm(coef)) or 1.0)
    pairs: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=_MEMORY)
    while np.linalg.norm(grad) > tol and path.n_iter < max_iter:
        direction = -_times_inverse_hessian(pairs, grad, first)
        if direction @ grad >= 0:  # rounding has turned it uphill: restart
            pairs.clear()
            direction = -_times_inverse_hessian(pairs, grad, first)
        step = line_search(
            evaluated.value,
            evaluated.gradient,
            coef,
            direction,
            gfk=grad,
            old_fval=value,
            old_old_fval=before,
            c1=_WOLFE[0],
            c2=_WOLFE[1],
            maxiter=30,
        )[0]
        if step is None:
            break
        move = step * direction
        before, (new_value, new_grad) = value, evaluated(coef + move)
        change = new_grad - grad
        if move @ change > 0:
            pairs.append((move, change))
        coef, value, grad = coef + move, new_value, new_grad
        path.record(coef, value)
    norm = float(np.linalg.norm(grad))
    return path.finish("L-BFGS", coef, value, norm, converged=norm <= tol, tol=tol)


def _times_inverse_hessian(
    pairs: deque[tuple[FloatArray, FloatArray]], grad: FloatArray, first: float
) -> FloatArray:
    """Return the inverse Hessian times a gradient (Nocedal and Wright 2006, Algorithm 7.4).

    Without pairs it is the gradient at the length of a first step.
    """
    if not pairs:
        return grad * (first / np.linalg.norm(grad))
    result = grad.copy()
    shares = []
    for move, change in reversed(pairs):
        share = float(move @ result) / float(move @ change)
        result -= share * change
        shares.append(share)
    move, change = pairs[-1]
    result *= float(move @ change) / float(change @ change)
    for (move, change), share in zip(pairs, reversed(shares), strict=True):
        result += (share - float(change @ result) / float(move @ change)) * move
    return result


# ── The classifiers ───────────────────────────────────────────────────────────────────────────────


class _ByLBFGS(MomentRiskClassifier):
    """The parameters of §4."""

    def __init__(
        self,
        *,
        lam: float = 1e-3,
        fit_intercept: bool = False,
        solver: str = "lbfgs",
        max_iter: int = 500,
        tol: float = 1e-4,
    ) -> None:
        self.lam = lam
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol

    def _minimised(self, objective: Any, start: FloatArray) -> Solution:
        solvers: dict[str, Any] = {"lbfgs": wolfe_lbfgs, "newton-cg": newton_cg}
        solve = solvers[choice("solver", self.solver, solvers)]
        solution: Solution = solve(objective, start, max_iter=self.max_iter, tol=self.tol)
        return solution


class NormalErrorClassifier(_ByLBFGS):
    r"""F_n01 (Ghanbari, Li and Scheinberg 2019, eq. 3.3), minimised with the gradient of eq. 3.5.

    .. math:: F_{n01}(w) + \lambda (1 - \|w\|^2)^2, \qquad
              F_{n01}(w) = P(Y = 1)\, \Phi(-\mu_{Z^+} / \sigma_{Z^+})
              + P(Y = -1)\, \Phi(\mu_{Z^-} / \sigma_{Z^-})

    Features are taken as they are; the paper scales each to at most 1 in absolute value.

    Parameters
    ----------
    lam : float
        λ, which does not regularise: it only fixes the length of w.
    fit_intercept : bool
        Whether a constant of one is among the features; in the paper it is not.
    solver : "lbfgs" or "newton-cg"
        The paper's L-BFGS, or a truncated Newton method with Hessian products ("alternative
        methods" of §4).
    max_iter : int
        Largest number of iterations.
    tol : float
        Gradient norm at which to stop.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    classes_ : array of shape (2,)
    solution_ : Solution
        Value of the objective, and its history.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = NormalErrorClassifier().fit(scale(X), y)
    >>> round(classifier.score(scale(X), y), 2)
    0.98
    """

    _risk = CostRisk()


class NormalRankingClassifier(_ByLBFGS):
    r"""F_nrank (Ghanbari, Li and Scheinberg 2019, eq. 3.8), minimised with minus eq. 3.10.

    .. math:: F_{nrank}(w) + \lambda (1 - \|w\|^2)^2, \qquad
              F_{nrank}(w) = \Phi(\mu_Z / \sigma_Z), \quad
              \mu_Z = w^\top (\mu^- - \mu^+), \quad
              \sigma_Z^2 = w^\top (\Sigma^{--} + \Sigma^{++}) w

    Eq. 3.8 prints the AUC, one minus this. The covariances between the classes are zero, as in §4.

    Parameters
    ----------
    lam : float
        λ, which does not regularise: it only fixes the length of w.
    fit_intercept : bool
        Whether to set the intercept, which no ranking depends on, to the threshold of least
        balanced error of normal scores; in the paper there is none.
    solver : "lbfgs" or "newton-cg"
        The paper's L-BFGS, or a truncated Newton method with Hessian products ("alternative
        methods" of §4).
    max_iter : int
        Largest number of iterations.
    tol : float
        Gradient norm at which to stop.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    classes_ : array of shape (2,)
    solution_ : Solution
        Value of the objective, and its history.

    Examples
    --------
    >>> from directrix import Moments
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> labels = rows[:, 0] > 0
    >>> classifier = NormalRankingClassifier().fit_summary(Moments.of(rows, labels))
    >>> bool(classifier.coef_[0, 0] > np.abs(classifier.coef_[0, 1:]).max())
    True
    """

    _risk = RankingRisk()
