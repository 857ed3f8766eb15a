"""The frontier of moments against descents from many starts, on random problems.

``python -m benchmarks.studies.descents --problems 1000`` appends one row for each
problem and metric to ``descents.csv``. The descents, which take two hours, are kept; the frontier
is made anew for the comparison, which is printed and takes a minute.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.harness.record import Record, Row, distinct, numbers, select
from benchmarks.harness.runner import Part, Study, quiet
from directrix._typing import FloatArray
from directrix.linear import Frontier
from directrix.metrics import BalancedError, Cost, PrecisionAtK, RecallAtFPR
from directrix.metrics.base import Metric
from directrix.metrics.table import resolve
from directrix.moments import ClassMoments, Moments
from directrix.moments.projection import Partials, ScoreMoments, project
from directrix.moments.risks import Risk, risk_of
from directrix.papers.ghanbari_li_scheinberg_2019 import wolfe_lbfgs
from directrix.papers.moment_risk import MomentObjective, part_of_mean

METRICS: tuple[str | Metric, ...] = (
    *("error", Cost(1, 20), BalancedError(), "auc", RecallAtFPR(0.01), PrecisionAtK(0.02)),
)

#: Of the descents of a problem.
STARTS = 50


def random_moments(
    rng: np.random.Generator, most_features: int = 30, rows: float = 10_000.0
) -> Moments:
    """Return moments of two classes: any prior, covariances of very different scale and shape."""
    d = int(rng.integers(2, most_features + 1))
    prior = float(np.exp(rng.uniform(np.log(0.005), np.log(0.5))))
    negative, positive = (random_covariance(rng, d) for _ in range(2))
    positive = positive * np.exp(rng.normal())
    # Between hardly any separation and a clear one.
    gap = rng.standard_normal(d)
    gap *= rng.uniform(0.2, 2.5) / np.sqrt(gap @ np.linalg.solve(positive + negative, gap))
    shares = (1.0 - prior, prior)
    groups = tuple(
        ClassMoments(
            int(rows), rows * share, rows * share**2, mean, rows * share * cov, np.zeros(d)
        )
        for share, mean, cov in zip(shares, (np.zeros(d), gap), (negative, positive), strict=True)
    )
    return Moments(d, np.array([0, 1]), (groups,))


def random_covariance(rng: np.random.Generator, d: int) -> FloatArray:
    """Return a covariance whose directions have very different scale."""
    factors = rng.standard_normal((d, d)) * np.exp(rng.normal(0, rng.choice([0.2, 1.0, 2.0]), d))
    covariance = factors @ factors.T / d + 1e-3 * np.eye(d)
    return (covariance + covariance.T) / 2


class ByDifferences:
    """A risk with partial derivatives by central differences, which have about ten digits."""

    def __init__(self, risk: Risk) -> None:
        self._risk = risk

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its partial derivatives."""
        unit = float(np.sqrt(min(scores.var_pos, scores.var_neg)))
        steps = 1e-5 * np.array([unit, unit**2, unit, unit**2])
        slopes = []
        for k in range(4):
            ends = []
            for sign in (1.0, -1.0):
                near = list(scores)
                near[k] += sign * steps[k]
                ends.append(self._risk.value(ScoreMoments(*near)))
            slopes.append((ends[0] - ends[1]) / (2.0 * steps[k]))
        return self._risk.value(scores), Partials(*slopes)


def objective_of(moments: Moments, risk: Risk, penalty: float = 0.0) -> MomentObjective:
    """Return the objective of a risk, with differences if it has no derivatives."""
    with_slopes: Any = risk if hasattr(risk, "value_and_grad") else ByDifferences(risk)
    return MomentObjective(moments, with_slopes, penalty)


def best_descent(moments: Moments, risk: Risk, starts: int, rng: np.random.Generator) -> float:
    """Return the least risk that L-BFGS reaches from the means and from random lines."""
    objective = objective_of(moments, risk)
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
    start = np.append(part_of_mean(moments.positive.mean, moments.negative.mean), 0.0)
    solution = wolfe_lbfgs(objective_of(moments, risk, penalty=1e-3), start)
    return risk.value(project(moments, solution.coef))


def measured(problem: int, starts: int = STARTS) -> list[tuple[object, ...]]:
    """Return the rows of a problem, one for each metric."""
    rng = np.random.default_rng([2024, problem])
    moments = random_moments(rng)
    rows = []
    for metric in METRICS:
        risk = risk_of(resolve(metric), moments.weight)
        risks = (best_descent(moments, risk, starts, rng), papers_descent(moments, risk))
        about = (problem, moments.n_features, f"{moments.prior:.4f}", str(metric), starts)
        rows.append((*about, *(f"{value:.15g}" for value in risks)))
    return rows


def compared(rows: list[Row]) -> list[str]:
    """Return how the frontier compares with what the file says, a line for each metric."""
    problems = map(int, distinct(rows, "problem"))
    frontiers = {
        k: Frontier(random_moments(np.random.default_rng([2024, k])), shrinkage=0.0)
        for k in problems
    }
    text = []
    for metric in METRICS:
        of = select(rows, metric=metric)
        frontier = np.array([frontiers[int(row["problem"])].best(metric).risk for row in of])
        descents, papers = (numbers(of, name) for name in ("descents", "papers"))
        text.append(
            f"{metric!s:<24} {len(of):5} problems: above the best descent by at most "
            f"{(frontier - descents).max():8.1e}, below it by > 1e-6 in "
            f"{(descents - frontier > 1e-6).sum():4}; papers' single start above by > 1e-4 in "
            f"{(papers - frontier > 1e-4).sum():4}"
        )
    return text


RECORD = Record.beside(
    __file__, "problem, features, prior, metric, starts, descents, papers", "problem"
)
STUDY = Study(
    [Part(RECORD, lambda args: ((k,) for k in range(args.problems)), measured)],
    options={"--problems": {"type": int, "default": 1000}},
)

if __name__ == "__main__":
    STUDY.main(__doc__)
    with quiet():
        print("\n".join(compared(RECORD.rows())))
