"""Cost of a loss relative to the two products with the rows that every step needs anyway.

Value and gradient of a loss of n scores, over ``X @ w`` and ``X.T @ v`` in float64 on one thread.
Run ``python -m benchmarks.speed.losses``; ``--quick`` measures less and tracks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.speed.ratio import Figure, ratios, run
from directrix.losses import BreakEven, Logistic, PairwiseHinge
from directrix.losses.base import Loss

D = 54
PRIORS = (0.5, 0.1, 0.01)

#: What a loss may cost: those that sort, those that select, and others for comparison.
LOSSES: dict[str, tuple[Loss, float]] = {
    "logistic": (Logistic(), 1.0),
    "pairwise hinge": (PairwiseHinge(), 2.0),
    "break-even": (BreakEven(), 0.45),
    "break-even, wide": (BreakEven(kappa=1.0), 0.45),
}


def figures_at(rng: np.random.Generator, prior: float, n: int, rounds: int) -> list[Figure]:
    """Measure every loss at one share of positives."""
    X = rng.standard_normal((n, D))
    w = rng.standard_normal(D) / np.sqrt(D)
    positive = rng.random(n) < prior
    scores, weight = X @ w + 1.5 * positive, np.ones(n)
    measured = ratios(
        lambda: (X @ w, X.T @ scores),
        {
            name: partial(loss.value_and_grad, positive, scores, weight)
            for name, (loss, _) in LOSSES.items()
        },
        rounds=rounds,
    )
    return [
        Figure(f"{100 * prior:g} % positives, {name} / products", measured[name], may)
        for name, (_, may) in LOSSES.items()
    ]


def measure(quick: bool) -> Iterator[Figure]:  # noqa: FBT001 - as `run` calls it
    """Yield the figures of all shares of positives."""
    rng = np.random.default_rng(0)
    n, rounds = (100_000, 3) if quick else (1_000_000, 5)
    for prior in PRIORS:
        yield from figures_at(rng, prior, n, rounds)


if __name__ == "__main__":
    run(__file__, __doc__, measure, "a tenth of the rows, three rounds")
