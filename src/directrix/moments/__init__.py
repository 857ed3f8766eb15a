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
`RowScatter`
    Scatter of a class with very many features, as a linear operator.
`Standardized`
    Moments of standardised features with their center and scale.
`CancellationError`
    Raised when a subtraction would leave too few correct digits.
`MomentsFileError`
    Raised for a file that is not a summary or is damaged.
"""

from directrix.exceptions import CancellationError, MomentsFileError
from directrix.moments._one_pass import require_moderate_weight
from directrix.moments._row_scatter import RowScatter
from directrix.moments._storage_checks import check_classes, check_label_room
from directrix.moments.class_moments import ClassMoments
from directrix.moments.columns import checked_names
from directrix.moments.key_hash import key_hash
from directrix.moments.labels import as_labels, fold_numbers
from directrix.moments.moments import Moments, Standardized
from directrix.moments.projection import Partials, ScoreMoments, project, pullback
from directrix.moments.row_hash import mix_bits, row_hash
from directrix.moments.row_keys import (
    CopyCounter,
    copy_keys,
    copy_numbers,
    folds_by_key,
    hash_with_label,
    position_keys,
    stratified_folds,
)
from directrix.moments.row_sample import RowSample
from directrix.moments.rows import (
    ColumnRows,
    FrameRows,
    Rows,
    SparseRows,
    as_rows,
    canonical_csr,
    is_frame,
)
from directrix.moments.score_histogram import ScoreHistogram, centres, edges
from directrix.moments.shrinkage import oas, shrunk
from directrix.moments.storage import read_parts, signed_preamble, write_whole
from directrix.moments.tree import tree_sum

__all__ = [
    "CancellationError",
    "ClassMoments",
    "ColumnRows",
    "CopyCounter",
    "FrameRows",
    "Moments",
    "MomentsFileError",
    "Partials",
    "RowSample",
    "RowScatter",
    "Rows",
    "ScoreHistogram",
    "ScoreMoments",
    "SparseRows",
    "Standardized",
    "as_labels",
    "as_rows",
    "canonical_csr",
    "centres",
    "check_classes",
    "check_label_room",
    "checked_names",
    "copy_keys",
    "copy_numbers",
    "edges",
    "fold_numbers",
    "folds_by_key",
    "hash_with_label",
    "is_frame",
    "key_hash",
    "mix_bits",
    "oas",
    "position_keys",
    "project",
    "pullback",
    "read_parts",
    "require_moderate_weight",
    "row_hash",
    "shrunk",
    "signed_preamble",
    "stratified_folds",
    "tree_sum",
    "write_whole",
]
