"""Fit FasterRisk: ``python faster_risk_fit.py IN.npz OUT.npz``, in an environment that has it.

It imports nothing of this repository: the releases that FasterRisk asks for are older than ours.
"""

from __future__ import annotations

import resource
import sys
from time import process_time

import numpy as np


def main(source: str, target: str) -> None:
    """Read features, labels and settings; write the integer coefficients of the best model."""
    from fasterrisk.fasterrisk import RiskScoreOptimizer  # noqa: PLC0415 - only there

    given = np.load(source)
    # The kernel ends the process at the limit: it cannot say so itself while it computes.
    resource.setrlimit(resource.RLIMIT_CPU, (int(given["limit"]), int(given["limit"]) + 1))
    group = given["group"].astype(np.int_)
    start = process_time()
    optimizer = RiskScoreOptimizer(
        given["X"].astype(np.float64),
        np.where(given["y"], 1.0, -1.0),
        k=int(given["k"]),
        lb=-float(given["bound"]),
        ub=float(given["bound"]),
        group_sparsity=min(int(given["columns"]), int(group.max()) + 1),
        featureIndex_to_groupIndex=group,
    )
    optimizer.optimize()
    _, _, coefficients = optimizer.get_models(model_index=0)  # that of the least logistic loss
    np.savez(target, coefficients=coefficients, cpu=process_time() - start)


if __name__ == "__main__":
    main(*sys.argv[1:])
