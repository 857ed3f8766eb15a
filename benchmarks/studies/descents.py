"""The frontier of moments against descents from many starts, on random problems.

``python -m benchmarks.studies.descents --problems 1000 --starts 50`` appends one row for each
problem and metric to ``descents.csv`` and goes on where an interrupted run stopped. The descents,
which take two hours, are kept; the frontier is made anew for the report, which takes a minute.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from benchmarks.harness.record import Record
from benchmarks.harness.runner import measure_missing
from benchmarks.studies.random_moments import random_moments
from directrix.frontier import Frontier
from directrix.metrics import BalancedError, Cost, PrecisionAtK, RecallAtFPR
from directrix.metrics.base import Metric
from directrix.metrics.table import resolve
from directrix.moments import Moments
from directrix.moments.projection import project
from directrix.objectives import MomentObjective
from directrix.risks.base import Risk
from directrix.solve import part_of_mean, wolfe_lbfgs

METRICS: tuple[str | Metric, ...] = (
    "error",
    Cost(1, 20),
    BalancedError(),
    "auc",
    RecallAtFPR(0.01),
    PrecisionAtK(0.02),
)
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    ("problem", "features", "prior", "metric", "starts", "descents", "papers"),
    ("problem",),
)


def best_descent(moments: Moments, risk: Risk, starts: int, rng: np.random.Generator) -> float:
    """Return the least risk that L-BFGS reaches from the means and from random lines."""
    objective = MomentObjective(moments, risk)
    reached = []
    for k in range(starts):
        w = rng.standard_normal(moments.n_features)
        if k == 0:
            w = moments.positive.mean - moments.negative.mean
        w = w / np.linalg.norm(w)
        spread = np.sqrt(w @ moments.negative.covariance @ w)
        middle = w @ (moments.positive.mean + moments.negative.mean) / 2
        start = np.append(w, -middle + (rng.normal() * spread if k > 1 else 0.0))
        options = {"maxiter": 1000, "maxcor": 20, "gtol": 1e-10, "ftol": 1e-16}
        reached.append(minimize(objective, start, jac=True, method="L-BFGS-B", options=options).fun)
    return float(min(reached))


def papers_descent(moments: Moments, risk: Risk) -> float:
    """Return the risk of the papers' method: one start, their settings, λ = 0.001."""
    start = part_of_mean(moments.positive.mean, moments.negative.mean)
    solution = wolfe_lbfgs(MomentObjective(moments, risk, penalty=1e-3), start)
    return risk.value(project(moments, solution.coef))


def measured(problem: int, starts: int) -> list[tuple[object, ...]]:
    """Return the rows of a problem, one for each metric."""
    rng = np.random.default_rng([2024, problem])
    moments = random_moments(rng)
    rows = []
    for metric in METRICS:
        risk = resolve(metric).risk(moments.weight)
        risks = (best_descent(moments, risk, starts, rng), papers_descent(moments, risk))
        about = (problem, moments.n_features, f"{moments.prior:.4f}", str(metric), starts)
        rows.append((*about, *(f"{value:.15g}" for value in risks)))
    return rows


def report() -> None:
    """Print how the frontier compares with what the file says, a line for each metric."""
    rows = RECORD.rows()
    frontiers = {
        problem: Frontier(random_moments(np.random.default_rng([2024, problem])), shrinkage=0.0)
        for problem in sorted({int(row["problem"]) for row in rows})
    }
    for metric in METRICS:
        of_metric = [row for row in rows if row["metric"] == str(metric)]
        frontier = np.array([frontiers[int(row["problem"])].best(metric).risk for row in of_metric])
        descents, papers = (
            np.array([float(row[name]) for row in of_metric]) for name in ("descents", "papers")
        )
        print(
            f"{metric!s:<24} {len(of_metric):5} problems: above the best descent by at most "
            f"{(frontier - descents).max():8.1e}, below it by > 1e-6 in "
            f"{(descents - frontier > 1e-6).sum():4}; papers' single start above by > 1e-4 in "
            f"{(papers - frontier > 1e-4).sum():4}"
        )


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--starts", type=int, default=50)
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constants and descents that stop early are counted
        plan = ((problem,) for problem in range(arguments.problems))
        measure_missing(RECORD, plan, partial(measured, starts=arguments.starts))
        report()


if __name__ == "__main__":
    main()
