"""SLAM: SLA with its constants chosen by hold-out error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

from sklearn.exceptions import ConvergenceWarning

from directrix.solve.continuation import Probe, sharpness_levels, sla
from directrix.solve.lbfgs import lbfgs
from directrix.solve.solution import Objective, Solution

if TYPE_CHECKING:
    from directrix._typing import FloatArray

_FACTOR = 2.0  # by which the bracket search changes an end of the path


class Tuned(NamedTuple):
    """Result of `slam`: a solution and the constants that were chosen.

    Parameters
    ----------
    solution : Solution
        Result of SLA with these constants.
    held_out : float
        Hold-out error of the solution.
    start : array
        Initial coefficients.
    ridge, gamma_min, gamma_max, growth : float
        The chosen constants.
    """

    solution: Solution
    held_out: float
    start: FloatArray
    ridge: float
    gamma_min: float
    gamma_max: float
    growth: float

    @property
    def last_gamma(self) -> float:
        """The last sharpness of the path."""
        return sharpness_levels(self.gamma_min, self.gamma_max, self.growth)[-1]


def slam(  # noqa: PLR0913
    objective_at: Callable[[float, float], Objective],
    start: FloatArray,
    *,
    validate: Callable[[FloatArray], float],
    ridges: Sequence[float],
    gammas: Sequence[float] = (1.0, 2.0, 4.0, 8.0),
    growths: Sequence[float] = (2.0, 4.0, 10.0),
    gamma_min: float = 2.0,
    gamma_max: float = 200.0,
    brackets: int = 3,
    probe: Callable[[float], Probe] | None = None,
    exact: Callable[[FloatArray], float] | None = None,
    search: Callable[..., Any] | None = None,
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
    ridges, gammas, growths : sequence of float
        Candidates for λ, for the γ of the start, and for the factor r.
    gamma_min, gamma_max : float
        Initial values of the bracket searches.
    brackets : int
        Largest number of steps of a bracket search in one direction.
    probe : callable, optional
        Takes λ, returns the ``probe`` of `sla`.
    exact : callable, optional
        As in `sla`.
    search : callable, optional
        Takes λ and a start, and the keywords gamma_min, gamma_max and growth; returns a solution.
        By default it is `sla`, with ``probe`` and ``exact``.
    """
    for name, values in (("ridges", ridges), ("gammas", gammas), ("growths", growths)):
        if len(values) == 0:
            msg = f"{name} is empty: give at least one value to choose from"
            raise ValueError(msg)
    starts = (
        (lbfgs(objective_at(gamma, ridge), start).coef, ridge)
        for ridge, gamma in product(ridges, gammas)
    )
    with catch_warnings():
        # A start need not be a minimum; the held-out error judges it.
        simplefilter("ignore", ConvergenceWarning)
        best_start, ridge = min(starts, key=lambda candidate: validate(candidate[0]))

    def run_sla(gamma_min: float, gamma_max: float, growth: float) -> Tuned:
        constants = {"gamma_min": gamma_min, "gamma_max": gamma_max, "growth": growth}
        if search is None:
            solution = sla(
                lambda gamma: objective_at(gamma, ridge),
                best_start,
                probe=None if probe is None else probe(ridge),
                exact=exact,
                **constants,  # type: ignore[arg-type]
            )
        else:
            solution = search(ridge, best_start, **constants)
        held_out = validate(solution.coef)
        return Tuned(solution, held_out, best_start, ridge, gamma_min, gamma_max, growth)

    best = min(
        (run_sla(gamma_min, gamma_max, r) for r in growths),
        key=lambda candidate: candidate.held_out,
    )
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
