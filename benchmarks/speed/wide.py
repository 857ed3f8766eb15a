"""Cost and memory of MomentClassifier with very many features, relative to logistic regression.

``LogisticRegression`` is scikit-learn's, with its defaults. Rows are those of reuters (sparse), and
generated ones: dense with a few common factors, and sparse with phrases of fifty topics. Memory is
the peak of a fit in another process, beyond what that process held before; it is measured on Linux.
Run ``python -m benchmarks.speed.wide``; ``--quick`` measures a tenth of the generated rows and
tracks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from benchmarks.harness.data import load
from benchmarks.harness.runner import isolated, quiet
from benchmarks.speed.ratio import Figure, ratios, run
from directrix import MomentClassifier
from directrix._typing import AnyArray, FloatArray

ROUNDS = 3
#: CPU time of a fit over that of logistic regression, at most.
MAY_COST = {"reuters": 20.0, "dense": 5.0, "sparse": 20.0}
#: Rows and features of the generated sets.
SHAPES = {"dense": (10_000, 5_000), "sparse": (20_000, 100_000)}
WORDS, PHRASE, TOPICS, FACTORS = 100, 10, 50, 20
#: What the documentation states: copies of the rows, and bytes for each row and each feature.
COPIES, BYTES_PER_ROW, BYTES_PER_FEATURE = 2.5, 2_000, 4_000
_BLOCK = 1000


def dense_rows(n: int, d: int) -> tuple[FloatArray, AnyArray]:
    """Return normal rows with common factors; the classes differ in mean and spread."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    loadings = rng.standard_normal((FACTORS, d))
    X = np.empty((n, d))
    for start in range(0, n, _BLOCK):  # in pieces, so that making the rows takes no memory
        rows = slice(start, min(start + _BLOCK, n))
        size = rows.stop - start
        X[rows] = rng.standard_normal((size, d)) * np.where(y[rows], 1.3, 1.0)[:, None]
        X[rows] += rng.standard_normal((size, FACTORS)) @ loadings
        X[rows, :50] += 0.3 * y[rows, None]
    return X, y


def sparse_rows(n: int, d: int) -> tuple[Any, AnyArray]:
    """Return counts of words, which come in phrases; the classes have topics unequally often."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    topic = (TOPICS * rng.random(n) ** np.where(y, 1.5, 1.0)).astype(np.int64)
    phrases, n_phrases = d // PHRASE, WORDS // PHRASE
    phrase = (phrases * rng.random((n, n_phrases)) ** 3).astype(np.int64)
    phrase[:, ::2] = (phrase[:, ::2] // 10 + topic[:, None] * (phrases // TOPICS)) % phrases
    word = phrase[:, :, None] * PHRASE + np.arange(PHRASE)
    starts = np.arange(0, n * WORDS + 1, WORDS)
    X = sparse.csr_array((np.ones(n * WORDS), word.ravel(), starts), shape=(n, d))
    X.sum_duplicates()
    return X, y


def rows_of(name: str, share: int = 1) -> tuple[Any, AnyArray]:
    """Return the rows of a set, or one in `share` of those that are generated."""
    if name == "reuters":
        return load("reuters_tick")
    n, d = SHAPES[name]
    return (dense_rows if name == "dense" else sparse_rows)(n // share, d)


def size_of(X: Any) -> float:
    """Return the size of rows in megabytes."""
    arrays = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    return sum(array.nbytes for array in arrays) / 1e6


def fit(name: str, X: Any, y: AnyArray) -> list[Figure]:
    """Measure a fit to rows against a fit of logistic regression, and its memory."""
    measured = ratios(
        partial(LogisticRegression().fit, X, y),
        {"ours": partial(MomentClassifier().fit, X, y)},
        rounds=ROUNDS,
    )
    shape, size = f"{name}, {X.shape[0]} x {X.shape[1]}", size_of(X)
    limit = COPIES * size + np.array(X.shape) @ [BYTES_PER_ROW, BYTES_PER_FEATURE] / 1e6
    return [
        Figure(f"fit for error, {shape} / LogisticRegression", measured["ours"], MAY_COST[name]),
        Figure(
            f"MB at peak beyond the rows ({size:.0f} MB), {shape}",
            isolated(peak, name),
            limit,
        ),
    ]


def peak(name: str) -> float:
    """Return the memory of a fit in this process, in megabytes, beyond what it holds before."""
    rng = np.random.default_rng(0)
    MomentClassifier().fit(rng.normal(size=(200, 3)), np.arange(200) % 2)  # loads what it needs
    X, y = rows_of(name)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what the process holds now
    before = resident("VmRSS")
    with quiet():
        MomentClassifier().fit(X, y)
    return resident("VmHWM") - before


def resident(field: str) -> float:
    """Return a memory field of this process in megabytes; Linux alone has it.

    ``ru_maxrss`` would not do: a process inherits it from the one that started it.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(field))


def measure(quick: bool) -> Iterator[Figure]:  # noqa: FBT001 - as `run` calls it
    """Yield the figures of all sets."""
    for name in MAY_COST:
        yield from fit(name, *rows_of(name, 10 if quick else 1))


if __name__ == "__main__":
    run(__file__, __doc__, measure, "a tenth of the generated rows", checked=False)
