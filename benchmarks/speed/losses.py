"""Cost of a loss relative to the two products with the rows that every step needs anyway.

Value and gradient of a loss of n scores, over ``X @ w`` and ``X.T @ v`` in float64 on one thread.
Run ``OPENBLAS_NUM_THREADS=1 python -m benchmarks.speed.losses``; ``--quick`` measures less and
tracks nothing.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.speed.ratio import Figure, ratios, track
from directrix.losses import (
    BreakEven,
    FBetaEnvelope,
    Logistic,
    Loss,
    PairwiseHinge,
    PairwiseLogistic,
    PrecisionTop,
    QuantileSigmoid,
    TopNegatives,
)

D = 54
PRIORS = (0.5, 0.1, 0.01)

#: What a loss may cost: those that sort, those that select, and others for comparison.
LOSSES: dict[str, tuple[Loss, float]] = {
    "logistic": (Logistic(), 1.0),
    "pairwise hinge": (PairwiseHinge(), 2.0),
    "pairwise logistic, binned": (PairwiseLogistic(), 1.0),
    "break-even": (BreakEven(), 0.45),
    "break-even, wide": (BreakEven(kappa=1.0), 0.45),
    "precision at 5 %": (PrecisionTop(0.05), 0.45),
    "top negatives": (TopNegatives(0.05), 0.7),
    "quantile sigmoid": (QuantileSigmoid(0.05), 0.8),
    "F, envelope": (FBetaEnvelope(), 2.0),
}

#: A quick run is no measurement; it fails only where something has gone badly wrong.
QUICK_SLACK = 4.0


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


def main() -> None:
    """Measure, print, and track unless quick."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, three rounds")
    quick = parser.parse_args().quick
    rng = np.random.default_rng(0)
    n, rounds = (100_000, 3) if quick else (1_000_000, 5)
    figures = [figure for prior in PRIORS for figure in figures_at(rng, prior, n, rounds)]
    for figure in figures:
        print(figure)
    if not quick:
        track(figures, Path(__file__).with_suffix(".csv"))
    elif any(figure.ratio > QUICK_SLACK * figure.limit for figure in figures):
        sys.exit("a ratio is far beyond its limit: run without --quick and look into it")


if __name__ == "__main__":
    main()
