"""Sufficient statistics of labelled rows: weight, mean and scatter for every class.

Summaries of disjoint rows add up exactly, so one pass over each part of the data is enough. Beside
the summaries themselves the package holds what one pass needs: row access, label encoding, row
hashes and folds, row samples, score histograms, and a checked file format.

Public names
------------
`Moments`
    Summary of all classes, and of all folds where rows have folds.
`ClassMoments`
    Weight, mean and scatter of one class.
`FeatureMap`
    Numeric features of a raw table, fixed before the rows are read.
`RowScatter`
    Scatter of a class with very many features, as a linear operator.
`Summary`
    Base class of summaries: sums, differences and scalar multiples.
`Standardized`
    Moments of standardised features with their center and scale.
`BinCounts`
    Rows in each cell and pair of cells of a binner, by class and fold.
`stability`, `Stability`
    Population stability of the columns between two sets of counts.
`CancellationError`
    Raised when a subtraction would leave too few correct digits.
`DifferentBinsError`, `NegativeCountError`
    Raised where counts cannot be added, or not be subtracted.
`MomentsFileError`
    Raised for a file that is not a summary or is damaged.
"""

from directrix.exceptions import (
    CancellationError,
    DifferentBinsError,
    MomentsFileError,
    NegativeCountError,
)
from directrix.moments.class_moments import ClassMoments, RowScatter
from directrix.moments.counts.bin_counts import BinCounts
from directrix.moments.counts.stability import Stability, stability
from directrix.moments.feature_map import FeatureMap
from directrix.moments.moments import Moments, Standardized
from directrix.rows.summary import Summary

__all__ = [
    "BinCounts",
    "CancellationError",
    "ClassMoments",
    "DifferentBinsError",
    "FeatureMap",
    "Moments",
    "MomentsFileError",
    "NegativeCountError",
    "RowScatter",
    "Stability",
    "Standardized",
    "Summary",
    "stability",
]


def __dir__() -> list[str]:
    return __all__
