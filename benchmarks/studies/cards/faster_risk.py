"""FasterRisk (Liu et al. 2022): sparse logistic regression with small whole coefficients.

It asks for older releases of NumPy and scikit-learn than ours, so that it runs in an environment of
its own: ``python -m venv ENV && ENV/bin/pip install fasterrisk``, and the environment variable
``DIRECTRIX_FASTERRISK`` names ``ENV/bin/python``.

Its features are conditions on columns that are cut by our `Binner` into at most eight bins: "above
a cut", "is this level" and "is missing". It chooses ten conditions of at most ten columns, by its
group sparsity; all else is its default. A fit that needs more than 300 CPU seconds is ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.data import Rows
from directrix import Binner
from directrix._typing import AnyArray, FloatArray

VARIABLE = "DIRECTRIX_FASTERRISK"
_SCRIPT = Path(__file__).with_name("faster_risk_fit.py")
_SETTINGS = {"k": 10, "columns": 10, "bound": 5, "limit": 300}
_BINS = 8


class IntegerCard(NamedTuple):
    """Points of test rows, the lines of the printed card, and the CPU seconds of the fit."""

    scores: FloatArray
    n_lines: int
    cpu: float


def fit(train: Rows, test: Rows) -> IntegerCard | None:
    """Fit to conditions on bins; None if the time limit was not kept."""
    binner = Binner(max_bins=_BINS).fit(train.X)
    codes = [thermometer(bins) for bins in binner.bins_]
    widths = [code.shape[1] for code in codes]
    X, other = (
        np.hstack([code[found[:, k]] for k, code in enumerate(codes)])
        for found in (binner.cells(train.X), binner.cells(test.X))
    )
    fitted = _run(X, train.y, np.repeat(np.arange(len(widths)), widths))
    if fitted is None:
        return None
    coefficients, cpu = fitted
    parts = np.split(coefficients, np.cumsum(widths)[:-1])
    pairs = zip(codes, parts, binner.bins_, strict=True)
    return IntegerCard(other @ coefficients, sum(n_lines(b, c @ part) for c, part, b in pairs), cpu)


def thermometer(bins: Any) -> FloatArray:
    """Return the features of each cell of a column: above each cut; each level; missing.

    An ordered bin has a one for each cut below it. Every other cell, missing values among them, has
    a feature of its own.
    """
    ordered = np.zeros((bins.n_cells, max(bins.n_ordered - 1, 0)))
    for cell in range(1, bins.n_ordered + 1):
        ordered[cell, : cell - 1] = 1.0
    free = [cell for cell in range(bins.n_cells) if not 1 <= cell <= bins.n_ordered]
    return np.hstack([ordered, np.eye(bins.n_cells)[:, free]])


def n_lines(bins: Any, points: FloatArray) -> int:
    """Count printed lines: ordered neighbours, or levels, with equal points share one."""
    if not np.ptp(points):
        return 0
    ordered = points[1 : bins.n_ordered + 1]
    free = np.concatenate([points[:1], points[bins.n_ordered + 1 :]])
    return len(np.unique(free)) + (bins.n_ordered > 0) + np.count_nonzero(np.diff(ordered))


def _run(X: FloatArray, y: AnyArray, column: AnyArray) -> tuple[FloatArray, float] | None:
    """Return the coefficients of all features, and CPU seconds; None at the time limit."""
    varying = np.flatnonzero(X.std(axis=0) > 0.0)  # it refuses the others
    group = np.unique(column[varying], return_inverse=True)[1]
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "in.npz"), Path(folder, "out.npz")
        arrays = {"X": X[:, varying], "y": y, "group": group}
        np.savez(source, **arrays, **{name: np.array(each) for name, each in _SETTINGS.items()})
        command = [os.environ[VARIABLE], str(_SCRIPT), str(source), str(target)]
        # Our modules are not for its Python, which may also be an older one.
        outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        code = subprocess.run(command, check=False, env=outside).returncode  # noqa: S603
        if code == -signal.SIGXCPU:
            return None
        if code:
            msg = f"FasterRisk ended with code {code}; what it said is above"
            raise RuntimeError(msg)
        with np.load(target) as found:
            coefficients = np.zeros(X.shape[1])
            coefficients[varying] = found["coefficients"]
            return coefficients, float(found["cpu"])
