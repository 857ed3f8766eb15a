"""Ghanbari and Scheinberg 2018: expected error and expected AUC, by gradient descent.

"Directly and Efficiently Optimizing Prediction Error and AUC of Linear Classifiers". If the scores
of each class are normal, both are smooth functions of the class means and covariances. The paper
minimises them by gradient descent with backtracking, without an intercept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from directrix._typing import FloatArray
from directrix.linear.lbfgs import Callback, Objective, Path, Solution
from directrix.moments.risks import CostRisk, RankingRisk
from directrix.papers.moment_risk import MomentRiskClassifier

__all__ = ["ExpectedAUCClassifier", "ExpectedErrorClassifier", "descent"]


def descent(
    objective: Objective,
    start: FloatArray,
    *,
    max_iter: int = 250,
    tol: float = 1e-7,
    c: float = 1e-4,
    beta: float = 0.5,
    callback: Callback | None = None,
) -> Solution:
    """Minimise by gradient steps, shortened until the value decreases enough.

    A trial is rejected where ``F(trial) > F(w) − c α ‖∇F‖²``. Algorithm 1 of the paper prints
    ``+ c α ‖∇F‖²``, with which the value may rise. Where both values differ by rounding only, their
    difference says nothing, and the slope at the trial decides instead: it must not be steeper than
    ``1 − 2c`` times that at w, upwards (Hager and Zhang 2005, approximate Wolfe condition).

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
        Initial coefficients.
    max_iter : int
        Largest number of steps.
    tol : float
        Gradient norm at which to stop, relative to that at the start.
    c, beta : float
        Required share of the predicted decrease, and the factor by which a step is shortened.
    callback : callable, optional
        Called with coefficients and value after each step; return True to stop.
    """
    coef = np.array(start, dtype=np.float64)
    value, grad = objective(coef)
    norm = float(np.linalg.norm(grad))
    enough = tol * norm
    path = Path(value, callback)
    while norm > enough and path.n_iter < max_iter:
        step, rounding = 1.0, 2.0 * np.finfo(float).eps * abs(value)
        while True:
            trial_value, trial_grad = objective(coef - step * grad)
            if trial_value <= value - c * step * norm**2 or (
                trial_value <= value + rounding and trial_grad @ grad >= (2.0 * c - 1.0) * norm**2
            ):
                break
            step *= beta
            if step < np.finfo(float).eps:
                return path.finish(
                    "Gradient descent", coef, value, norm, converged=False, tol=enough
                )
        coef, value, grad = coef - step * grad, trial_value, trial_grad
        norm = float(np.linalg.norm(grad))
        if not path.record(coef, value):
            break
    return path.finish("Gradient descent", coef, value, norm, converged=norm <= enough, tol=enough)


class _ByDescent(MomentRiskClassifier):
    """The parameters of Algorithm 1."""

    def __init__(
        self, *, fit_intercept: bool = False, max_iter: int = 250, tol: float = 1e-7
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def _minimised(self, objective: Any, start: FloatArray) -> Solution:
        return descent(objective, start, max_iter=self.max_iter, tol=self.tol)


class ExpectedErrorClassifier(_ByDescent):
    r"""F_error (Ghanbari and Scheinberg 2018, eq. 9), minimised by Algorithm 1.

    .. math:: F_{error}(w) = P(Y = +1) \left(1 - \Phi(\mu_{Z^+} / \sigma_{Z^+})\right)
              + P(Y = -1)\, \Phi(\mu_{Z^-} / \sigma_{Z^-}), \qquad
              \mu_{Z^\pm} = w^\top \mu^\pm, \quad \sigma_{Z^\pm}^2 = w^\top \Sigma^\pm w

    Features are taken as they are; the paper gives each mean 0 and variance 1.

    Parameters
    ----------
    fit_intercept : bool
        Whether a constant of one is among the features; in the paper it is not.
    max_iter : int
        Largest number of steps.
    tol : float
        Gradient norm at which to stop, relative to that at the start.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    classes_ : array of shape (2,)
    solution_ : Solution
        Value of the risk, and its history.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X[:, :2])
    >>> round(ExpectedErrorClassifier().fit(X, y).score(X, y), 2)
    0.88
    """

    _risk = CostRisk()


class ExpectedAUCClassifier(_ByDescent):
    r"""F_AUC (Ghanbari and Scheinberg 2018, eq. 14), one minus it minimised by Algorithm 1.

    .. math:: 1 - F_{AUC}(w) = \Phi(\mu_Z / \sigma_Z), \qquad
              \mu_Z = w^\top (\mu^- - \mu^+), \quad
              \sigma_Z^2 = w^\top (\Sigma^+ + \Sigma^-) w

    With independent classes, as the paper takes them. The paper says that it minimises eq. 14,
    which is the AUC. Features are taken as they are; the paper gives each mean 0 and variance 1.

    Parameters
    ----------
    fit_intercept : bool
        Whether to set the intercept, which no ranking depends on, to the threshold of least
        balanced error of normal scores; in the paper there is none.
    max_iter : int
        Largest number of steps.
    tol : float
        Gradient norm at which to stop, relative to that at the start.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    classes_ : array of shape (2,)
    solution_ : Solution
        Value of the risk, and its history.

    Examples
    --------
    >>> from directrix import Moments
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> labels = rows[:, 0] > 0
    >>> classifier = ExpectedAUCClassifier().fit_summary(Moments.of(rows, labels))
    >>> bool(classifier.coef_[0, 0] > np.abs(classifier.coef_[0, 1:]).max())
    True
    """

    _risk = RankingRisk()
