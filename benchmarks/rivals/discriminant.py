"""Fisher's direction, and linear discriminant analysis with a shrunk covariance."""

from __future__ import annotations

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.rivals.base import Grid

fisher = Grid(lambda _: LinearDiscriminantAnalysis(solver="svd"), probabilities=True)
shrunk = Grid(
    lambda _: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), probabilities=True
)
