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
`ScoreHistogram`, `ScoreRates`
    Scores of one model in bins, by class, and shares of the classes above a threshold.
`RowScatter`
    Scatter of a class with very many features, as a linear operator.
`Summary`
    Base class of summaries: scalar multiples, relabelled rows.
`Standardized`
    Moments of standardised features with their center and scale.
`CancellationError`
    Raised when a subtraction would leave too few correct digits.
`MomentsFileError`
    Raised for a file that is not a summary or is damaged.

Names that are imported here and not listed in ``__all__`` are for other rooms of the library.
"""

from directrix.exceptions import CancellationError, MomentsFileError
from directrix.moments import labels as labels
from directrix.moments._double_double import exact_product as exact_product
from directrix.moments._double_double import exact_sum as exact_sum
from directrix.moments._row_scatter import DENSE_FEATURES as DENSE_FEATURES
from directrix.moments._row_scatter import RowScatter
from directrix.moments._storage_checks import CLASS_TYPES as CLASS_TYPES
from directrix.moments._storage_checks import check_classes as check_classes
from directrix.moments._storage_checks import check_format as check_format
from directrix.moments._storage_checks import check_label_room as check_label_room
from directrix.moments.class_moments import ClassMoments
from directrix.moments.columns import checked_names as checked_names
from directrix.moments.key_hash import key_hash as key_hash
from directrix.moments.labels import as_labels as as_labels
from directrix.moments.labels import fold_numbers as fold_numbers
from directrix.moments.line_histograms import LineHistograms as LineHistograms
from directrix.moments.moments import Moments, Standardized
from directrix.moments.projection import Partials as Partials
from directrix.moments.projection import ScoreMoments as ScoreMoments
from directrix.moments.projection import project as project
from directrix.moments.projection import pullback as pullback
from directrix.moments.rejection import explain_rejection as explain_rejection
from directrix.moments.rejection import not_finite_error as not_finite_error
from directrix.moments.row_hash import mix_bits as mix_bits
from directrix.moments.row_hash import row_hash as row_hash
from directrix.moments.row_keys import CopyCounter as CopyCounter
from directrix.moments.row_keys import copy_keys as copy_keys
from directrix.moments.row_keys import copy_numbers as copy_numbers
from directrix.moments.row_keys import folds_by_key as folds_by_key
from directrix.moments.row_keys import hash_with_label as hash_with_label
from directrix.moments.row_keys import position_keys as position_keys
from directrix.moments.row_keys import stratified_folds as stratified_folds
from directrix.moments.row_sample import LARGEST_HASH as LARGEST_HASH
from directrix.moments.row_sample import RowSample as RowSample
from directrix.moments.rows import ColumnRows as ColumnRows
from directrix.moments.rows import FrameRows as FrameRows
from directrix.moments.rows import Rows as Rows
from directrix.moments.rows import SparseRows as SparseRows
from directrix.moments.rows import as_rows as as_rows
from directrix.moments.rows import canonical_csr as canonical_csr
from directrix.moments.rows import feature_names_of as feature_names_of
from directrix.moments.rows import is_frame as is_frame
from directrix.moments.rows import refuse_lazy as refuse_lazy
from directrix.moments.score_bins import BINS as BINS
from directrix.moments.score_bins import bin_of as bin_of
from directrix.moments.score_bins import centres as centres
from directrix.moments.score_bins import edges as edges
from directrix.moments.score_histogram import ScoreHistogram, ScoreRates
from directrix.moments.shrinkage import oas as oas
from directrix.moments.shrinkage import shrunk as shrunk
from directrix.moments.storage import classes_of as classes_of
from directrix.moments.storage import header_of as header_of
from directrix.moments.storage import read_parts as read_parts
from directrix.moments.storage import signed_preamble as signed_preamble
from directrix.moments.storage import write_whole as write_whole
from directrix.moments.summary import Summary
from directrix.moments.summary import count_rows as count_rows
from directrix.moments.tree import TreeSum as TreeSum
from directrix.moments.tree import tree_sum as tree_sum
from directrix.moments.weights import checked_weight as checked_weight
from directrix.moments.weights import require_moderate_weight as require_moderate_weight
from directrix.moments.weights import scaled_weights as scaled_weights

__all__ = [
    "CancellationError",
    "ClassMoments",
    "Moments",
    "MomentsFileError",
    "RowScatter",
    "ScoreHistogram",
    "ScoreRates",
    "Standardized",
    "Summary",
]
