"""Fitting a Beta-Bernoulli model to rows, and choosing its ridge on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers.beta_bernoulli.plateaus import (
    Found,
    checked_plateaus,
    learn,
    loss_of,
    search,
)
from directrix.classifiers.beta_bernoulli.sparse_prior import (
    GaussianLaplace,
    PenalizedInterceptObjective,
    newton_refine,
    prune,
)
from directrix.classifiers.kernels import Columns, Kernel, KernelColumns, KernelExpansion
from directrix.exceptions import silenced
from directrix.fitting.progress import Progress
from directrix.fitting.sgd import kernel_sgd, linear_sgd
from directrix.fitting.training_rows import Rows
from directrix.linear import BetaBernoulli
from directrix.solve import lbfgs

_SOLVERS = ("lbfgs", "sgd", "sla", "slam")
_PRIORS = ("gaussian", "gaussian-coefficients", "gaussian-laplace")
_EXACT = {"tol": 1e-9, "ftol": 1e-14, "max_iter": 2000}
# Accurate enough for starting points and for comparing ridges.
_ROUGH = {"tol": 1e-6, "ftol": 1e-9, "max_iter": 2000}


class FittedModel(NamedTuple):
    """A model fitted to rows.

    `coef` are the coefficients of the features or, with a kernel, of the rows, intercept last;
    `kept` are the indices of those that are not pruned, and `support` those of their features or
    rows. `columns_for` returns the columns that the coefficients multiply, for other rows.
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

    def sign_flipped(self) -> FittedModel:
        """Return the model of the other class: with scores of the other sign."""
        loss = replace(self.loss, prior_mean=1.0 - self.loss.prior_mean)
        return self._replace(coef=-self.coef, loss=loss, scores=-self.scores)


@dataclass(frozen=True)
class FitSettings:
    """The checked parameters of a fit to rows, apart from the ridge."""

    plateaus: Any
    kernel: Kernel | None
    prior: str
    solver: str
    seed: int

    @classmethod
    def of(cls, classifier: Any) -> FitSettings:
        """Return the settings of a classifier's parameters; raise ValueError for invalid ones."""
        plateaus = checked_plateaus(classifier.plateaus)
        settings = cls(
            plateaus,
            Kernel.of(classifier.kernel, classifier.kernel_params),
            classifier.prior,
            classifier.solver,
            int(check_random_state(classifier.random_state).randint(2**31)),
        )
        settings._check()
        return settings

    def _check(self) -> None:
        """Raise ValueError for parameters that cannot be combined."""
        for name, known in (("prior", _PRIORS), ("solver", _SOLVERS)):
            if getattr(self, name) not in known:
                choices = ", ".join(map(repr, known))
                msg = f"{name} must be one of {choices}, not {getattr(self, name)!r}"
                raise ValueError(msg)
        if self.solver == "sgd" and (self.learns_plateaus or self.sparse):
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
    def learns_plateaus(self) -> bool:
        """Whether the plateaus are learned with the coefficients."""
        return isinstance(self.plateaus, str) and self.plateaus == "learned"

    @property
    def searches_errors(self) -> bool:
        """Whether the solver searches for the least training error."""
        return self.solver in ("sla", "slam")

    def fit(self, rows: Rows, alpha: float) -> FittedModel:
        """Fit to rows, starting from logistic regression with the same ridge.

        The start is never the solution of a neighbouring ridge: under a strong ridge coefficients
        may be zero, where the loss with plateaus has next to no slope for a weaker ridge.
        """
        return self._fit(self._space(rows), rows, alpha, exact=True)

    def _space(self, rows: Rows) -> Columns:
        """Return the columns of the model; with a kernel this is the expensive part."""
        if self.kernel is None:
            return Columns(rows.X, np.arange(rows.X.shape[1]))
        if self.prior == "gaussian-coefficients":
            return KernelColumns.from_rows(self.kernel, rows.X)
        return KernelExpansion.from_rows(self.kernel, rows.X)

    def _fit(self, space: Columns, rows: Rows, alpha: float, *, exact: bool) -> FittedModel:
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
        if self.solver == "sgd":
            found = self._stochastic(space, objective, alpha)
        else:
            found = self._minimize(space, objective, start, exact=exact)
        coef = found.coef
        kept = np.arange(len(coef) - 1) if found.kept is None else found.kept
        return FittedModel(
            coef,
            found.loss,
            found.n_iter,
            kept,
            space.centers[kept],
            found.prior,
            space.columns @ coef[:-1] + coef[-1],
            space.columns_for,
            found.ridge * float(rows.weight.sum()) if self.solver == "slam" else alpha,
        )

    def _stochastic(
        self, space: Columns, objective: PenalizedInterceptObjective, alpha: float
    ) -> Found:
        """Return the coefficients of the columns by stochastic gradients."""
        rng, loss = np.random.RandomState(self.seed), objective.loss
        if isinstance(space, KernelExpansion):
            by_rows = replace(objective, X=space.columns)
            solution = kernel_sgd(by_rows, space.center_index, rng, alpha=alpha)
        else:
            solution = linear_sgd(objective, rng)
        return Found(solution.coef, loss, objective.ridge, solution.n_iter)  # type: ignore[arg-type]

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
            return search(
                columns,
                of_columns(start),
                self.solver,
                learns_plateaus=self.learns_plateaus,
                sparse=True,
            )
        if self.searches_errors:
            found = search(objective, start, self.solver, learns_plateaus=self.learns_plateaus)
        elif self.learns_plateaus:
            found = learn(objective, start, **(_EXACT if exact else _ROUGH))
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
            coef=pruned.coef, kept=pruned.kept, prior=pruned.prior, n_iter=pruned.n_iter
        )

    def held_out_losses(
        self, rows: Rows, alphas: Sequence[float], progress: Progress
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
            fold_rows = rows.take(index)
            weight = rows.weight[held_out]
            space = self._space(fold_rows)
            for alpha in alphas:
                # The final fit gives this warning, if it still applies.
                with silenced(ConvergenceWarning):
                    fitted = self._fit(space, fold_rows, alpha, exact=False)
                scores = fitted.columns_for(rows.X[held_out]) @ fitted.coef[:-1] + fitted.coef[-1]
                value, _ = fitted.loss.value_and_grad(rows.positive[held_out], scores, weight)
                losses[alpha] += value * float(weight.sum() / rows.weight.sum())
                progress.detail(f"fold {number + 1}, alpha {alpha:g}: log-loss {value:.4f}")
            progress.stage(f"fold {number + 1} of {n_folds} held out")
        return losses
