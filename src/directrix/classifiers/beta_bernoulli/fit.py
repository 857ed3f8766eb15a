"""How a Beta-Bernoulli model is fitted to rows, and its ridge chosen on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from directrix.classifiers.beta_bernoulli.kernel_sgd import kernel_sgd
from directrix.classifiers.beta_bernoulli.kernels import Kernel, KernelExpansion, LinearColumns
from directrix.classifiers.beta_bernoulli.learned_plateaus import LEARNABLE, learn
from directrix.classifiers.beta_bernoulli.penalized_intercept import SteadyObjective, polished
from directrix.classifiers.beta_bernoulli.plateaus import checked_plateaus, loss_of
from directrix.classifiers.beta_bernoulli.sparse_prior import GaussianLaplace, prune
from directrix.classifiers.fitting.solvers import solver_for
from directrix.classifiers.fitting.training_rows import TrainingRows
from directrix.losses.beta_bernoulli import BetaBernoulli
from directrix.solve import lbfgs

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

_SOLVERS = ("lbfgs", "sgd", "sla", "slam")
_PRIORS = ("gaussian", "gaussian-laplace")
_EXACT = {"tol": 1e-9, "ftol": 1e-14, "max_iter": 2000}
# Where the descent begins, and what is only to be compared, need not be more exact.
_ROUGH = {"tol": 1e-6, "ftol": 1e-9, "max_iter": 2000}


class Fitted(NamedTuple):
    """A model of rows.

    Parameters
    ----------
    coef : array
        Of the features, or with a kernel of the rows; intercept last.
    loss : BetaBernoulli
    n_iter : int
    kept : array of int
        Coefficients that are not pruned.
    support : array of int
        The features, or with a kernel the rows, that these belong to.
    prior : GaussianLaplace or None
    scores : array of shape (n,)
        Of the rows.
    columns_of : callable
        What the coefficients multiply, of other rows.
    """

    coef: FloatArray
    loss: BetaBernoulli
    n_iter: int
    kept: AnyArray
    support: AnyArray
    prior: GaussianLaplace | None
    scores: FloatArray
    columns_of: Any


@dataclass(frozen=True)
class Recipe:
    """All that a fit to rows needs besides the ridge. It checks what it is given.

    Parameters
    ----------
    plateaus, prior, learn, solver
        As of `BetaBernoulliClassifier`.
    kernel : Kernel or None
    seed : int
    """

    plateaus: Any
    kernel: Kernel | None
    prior: str
    learn: tuple[str, ...]
    solver: str
    seed: int

    @classmethod
    def of(cls, classifier: Any) -> Recipe:
        """Return what the parameters of a classifier say, or say what is wrong with them."""
        kernel, params = classifier.kernel, classifier.kernel_params
        if not (params is None or isinstance(params, Mapping)):
            msg = f"kernel_params must be a dict, not {params!r}"
            raise ValueError(msg)
        if kernel is None and params:
            msg = f"kernel_params={params!r} without a kernel: name one"
            raise ValueError(msg)
        plateaus = checked_plateaus(classifier.plateaus)
        named = _checked_names(classifier.learn)
        if isinstance(plateaus, str) and plateaus == "learned":
            named |= {"mixing", "prior_mean"}
        recipe = cls(
            plateaus,
            None if kernel is None else Kernel(kernel, dict(params or {})),
            classifier.prior,
            tuple(name for name in LEARNABLE if name in named),
            classifier.solver,
            int(check_random_state(classifier.random_state).randint(2**31)),
        )
        recipe._check()
        return recipe

    def _check(self) -> None:
        """Refuse what does not go together."""
        for name, known in (("prior", _PRIORS), ("solver", _SOLVERS)):
            if getattr(self, name) not in known:
                there = ", ".join(map(repr, known))
                msg = f"{name} must be one of {there}, not {getattr(self, name)!r}"
                raise ValueError(msg)
        if self.solver == "lbfgs":
            return
        if self.learn or self.prior != "gaussian":
            msg = (
                f"solver={self.solver!r} learns no plateaus and has the prior 'gaussian' only: "
                "give solver='lbfgs'"
            )
            raise ValueError(msg)
        if (self.solver == "sgd") != (self.kernel is not None):
            needs = "needs a kernel" if self.solver == "sgd" else "takes no kernel"
            msg = f"solver={self.solver!r} {needs}: give solver='lbfgs'"
            raise ValueError(msg)

    def fit(self, rows: TrainingRows, alpha: float) -> Fitted:
        """Fit to rows, from logistic regression with the same ridge.

        Never from a neighbouring ridge's solution: under a strong one the line may be flat, and
        plateaus are flat there too, so that a weaker one would find nothing to descend.
        """
        return self._fit(self._space(rows), rows, alpha, exact=True)

    def _space(self, rows: TrainingRows) -> LinearColumns | KernelExpansion:
        """Return what the coefficients multiply; of a kernel its eigenvectors, the dear part."""
        if self.kernel is None:
            return LinearColumns(rows.X)
        return KernelExpansion.on(self.kernel, rows.X)

    def _fit(
        self,
        space: LinearColumns | KernelExpansion,
        rows: TrainingRows,
        alpha: float,
        *,
        exact: bool,
    ) -> Fitted:
        """Fit to rows whose columns are at hand."""
        if self.prior == "gaussian-laplace" and alpha <= 0:
            msg = "prior='gaussian-laplace' begins with a ridge: give alpha above zero"
            raise ValueError(msg)
        ridge = alpha / float(rows.weight.sum())
        logistic = SteadyObjective(
            space.X, rows.positive, rows.weight, BetaBernoulli(mixing=0.0), ridge
        )
        start = lbfgs(logistic, np.zeros(space.X.shape[1] + 1), **_ROUGH).coef  # type: ignore[arg-type]
        loss = loss_of(self.plateaus, rows.positive, rows.weight, logistic.scores(start))
        objective = replace(logistic, loss=loss)
        if self.solver == "sgd" and isinstance(space, KernelExpansion):
            solution = kernel_sgd(
                space.columns,
                space.center_of,
                rows.positive,
                rows.weight,
                loss,
                alpha=alpha,
                rng=np.random.RandomState(self.seed),
            )
            coef, n_iter = solution.coef, solution.n_iter
        else:
            line, loss, n_iter = self._descended(objective, start, exact=exact)
            coef = np.append(space.back(line[:-1]), line[-1])
        kept: AnyArray = np.arange(len(coef) - 1)
        prior = None
        if self.prior == "gaussian-laplace":
            plain = replace(objective, X=space.columns, loss=loss, ridge=0.0)
            coef, kept, prior, n_iter = prune(plain, coef, 1.0 / alpha)
        scores = space.columns @ coef[:-1] + coef[-1]
        return Fitted(coef, loss, n_iter, kept, space.centers[kept], prior, scores, space.of)

    def _descended(
        self, objective: SteadyObjective, start: FloatArray, *, exact: bool
    ) -> tuple[FloatArray, BetaBernoulli, int]:
        """Return the line, the loss it goes with, and the iterations."""
        loss: Any = objective.loss
        if self.learn:
            learned = learn(objective, start, self.learn, **(_EXACT if exact else _ROUGH))
            return learned.coef, learned.loss, learned.solution.n_iter
        if self.solver == "lbfgs":
            found = lbfgs(objective, start, **(_EXACT if exact else _ROUGH))  # type: ignore[arg-type]
            coef = polished(objective, found.coef) if exact else found.coef
            return coef, loss, found.n_iter
        rng = np.random.default_rng(self.seed)
        solution = solver_for(self.solver, loss).run(objective, start, rng, None)
        return solution.coef, _most_likely_gamma(objective, solution.coef), solution.n_iter

    def chosen(self, rows: TrainingRows, alphas: Sequence[float]) -> dict[float, float]:
        """Return the log-loss of each ridge on the held-out rows of each fold, together."""
        fold = rows.fold
        if fold is None:
            return {}
        costs = dict.fromkeys(alphas, 0.0)
        for number in range(int(fold.max()) + 1):
            index, other = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            own = TrainingRows(rows.X[index], rows.positive[index], rows.weight[index])
            weight = rows.weight[other]
            space = self._space(own)
            for alpha in alphas:
                with catch_warnings():
                    # It is said of the fit to all rows, if it is so there too.
                    simplefilter("ignore", ConvergenceWarning)
                    fitted = self._fit(space, own, alpha, exact=False)
                scores = fitted.columns_of(rows.X[other]) @ fitted.coef[:-1] + fitted.coef[-1]
                value, _ = fitted.loss.value_and_grad(rows.positive[other], scores, weight)
                costs[alpha] += value * float(weight.sum() / rows.weight.sum())
        return costs


def _checked_names(learned: Any) -> set[str]:
    """Return the parameters to learn, or say which there are."""
    names = {learned} if isinstance(learned, str) else set(learned)
    if "ridge" in names or "alpha" in names:
        msg = (
            "the ridge cannot be learned from the rows that it is to keep from being learned by "
            "heart, since none is best there: give alpha='auto', and held-out rows choose it"
        )
        raise ValueError(msg)
    if names - set(LEARNABLE):
        there = ", ".join(map(repr, LEARNABLE))
        msg = f"learn may name {there}, not {learned!r}"
        raise ValueError(msg)
    return names


def _most_likely_gamma(objective: SteadyObjective, coef: FloatArray) -> BetaBernoulli:
    """Return the loss with the sharpness of the greatest likelihood at these coefficients.

    A search for the least error sharpens the loss until the length of the line says nothing.
    """
    loss: Any = objective.loss
    scores = objective.scores(coef)
    middle = -np.log(max(float(np.median(np.abs(scores))), 1e-300))

    def cost(log_gamma: float) -> float:
        sharp = replace(loss, gamma=float(np.exp(log_gamma)))
        value: float = sharp.value_and_grad(objective.positive, scores, objective.weight)[0]
        return value

    best = minimize_scalar(cost, bounds=(middle - 10.0, middle + 10.0), method="bounded")
    gamma: BetaBernoulli = replace(loss, gamma=float(np.exp(best.x)))
    return gamma
