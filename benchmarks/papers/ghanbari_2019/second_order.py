"""Second-order methods against L-BFGS on the risks of moments: "Alternative methods" of §4.

``python -m benchmarks.papers.ghanbari_2019.second_order`` appends the sets that
``second_order.csv`` lacks. Both solvers start at the paper's point and stop at a gradient of 1e-4
or after 500 iterations, with λ = 1e-3, on the moments of the training rows of the first fold. CPU
time is the least of three runs, in units of that of L-BFGS; the moments are not counted.

* ``L-BFGS``: that of the paper, `wolfe_lbfgs`.
* ``Newton-CG``: `newton_cg`, conjugate gradients in a trust region with exact Hessian products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from benchmarks.harness.markdown import header, line, listed, verdict
from benchmarks.harness.record import Record, parse
from benchmarks.harness.runner import Part, Study, quiet
from benchmarks.papers.claims import LEVEL
from benchmarks.papers.ghanbari_2019.config import REAL, REPEATS, Unit
from benchmarks.papers.ghanbari_2019.methods import (
    RISKS,
    SCALE_PENALTY,
    Outcome,
)
from directrix import Moments
from directrix._typing import FloatArray
from directrix.linear.lbfgs import Solution
from directrix.papers.base import WithoutIntercept
from directrix.papers.ghanbari_li_scheinberg_2019 import newton_cg, wolfe_lbfgs
from directrix.papers.moment_risk import MomentObjective, part_of_mean

_TOL, _ITERATIONS, _RUNS = 1e-4, 500, 3
FIRST, SECOND = "L-BFGS", "Newton-CG"
#: Values of F that are no farther apart are called equal.
EQUAL = 1e-3


class Run(NamedTuple):
    """What a solver reached on the moments of a set, and what it took.

    ``iterations``, ``gradients``, ``products``: gradients of F and products of its Hessian are each
    O(d²). ``time``: CPU, in units of L-BFGS. ``value``, ``norm``: F and the norm of its gradient at
    the end. ``test``: accuracy or AUC of the test rows.
    """

    set: str
    metric: str
    solver: str
    iterations: int
    gradients: int
    products: int
    time: float
    value: float
    norm: float
    test: float


RECORD = Record(Path(__file__).with_name("second_order.csv"), Run._fields, ("set", "metric"))


class Counted:
    """F of lines without an intercept, with its Hessian products; counts both."""

    def __init__(self, objective: MomentObjective) -> None:
        self._objective = WithoutIntercept(objective)
        self.gradients = self.products = 0

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient by w."""
        self.gradients += 1
        return self._objective(coef)

    def hessian_product(self, coef: FloatArray, vector: FloatArray) -> FloatArray:
        """Return the Hessian by w times a vector."""
        self.products += 1
        return self._objective.hessian_product(coef, vector)


SOLVERS: dict[str, Callable[..., Solution]] = {FIRST: wolfe_lbfgs, SECOND: newton_cg}


def measured(name: str, metric: str) -> list[Run]:
    """Minimise the risk of one metric on one set by both solvers."""
    split = Unit(name, 0, 0).split()
    moments = Moments.of(split.X, split.y, sample=0)
    start = part_of_mean(moments.positive.mean, moments.negative.mean)
    objective = MomentObjective(moments, RISKS[metric], SCALE_PENALTY)
    runs: list[Run] = []
    for solver, minimize in SOLVERS.items():
        seconds = np.inf
        for _ in range(_RUNS):
            counted, begun = Counted(objective), process_time()
            with quiet():
                solution = minimize(counted, start, max_iter=_ITERATIONS, tol=_TOL)
            seconds = min(seconds, process_time() - begun)
        value, gradient = counted(solution.coef)
        test = Outcome(split.X_test @ solution.coef, 0, 0.0).value(metric, split.y_test)
        counts = solution.n_iter, counted.gradients, counted.products
        norm = float(np.linalg.norm(gradient))
        runs.append(Run(name, metric, solver, *counts, seconds, value, norm, test))
    unit = runs[0].time
    return [run._replace(time=run.time / unit) for run in runs]


def _rows(name: str, metric: str) -> list[tuple[object, ...]]:
    return [
        (*run[:6], f"{run.time:.3g}", f"{run.value:.8f}", f"{run.norm:.2e}", f"{run.test:.6f}")
        for run in measured(name, metric)
    ]


def planned() -> Iterable[tuple[str, str]]:
    """Yield every real set of the paper with both metrics, cheap sets first."""
    for name in REPEATS:
        if name in REAL and "," not in name:
            metrics = ("AUC",) if name == "shuttle" else RISKS
            yield from ((name, metric) for metric in metrics)


def read() -> dict[tuple[str, str], dict[str, Run]]:
    """Return the runs, by set and metric, then solver."""
    runs: dict[tuple[str, str], dict[str, Run]] = {}
    for row in RECORD.rows():
        run = parse(row, Run)
        runs.setdefault((run.set, run.metric), {})[run.solver] = run
    return runs


class Verdict(NamedTuple):
    """On how many problems the paper's sentence on second-order methods is true."""

    problems: int
    not_faster: int
    similar: int
    equal: int
    ratio: float

    @classmethod
    def of(cls, runs: dict[tuple[str, str], dict[str, Run]]) -> Verdict:
        """Count the problems."""
        pairs = [(both[FIRST], both[SECOND]) for both in runs.values()]
        return cls(
            len(pairs),
            sum(second.time >= 1.0 for _, second in pairs),
            sum(abs(first.test - second.test) <= LEVEL for first, second in pairs),
            sum(abs(first.value - second.value) <= EQUAL for first, second in pairs),
            float(np.median([second.time for _, second in pairs])) if pairs else float("nan"),
        )


def lines() -> list[str]:
    """Return the part of ``tables.md`` on second-order methods."""
    runs = read()
    if not runs:
        return []
    text = ["", "## Alternative methods: does second order beat L-BFGS?", ""]
    text += header(
        *("set", "metric", "iterations: L-BFGS", "Newton-CG", "gradients: L-BFGS", "Newton-CG"),
        *("Hessian products", "CPU, Newton-CG / L-BFGS", "F: L-BFGS", "Newton-CG"),
        *("‖∇F‖: L-BFGS", "Newton-CG", "test: L-BFGS", "Newton-CG"),
    )
    for (name, metric), both in runs.items():
        first, second = both[FIRST], both[SECOND]
        pair = (first, second)
        text.append(
            line(
                *(name, metric, *(str(run.iterations) for run in pair)),
                *(*(str(run.gradients) for run in pair), str(second.products)),
                *(f"{second.time:.2g}", *(f"{run.value:.5f}" for run in pair)),
                *(f"{run.norm:.0e}" for run in pair),
                *(f"{run.test:.4f}" for run in pair),
            )
        )
    held = Verdict.of(runs)
    lower = [
        f"{name} {metric} {both[SECOND].value - both[FIRST].value:+.4f}"
        for (name, metric), both in runs.items()
        if abs(both[SECOND].value - both[FIRST].value) > EQUAL
    ]
    text += [
        "",
        (
            "Claim: second-order methods based on Hessian-vector products did not outperform "
            f"L-BFGS in time. {verdict(held.not_faster, held.problems)}: Newton-CG is not faster "
            f"on {held.not_faster} of {held.problems} problems, and takes {held.ratio:.2g} times "
            "the CPU time in the median. Claim: they achieved similar accuracy. "
            f"{verdict(held.similar, held.problems)}: the test metrics are within {LEVEL} on "
            f"{held.similar} of {held.problems}; F is within {EQUAL} on {held.equal}. Newton-CG "
            f"less L-BFGS in F where it is farther: {listed(lower)}."
        ),
    ]
    return text


STUDY = Study([Part(RECORD, lambda _: planned(), _rows)])

if __name__ == "__main__":
    STUDY.main(__doc__)
