"""Hasan and Pal 2015: Beta-Bernoulli losses, SLA and SLAM, sparse kernels; and two of ours.

"A New Smooth Approximation to the Zero One Loss with a Probabilistic Interpretation". The loss of a
row is bounded by a plateau, and sharpens to the zero-one loss.
"""

from directrix.papers.hasan_pal_2015.classifiers import (
    BetaBernoulliClassifier,
    KernelBetaBernoulliClassifier,
    PlateauClassifier,
    SLAClassifier,
    SparseKernelBetaBernoulliClassifier,
    VertexSearchClassifier,
)

__all__ = [
    "BetaBernoulliClassifier",
    "KernelBetaBernoulliClassifier",
    "PlateauClassifier",
    "SLAClassifier",
    "SparseKernelBetaBernoulliClassifier",
    "VertexSearchClassifier",
]
