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
`ScoreHistogram`, `ScoreRates`
    Scores of one model in bins, by class, and shares of the classes above a threshold.
`RowScatter`
    Scatter of a class with very many features, as a linear operator.
`Summary`
    Base class of summaries: sums, differences and scalar multiples.
`Standardized`
    Moments of standardised features with their center and scale.
`CancellationError`
    Raised when a subtraction would leave too few correct digits.
`MomentsFileError`
    Raised for a file that is not a summary or is damaged.
"""

from directrix.exceptions import CancellationError, MomentsFileError
from directrix.moments.class_moments import ClassMoments, RowScatter
from directrix.moments.feature_map import FeatureMap
from directrix.moments.moments import Moments, Standardized
from directrix.moments.score_histogram import ScoreHistogram, ScoreRates
from directrix.moments.summary import Summary

__all__ = [
    "CancellationError",
    "ClassMoments",
    "FeatureMap",
    "Moments",
    "MomentsFileError",
    "RowScatter",
    "ScoreHistogram",
    "ScoreRates",
    "Standardized",
    "Summary",
]


def __dir__() -> list[str]:
    return __all__
