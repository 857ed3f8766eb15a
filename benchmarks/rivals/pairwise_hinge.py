"""The pairwise hinge by L-BFGS, the other rival of Ghanbari and Scheinberg (2018)."""

from __future__ import annotations

from benchmarks.rivals.base import Grid
from directrix import SmoothClassifier

# Its scores alone are compared, and thresholds as of the others: its own are not chosen on folds.
lbfgs = Grid(
    lambda alpha: SmoothClassifier("auc", loss="pairwise_hinge", alpha=alpha, cv=2),
    (1e-4, 1e-2),
    moves_all=True,
)
