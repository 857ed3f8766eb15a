"""SLAM: the constants of SLA, chosen by the error on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple
from warnings import catch_warnings, simplefilter

from sklearn.exceptions import ConvergenceWarning

from directrix.solve.continuation import Probe, sla
from directrix.solve.lbfgs import lbfgs
from directrix.solve.solution import Objective, Solution

if TYPE_CHECKING:
    from directrix._typing import FloatArray

_FACTOR = 2.0  # between two ends of the path that are compared


class Tuned(NamedTuple):
    """What `slam` chose.

    Parameters
    ----------
    solution : Solution
        Of SLA with these constants.
    held_out : float
        Its error on the held-out rows.
    start : array
        Where it started.
    ridge, gamma_min, gamma_max, growth : float
    """

    solution: Solution
    held_out: float
    start: FloatArray
    ridge: float
    gamma_min: float
    gamma_max: float
    growth: float


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
) -> Tuned:
    r"""Choose the start, the ridge and the path of γ by held-out error, and return that SLA.

    Hasan and Pal 2015, §4.1. In this order, each choice kept for the next:

    1. the ridge λ and the start: L-BFGS on the loss of one γ and λ, for every pair;
    2. the factor r between two γ, hence their number, on a grid;
    3. γ_min, then γ_max, by a bracket search: doubled or halved as long as the error falls.

    Radius and spacing of the probes stay those of `sla`, as in the paper. Of equals the first is
    taken. The paper descends from w = 0; that is the natural ``start``.

    Parameters
    ----------
    objective_at : callable
        Takes γ and λ, returns an objective of the training rows.
    start : array
    validate : callable
        Takes coefficients, returns their error on rows not trained on.
    ridges, gammas, growths : sequence of float
        The λ, the γ of the start and the factors r to choose from.
    gamma_min, gamma_max : float
        Where the bracket searches begin.
    brackets : int
        Most steps of a bracket search in one direction.
    probe : callable, optional
        Takes λ, returns the ``probe`` of `sla`.
    exact : callable, optional
        As of `sla`.
    """
    for name, given in (("ridges", ridges), ("gammas", gammas), ("growths", growths)):
        if len(given) == 0:
            msg = f"{name} is empty: name one at least to choose from"
            raise ValueError(msg)
    starts = (
        (lbfgs(objective_at(gamma, ridge), start).coef, ridge)
        for ridge, gamma in product(ridges, gammas)
    )
    with catch_warnings():
        # A start need not be a minimum; the held-out error judges it.
        simplefilter("ignore", ConvergenceWarning)
        first, ridge = min(starts, key=lambda made: validate(made[0]))

    def tried(gamma_min: float, gamma_max: float, growth: float) -> Tuned:
        solution = sla(
            lambda gamma: objective_at(gamma, ridge),
            first,
            gamma_min=gamma_min,
            gamma_max=gamma_max,
            growth=growth,
            probe=None if probe is None else probe(ridge),
            exact=exact,
        )
        held_out = validate(solution.coef)
        return Tuned(solution, held_out, first, ridge, gamma_min, gamma_max, growth)

    best = min((tried(gamma_min, gamma_max, r) for r in growths), key=lambda made: made.held_out)
    for end in ("gamma_min", "gamma_max"):
        best = _bracket(tried, best, end, brackets)
    return best


def _bracket(
    tried: Callable[[float, float, float], Tuned], best: Tuned, end: str, most: int
) -> Tuned:
    """Move one end of the path by factors, upwards or else downwards, while the error falls."""
    for factor in (_FACTOR, 1.0 / _FACTOR):
        moved = False
        for _ in range(most):
            ends = {"gamma_min": best.gamma_min, "gamma_max": best.gamma_max}
            ends[end] *= factor
            if ends["gamma_min"] > ends["gamma_max"]:
                break
            other = tried(ends["gamma_min"], ends["gamma_max"], best.growth)
            if other.held_out >= best.held_out:
                break
            best, moved = other, True
        if moved:
            break
    return best
