"""Cost of Moments.of relative to the bare product it cannot do without.

Dense rows: one ``dsyrk`` over the same rows. Sparse rows: one product Xᵀ(Xv). Run
``python -m benchmarks.speed.moments``; ``--quick`` measures less and tracks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from benchmarks.harness.runner import peak_megabytes, timed
from benchmarks.speed.ratio import Figure, ratios, run
from directrix import Moments, summarize


class Size(NamedTuple):
    """Dense rows of a size, and how much more than one bare product their summary may cost.

    ``limit`` is for two classes; ``other_limit`` for rows that must be converted or shifted first.
    """

    d: int
    n: int
    limit: float
    other_limit: float


DENSE = (
    Size(20, 1_000_000, 1.8, 2.0),
    Size(54, 400_000, 1.7, 1.8),
    Size(200, 100_000, 1.4, 1.5),
    Size(800, 50_000, 1.2, 1.3),
)
FOLDS = 10
FOLDS_MAY_ADD = 1.2
SPARSE_MAY_COST = 20.0


#: The moments alone: a sample of the rows is no product.
summary = partial(Moments.of, sample=0)


def dense(rng: np.random.Generator, size: Size, rounds: int) -> list[Figure]:
    """Measure dense rows: plain, in folds, in float32, and with means that must be shifted."""
    d, n, limit, other_limit = size
    X = rng.standard_normal((n, d))
    away = X + 10.0
    y, fold = rng.integers(0, 2, n), rng.integers(0, FOLDS, n)
    kinds = {
        "2 classes": (partial(summary, X, y), limit),
        f"2 classes x {FOLDS} folds": (partial(summary, X, y, fold=fold), limit * FOLDS_MAY_ADD),
        "2 classes, float32": (partial(summary, X.astype(np.float32), y), other_limit),
        "2 classes, means far from zero": (partial(summary, away, y), other_limit),
    }
    measured = ratios(
        partial(blas.dsyrk, 1.0, X.T),
        {name: work for name, (work, _) in kinds.items()},
        rounds=rounds,
    )
    return [
        Figure(f"dense, d = {d}, {name} / dsyrk in float64", measured[name], may)
        for name, (_, may) in kinds.items()
    ]


def sparse_rows(rng: np.random.Generator, n: int, rounds: int) -> list[Figure]:
    """Measure sparse rows: d = 300, 4 % stored."""
    X = sparse.random_array(
        (n, 300), density=0.04, format="csr", rng=rng, data_sampler=rng.standard_normal
    )
    y, v = rng.integers(0, 2, n), rng.standard_normal(300)
    X.sum_duplicates()
    measured = ratios(
        lambda: X.T @ (X @ v), {"moments": partial(summary, X, y)}, rounds=rounds, repeat=20
    )
    what = "sparse, d = 300, 4 % stored, 2 classes / product X'(Xv)"
    return [Figure(what, measured["moments"], SPARSE_MAY_COST)]


def summarize_file(path: str, few: str, features: list[str]) -> tuple[float, float]:
    """Summarise a file, after a few rows that load what it needs; return CPU seconds and megabytes.

    The megabytes are the largest size of this process, so that it is here, where no engine but
    the one that is used is imported.
    """
    roles: dict[str, Any] = {"target": "y", "features": features, "progress": False}
    summarize(few, **roles)
    _, spent = timed(summarize, path, **roles)
    return spent, peak_megabytes()


def measure(quick: bool) -> Iterator[Figure]:  # noqa: FBT001 - as `run` calls it
    """Yield the figures of sparse and dense rows."""
    rng = np.random.default_rng(0)
    rounds, share = (3, 4) if quick else (9, 1)
    yield from sparse_rows(rng, 100_000 // share, rounds)
    for size in DENSE:
        yield from dense(rng, size._replace(n=size.n // share), rounds)


if __name__ == "__main__":
    run(__file__, __doc__, measure, "a quarter of the rows, three rounds")
