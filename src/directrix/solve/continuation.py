"""SLA: continuation from a smooth to a sharp loss, with a probing of every coordinate."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from directrix.solve.solution import Callback, Objective, Path, Solution

if TYPE_CHECKING:
    from directrix._typing import FloatArray

#: Takes coefficients, a coordinate, offsets and γ; returns the values with each offset added to
#: that coordinate.
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
    r"""Minimise a loss of increasing sharpness γ, each time from the previous minimum.

    Hasan and Pal 2015, Algorithms 1 and 2, after Nguyen and Sanner 2013. For γ = γ_min, r γ_min,
    … up to γ_max, repeat these steps until neither lowers the value:

    1. gradient descent with backtracking;
    2. for each coordinate, evaluate the offsets ε, −ε, 2ε, −2ε, …, R, −R, and apply the best of
       them if it lowers the value.

    The radius R and spacing ε shrink with each γ. Algorithm 2 takes the first offset that
    helps. Here all offsets are evaluated at once, so the best is taken, and the other coordinates
    are probed before the next descent. The defaults are those of appendix A of the paper. They suit
    standardised features and margins of about one.

    Parameters
    ----------
    objective_at : callable
        Takes γ, returns an objective.
    start : array
        Initial coefficients; the papers use a linear SVM.
    gamma_min, gamma_max, growth : float
        First and last sharpness, and the factor r between successive ones.
    radius, spacing, shrink : float
        Initial R and ε, and the factor by which both shrink.
    max_sweeps : int
        Largest number of rounds of descent and probing for each γ.
    tol : float
        Decrease, relative to the value, below which a round counts as no progress.
    probe : callable, optional
        Takes coefficients, coordinate, offsets and γ, returns the values there. By default the
        objective is evaluated at each offset.
    exact : callable, optional
        The exact criterion, such as the number of errors. The iterate with the least criterion is
        returned, with the criterion as its value. By default the last iterate is returned, with its
        objective.
    callback : callable, optional
        Called with coefficients and value after each sweep; return True to stop.
    """
    if not (0.0 < gamma_min <= gamma_max and growth > 1.0 and 0.0 < spacing <= radius):
        msg = (
            "sla needs 0 < gamma_min <= gamma_max, growth > 1 and 0 < spacing <= radius, not "
            f"{gamma_min}, {gamma_max}, {growth}, {spacing}, {radius}"
        )
        raise ValueError(msg)
    coef = np.array(start, dtype=np.float64)
    objective = objective_at(gamma_min)
    best, value = coef, exact(coef) if exact else objective(coef)[0]
    norm = inf
    path, all_stationary = Path(value, callback), True
    for gamma in sharpness_levels(gamma_min, gamma_max, growth):
        objective = objective_at(gamma)
        steps = np.arange(1, int(radius / spacing + 1e-9) + 1) * spacing
        offsets = np.column_stack([steps, -steps]).ravel()
        stationary = False
        for _ in range(max_sweeps):
            coef, level_value, norm = gradient_descent(objective, coef, tol)
            coef, decrease = _probe_all(objective, coef, level_value, offsets, tol, gamma, probe)
            current = exact(coef) if exact else level_value - decrease
            if exact is None or current < value:
                best, value = coef, current
            stationary = not decrease
            if not path.record(best, value) or stationary:
                break
        all_stationary &= stationary
        if path.stopped:
            break
        radius, spacing = radius * shrink, spacing * shrink
    return Solution(best, value, norm, path.n_iter, all_stationary, tuple(path.values))


def sharpness_levels(
    gamma_min: float = 2.0, gamma_max: float = 200.0, growth: float = 10.0
) -> tuple[float, ...]:
    """Return the sharpnesses γ_min, r γ_min, … up to γ_max that `sla` goes through."""
    levels = [gamma_min]
    while levels[-1] * growth <= gamma_max * (1.0 + 1e-9):
        levels.append(levels[-1] * growth)
    return tuple(levels)


def gradient_descent(
    objective: Objective, coef: FloatArray, tol: float, max_iter: int = 200
) -> tuple[FloatArray, float, float]:
    """Gradient descent with backtracking, until a step gains little.

    Returns the coefficients, their value and the norm of the gradient.

    Parameters
    ----------
    objective : callable
    coef : array
        Initial coefficients.
    tol : float
        Decrease, relative to the value, below which the descent stops.
    max_iter : int
        Largest number of steps.
    """
    value, grad = objective(coef)
    norm = float(np.linalg.norm(grad))
    length = 1.0  # of a step, so the first trial does not depend on the units of the value
    for _ in range(max_iter):
        if norm == 0:
            break
        while True:
            trial = coef - (length / norm) * grad
            trial_value, trial_grad = objective(trial)
            if trial_value <= value - 1e-4 * length * norm or length < 1e-12:
                break
            length *= 0.5
        decrease = value - trial_value
        if decrease <= 0:
            break
        coef, value, grad = trial, trial_value, trial_grad
        norm = float(np.linalg.norm(grad))
        length *= 2.0
        if decrease < tol * abs(value):
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
    """Probe one coordinate after another; return the coefficients and the total decrease."""
    total_decrease = 0.0
    for i in range(len(coef)):
        if probe is not None:
            values = probe(coef, i, offsets, gamma)
        else:
            unit = np.zeros_like(coef)
            unit[i] = 1.0
            values = np.array([objective(coef + offset * unit)[0] for offset in offsets])
        k = int(values.argmin())
        decrease = value - total_decrease - float(values[k])
        if decrease > tol * abs(value):
            coef = coef.copy()
            coef[i] += offsets[k]
            total_decrease += decrease
    return coef, total_decrease
