"""Fitting a Beta-Bernoulli model to rows, and choosing its ridge on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from directrix.classifiers.beta_bernoulli.error_search import Found, search
from directrix.classifiers.beta_bernoulli.plateaus import (
    LEARNABLE,
    checked_plateaus,
    learn,
    loss_of,
)
from directrix.classifiers.beta_bernoulli.sparse_prior import (
    GaussianLaplace,
    PenalizedInterceptObjective,
    newton_refine,
    prune,
)
from directrix.classifiers.kernels.expansion import (
    Kernel,
    KernelColumns,
    KernelExpansion,
    LinearColumns,
)
from directrix.fitting.progress import Progress
from directrix.fitting.sgd import kernel_sgd, linear_sgd
from directrix.fitting.training_rows import TrainingRows
from directrix.losses import BetaBernoulli
from directrix.solve import lbfgs

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

    Columns = LinearColumns | KernelColumns | KernelExpansion

_SOLVERS = ("lbfgs", "sgd", "sla", "slam")
_PRIORS = ("gaussian", "gaussian-coefficients", "gaussian-laplace")
_EXACT = {"tol": 1e-9, "ftol": 1e-14, "max_iter": 2000}
# Accurate enough for starting points and for comparing ridges.
_ROUGH = {"tol": 1e-6, "ftol": 1e-9, "max_iter": 2000}


class FittedModel(NamedTuple):
    """A model fitted to rows.

    Parameters
    ----------
    coef : array
        Coefficients of the features, or with a kernel of the rows; intercept last.
    loss : BetaBernoulli
        The loss, with learned parameters.
    n_iter : int
    kept : array of int
        Indices of the coefficients that are not pruned.
    support : array of int
        Indices of the features, or with a kernel of the rows, with these coefficients.
    prior : GaussianLaplace or None
    scores : array of shape (n,)
        Scores of the rows.
    columns_for : callable
        Returns the columns that the coefficients multiply, for other rows.
    alpha : float
        The ridge: with SLAM the one that it chose.
    """

    coef: FloatArray
    loss: BetaBernoulli
    n_iter: int
    kept: AnyArray
    support: AnyArray
    prior: GaussianLaplace | None
    scores: FloatArray
    columns_for: Any
    alpha: float

    def turned(self) -> FittedModel:
        """Return the model of the other class: with scores of the other sign."""
        loss = replace(self.loss, prior_mean=1.0 - self.loss.prior_mean)
        return self._replace(coef=-self.coef, loss=loss, scores=-self.scores)


@dataclass(frozen=True)
class Recipe:
    """The checked parameters of a fit to rows, apart from the ridge.

    Parameters
    ----------
    plateaus, prior, learn, solver
        Parameters of `BetaBernoulliClassifier`.
    kernel : Kernel or None
    seed : int
        Seed of the random solvers.
    """

    plateaus: Any
    kernel: Kernel | None
    prior: str
    learn: tuple[str, ...]
    solver: str
    seed: int

    @classmethod
    def of(cls, classifier: Any) -> Recipe:
        """Return the recipe of a classifier's parameters; raise ValueError for invalid ones."""
        plateaus = checked_plateaus(classifier.plateaus)
        learned = _checked_names(classifier.learn)
        if isinstance(plateaus, str) and plateaus == "learned":
            learned |= {"mixing", "prior_mean"}
        recipe = cls(
            plateaus,
            Kernel.of(classifier.kernel, classifier.kernel_params),
            classifier.prior,
            tuple(name for name in LEARNABLE if name in learned),
            classifier.solver,
            int(check_random_state(classifier.random_state).randint(2**31)),
        )
        recipe._check()
        return recipe

    def _check(self) -> None:
        """Raise ValueError for parameters that cannot be combined."""
        for name, known in (("prior", _PRIORS), ("solver", _SOLVERS)):
            if getattr(self, name) not in known:
                choices = ", ".join(map(repr, known))
                msg = f"{name} must be one of {choices}, not {getattr(self, name)!r}"
                raise ValueError(msg)
        if self.solver == "lbfgs":
            return
        if self.solver == "sgd" and (self.learn or self.sparse):
            msg = (
                "solver='sgd' learns no plateaus and has no prior 'gaussian-laplace': "
                "give solver='lbfgs'"
            )
            raise ValueError(msg)

    @property
    def sparse(self) -> bool:
        """Whether the prior makes coefficients zero."""
        return self.prior == "gaussian-laplace"

    @property
    def searches_errors(self) -> bool:
        """Whether the solver searches for the least training error."""
        return self.solver in ("sla", "slam")

    def fit(self, rows: TrainingRows, alpha: float) -> FittedModel:
        """Fit to rows, starting from logistic regression with the same ridge.

        The start is never the solution of a neighbouring ridge: under a strong ridge coefficients
        may be zero, where the loss with plateaus has next to no slope for a weaker ridge.
        """
        return self._fit(self._space(rows), rows, alpha, exact=True)

    def _space(self, rows: TrainingRows) -> Columns:
        """Return the columns of the model; with a kernel this is the expensive part."""
        if self.kernel is None:
            return LinearColumns(rows.X)
        if self.prior == "gaussian-coefficients":
            return KernelColumns.from_rows(self.kernel, rows.X)
        return KernelExpansion.from_rows(self.kernel, rows.X)

    def _fit(
        self,
        space: Columns,
        rows: TrainingRows,
        alpha: float,
        *,
        exact: bool,
    ) -> FittedModel:
        """Fit to rows whose columns have been computed."""
        if self.sparse and not self.searches_errors and alpha <= 0:
            msg = "prior='gaussian-laplace' starts from a ridge: give alpha above zero"
            raise ValueError(msg)
        ridge = alpha / float(rows.weight.sum())
        logistic = PenalizedInterceptObjective(
            space.X, rows.positive, rows.weight, BetaBernoulli(mixing=0.0), ridge
        )
        start = lbfgs(logistic, np.zeros(space.X.shape[1] + 1), **_ROUGH).coef  # type: ignore[arg-type]
        loss = loss_of(self.plateaus, rows.positive, rows.weight, logistic.scores(start))
        objective = replace(logistic, loss=loss)
        prior, kept = None, None
        if self.solver == "sgd":
            rng = np.random.RandomState(self.seed)
            if isinstance(space, KernelExpansion):
                by_rows = replace(objective, X=space.columns)
                solution = kernel_sgd(by_rows, space.center_index, rng, alpha=alpha)
            else:
                solution = linear_sgd(objective, rng)
            coef, n_iter = solution.coef, solution.n_iter
        else:
            found = self._minimize(space, objective, start, exact=exact)
            coef, loss, n_iter = found.coef, found.loss, found.n_iter
            prior, kept = found.prior, found.kept
            if self.solver == "slam":
                alpha = found.ridge * float(rows.weight.sum())
        if kept is None:
            kept = np.arange(len(coef) - 1)
        scores = space.columns @ coef[:-1] + coef[-1]
        support = space.centers[kept]
        return FittedModel(
            coef, loss, n_iter, kept, support, prior, scores, space.columns_for, alpha
        )

    def _minimize(
        self,
        space: Columns,
        objective: PenalizedInterceptObjective,
        start: FloatArray,
        *,
        exact: bool,
    ) -> Found:
        """Return the coefficients of the columns, their loss, and what else was found."""
        loss: Any = objective.loss
        columns = replace(objective, X=space.columns)

        def of_columns(coef: FloatArray) -> FloatArray:
            return np.append(space.coefficients(coef[:-1]), coef[-1])

        if self.searches_errors and self.sparse:
            return search(columns, of_columns(start), self.solver, self.learn, sparse=True)
        if self.searches_errors:
            found = search(objective, start, self.solver, self.learn)
        elif self.learn:
            learned = learn(objective, start, self.learn, **(_EXACT if exact else _ROUGH))
            found = Found(learned.coef, learned.loss, objective.ridge, learned.solution.n_iter)
        else:
            solution = lbfgs(objective, start, **(_EXACT if exact else _ROUGH))  # type: ignore[arg-type]
            coef = newton_refine(objective, solution.coef) if exact else solution.coef
            found = Found(coef, loss, objective.ridge, solution.n_iter)
        found = found._replace(coef=of_columns(found.coef))
        if not self.sparse:
            return found
        without_ridge = replace(columns, loss=found.loss, ridge=0.0)
        least = 1.0 / (objective.ridge * float(objective.weight.sum()))
        pruned = prune(without_ridge, found.coef, least)
        return found._replace(
            coef=pruned.coef, kept=pruned.kept, prior=pruned.prior, n_iter=pruned.n_rounds
        )

    def held_out_losses(
        self, rows: TrainingRows, alphas: Sequence[float], progress: Progress
    ) -> dict[float, float]:
        """Return the mean log-loss of each ridge over the held-out rows of all folds.

        It is empty if there are no folds. Folds are stages of the progress.
        """
        fold = rows.fold
        if fold is None:
            return {}
        losses = dict.fromkeys(alphas, 0.0)
        n_folds = int(fold.max()) + 1
        for number in range(n_folds):
            index, held_out = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            fold_rows = TrainingRows(rows.X[index], rows.positive[index], rows.weight[index])
            weight = rows.weight[held_out]
            space = self._space(fold_rows)
            for alpha in alphas:
                with catch_warnings():
                    # The final fit repeats this warning if it still applies.
                    simplefilter("ignore", ConvergenceWarning)
                    fitted = self._fit(space, fold_rows, alpha, exact=False)
                scores = fitted.columns_for(rows.X[held_out]) @ fitted.coef[:-1] + fitted.coef[-1]
                value, _ = fitted.loss.value_and_grad(rows.positive[held_out], scores, weight)
                losses[alpha] += value * float(weight.sum() / rows.weight.sum())
                progress.detail(f"fold {number + 1}, alpha {alpha:g}: log-loss {value:.4f}")
            progress.stage(f"fold {number + 1} of {n_folds} held out")
        return losses


def _checked_names(learned: Any) -> set[str]:
    """Return the names of the parameters to learn; raise ValueError for unknown ones."""
    names = {learned} if isinstance(learned, str) else set(learned)
    if "ridge" in names or "alpha" in names:
        msg = (
            "the ridge cannot be learned from the training rows, since no ridge fits them best: "
            "give alpha='auto', and held-out rows choose it"
        )
        raise ValueError(msg)
    if names - set(LEARNABLE):
        choices = ", ".join(map(repr, LEARNABLE))
        msg = f"learn may name {choices}, not {learned!r}"
        raise ValueError(msg)
    return names
