"""What a gradient costs as rows become more: of risks of moments, and of losses of rows.

``python -m benchmarks.papers.ghanbari_2019.cost_of_rows`` writes ``cost_of_rows.csv``: CPU time of
a gradient, in units of that of the same objective on the fewest rows. Rows are normal, of two
classes and 50 features; the least time of five runs of 20 gradients each is taken.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from benchmarks.harness.markdown import holds
from benchmarks.harness.record import Record, parse
from benchmarks.papers.claims import Claim
from benchmarks.papers.ghanbari_2019.config import PAIRS
from benchmarks.papers.ghanbari_2019.methods import LOSSES, RISKS
from directrix import Moments
from directrix.linear.lbfgs import Objective
from directrix.linear.objectives import DataObjective
from directrix.papers.moment_risk import MomentObjective

ROWS = (2_000, 20_000, 200_000)
_FEATURES, _RUNS, _GRADIENTS = 50, 5, 20


class Cost(NamedTuple):
    """CPU time of a gradient, in units of that on the fewest rows."""

    objective: str
    rows: int
    time: float


RECORD = Record(Path(__file__).with_name("cost_of_rows.csv"), Cost._fields)


def measured() -> list[Cost]:
    """Measure all objectives on all numbers of rows."""
    seconds: dict[tuple[str, int], float] = {}
    for rows in ROWS:
        rng = np.random.default_rng(0)
        y = rng.random(rows) < 0.3
        X = rng.standard_normal((rows, _FEATURES)) + 0.2 * y[:, None]
        moments = Moments.of(X, y, sample=0)
        coef = np.append(rng.standard_normal(_FEATURES), 0.0)
        for metric, (risk, loss) in PAIRS.items():
            objectives: dict[str, Objective] = {
                risk: MomentObjective(moments, RISKS[metric]),
                loss: DataObjective(X, y, np.ones(rows), LOSSES[metric]),
            }
            for name, objective in objectives.items():
                least = np.inf
                for _ in range(_RUNS):
                    begun = process_time()
                    for _ in range(_GRADIENTS):
                        objective(coef)
                    least = min(least, process_time() - begun)
                seconds[name, rows] = least
    return [
        Cost(name, rows, spent / seconds[name, ROWS[0]]) for (name, rows), spent in seconds.items()
    ]


def growth() -> dict[str, float]:
    """Return by objective how many times a gradient costs on the most rows."""
    costs = [parse(row, Cost) for row in RECORD.rows()]
    return {cost.objective: cost.time for cost in costs if cost.rows == ROWS[-1]}


def independence(paper: str, claim: str) -> Claim:
    """Judge the claim that a gradient from moments does not depend on the number of rows."""
    cost = growth()
    moments, rows = max(cost["F_n01"], cost["F_nrank"]), min(cost["F_log"], cost["F_hinge"])
    figure = (
        f"with {ROWS[-1] // ROWS[0]} times the rows a gradient costs {moments:.2f} times as much "
        f"from moments, and at least {rows:.0f} times as much from rows"
    )
    return Claim(paper, claim, holds(moments < 1.5 <= rows), figure)


if __name__ == "__main__":
    RECORD.write((cost.objective, cost.rows, f"{cost.time:.3g}") for cost in measured())
