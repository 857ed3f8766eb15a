"""SLA and SLAM: continuation from a smooth to a sharp loss, with constants given or chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from directrix._typing import FloatArray
from directrix.exceptions import silenced
from directrix.linear.lbfgs import Objective, Path, Solution, lbfgs

# ── SLA: continuation from a smooth to a sharp loss, with a probing of every coordinate ───────────

#: Takes coefficients, a coordinate, offsets and γ; returns the values with each offset added to
#: that coordinate.
Probe: TypeAlias = "Callable[[FloatArray, int, FloatArray, float], FloatArray]"


#: Radius and spacing of the probes at first, and the factor by which both shrink with each γ.
RADIUS, SPACING, SHRINK = 8.0, 0.2, 0.5
#: Decrease, relative to the value, below which a round counts as no progress (ε_L).
TOL = 1e-5
_MOST_SWEEPS = 100  # rounds of descent and probing for each γ
_MOST_STEPS = 200  # of a descent


def sla(
    objective_at: Callable[[float], Objective],
    start: FloatArray,
    *,
    gamma_min: float = 2.0,
    gamma_max: float = 200.0,
    growth: float = 10.0,
    radius: float = RADIUS,
    probe: Probe,
    exact: Callable[[FloatArray], float] | None = None,
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
    radius : float
        Initial R.
    probe : callable
        Takes coefficients, coordinate, offsets and γ, returns the values there.
    exact : callable, optional
        The exact criterion, such as the number of errors. The iterate with the least criterion is
        returned, with the criterion as its value. By default the last iterate is returned, with its
        objective.
    """
    spacing = SPACING
    coef = np.array(start, dtype=np.float64)
    objective = objective_at(gamma_min)
    best, value = coef, exact(coef) if exact else objective(coef)[0]
    norm = inf
    path, all_stationary = Path(value, None), True
    for gamma in sharpness_levels(gamma_min, gamma_max, growth):
        objective = objective_at(gamma)
        steps = np.arange(1, int(radius / spacing + 1e-9) + 1) * spacing
        offsets = np.column_stack([steps, -steps]).ravel()
        stationary = False
        for _ in range(_MOST_SWEEPS):
            coef, level_value, norm = gradient_descent(objective, coef)
            coef, decrease = _probe_all(coef, level_value, offsets, gamma, probe)
            current = exact(coef) if exact else level_value - decrease
            if exact is None or current < value:
                best, value = coef, current
            stationary = not decrease
            path.record(best, value)
            if stationary:
                break
        all_stationary &= stationary
        radius, spacing = radius * SHRINK, spacing * SHRINK
    return Solution(best, value, norm, path.n_iter, all_stationary, tuple(path.values))


def sharpness_levels(
    gamma_min: float = 2.0, gamma_max: float = 200.0, growth: float = 10.0
) -> tuple[float, ...]:
    """Return the sharpnesses γ_min, r γ_min, … up to γ_max that `sla` goes through."""
    levels = [gamma_min]
    while levels[-1] * growth <= gamma_max * (1.0 + 1e-9):
        levels.append(levels[-1] * growth)
    return tuple(levels)


def gradient_descent(objective: Objective, coef: FloatArray) -> tuple[FloatArray, float, float]:
    """Gradient descent with backtracking, until a step gains little.

    Returns the coefficients, their value and the norm of the gradient. ``coef`` are the initial
    coefficients.
    """
    value, grad = objective(coef)
    norm = float(np.linalg.norm(grad))
    length = 1.0  # of a step, so the first trial does not depend on the units of the value
    for _ in range(_MOST_STEPS):
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
        if decrease < TOL * abs(value):
            break
    return coef, value, norm


def _probe_all(
    coef: FloatArray, value: float, offsets: FloatArray, gamma: float, probe: Probe
) -> tuple[FloatArray, float]:
    """Probe one coordinate after another; return the coefficients and the total decrease."""
    total_decrease = 0.0
    for i in range(len(coef)):
        values = probe(coef, i, offsets, gamma)
        k = int(values.argmin())
        decrease = value - total_decrease - float(values[k])
        if decrease > TOL * abs(value):
            coef = coef.copy()
            coef[i] += offsets[k]
            total_decrease += decrease
    return coef, total_decrease


# ── SLAM: SLA with its constants chosen by hold-out error ─────────────────────────────────────────

_FACTOR = 2.0  # by which the bracket search changes an end of the path


class Tuned(NamedTuple):
    """Result of `slam`: a solution, its hold-out error and start, and the constants chosen."""

    solution: Solution
    held_out: float
    start: FloatArray
    ridge: float
    gamma_min: float
    gamma_max: float
    growth: float


def slam(
    objective_at: Callable[[float, float], Objective],
    start: FloatArray,
    *,
    validate: Callable[[FloatArray], float],
    search: Callable[..., Any],
    ridges: Sequence[float],
    gammas: Sequence[float],
    growths: Sequence[float] = (2.0, 4.0, 10.0),
    brackets: int = 3,
) -> Tuned:
    r"""Run SLA with the start, the ridge and the path of γ chosen by hold-out error.

    Hasan and Pal 2015, §4.1. The constants are chosen in this order, with earlier choices fixed:

    1. the ridge λ and the start, by L-BFGS on the loss for every pair of γ and λ;
    2. the factor r between successive γ, on a grid;
    3. γ_min and then γ_max, by a bracket search: doubled or halved while the error decreases.

    Radius and spacing of the probes are the defaults of `sla`, as in the paper. Ties go to the
    first candidate. The paper starts from w = 0, the natural ``start``.

    Parameters
    ----------
    objective_at : callable
        Takes γ and λ, returns an objective on the training rows.
    start : array
        Initial coefficients for L-BFGS.
    validate : callable
        Takes coefficients, returns their hold-out error.
    search : callable
        Runs SLA: takes λ and a start, and the keywords gamma_min, gamma_max and growth; returns a
        solution.
    ridges, gammas, growths : sequence of float
        Candidates for λ, for the γ of the start, and for the factor r.
    brackets : int
        Largest number of steps of a bracket search in one direction, from γ of 2 and of 200.
    """
    starts = (
        (lbfgs(objective_at(gamma, ridge), start).coef, ridge)
        for ridge, gamma in product(ridges, gammas)
    )
    # A start need not be a minimum; the held-out error judges it.
    with silenced(ConvergenceWarning):
        best_start, ridge = min(starts, key=lambda candidate: validate(candidate[0]))

    def run_sla(gamma_min: float, gamma_max: float, growth: float) -> Tuned:
        solution = search(
            ridge, best_start, gamma_min=gamma_min, gamma_max=gamma_max, growth=growth
        )
        held_out = validate(solution.coef)
        return Tuned(solution, held_out, best_start, ridge, gamma_min, gamma_max, growth)

    tried = [run_sla(2.0, 200.0, growth) for growth in growths]
    best = min(tried, key=lambda candidate: candidate.held_out)
    for end in ("gamma_min", "gamma_max"):
        best = _bracket(run_sla, best, end, brackets)
    return best


def _bracket(
    run_sla: Callable[[float, float, float], Tuned], best: Tuned, end: str, max_steps: int
) -> Tuned:
    """Multiply or else divide one end of the path by a factor while the error decreases."""
    for factor in (_FACTOR, 1.0 / _FACTOR):
        improved = False
        for _ in range(max_steps):
            ends = {"gamma_min": best.gamma_min, "gamma_max": best.gamma_max}
            ends[end] *= factor
            if ends["gamma_min"] > ends["gamma_max"]:
                break
            trial = run_sla(ends["gamma_min"], ends["gamma_max"], best.growth)
            if trial.held_out >= best.held_out:
                break
            best, improved = trial, True
        if improved:
            break
    return best
