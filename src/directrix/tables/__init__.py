"""Tables: raw columns (numbers, booleans, texts, dates, missing values) as bins.

Public names
------------
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
"""

from directrix.exceptions import (
    BinnerFileError,
    BinNotFoundError,
    ColumnKindError,
    LevelNotFoundError,
    OwnBinsError,
)
from directrix.tables.binner import Binner
from directrix.tables.bins import LevelBins, NumberBins
from directrix.tables.table import Column, Table

__all__ = [
    "BinNotFoundError",
    "Binner",
    "BinnerFileError",
    "Column",
    "ColumnKindError",
    "LevelBins",
    "LevelNotFoundError",
    "NumberBins",
    "OwnBinsError",
    "Table",
]


def __dir__() -> list[str]:
    return __all__
