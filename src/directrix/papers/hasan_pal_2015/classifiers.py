"""The classifiers of Hasan and Pal 2015, and two of ours on the same losses."""

from __future__ import annotations

from math import isinf
from typing import Any, NamedTuple, Self
from warnings import warn

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.svm import LinearSVC

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import OneClassPredictedWarning, find_stacklevel
from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.lbfgs import lbfgs
from directrix.linear.margin import Logistic
from directrix.linear.objectives import DataObjective
from directrix.papers.base import PaperClassifier, choice
from directrix.papers.hasan_pal_2015.losses import Sigmoid
from directrix.papers.hasan_pal_2015.plateaus import (
    Found,
    checked_plateaus,
    even_score,
    learn,
    loss_of,
    pair_of,
    probability,
    search,
)
from directrix.papers.hasan_pal_2015.search import (
    ConstantObjective,
    PenalizedInterceptObjective,
    search_errors,
)
from directrix.papers.hasan_pal_2015.vertex import vertex_search
from directrix.papers.kernels import KernelRows, kernel_of

_EXACT: dict[str, Any] = {"tol": 1e-9, "ftol": 1e-14, "max_iter": 2000}
_ROUGH: dict[str, Any] = {"tol": 1e-6, "ftol": 1e-9, "max_iter": 2000}


class Variant(NamedTuple):
    """A configuration of §5: its plateaus, and the search for the least training error."""

    plateaus: str
    search: str

    @property
    def learns(self) -> bool:
        """Whether plateaus and sharpness are learned in turn with the coefficients."""
        return self.plateaus == "learned"


VARIANTS = {
    "BBLR1": Variant("weak", "sla"),
    "BBLR2": Variant("empirical", "sla"),
    "BBLR3": Variant("empirical", "slam"),
    "BBLR4": Variant("learned", "slam"),
}


class SLAClassifier(PaperClassifier):
    r"""L_sig (Hasan and Pal 2015, eq. 9–10; Nguyen and Sanner 2013), minimised by SLA.

    .. math:: \min_{w, b} \sum_i \frac{1}{1 + e^{\gamma y_i (w^\top x_i + b)}}, \qquad
              \gamma = 2, 20, 200

    without a penalty, from a linear support vector machine (C = 1). Of all points of the path the
    one with the fewest training errors is kept. Features are taken as they are; the constants of
    the search suit standardised ones.

    Parameters
    ----------
    fit_intercept : bool
        Whether there is b. The paper writes :math:`w^\top x`, and its errors are those with b.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    classes_ : array of shape (2,)
    solution_ : Solution
        Share of training errors, and its history.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = SLAClassifier().fit(scale(X), y)
    >>> round(classifier.score(scale(X), y), 2)
    0.99
    """

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Search from a linear support vector machine of the rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        """
        X, positive = self._rows(X, y)
        svm = LinearSVC(dual="auto", fit_intercept=self.fit_intercept, random_state=0)
        start = np.append(svm.fit(X, positive).coef_, svm.intercept_)
        weight, constant = np.ones(len(positive)), float(self.fit_intercept)
        objective = ConstantObjective(X, positive, weight, Sigmoid(), constant=constant)
        return self._keep(search_errors("sla", objective, start).solution, intercept=True)


class _BetaBernoulli(PaperClassifier):
    """Base class of models with plateaus: what follows from coefficients and their loss."""

    loss_: BetaBernoulli
    plateaus_: tuple[float, float]
    lam_: float
    _coef: FloatArray

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class under the model: never 0 nor 1 (eq. 19).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n, 2)
        """
        scores = self._columns(X) @ self._weights + self._coef[-1]
        positive = probability(self.loss_, expit(self.loss_.gamma * scores))
        return np.column_stack([1.0 - positive, positive])

    def _keep_found(self, found: Found, n_rows: int) -> None:
        self.loss_, self.plateaus_ = found.loss, pair_of(found.loss)
        self.lam_, self.n_iter_, self._coef = found.ridge * n_rows, found.n_iter, found.coef
        even = even_score(found.loss)
        if isinf(even):
            label, (a, b) = self.classes_.tolist()[even < 0], self.plateaus_
            warn(
                f"every row is predicted {label!r}: probabilities are from {a:.3g} to "
                f"{a + b:.3g}, on one side of one half. Use predict_proba with a threshold of "
                "your own.",
                OneClassPredictedWarning,
                stacklevel=find_stacklevel(),
            )
        self.intercept_ = found.coef[-1:] - even


class _Rows(NamedTuple):
    """What is fitted: columns, labels, λ over the number of rows, and the constant feature."""

    columns: Any
    positive: AnyArray
    ridge: float
    constant: float = 1.0

    def objective(self, loss: BetaBernoulli) -> PenalizedInterceptObjective:
        weight = np.ones(len(self.positive))
        return PenalizedInterceptObjective(
            self.columns, self.positive, weight, loss, self.ridge, self.constant
        )

    def logistic(self) -> FloatArray:
        """Return the coefficients of logistic regression, where descents start."""
        objective = self.objective(BetaBernoulli(mixing=0.0))
        return lbfgs(objective, np.zeros(self.columns.shape[1] + 1), **_ROUGH).coef

    def with_plateaus(self, plateaus: Any, start: FloatArray) -> PenalizedInterceptObjective:
        """Return the objective whose plateaus may follow from a start."""
        objective = self.objective(BetaBernoulli())
        scores = objective.scores(start)
        return self.objective(loss_of(plateaus, self.positive, objective.weight, scores))

    def searched(self, variant: Variant, start: FloatArray, *, sparse_prior: bool = False) -> Found:
        """Search from given coefficients of the columns."""
        objective = self.with_plateaus(variant.plateaus, start)
        options = {"learns_plateaus": variant.learns, "sparse": sparse_prior}
        return search(objective, start, variant.search, **options)


class BetaBernoulliClassifier(_BetaBernoulli):
    r"""BBLR¹ to BBLR⁴ (Hasan and Pal 2015, eq. 19, 24 and 39), by Algorithms 1 and 2.

    .. math:: \min_{w, b}\ -\sum_i \left[ y_i \log \mu_i + (1 - y_i) \log(1 - \mu_i) \right]
              + \frac\lambda2 \|w\|^2, \qquad
              \mu_i = \varpi\theta + (1 - \varpi)\, \sigma(\gamma (w^\top x_i + b))

    No row can cost more than the plateau :math:`-\log \varpi\theta` or
    :math:`-\log \varpi(1 - \theta)`. The intercept is the coefficient of a constant among the
    features, penalised by 1e-8 of its square only. Features are taken as they are; the constants of
    the search suit standardised ones.

    Parameters
    ----------
    variant : "BBLR1", "BBLR2", "BBLR3" or "BBLR4"
        The plateaus are weak (α = β = 1, n = 100), empirical (counts of the classes), again
        empirical, or learned with γ in turn with the coefficients. The first two search by SLA with
        fixed constants; the others by SLAM, in which held-out rows choose λ, r, γ_min and γ_max.
    lam : float
        λ; SLAM replaces it.
    fit_intercept : bool
        Whether there is b. The paper writes :math:`w^\top x`, and its errors are those with b.
        Without b, ``intercept_`` is minus the score at which both classes are equally probable.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
        Coefficients of the score, which is zero where both classes are equally probable.
    classes_ : array of shape (2,)
    loss_ : BetaBernoulli
        The loss, with ϖ, θ and γ; with SLA and SLAM, γ is the last of the path.
    plateaus_ : tuple of float
        Probabilities are from a to a + b (eq. 5).
    lam_ : float
        λ, of "BBLR3" and "BBLR4" the one that was chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = BetaBernoulliClassifier("BBLR2").fit(scale(X), y)
    >>> round(classifier.score(scale(X), y), 2)
    0.99
    """

    def __init__(
        self, variant: str = "BBLR3", *, lam: float = 1.0, fit_intercept: bool = True
    ) -> None:
        self.variant = variant
        self.lam = lam
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Search from logistic regression with the same λ.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        """
        variant = VARIANTS[choice("variant", self.variant, VARIANTS)]
        X, positive = self._rows(X, y)
        rows = _Rows(X, positive, self.lam / len(positive), float(self.fit_intercept))
        self._keep_found(rows.searched(variant, rows.logistic()), len(positive))
        self.coef_ = self._coef[None, :-1].copy()
        return self


class _KernelClassifier(_BetaBernoulli):
    """Base class of models whose columns are the kernels of rows (eq. 36)."""

    def __init__(
        self,
        variant: str = "BBLR2",
        *,
        kernel: Any = "rbf",
        tau: float = 1.0,
        lam: float = 1.0,
        fit_intercept: bool = True,
    ) -> None:
        self.variant = variant
        self.kernel = kernel
        self.tau = tau
        self.lam = lam
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Search for the coefficients of the distinct rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        """
        variant = VARIANTS[choice("variant", self.variant, VARIANTS)]
        X, positive = self._rows(X, y)
        space = KernelRows.of(kernel_of(self.kernel, self.tau), X)
        rows = _Rows(space.of_rows, positive, self.lam / X.shape[0], float(self.fit_intercept))
        found = self._found(space, rows, variant)
        kept = np.arange(len(found.coef) - 1) if found.kept is None else found.kept
        found = found._replace(coef=found.coef[np.append(kept, -1)])
        self._keep_found(found, len(positive))
        self.support_ = space.centers[kept]
        self.dual_coef_, self.support_vectors_ = found.coef[None, :-1], X[self.support_]
        return self

    def _found(self, space: KernelRows, rows: _Rows, variant: Variant) -> Found:
        raise NotImplementedError


class KernelBetaBernoulliClassifier(_KernelClassifier):
    r"""KBBLR (Hasan and Pal 2015, eq. 36–38), with a Gaussian prior on the coefficients.

    .. math:: f(x) = \sum_j a_j K(x, x_j) + b, \qquad
              \mu = \varpi\theta + (1 - \varpi)\, \sigma(\gamma f(x)), \qquad
              \frac\lambda2 \|a\|^2

    The paper penalises :math:`\|a\|^2`, not the norm of f. Features are taken as they are.

    Parameters
    ----------
    variant : "BBLR1", "BBLR2", "BBLR3" or "BBLR4"
        Plateaus and search, as in `BetaBernoulliClassifier`.
    kernel : "linear", "rbf", "polynomial", "min" or callable
    tau : float
        Bandwidth of the kernel "rbf", :math:`e^{-\|x - z\|^2 / 2 \tau^2}`.
    lam : float
        λ; SLAM replaces it.
    fit_intercept : bool
        Whether there is b, which eq. 36 lacks.

    Attributes
    ----------
    dual_coef_, support_, support_vectors_ : arrays of shape (1, k), (k,) and (k, d)
        The coefficients a, the indices of their rows, the rows.
    intercept_ : array of shape (1,)
    classes_ : array of shape (2,)
    loss_, plateaus_, lam_ : BetaBernoulli, tuple and float
        As in `BetaBernoulliClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> KernelBetaBernoulliClassifier(tau=0.5, lam=0.1).fit(X, y).score(X, y) > 0.9
    True
    """

    def _found(self, space: KernelRows, rows: _Rows, variant: Variant) -> Found:
        del space
        return rows.searched(variant, rows.logistic())


class SparseKernelBetaBernoulliClassifier(_KernelClassifier):
    r"""Sparse KBBLR (Hasan and Pal 2015, eq. 36 and 41), by Algorithm 3.

    .. math:: f(x) = \sum_j a_j K(x, x_j) + b, \qquad
              p(a) = \pi_g\, \mathcal N(a; 0, \sigma^2) + \pi_l\, \tfrac{1}{2 b_l} e^{-|a| / b_l}

    Under the mixture most coefficients are in the cluster of the Laplacian, and are set to zero.
    Under a strong λ all of them go there, since eq. 41 has no bound at zero: then every row is of
    one class. Under a weak one the Laplacian may stay wide, and none is set to zero. A
    `ConvergenceWarning` tells of both.

    The search starts from kernel logistic regression. Parameters and attributes are those of
    `KernelBetaBernoulliClassifier`; λ is that of the start and of the first descent, before there
    is a prior.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(40, noise=0.2, random_state=0)
    >>> classifier = SparseKernelBetaBernoulliClassifier(lam=0.01).fit(X, y)
    >>> len(classifier.support_) < 40
    True
    """

    def _found(self, space: KernelRows, rows: _Rows, variant: Variant) -> Found:
        coordinates, back = space.coordinates()
        start = rows._replace(columns=coordinates).logistic()
        start = np.append(back @ start[:-1], start[-1])
        return rows.searched(variant, start, sparse_prior=True)


class PlateauClassifier(_BetaBernoulli):
    r"""Ours, not the paper's: the loss of eq. 39 at γ = 1 by L-BFGS, with learned plateaus.

    .. math:: \min_{w, b}\ -\sum_i \log p(y_i \mid x_i) + \frac\lambda2 \|w\|^2

    ϖ and θ are learned together with the coefficients (eq. 31–35), from the error rates of logistic
    regression (eq. 29–30), under a prior Beta(2, 2) of the weight of a row or two. Under outliers
    it makes fewer errors than the searches. Features are taken as they are.

    Parameters
    ----------
    plateaus : "learned", "robust", "weak", "empirical" or (a, b)
        Probabilities are from a to a + b. "robust" is (0.15, 0.7).
    lam : float
        λ.

    Attributes
    ----------
    coef_, intercept_, classes_, loss_, plateaus_, lam_
        As in `BetaBernoulliClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> probability = PlateauClassifier("robust").fit(scale(X), y).predict_proba(scale(X))[:, 1]
    >>> float(probability.min().round(2)), float(probability.max().round(2))
    (0.15, 0.85)
    """

    def __init__(self, plateaus: Any = "learned", *, lam: float = 1.0) -> None:
        self.plateaus = plateaus
        self.lam = lam

    def fit(self, X: Any, y: Any) -> Self:
        """Minimise from logistic regression with the same λ.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        """
        plateaus = checked_plateaus(self.plateaus)
        X, positive = self._rows(X, y)
        rows = _Rows(X, positive, self.lam / len(positive))
        start = rows.logistic()
        objective = rows.with_plateaus(plateaus, start)
        if plateaus == "learned":
            found = learn(objective, start, **_EXACT)
        else:
            solution = lbfgs(objective, start, **_EXACT)
            loss: Any = objective.loss
            found = Found(solution.coef, loss, objective.ridge, solution.n_iter)
        self._keep_found(found, len(positive))
        self.coef_ = self._coef[None, :-1].copy()
        return self


class VertexSearchClassifier(PaperClassifier):
    r"""Ours, not the paper's: L_01 (Hasan and Pal 2015, eq. 4) by a search over vertices.

    .. math:: \min_{w, b} \sum_i [y_i (w^\top x_i + b) \le 0]

    It makes fewer training errors than SLA; see `vertex_search`. It starts from logistic
    regression.

    Parameters
    ----------
    max_steps : int
        Largest number of steps.
    random_state : int
        Breaks ties, and draws restarts.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    classes_ : array of shape (2,)
    solution_ : Solution
        Number of training errors, and its history.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = VertexSearchClassifier(max_steps=50).fit(X, y)
    >>> round((1 - classifier.score(X, y)) * len(y)) == classifier.solution_.value
    True
    """

    def __init__(self, *, max_steps: int = 2000, random_state: int = 0) -> None:
        self.max_steps = max_steps
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Search from logistic regression.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        """
        X, positive = self._rows(X, y)
        X = X.toarray() if sparse.issparse(X) else X
        spread = X.std(axis=0)
        spread[spread == 0] = 1.0
        centre = X.mean(axis=0)
        rows = (X - centre) / spread
        logistic = DataObjective(rows, positive, np.ones(len(rows)), Logistic(), 1e-3)
        start = lbfgs(logistic, np.zeros(X.shape[1] + 1), **_ROUGH).coef
        start[:-1] /= spread
        start[-1] -= start[:-1] @ centre
        signed = np.where(positive, 1.0, -1.0)[:, None] * np.column_stack([X, np.ones(len(X))])
        rng = np.random.default_rng(self.random_state)
        solution = vertex_search(signed, start, max_steps=self.max_steps, rng=rng)
        return self._keep(solution, intercept=True)
