r"""The methods of the tables: each fits a split and scores its test rows.

The paper's, §4: :math:`\min_w F(w) + \lambda (1 - \|w\|^2)^2` for the risks of moments, and
:math:`\min_w F(w) + \lambda \|w\|^2` for losses of rows; all by L-BFGS that remembers 20 steps,
with Wolfe constants 1e-4 and 0.9, until the gradient is at most 1e-4, 500 iterations at most. Risks
start at the part of the positives' mean that is orthogonal to the negatives', losses at random.

Ours, with an intercept and features standardised: `MomentClassifier`, once from the moments alone
("frontier") and once with the point of the family chosen by the training rows ("moments and rows");
logistic regression, C of {0.01, 0.1, 1, 10, 100} with the least log-loss in three folds of the
training rows.
"""

from __future__ import annotations

from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.data import Split
from directrix import MomentClassifier, Moments
from directrix._typing import AnyArray, FloatArray
from directrix.linear.lbfgs import Solution
from directrix.linear.loss import Loss
from directrix.linear.margin import Logistic
from directrix.linear.pairwise import PairwiseHinge
from directrix.moments.risks import CostRisk, RankingRisk
from directrix.papers import NormalErrorClassifier, NormalRankingClassifier
from directrix.papers.base import objective_of
from directrix.papers.ghanbari_li_scheinberg_2019 import wolfe_lbfgs

RISKS: dict[str, CostRisk | RankingRisk] = {"accuracy": CostRisk(), "AUC": RankingRisk()}
CLASSIFIERS = {"accuracy": NormalErrorClassifier, "AUC": NormalRankingClassifier}
LOSSES: dict[str, Loss] = {"accuracy": Logistic(), "AUC": PairwiseHinge(kappa=0.0)}
SCALE_PENALTY = 1e-3
_PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
#: Adam, as in §4.
_EPOCHS, _RATE, _BETAS, _EPSILON = 500, 1e-3, (0.9, 0.999), 1e-8


class Outcome(NamedTuple):
    """Scores of the test rows, and what they took: see `results.Fit`; times are still seconds."""

    scores: FloatArray
    iterations: int
    seconds: float
    moment_seconds: float = 0.0

    def value(self, metric: str, y: AnyArray) -> float:
        """Return accuracy with the threshold at zero, or AUC."""
        if metric == "AUC":
            return float(roc_auc_score(y, self.scores))
        return float(((self.scores > 0) == y).mean())


def least_risk(moments: Moments, metric: str, penalty: float, max_iter: int = 500) -> Solution:
    """Minimise (3.3), or one minus AUC as a risk (3.8), plus λ(1 - |w|²)²."""
    model = CLASSIFIERS[metric](lam=penalty, max_iter=max_iter).fit_summary(moments)
    return model.solution_


def least_loss(
    X: FloatArray, y: AnyArray, metric: str, penalty: float, rng: np.random.Generator
) -> Solution:
    """Minimise the logistic loss (2.4), or the pairwise hinge (2.8), plus λ|w|²."""
    objective = objective_of(X, y, LOSSES[metric], 2.0 * penalty, intercept=False)
    return wolfe_lbfgs(objective, rng.standard_normal(X.shape[1]))


def penalty_of_rows(y: AnyArray, metric: str) -> float:
    """Return the paper's λ of losses: 1/n, or one over the root of the number of pairs."""
    positives = int(y.sum())
    return 1.0 / len(y) if metric == "accuracy" else 1.0 / np.sqrt(positives * (len(y) - positives))


def by_moments(
    split: Split, metric: str, penalty: float = SCALE_PENALTY, exact: Moments | None = None
) -> Outcome:
    """Fit the paper's way: moments of the training rows, or exact ones, then a descent."""
    began = process_time()
    moments = Moments.of(split.X, split.y, sample=0) if exact is None else exact
    between = process_time()
    solution = least_risk(moments, metric, penalty)
    seconds = process_time() - between
    return Outcome(split.X_test @ solution.coef, solution.n_iter, seconds, between - began)


def by_rows(split: Split, metric: str, penalty: float, rng: np.random.Generator) -> Outcome:
    """Fit the loss that is the paper's rival."""
    began = process_time()
    solution = least_loss(split.X, split.y, metric, penalty, rng)
    return Outcome(split.X_test @ solution.coef, solution.n_iter, process_time() - began)


def adam(
    X: FloatArray, y: AnyArray, penalty: float, batch_size: int, rng: np.random.Generator
) -> FloatArray:
    r"""Minimise the logistic loss with a ridge by Adam, from a small random start.

    .. math:: \min_w \frac1n \sum_i \log(1 + e^{-y_i w \cdot x_i}) + \lambda \|w\|^2

    Steps of 0.001, :math:`\beta` of 0.9 and 0.999, :math:`\epsilon` of 1e-8, 500 epochs.
    """
    coef = 0.01 * rng.standard_normal(X.shape[1])
    mean, square = np.zeros((2, X.shape[1]))
    step = 0
    for _ in range(_EPOCHS):
        order = rng.permutation(len(y))
        rows, labels = X[order], y[order].astype(float)
        for first in range(0, len(y), batch_size):
            batch = rows[first : first + batch_size]
            slope = (expit(batch @ coef) - labels[first : first + batch_size]) / len(batch)
            grad = slope @ batch + 2.0 * penalty * coef
            step += 1
            mean = _BETAS[0] * mean + (1.0 - _BETAS[0]) * grad
            square = _BETAS[1] * square + (1.0 - _BETAS[1]) * grad**2
            rate = _RATE * np.sqrt(1.0 - _BETAS[1] ** step) / (1.0 - _BETAS[0] ** step)
            coef = coef - rate * mean / (np.sqrt(square) + _EPSILON)
    return coef


def by_adam(split: Split, batch_size: int, rng: np.random.Generator) -> Outcome:
    """Fit the logistic loss by Adam."""
    began = process_time()
    coef = adam(split.X, split.y, 1.0 / len(split.y), batch_size, rng)
    return Outcome(split.X_test @ coef, 0, process_time() - began)


def by_estimator(split: Split, model: Any) -> Outcome:
    """Fit an estimator of scikit-learn's kind."""
    began = process_time()
    model.fit(split.X, split.y)
    seconds = process_time() - began
    return Outcome(model.decision_function(split.X_test), 0, seconds)


def estimator(method: str, metric: str) -> Any:
    """Return the estimator that a name of the tables stands for."""
    ours = "error" if metric == "accuracy" else "auc"
    if method == "frontier":
        return MomentClassifier(ours, sample=0)
    if method == "moments and rows":
        return MomentClassifier(ours)
    if method == "LDA":
        return LinearDiscriminantAnalysis()
    assert method == "logistic, tuned"
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky"))
    grid = {"logisticregression__C": _PENALTIES}
    return GridSearchCV(model, grid, scoring="neg_log_loss", cv=folds)
