"""Tables: raw columns (numbers, booleans, texts, dates, missing values) as bins.

Public names
------------
`BinCounts`
    Rows in each cell and pair of cells of a binner, by class and fold.
`stability`, `Stability`
    Population stability of the columns between two sets of counts.
`Binner`
    Transformer that cuts the columns of a table into bins.
`NumberBins`, `LevelBins`
    Bins of one column: of numbers, booleans or dates, and of texts.
`Table`, `Column`
    A raw table as one array, and the name and kind of a column.
`ColumnKindError`
    Raised for a column that holds something else than it should.
`BinnerFileError`
    Raised for a file that is not a binner or is damaged.
`DifferentBinsError`, `NegativeCountError`
    Raised where counts cannot be added, or not be subtracted.

Names that are imported here and not listed in ``__all__`` are for other rooms of the library.
"""

from directrix.exceptions import (
    BinnerFileError,
    ColumnKindError,
    DifferentBinsError,
    NegativeCountError,
)
from directrix.tables.binner import Binner
from directrix.tables.bins import Bins as Bins
from directrix.tables.bins import LevelBins, NumberBins
from directrix.tables.coding.coded_rows import CodedRows as CodedRows
from directrix.tables.coding.coded_rows import Coding as Coding
from directrix.tables.coding.cross_score import cross_score as cross_score
from directrix.tables.coding.crosses import CrossColumn as CrossColumn
from directrix.tables.coding.crosses import rank_pairs as rank_pairs
from directrix.tables.coding.directions import DirectedBasis as DirectedBasis
from directrix.tables.coding.directions import directed_basis as directed_basis
from directrix.tables.coding.prior import CellKinds as CellKinds
from directrix.tables.coding.prior import cell_weights as cell_weights
from directrix.tables.coding.prior import column_basis as column_basis
from directrix.tables.coding.prior import straight_basis as straight_basis
from directrix.tables.counts import LATER as LATER
from directrix.tables.counts import BinCounts, Stability, stability
from directrix.tables.counts import CellMoments as CellMoments
from directrix.tables.counts import PairGain as PairGain
from directrix.tables.counts import compare_cells as compare_cells
from directrix.tables.counts import psi_reading as psi_reading
from directrix.tables.counts import stability_index as stability_index
from directrix.tables.counts import weights_of_evidence as weights_of_evidence
from directrix.tables.cuts import find_cuts as find_cuts
from directrix.tables.encoding import dense_features as dense_features
from directrix.tables.encoding import onehot as onehot
from directrix.tables.encoding import thermometer as thermometer
from directrix.tables.reading._objects import text_of as text_of
from directrix.tables.reading.table import Column, Table
from directrix.tables.reading.table import has_names as has_names

__all__ = [
    "BinCounts",
    "Binner",
    "BinnerFileError",
    "Column",
    "ColumnKindError",
    "DifferentBinsError",
    "LevelBins",
    "NegativeCountError",
    "NumberBins",
    "Stability",
    "Table",
    "stability",
]
