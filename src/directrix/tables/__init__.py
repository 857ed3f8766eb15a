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
`BinnerFileError`
    Raised for a file that is not a binner or is damaged.

Names that are imported here and not listed in ``__all__`` are for other rooms of the library.
"""

from directrix.exceptions import BinnerFileError, ColumnKindError
from directrix.tables.binner import Binner
from directrix.tables.bins import Bins as Bins
from directrix.tables.bins import LevelBins, NumberBins
from directrix.tables.cuts import find_cuts as find_cuts
from directrix.tables.table import Column, Table

__all__ = [
    "Binner",
    "BinnerFileError",
    "Column",
    "ColumnKindError",
    "LevelBins",
    "NumberBins",
    "Table",
]
