"""Candidates of SmoothClassifier from its parameters, and parameters that do not go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from directrix.classifiers.fitting.solvers import solver_for
from directrix.classifiers.smooth.initialization import validate_grid
from directrix.frontier.recipes import GAMMAS, RIDGES, Recipe, cost_sweep, path
from directrix.metrics.table import resolve_loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.metrics.base import Metric


def recipes_for(classifier: Any, metric: Metric) -> list[Recipe]:
    """Return how the candidates are made; refuse parameters that do not go together.

    Parameters
    ----------
    classifier : SmoothClassifier
    metric : Metric
    """
    solver, with_kernel = classifier.solver, classifier.kernel is not None
    ridges = validate_grid(classifier.alpha, RIDGES, "alpha")
    if classifier.loss is None:
        if solver not in ("auto", "lbfgs"):
            msg = (
                f"solver={solver!r} needs a loss: without one, lines of a sweep are made "
                "with 'lbfgs'. For the least training error give loss='zero_one' and "
                "solver='vertex'."
            )
            raise ValueError(msg)
        return cost_sweep(ridges, gammas=validate_grid(classifier.levels, GAMMAS, "levels"))
    loss = resolve_loss(classifier.loss, metric)
    solver_for(solver, loss, kernel=with_kernel)
    if not loss.penalized:
        if with_kernel:
            msg = (
                f"loss={loss.name!r} has no ridge, without which a kernel separates any rows: "
                "give a loss with a ridge, or no kernel"
            )
            raise ValueError(msg)
        ridges = (0.0,)
    return path(loss, ridges, validate_grid(classifier.levels, (1.0,), "levels"))


def check_without_folds(classifier: Any, recipes: Sequence[Recipe], groups: Any) -> None:
    """Raise ValueError if ``cv=None`` holds no rows out and there is something to choose.

    Parameters
    ----------
    classifier : SmoothClassifier
    recipes : sequence of Recipe
    groups : array or None
        As given to ``fit``.
    """
    n_ridges = len({recipe.ridge for recipe in recipes})
    if classifier.loss is None:
        reason = "cannot choose from a cost sweep: give a loss"
    elif n_ridges > 1:
        reason = f"cannot choose from {n_ridges} values of alpha: give one number"
    elif groups is not None:
        reason = "has no folds to keep groups together in: do not give groups"
    else:
        return
    msg = f"cv=None holds no rows out and {reason}, or a number of folds as cv"
    raise ValueError(msg)
