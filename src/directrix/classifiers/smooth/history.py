"""What a fit to rows records: its candidates, its iterations, and how near to optimal it is."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from directrix.frontier.compare import curve_maker, round_scores

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.fitting.training_rows import TrainingRows
    from directrix.losses.base import Loss
    from directrix.metrics.base import Metric
    from directrix.objectives import DataObjective
    from directrix.solve import Solution


class CandidateRecord(NamedTuple):
    """A candidate that was tried, and its metric on held-out rows.

    Parameters
    ----------
    loss : Loss
    alpha : float
        Ridge.
    ratio : float or None
        Cost of a false positive, where 1 gives both classes equal weight.
    metric : float
    """

    loss: Loss
    alpha: float
    ratio: float | None
    metric: float


class Step(NamedTuple):
    """One iteration of the final fit.

    Parameters
    ----------
    value : float
        Objective.
    metric : float
        Exact, on the training rows or a sample of them, at its best threshold.
    seconds : float
        Since the fit began.
    """

    value: float
    metric: float
    seconds: float


class History:
    """Records the iterations of a solver, as its callback.

    Parameters
    ----------
    metric : Metric
    rows : TrainingRows
        On which the metric of each step is measured.
    """

    def __init__(self, metric: Metric, rows: TrainingRows) -> None:
        self.steps: list[Step] = []
        self._metric, self._X = metric, rows.X
        self._curve = curve_maker(rows.positive, rows.weight)
        self._began = perf_counter()

    def __call__(self, coef: FloatArray, value: float) -> None:
        """Record an iteration, unless it changed nothing, as most of a search do not."""
        if self.steps and self.steps[-1].value == value:
            return
        exact = self._metric.best_value(self._curve(round_scores(self._X @ coef[:-1])))
        self.steps.append(Step(value, exact, perf_counter() - self._began))


def certified_gap(objective: DataObjective, solution: Solution) -> float | None:
    r"""Return an upper bound of the distance of the unsmoothed objective to its minimum.

    .. math:: J(w) - J^* \le J(w) - J_\kappa(w) + \frac{\|\nabla J_\kappa(w)\|^2}{2 \alpha}

    for a smoothed :math:`J_\kappa \le J`, strongly convex in all that it depends on.
    """
    if not (objective.loss.convex and objective.loss.exact):
        return None
    exact = replace(objective, loss=objective.loss.sharpen(inf))
    if solution.lower_bound > -inf:
        return float(exact(solution.coef)[0] - solution.lower_bound)
    if not (objective.loss.shift_invariant and objective.ridge > 0):
        return None
    value, gradient = objective(solution.coef)
    slack = float(gradient[:-1] @ gradient[:-1]) / (2.0 * objective.ridge)
    return exact(solution.coef)[0] - value + slack
