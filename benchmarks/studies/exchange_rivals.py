"""Private rivals of released counts: DP-EBM, and logistic regression of diffprivlib.

Every private method knows the same public dictionary: cut points of numbers and levels of texts,
a `Binner` that was fitted without the training rows and without labels.

diffprivlib asks for an older scikit-learn than ours, so that it runs in an environment of its own:
``python -m venv ENV && ENV/bin/pip install diffprivlib "scikit-learn<1.6"``, and the environment
variable ``DIRECTRIX_DIFFPRIVLIB`` names ``ENV/bin/python``.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.harness.data import Rows
from directrix import Binner
from directrix._typing import AnyArray, FloatArray

VARIABLE = "DIRECTRIX_DIFFPRIVLIB"
_SCRIPT = Path(__file__).with_name("exchange_diffprivlib.py")
DELTA = 1e-6


def features(binner: Binner, X: Any) -> FloatArray:
    """Return numbers for linear models; no column adds more than 1 to the squared norm of a row.

    The position of a number among the bins goes from -1 to 1, and is 0 where the number is missing;
    missing numbers, and every level of a text, have an indicator.
    """
    cells = binner.cells(X)
    columns = []
    for k, bins in enumerate(binner.bins_):
        cell = cells[:, k]
        if bins.kind == "text":
            columns += [cell == level for level in range(1, bins.n_cells)]
        else:
            position = 2.0 * (cell - 1) / max(bins.n_cells - 2, 1) - 1.0
            columns += [cell == 0, np.where(cell == 0, 0.0, position)]
    return np.column_stack(columns).astype(np.float64)


def logistic(train: Rows, test: Rows, binner: Binner) -> FloatArray:
    """Return scores of logistic regression without privacy."""
    model = LogisticRegression(max_iter=1000).fit(features(binner, train.X), train.y)
    return np.asarray(model.decision_function(features(binner, test.X)))


def boosting(
    train: Rows, test: Rows, binner: Binner, epsilons: Sequence[float]
) -> list[FloatArray]:
    """Return scores of a private explainable boosting machine.

    Numbers are given as their bins, which spares it the search for skewed ranges.
    """
    from interpret.privacy import DPExplainableBoostingClassifier  # noqa: PLC0415 - optional

    texts = [bins.kind == "text" for bins in binner.bins_]
    fitted, other = (_columns(binner, part.X, texts) for part in (train, test))
    scores = []
    for epsilon in epsilons:
        model = DPExplainableBoostingClassifier(
            feature_types=["nominal" if text else "continuous" for text in texts],
            privacy_bounds={
                k: (0.0, float(bins.n_cells - 1))
                for k, bins in enumerate(binner.bins_)
                if not texts[k]
            },
            epsilon=epsilon,
            delta=DELTA,
            n_jobs=1,
        ).fit(fitted, train.y)
        scores.append(np.asarray(model.decision_function(other)))
    return scores


def _columns(binner: Binner, X: Any, texts: list[bool]) -> AnyArray:
    cells = binner.cells(X).astype(object)
    for k, text in enumerate(texts):
        cells[:, k] = cells[:, k].astype(str) if text else cells[:, k].astype(np.float64)
    return cells


def private_logistic(
    train: Rows, test: Rows, binner: Binner, epsilons: Sequence[float]
) -> list[FloatArray]:
    """Return scores of diffprivlib's logistic regression, which is (epsilon, 0)-private."""
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "in.npz"), Path(folder, "out.npy")
        np.savez(
            source,
            X=features(binner, train.X),
            y=train.y,
            X_test=features(binner, test.X),
            epsilons=np.array(epsilons),
            data_norm=np.sqrt(len(binner.bins_)),
        )
        command = [os.environ[VARIABLE], str(_SCRIPT), str(source), str(target)]
        # Our modules are not for its Python.
        outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run(command, check=True, env=outside)  # noqa: S603
        return list(np.load(target))
