"""FasterRisk (Liu et al. 2022): sparse logistic regression with small whole coefficients.

It asks for older releases of NumPy and scikit-learn than ours, so that it runs in an environment of
its own: ``python -m venv ENV && ENV/bin/pip install fasterrisk``, and the environment variable
``DIRECTRIX_FASTERRISK`` names ``ENV/bin/python``.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray

VARIABLE = "DIRECTRIX_FASTERRISK"
_SCRIPT = Path(__file__).with_name("faster_risk_fit.py")


class Settings(NamedTuple):
    """What a model may have.

    ``conditions``: features with a coefficient that is not zero. ``columns``: columns that they are
    from. ``bound``: largest coefficient.
    """

    conditions: int
    columns: int = 10
    bound: int = 5


class IntegerFit(NamedTuple):
    """Coefficients of all features, and the CPU seconds that they took."""

    coefficients: FloatArray
    cpu: float


def fit(
    X: FloatArray, y: AnyArray, column: AnyArray, settings: Settings, limit: int
) -> IntegerFit | None:
    """Fit to features of zero and one; None if the time limit was not kept.

    ``column``: which column each feature is from. ``limit``: CPU seconds.
    """
    varying = np.flatnonzero(X.std(axis=0) > 0.0)  # it refuses the others
    group = np.unique(column[varying], return_inverse=True)[1]
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "in.npz"), Path(folder, "out.npz")
        np.savez(
            source,
            X=X[:, varying],
            y=y,
            group=group,
            k=settings.conditions,
            columns=settings.columns,
            bound=settings.bound,
            limit=limit,
        )
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
            return IntegerFit(coefficients, float(found["cpu"]))
