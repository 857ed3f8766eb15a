"""Nystroem's features and a line against the exact kernel: CPU time and test error by rows.

``python -m benchmarks.papers.hasan_pal_2015.kernels nystroem`` appends one row for each turn to
``nystroem.csv``, goes on where an interrupted run stopped, and writes ``kernels.md``. ``--quick``
takes one turn of at most 1000 rows.

magic04, features standardised, RBF kernel of γ = 0.1, the first rows of a shuffle to fit on and
4000 others to test on. The pipeline is StandardScaler, Nystroem with 300 components, and a linear
BetaBernoulliClassifier. Both are fitted in turn in one process (``time.process_time``, one thread),
and the median over turns of their ratio is reported. Turns differ in the shuffle and in Nystroem's
seed.

Alpha is 0.01 for the kernel and 10 for the pipeline, those of the least log-loss on 1500 held-out
rows of a fit to 1000, of {0.01, 0.03, 0.1, 0.3, 1, 3} and {0.1, 1, 3, 10, 30, 100, 300}, in a
shuffle that is not measured (some of its rows are tested on here). They differ because the linear
classifier standardises Nystroem's features, whose deviation is some 0.05, so that the same penalty
has an alpha some 400 times as large.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.data import load
from benchmarks.harness.record import Record
from directrix import BetaBernoulliClassifier

_KEY = ("rows", "turn")
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    (*_KEY, "ratio", "tested", "exact_errors", "nystroem_errors"),
    _KEY,
)
COMPONENTS = 300
_SET, _TESTED, _GAMMA = "magic04", 4000, 0.1
_ALPHA_EXACT, _ALPHA_NYSTROEM = 0.01, 10.0
#: Rows, and how many turns.
TURNS = {250: 5, 500: 5, 1000: 5, 2000: 3, 4000: 3, 8000: 1}


def exact() -> Any:
    """Return the classifier with the kernel of all pairs of rows."""
    return BetaBernoulliClassifier(
        kernel="rbf", kernel_params={"gamma": _GAMMA}, alpha=_ALPHA_EXACT
    )


def approximate(rows: int, seed: int) -> Any:
    """Return the pipeline with as many components, or as there are rows."""
    components = min(COMPONENTS, rows)
    features = Nystroem(gamma=_GAMMA, n_components=components, random_state=seed)
    return make_pipeline(StandardScaler(), features, BetaBernoulliClassifier(alpha=_ALPHA_NYSTROEM))


def measured(rows: int, turn: int) -> list[tuple[object, ...]]:
    """Return a row of the file: CPU time of the exact kernel to that of Nystroem, and errors."""
    X, y = load(_SET)
    order = np.random.default_rng(turn).permutation(len(y))
    train, test = order[:rows], order[-_TESTED:]
    seconds, wrong = [], []
    for model in (exact(), approximate(rows, turn)):
        start = process_time()
        model.fit(X[train], y[train])
        seconds.append(process_time() - start)
        wrong.append(int((model.predict(X[test]) != y[test]).sum()))
    return [(rows, turn, f"{seconds[0] / seconds[1]:.3f}", _TESTED, *wrong)]


def planned(*, quick: bool) -> Iterator[tuple[object, ...]]:
    """Yield rows and turn of each measurement."""
    for rows, turns in TURNS.items():
        if quick and rows > 1000:
            return
        for turn in range(1 if quick else turns):
            yield rows, turn
