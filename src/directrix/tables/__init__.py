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
`OwnBinsError`, `LevelNotFoundError`, `BinNotFoundError`
    Raised for cuts, groups or joined missing values that a column cannot have.
`BinnerFileError`
    Raised for a file that is not a binner or is damaged.
`DifferentBinsError`, `NegativeCountError`
    Raised where counts cannot be added, or not be subtracted.
"""

from directrix.exceptions import (
    BinnerFileError,
    BinNotFoundError,
    ColumnKindError,
    DifferentBinsError,
    LevelNotFoundError,
    NegativeCountError,
    OwnBinsError,
)
from directrix.tables.binner import Binner
from directrix.tables.bins import LevelBins, NumberBins
from directrix.tables.counts.bin_counts import BinCounts
from directrix.tables.counts.stability import Stability, stability
from directrix.tables.table import Column, Table

__all__ = [
    "BinCounts",
    "BinNotFoundError",
    "Binner",
    "BinnerFileError",
    "Column",
    "ColumnKindError",
    "DifferentBinsError",
    "LevelBins",
    "LevelNotFoundError",
    "NegativeCountError",
    "NumberBins",
    "OwnBinsError",
    "Stability",
    "Table",
    "stability",
]


def __dir__() -> list[str]:
    return __all__
