"""The five papers: one file or folder each, with its loss or risk, its solver and its classifiers.

Nothing else of the package uses them. They are scikit-learn classifiers in the units of their
papers: `MomentClassifier` and `DirectClassifier` are what to use in practice.
"""

from directrix.papers.chuang_2017 import MarginLossClassifier
from directrix.papers.ghanbari_li_scheinberg_2019 import (
    NormalErrorClassifier,
    NormalRankingClassifier,
)
from directrix.papers.ghanbari_scheinberg_2018 import (
    ExpectedAUCClassifier,
    ExpectedErrorClassifier,
)
from directrix.papers.hasan_pal_2015 import (
    BetaBernoulliClassifier,
    KernelBetaBernoulliClassifier,
    PlateauClassifier,
    SLAClassifier,
    SparseKernelBetaBernoulliClassifier,
    VertexSearchClassifier,
)
from directrix.papers.zhang_saha_vishwanathan_2011 import (
    SmoothedPRBEPClassifier,
    SmoothedROCAreaClassifier,
)

__all__ = [
    "BetaBernoulliClassifier",
    "ExpectedAUCClassifier",
    "ExpectedErrorClassifier",
    "KernelBetaBernoulliClassifier",
    "MarginLossClassifier",
    "NormalErrorClassifier",
    "NormalRankingClassifier",
    "PlateauClassifier",
    "SLAClassifier",
    "SmoothedPRBEPClassifier",
    "SmoothedROCAreaClassifier",
    "SparseKernelBetaBernoulliClassifier",
    "VertexSearchClassifier",
]


def __dir__() -> list[str]:
    return __all__
