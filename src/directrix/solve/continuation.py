"""SLA: a smooth loss made ever steeper, each coordinate probed beyond its local minimum."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from directrix.solve.solution import Callback, Objective, Path, Solution

if TYPE_CHECKING:
    from directrix._typing import FloatArray

#: Returns the values at ``coef`` with each of some offsets added to one coordinate.
Probe: TypeAlias = "Callable[[FloatArray, int, FloatArray, float], FloatArray]"


def sla(  # noqa: PLR0913
    objective_at: Callable[[float], Objective],
    start: FloatArray,
    *,
    gamma_min: float = 2.0,
    gamma_max: float = 200.0,
    growth: float = 10.0,
    radius: float = 8.0,
    spacing: float = 0.2,
    shrink: float = 0.5,
    max_sweeps: int = 100,
    tol: float = 1e-5,
    probe: Probe | None = None,
    exact: Callable[[FloatArray], float] | None = None,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise a loss of sharpness γ, for γ growing, from the minimum of the one before.

    Hasan and Pal 2015, Algorithms 1 and 2, after Nguyen and Sanner 2013. For γ = γ_min, r γ_min,
    … up to γ_max, repeat until neither helps:

    1. gradient descent with backtracking;
    2. for each coordinate the values at offsets ε, −ε, 2ε, −2ε, …, R, −R; where the best of them
       lowers the value, go there.

    The radius R and spacing ε shrink with each γ. Algorithm 2 takes the first offset that helps;
    all are known at once here, so the best is taken, and the other coordinates are probed before
    the next descent. The defaults are those of the paper's appendix A. They suit standardised
    features and margins of about one.

    Parameters
    ----------
    objective_at : callable
        Takes γ, returns an objective.
    start : array
        The papers start from a linear SVM.
    gamma_min, gamma_max, growth : float
        First and last sharpness, and the factor r between two.
    radius, spacing, shrink : float
        R and ε at first, and the factor by which both shrink.
    max_sweeps : int
        Rounds of descent and probing, for each γ.
    tol : float
        Fall below which nothing has changed, relative to the value.
    probe : callable, optional
        Takes coefficients, coordinate, offsets and γ, returns the values there. Without it the
        objective is evaluated for each offset.
    exact : callable, optional
        What it is all for, as the count of errors: the iterate where it is least is returned, with
        that as value. Otherwise the last iterate, with its objective.
    callback : callable, optional
        Is given coefficients and value after each sweep; True stops.
    """
    if not (0.0 < gamma_min <= gamma_max and growth > 1.0 and 0.0 < spacing <= radius):
        msg = (
            "sla needs 0 < gamma_min <= gamma_max, growth > 1 and 0 < spacing <= radius, not "
            f"{gamma_min}, {gamma_max}, {growth}, {spacing}, {radius}"
        )
        raise ValueError(msg)
    coef = np.array(start, dtype=np.float64)
    gamma = gamma_min
    objective = objective_at(gamma)
    best, value = coef, exact(coef) if exact else objective(coef)[0]
    norm = inf
    path, all_settled = Path(value, callback), True
    while gamma <= gamma_max * (1.0 + 1e-9) and not path.stopped:
        objective = objective_at(gamma)
        steps = np.arange(1, int(radius / spacing + 1e-9) + 1) * spacing
        offsets = np.column_stack([steps, -steps]).ravel()
        settled = False
        for _ in range(max_sweeps):
            coef, at, norm = _descend(objective, coef, tol)
            coef, fallen = _probe_all(objective, coef, at, offsets, tol, gamma, probe)
            now = exact(coef) if exact else at - fallen
            if exact is None or now < value:
                best, value = coef, now
            settled = not fallen
            if not path.goes_on(best, value) or settled:
                break
        all_settled &= settled
        gamma, radius, spacing = gamma * growth, radius * shrink, spacing * shrink
    return Solution(best, value, norm, path.n_iter, all_settled, tuple(path.values))


def _descend(
    objective: Objective, coef: FloatArray, tol: float, max_iter: int = 200
) -> tuple[FloatArray, float, float]:
    """Go down the gradient until one step falls little; return where, value and gradient norm."""
    value, grad = objective(coef)
    norm = float(np.linalg.norm(grad))
    length = 1.0  # of a step: the first trial is as long whatever the units of the value
    for _ in range(max_iter):
        if norm == 0:
            break
        while True:
            trial = coef - (length / norm) * grad
            trial_value, trial_grad = objective(trial)
            if trial_value <= value - 1e-4 * length * norm or length < 1e-12:
                break
            length *= 0.5
        fall = value - trial_value
        if fall <= 0:
            break
        coef, value, grad = trial, trial_value, trial_grad
        norm = float(np.linalg.norm(grad))
        length *= 2.0
        if fall < tol * abs(value):
            break
    return coef, value, norm


def _probe_all(
    objective: Objective,
    coef: FloatArray,
    value: float,
    offsets: FloatArray,
    tol: float,
    gamma: float,
    probe: Probe | None,
) -> tuple[FloatArray, float]:
    """Probe one coordinate after the other; return where that ends, and the fall of the value."""
    fallen = 0.0
    for i in range(len(coef)):
        if probe is not None:
            values = probe(coef, i, offsets, gamma)
        else:
            unit = np.zeros_like(coef)
            unit[i] = 1.0
            values = np.array([objective(coef + offset * unit)[0] for offset in offsets])
        k = int(values.argmin())
        fall = value - fallen - float(values[k])
        if fall > tol * abs(value):
            coef = coef.copy()
            coef[i] += offsets[k]
            fallen += fall
    return coef, fallen
