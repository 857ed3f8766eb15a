"""Every error and warning class of the library, and where a warning points.

Errors carry what they are about as attributes, so that code can act on them: nothing in the library
parses a message. The attributes are also the arguments of the class, so that an error survives
pickling on its way out of a worker process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

#: Packages whose frames a warning skips: ours, and those that call ours on the user's behalf; the
#: standard library does so for cached properties and context managers.
_SKIPPED = frozenset({"directrix", "sklearn", "joblib", "functools", "contextlib"})

#: The extra of this package that installs an optional library.
EXTRAS = {
    "pyarrow": "arrow",
    "pyspark": "spark",
    "dask": "dask",
    "distributed": "dask",
    "duckdb": "sql",
    "matplotlib": "plot",
    "typer": "cli",
    "rich": "cli",
    "onnx": "onnx",
    "onnxruntime": "onnx",
}

#: Columns that a message lists before it only counts them.
_LISTED_COLUMNS = 5


class ColumnNotFoundError(KeyError):
    """A column is asked for by a name that the data do not have.

    Parameters
    ----------
    name : object
        The name asked for; in arrays the index.
    available : iterable
        Names of the columns there are; empty if they have no names.
    noun : str
        What the columns are called in the message: "column" or "feature".
    """

    def __init__(self, name: Any, available: Iterable[Any], noun: str = "column") -> None:
        self.name, self.available, self.noun = name, tuple(available), noun
        super().__init__(name, self.available, noun)

    def __str__(self) -> str:  # KeyError would show the repr of its arguments
        known = f"are {list(self.available)}" if self.available else "have no names"
        return f"no {self.noun} named {self.name!r}; the {self.noun}s {known}"


class NotNumericError(TypeError):
    """A feature column holds something other than numbers.

    Parameters
    ----------
    column : object
        Name of the column.
    dtype : str
        What it holds, as the library that holds it says.
    remedy : str
        What to do about it.
    """

    def __init__(
        self,
        column: Any,
        dtype: str,
        remedy: str = "encode it first (for instance one-hot), or leave it out",
    ) -> None:
        self.column, self.dtype, self.remedy = column, dtype, remedy
        super().__init__(column, dtype, remedy)

    def __str__(self) -> str:
        return f"column {self.column!r} holds {self.dtype}, not numbers; {self.remedy}"


class ColumnKindError(TypeError):
    """A column of a table holds something else than it should.

    Parameters
    ----------
    column : object
        Name of the column.
    holds : str
        What it holds.
    expected : str
        What it should hold: numbers, booleans, texts or dates.
    """

    def __init__(self, column: Any, holds: str, expected: str) -> None:
        self.column, self.holds, self.expected = column, holds, expected
        super().__init__(column, holds, expected)

    def __str__(self) -> str:
        return (
            f"column {self.column!r} holds {self.holds}, and {self.expected} are expected: convert "
            "it, or leave it out"
        )


class NotUtf8Error(ValueError):
    """A CSV file is not encoded as UTF-8.

    Parameters
    ----------
    path : str
    line : int
        First line that is not UTF-8, counted from one.
    byte : int
        First byte in it that is not UTF-8.
    encoding : str
        Encoding that the file may have.
    """

    def __init__(self, path: str, line: int, byte: int, encoding: str) -> None:
        self.path, self.line, self.byte, self.encoding = path, line, byte, encoding
        super().__init__(path, line, byte, encoding)

    def __str__(self) -> str:
        path, encoding = PurePath(self.path), self.encoding
        copy = path.with_stem(f"{path.stem}-utf8")
        return (
            f"{self.path} is not UTF-8: line {self.line} has the byte 0x{self.byte:02x}. Save it "
            f"as UTF-8; if it is {encoding}, iconv -f {encoding} -t UTF-8 {self.path} > {copy} "
            "does so"
        )


class SqlNameError(ValueError):
    """A name cannot be that of a column or table in a database.

    Parameters
    ----------
    message : str
    name : str
    positions : iterable of int
        Positions of the name in the list that it is from, counted from one; two positions if the
        database takes two names for one.
    """

    def __init__(self, message: str, name: str, positions: Iterable[int]) -> None:
        self.message, self.name, self.positions = message, name, tuple(positions)
        super().__init__(message, name, self.positions)

    def __str__(self) -> str:
        return self.message


class CancellationError(ArithmeticError):
    """Subtracting one summary from another would leave too few correct digits.

    Parameters
    ----------
    columns : iterable
        Columns (indices, or names) that would lose their digits; empty if the mean would.
    """

    def __init__(self, columns: Iterable[Any] = ()) -> None:
        self.columns = tuple(columns)
        super().__init__(self.columns)

    def __str__(self) -> str:
        if self.columns:
            shown = ", ".join(repr(column) for column in self.columns[:_LISTED_COLUMNS])
            left_out = len(self.columns) - _LISTED_COLUMNS
            more = f" and {left_out} more" if left_out > 0 else ""
            lost = (
                f"column {shown}{more} would keep fewer than seven digits of its scatter (almost "
                "all of it was in the part taken out)"
            )
        else:
            lost = "too little weight would remain to know its mean"
        return f"after subtraction {lost}; add up the parts you keep instead of subtracting"


class DifferentBinsError(ValueError):
    """Counts of the cells of two different binners cannot be combined.

    Parameters
    ----------
    column : str
        First column whose bins differ, or that only one of the binners has.
    """

    def __init__(self, column: str) -> None:
        self.column = column
        super().__init__(column)

    def __str__(self) -> str:
        return (
            f"the counts are of two binners, which differ in column {self.column!r}: count all "
            "rows with the same fitted binner, or make the bins the same with `rebin`"
        )


class NegativeCountError(ValueError):
    """Counts to subtract are not a part of those to subtract from.

    Parameters
    ----------
    column : str, optional
        Column of a cell that would be left with a negative count; None if only the total would.
    cell : object, optional
        The cell: its label, or its number among all cells while the columns are not known.
    """

    def __init__(self, column: str | None = None, cell: Any = None) -> None:
        self.column, self.cell = column, cell
        super().__init__(column, cell)

    def __str__(self) -> str:
        cell = "the number of rows" if self.cell is None else f"cell {self.cell!r}"
        of_column = "" if self.column is None else f" of column {self.column!r}"
        return (
            "the counts to subtract are not a part of those to subtract from: "
            f"{cell}{of_column} would be negative"
        )


class _FileError(ValueError):
    """A file cannot be read.

    Parameters
    ----------
    reason : str
    path : str, optional
        The file; None while its content is checked apart from it.
    """

    _noun: str

    def __init__(self, reason: str, path: str | None = None) -> None:
        self.reason, self.path = reason, path
        super().__init__(reason, path)

    def __str__(self) -> str:
        if self.path is None:
            return self.reason
        return f"{PurePath(self.path).name} cannot be read as a {self._noun}: {self.reason}"


class MomentsFileError(_FileError):
    """A file is not a summary that this version can read, or it is damaged.

    Parameters
    ----------
    reason : str
    path : str, optional
        The file; None while its content is checked apart from it.
    """

    _noun = "summary"


class ModelFileError(_FileError):
    """A file is not a model that this version can read, or it is damaged.

    Parameters
    ----------
    reason : str
    path : str, optional
        The file; None while its content is checked apart from it.
    """

    _noun = "model"


class BinnerFileError(_FileError):
    """A file or text is not a binner that this version can read, or it is damaged.

    Parameters
    ----------
    reason : str
    path : str, optional
        The file; None while its content is checked apart from it.
    """

    _noun = "binner"


class StateError(ValueError):
    """A state is not one that a fitted classifier of its class could have.

    Parameters
    ----------
    reason : str
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class OutOfReachError(ValueError):
    """No threshold keeps a limit with the confidence that is asked for.

    Parameters
    ----------
    message : str
    limit : RateLimit
        The limit, with its ``rate`` and ``value``.
    rows : int
        Rows there are to set the threshold.
    needed : int or None
        Rows that would be needed; None if no number of rows would suffice.
    """

    def __init__(self, message: str, limit: Any, rows: int, needed: int | None) -> None:
        self.message, self.limit, self.rows, self.needed = message, limit, rows, needed
        super().__init__(message, limit, rows, needed)

    def __str__(self) -> str:
        return self.message


class MissingLibraryError(ImportError):
    """An optional library is not installed.

    Parameters
    ----------
    purpose : str
        What needs it, as a clause: "displays are drawn with matplotlib".
    library : str
        Name of the library, one of `EXTRAS`.
    """

    def __init__(self, purpose: str, library: str) -> None:
        super().__init__(purpose, library, name=library)
        self.purpose, self.library = purpose, library

    @property
    def extra(self) -> str:
        """Extra of this package that installs the library."""
        return EXTRAS[self.library]

    def __str__(self) -> str:
        return f"{self.purpose}: pip install 'directrix[{self.extra}]'"


class FewRowsWarning(UserWarning):
    """There are too few rows for what is asked of them."""


class OneClassPredictedWarning(UserWarning):
    """The best threshold predicts the same class for every row."""


class NotBetterThanBaselineWarning(UserWarning):
    """No candidate was better than logistic regression on held-out rows."""


class Float32PrecisionWarning(UserWarning):
    """Features in float32 have too few digits for the scores of a classifier.

    Parameters
    ----------
    change : float
        How much rounding can change the log-odds near the threshold.
    """

    def __init__(self, change: float) -> None:
        self.change = change
        super().__init__(change)

    def __str__(self) -> str:
        return (
            f"rounding the features to float32 can change the log-odds by {self.change:.2g}, and "
            "labels with them, as features are far from zero compared with their spread: use "
            'dtype="float64", or centre the features before the classifier is fitted'
        )


def find_stacklevel() -> int:
    """Return the ``stacklevel`` with which a warning points at the user's line.

    That is the innermost frame outside this library and the libraries that call it, however deep
    the call that warns is. Call it in the call of `warnings.warn` itself.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - inspect.currentframe is this, and may return None
    level = 1
    while frame.f_back is not None and _package_of(frame.f_globals) in _SKIPPED:
        frame = frame.f_back
        level += 1
    return level


def _package_of(module: dict[str, object]) -> str:
    return str(module.get("__name__", "")).partition(".")[0]
