"""Chuang 2017 (notes on CS229): losses of margins, kernels, and stochastic gradients.

Regularised empirical risks of margin losses, linear or by the representer theorem in the span of a
kernel, without an intercept. The notes minimise them by stochastic gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import exp
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import find_stacklevel
from directrix.linear.lbfgs import Solution, lbfgs
from directrix.linear.loss import require_above_zero
from directrix.linear.margin import Logistic, MarginLoss
from directrix.papers.base import PaperClassifier, choice, objective_of
from directrix.papers.bundle import bundle
from directrix.papers.kernels import KernelRows, kernel_of

__all__ = ["LOSSES", "Exponential", "Hinge", "MarginLossClassifier", "Squared"]

# ── Losses, and their slopes at a single margin ───────────────────────────────────────────────────

_STEEPEST = 500.0  # exponent from which the exponential loss goes on along its tangent


@dataclass(frozen=True)
class Hinge(MarginLoss):
    r"""Hinge loss, :math:`\varphi(z) = [1 - z]_+`, with one of its subgradients."""

    name: ClassVar[str] = "hinge"

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative at every margin."""
        return np.maximum(1.0 - z, 0.0), -(z < 1.0).astype(np.float64)


@dataclass(frozen=True)
class Exponential(MarginLoss):
    r"""Exponential loss, :math:`\varphi(z) = e^{-z}`; beyond :math:`e^{500}` along its tangent."""

    name: ClassVar[str] = "exponential"

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative at every margin."""
        slope = np.exp(np.minimum(-z, _STEEPEST))
        return slope * (1.0 + np.maximum(-z - _STEEPEST, 0.0)), -slope


@dataclass(frozen=True)
class Squared(MarginLoss):
    r"""Squared loss, :math:`\varphi(z) = \frac12 (1 - z)^2`, which is half of (θᵀx − y)²."""

    name: ClassVar[str] = "squared"

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative at every margin."""
        short = 1.0 - z
        return 0.5 * short * short, -short


def _logistic_slope(z: float) -> float:
    return -1.0 / (1.0 + exp(z)) if z < _STEEPEST else 0.0


#: The losses by name, each with its slope at one margin: a stochastic gradient needs no array.
LOSSES: dict[str, tuple[MarginLoss, Callable[[float], float]]] = {
    "logistic": (Logistic(), _logistic_slope),
    "hinge": (Hinge(), lambda z: -1.0 if z < 1.0 else 0.0),
    "exponential": (Exponential(), lambda z: -exp(min(-z, _STEEPEST))),
    "squared": (Squared(), lambda z: z - 1.0),
}

# ── Stochastic gradients ──────────────────────────────────────────────────────────────────────────

_LEAST_STEEPNESS = 0.25
#: The losses whose steps scikit-learn has compiled, by their names there.
_COMPILED = {"logistic": "log_loss", "hinge": "hinge", "squared": "squared_error"}


def _steepness(slope: Callable[[float], float]) -> float:
    """Return how much a slope changes per unit of the margin between −1 and 1, at least 1/4.

    That is the largest curvature of the logistic loss.
    """
    return max(_LEAST_STEEPNESS, 0.5 * (slope(1.0) - slope(-1.0)))


def _step_sizes(first: float, taken: int, n: int) -> FloatArray:
    sizes: FloatArray = first / np.sqrt(np.arange(taken + 1.0, taken + n + 1.0))
    return sizes


def linear_sgd(
    X: Any,
    positive: AnyArray,
    loss: str,
    *,
    lam: float,
    value_of: Callable[[FloatArray], float],
    intercept: bool,
    passes: int,
    rng: Any,
) -> Solution:
    r"""Minimise a mean loss of margins with a ridge, one row at a time.

    .. math:: \theta \leftarrow \theta - \eta_t \big[ \varphi'(y_i \theta^\top x_i)\, y_i x_i
              + \lambda \theta \big], \qquad \eta_t = \frac{c}{\sqrt t}

    for a row i drawn at random. The first step is :math:`c = 1 / (\lambda + L \max_i
    (1 + \|x_i\|^2))` with L the `_steepness` of the loss. It starts from zero; a pass is as many
    steps as there are rows. scikit-learn takes the steps of the losses that it knows, but for the
    intercept of sparse rows, whose step it shortens.
    """
    slope = LOSSES[loss][1]
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else (X * X).sum(axis=1)
    first, n = 1.0 / (lam + _steepness(slope) * (1.0 + float(np.max(squares)))), len(positive)
    compiled = None
    if loss in _COMPILED and not (intercept and sparse.issparse(X)):
        steps = {"learning_rate": "invscaling", "eta0": first, "power_t": 0.5, "shuffle": False}
        compiled = SGDClassifier(loss=_COMPILED[loss], alpha=lam, fit_intercept=intercept, **steps)
    point = np.zeros(X.shape[1] + 1)
    history = [value_of(point)]
    for number in range(passes):
        drawn = rng.randint(n, size=n)
        rows, labels = X[drawn], positive[drawn]
        if compiled is not None:
            compiled.partial_fit(rows, labels, classes=[False, True])
            point = np.append(compiled.coef_, compiled.intercept_)
        else:
            sizes = _step_sizes(first, number * n, n)
            point = _stepped(point, rows, labels, slope, sizes, lam, float(intercept))
        history.append(value_of(point))
        _require_bounded(history)
    return _solution(point, history)


def _stepped(
    point: FloatArray,
    rows: Any,
    labels: AnyArray,
    slope: Callable[[float], float],
    sizes: FloatArray,
    lam: float,
    free: float,
) -> FloatArray:
    """Return coefficients and intercept after a step along each row; ``free`` 0 is no intercept."""
    theta, bias = point[:-1].copy(), float(point[-1])
    columns: Iterable[Any] = repeat(slice(None))
    values = rows
    if sparse.issparse(rows):
        columns, values = (np.split(x, rows.indptr[1:-1]) for x in (rows.indices, rows.data))
    signs = np.where(labels, 1.0, -1.0).tolist()
    for at, value, sign, size in zip(columns, values, signs, sizes.tolist(), strict=False):
        move = size * slope(sign * (float(value.dot(theta[at])) + bias)) * sign
        theta *= 1.0 - size * lam
        theta[at] -= move * value
        bias -= free * move
    return np.append(theta, bias)


def kernel_sgd(
    space: KernelRows,
    positive: AnyArray,
    slope: Callable[[float], float],
    *,
    lam: float,
    value_of: Callable[[FloatArray], float],
    intercept: bool,
    passes: int,
    rng: Any,
) -> Solution:
    r"""Minimise a mean loss of margins plus λ/2 αᵀKα, one row at a time.

    .. math:: \alpha \leftarrow \alpha - \eta_t \left[ \varphi'\, y_i K^{(i)}
              + m \lambda K^{(i)} \alpha_i \right], \qquad \eta_t = \frac{c}{\sqrt t}

    for a row i drawn at random; equal rows share a coefficient. The notes warn that the term of the
    penalty is multiplied by the number of rows to be unbiased, so that steps are unstable unless λ
    is small. c is the longest step that the loss alone allows, :math:`1 / (L \max_i (1 +
    \|K^{(i)}\|^2))` with L the `_steepness` of the loss.
    """
    sign = np.where(positive, 1.0, -1.0)
    center, n = space.center_of_row.tolist(), len(sign)
    columns, signs = list(space.matrix), sign.tolist()
    penalty = (lam * n / np.bincount(space.center_of_row)).tolist()
    longest = float(np.einsum("ij,ij->i", space.matrix, space.matrix).max())
    first = 1.0 / (_steepness(slope) * (1.0 + longest))
    if first * max(penalty) * np.sqrt(longest) > 1.0:
        warn(
            f"lam={lam:g} is large for solver='sgd' with a kernel: steps along the penalty are "
            "multiplied by the number of rows, and may be unstable. Give a smaller lam, or "
            "solver='exact'.",
            ConvergenceWarning,
            stacklevel=find_stacklevel(),
        )
    dual, bias, free = np.zeros(len(space.matrix)), 0.0, float(intercept)
    history = [value_of(np.append(dual, bias))]
    for number in range(passes):
        drawn = rng.randint(n, size=n).tolist()
        for i, size in zip(drawn, _step_sizes(first, number * n, n).tolist(), strict=True):
            c = center[i]
            column = columns[c]
            move = size * slope(signs[i] * (float(column.dot(dual)) + bias)) * signs[i]
            dual -= (move + size * penalty[c] * float(dual[c])) * column
            bias -= free * move
        history.append(value_of(np.append(dual, bias)))
        _require_bounded(history)
    return _solution(np.append(dual, bias), history)


def _require_bounded(history: Sequence[float]) -> None:
    if not history[-1] < 2.0 * history[0] + 1.0:
        msg = (
            f"solver='sgd' diverged in pass {len(history) - 1}: standardise the features, give a "
            "smaller lam, or solver='exact'"
        )
        raise ValueError(msg)


def _solution(coef: FloatArray, history: Sequence[float]) -> Solution:
    passes = len(history) - 1
    return Solution(coef, history[-1], np.nan, passes, converged=True, history=tuple(history))


# ── The classifier ────────────────────────────────────────────────────────────────────────────────


def _has_probabilities(classifier: MarginLossClassifier) -> bool:
    return classifier.loss == "logistic"


class MarginLossClassifier(PaperClassifier):
    r"""J_λ(θ), or with a kernel J_λ(α), of Chuang 2017 (notes on CS229).

    .. math:: J_\lambda(\theta) = \frac1m \sum_i \varphi\big(y^{(i)} \theta^\top x^{(i)}\big)
              + \frac\lambda2 \|\theta\|_2^2, \qquad
              J_\lambda(\alpha) = \frac1m \sum_i \varphi\big(y^{(i)} K^{(i)\top} \alpha\big)
              + \frac\lambda2 \alpha^\top K \alpha

    Features are taken as they are. With ``loss="hinge"`` and a kernel it is a support vector
    machine without intercept, whose C is :math:`1 / (\lambda m)`.

    Parameters
    ----------
    loss : "logistic", "hinge", "exponential" or "squared"
        φ.
    kernel : None, "linear", "rbf", "polynomial", "min" or callable
        None is θ itself. "min" is for features that are never negative.
    tau : float
        τ, the bandwidth of the kernel "rbf".
    lam : float
        λ.
    fit_intercept : bool
        Whether an intercept without penalty is added; the notes have none.
    solver : "sgd" or "exact"
        Stochastic gradients with the steps of the notes, :math:`c / \sqrt t`; or the minimum, by
        L-BFGS, of the hinge by BMRM.
    max_iter : int
        Passes of "sgd" over the rows.
    random_state : int, RandomState or None
        Draws the rows of "sgd".

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
        Without a kernel; with one there is no ``coef_``.
    dual_coef_, support_, support_vectors_ : arrays of shape (1, k), (k,) and (k, d)
        With a kernel: the coefficients α that are not zero, the indices of their rows, the rows.
    classes_ : array of shape (2,)
    solution_ : Solution
        Value of the risk, and its history.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = MarginLossClassifier(random_state=0).fit(scale(X), y)
    >>> round(classifier.score(scale(X), y), 2)
    0.96
    """

    def __init__(
        self,
        loss: str = "logistic",
        *,
        kernel: Any = None,
        tau: float = 1.0,
        lam: float = 1e-3,
        fit_intercept: bool = False,
        solver: str = "sgd",
        max_iter: int = 50,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.kernel = kernel
        self.tau = tau
        self.lam = lam
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Minimise the mean loss of the rows, with the penalty.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        """
        choice("loss", self.loss, LOSSES)
        choice("solver", self.solver, ("sgd", "exact"))
        require_above_zero(lam=self.lam)
        X, positive = self._rows(X, y)
        if self.kernel is None:
            solution = (
                self._by_sgd(X, positive) if self.solver == "sgd" else self._exact(X, positive)
            )
            return self._keep(solution, intercept=True)
        space = KernelRows.of(kernel_of(self.kernel, self.tau), X)
        if self.solver == "sgd":
            solution = self._by_kernel_sgd(space, positive)
        else:
            coordinates, back = space.coordinates()
            solution = self._exact(coordinates, positive)
            solution = solution._replace(
                coef=np.append(back @ solution.coef[:-1], solution.coef[-1])
            )
        self.solution_, self.n_iter_ = solution, solution.n_iter
        kept = np.flatnonzero(solution.coef[:-1])
        self.dual_coef_, self.intercept_ = solution.coef[None, kept], solution.coef[-1:]
        self.support_ = space.centers[kept]
        self.support_vectors_ = X[self.support_]
        return self

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        r"""Return the probabilities of the logistic model, :math:`1 / (1 + e^{-y \theta^\top x})`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n, 2)
        """
        scores = self.decision_function(X)
        return np.column_stack([expit(-scores), expit(scores)])

    def _by_sgd(self, X: Any, positive: AnyArray) -> Solution:
        objective = objective_of(X, positive, LOSSES[self.loss][0], self.lam, intercept=True)
        return linear_sgd(
            X, positive, self.loss, value_of=lambda coef: objective(coef)[0], **self._options()
        )

    def _by_kernel_sgd(self, space: KernelRows, positive: AnyArray) -> Solution:
        loss, slope = LOSSES[self.loss]
        ones = np.ones(len(positive))

        def value_of(point: FloatArray) -> float:
            function = space.matrix @ point[:-1]
            scores = function[space.center_of_row] + point[-1]
            mean = loss.value_and_grad(positive, scores, ones)[0]
            return mean + 0.5 * self.lam * float(point[:-1] @ function)

        return kernel_sgd(space, positive, slope, value_of=value_of, **self._options())

    def _options(self) -> dict[str, Any]:
        return {
            "lam": self.lam,
            "intercept": self.fit_intercept,
            "passes": self.max_iter,
            "rng": check_random_state(self.random_state),
        }

    def _exact(self, X: Any, positive: AnyArray) -> Solution:
        """Return the minimum, the intercept last."""
        loss = LOSSES[self.loss][0]
        start = np.zeros(X.shape[1] + self.fit_intercept)
        of: dict[str, Any] = {"intercept": self.fit_intercept}
        if self.loss == "hinge":
            risk = objective_of(X, positive, loss, 0.0, **of)
            penalised = np.arange(len(start)) < X.shape[1]
            solution = bundle(risk, start, ridge=self.lam, penalised=penalised, tol=1e-4)
        else:
            objective = objective_of(X, positive, loss, self.lam, **of)
            solution = lbfgs(objective, start, tol=1e-8, ftol=1e-13, max_iter=2000)
        if self.fit_intercept:
            return solution
        return solution._replace(coef=np.append(solution.coef, 0.0))
