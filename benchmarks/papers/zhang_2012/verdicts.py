"""The claims of the paper's abstract, each judged by the recorded runs.

A claim holds where it is true in three quarters of the problems at least; its figure says in how
many it is. The problems are those of the figures and of the trajectories.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from benchmarks.harness.markdown import holds
from benchmarks.papers.claims import Claim
from benchmarks.papers.zhang_2012.config import LOSSES, PENALTIES, SETS, UNIT
from benchmarks.papers.zhang_2012.results import Curves, Problem, read_figures, read_trajectories

PAPER = "Zhang, Saha and Vishwanathan 2011"
_MOST = 0.75  # of the problems in which a claim must be true
_SAME_COST = 1.25  # times BMRM's CPU time for an evaluation
_MUCH = 2.0  # times as fast, to be "significantly faster"
_NEAR = 0.005  # of the test metric


def claims() -> list[Claim]:
    """Return the verdict on each claim of the abstract, from the recorded runs."""
    fixed = _at_fixed_ridges()
    return judged([*read_figures().values(), *fixed.values()], fixed)


def judged(problems: list[Curves], fixed: dict[Problem, Curves]) -> list[Claim]:
    """Return the verdict on each claim of the abstract.

    ``problems``: the runs of all problems. ``fixed``: those of the problems whose λ was not chosen,
    but is one of two.
    """
    growth = "from λ = 1e-3 to 1e-5 its evaluations to J* + ε become {} times as many"
    cutting, accelerated = (_growth(fixed, name) for name in ("bmrm", "nesterov 100"))
    costs = [_cost(curves, "bmrm") / _cost(curves, UNIT) for curves in problems]
    cheap = [cost >= 1.0 / _SAME_COST for cost in costs]
    ratios = {
        method: [_ratio(curves, method) for curves in problems] for method in (UNIT, "lbfgs 100")
    }
    much = [ratio >= _MUCH for ratio in ratios[UNIT]]
    ends = [curves.end(UNIT).test_metric - curves.end("bmrm").test_metric for curves in problems]
    kept = [end >= -_NEAR for end in ends]
    return [
        Claim(
            PAPER,
            "Cutting planes converge to an ε accurate solution in O(1 / λε) iterations",
            _word(value <= 100.0 for value in cutting),
            f"BMRM: {growth.format(_span(cutting))}, and the rate allows 100, "
            f"in {_count(value <= 100.0 for value in cutting)} where it arrived at both",
        ),
        Claim(
            PAPER,
            "Nesterov's method on the smoothed loss converges in O*(min(1/ε, 1/√(λε))) iterations",
            _word(value <= 10.0 for value in accelerated),
            f"Nesterov, 100 μ̂: {growth.format(_span(accelerated))}, and the rate allows 10, "
            f"in {_count(value <= 10.0 for value in accelerated)} where it arrived at both",
        ),
        Claim(
            PAPER,
            "The cost of an iteration is the same as that of SVM-Perf and BMRM",
            _word(cheap),
            f"BMRM's CPU time for an evaluation is {_span(costs)} times that of L-BFGS with μ̂, "
            f"median {np.median(costs):.2g}; {1.0 / _SAME_COST:g} at least in {_count(cheap)}",
        ),
        Claim(
            PAPER,
            "Smoothing converges significantly faster than cutting planes",
            _word(much),
            f"L-BFGS with μ̂ takes half of BMRM's CPU time to J* + ε or less in {_count(much)}, a "
            f"tenth in {_count(value >= 10.0 for value in ratios[UNIT])}; median "
            f"{np.median(ratios[UNIT]):.2g} times as fast (100 μ̂: half or less in "
            f"{_count(value >= _MUCH for value in ratios['lbfgs 100'])})",
        ),
        Claim(
            PAPER,
            "Smoothing does not sacrifice generalization",
            _word(kept),
            f"at its end, L-BFGS with μ̂ has a test metric at most {_NEAR} below BMRM's in "
            f"{_count(kept)} ({min(ends):+.4f} to {max(ends):+.4f})",
        ),
    ]


def _at_fixed_ridges() -> dict[Problem, Curves]:
    problems: dict[Problem, Curves] = {}
    for run, path in read_trajectories().items():
        problems.setdefault(run.problem, Curves())[run.method] = path.points
    return problems


def _growth(fixed: dict[Problem, Curves], method: str) -> list[float]:
    """Return evaluations to J* + ε at the lesser λ over those at the greater, where both are."""
    ratios = []
    for name, loss in product(SETS, LOSSES):
        both = [fixed.get(Problem(name, loss, penalty)) for penalty in PENALTIES]
        reached = [curves and curves.reaches(method, curves.absolute) for curves in both]
        if reached[0] and reached[1]:
            ratios.append(reached[1].evaluations / reached[0].evaluations)
    return ratios


def _cost(curves: Curves, method: str) -> float:
    """Return the CPU time of an evaluation, the solver's part included."""
    last = curves.end(method)
    return last.time / last.evaluations


def _ratio(curves: Curves, method: str) -> float:
    """Return BMRM's CPU time to J* + ε over a method's; zero where the method never arrives.

    Where BMRM never does, it is what BMRM had used by its end.
    """
    reached = curves.reaches(method, curves.absolute)
    rival = curves.reaches("bmrm", curves.absolute) or curves.end("bmrm")
    return rival.time / reached.time if reached else 0.0


def _word(cases: Iterable[bool]) -> str:
    kept = list(cases)
    return holds(bool(kept) and sum(kept) >= _MOST * len(kept))


def _count(cases: Iterable[bool]) -> str:
    kept = list(cases)
    return f"{sum(kept)} of {len(kept)}"


def _span(values: list[float]) -> str:
    return f"{min(values):.2g} to {max(values):.2g}" if values else "not measured"
