"""Errors about columns: their names, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

from directrix.exceptions.fields import Fields

#: Columns that a message lists before it only counts them.
_LISTED_COLUMNS = 5
#: The same for columns that have changed, each with what was seen.
_LISTED_CHANGES = 3
#: The same for bins and levels of a column.
_LISTED_BINS = 20

#: Names that pandas gives the columns of a file which are an index without a name.
PANDAS_INDEX = re.compile("__index_level_[0-9]+__")

#: First remedy for a table that a classifier of numbers refuses.
TAKE_AS_IT_IS = (
    "use ScorecardClassifier or summarize(features='auto'), which take text and missing values as "
    "they are"
)
_ENCODE = f"{TAKE_AS_IT_IS}, or encode such columns (OneHotEncoder in a Pipeline), or drop them"
_IMPUTE = f"{TAKE_AS_IT_IS}, or impute them (SimpleImputer in a Pipeline), or drop those rows"


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
        shown = [name for name in self.available if not PANDAS_INDEX.fullmatch(str(name))]
        known = f"are {all_or_few(shown)}" if shown else "have no names"
        asked = _question(self.similar)
        listed_after = f" The {self.noun}s {known}" if asked else f"; the {self.noun}s {known}"
        return f"no {self.noun} named {self.name!r}{asked}{listed_after}"

    @property
    def similar(self) -> tuple[str, ...]:
        """Names of columns there are that resemble the name asked for, the most similar first."""
        return similar_names(self.name, self.available)


class LevelNotFoundError(Fields, ValueError):
    """A column of texts is asked for a level that it does not have."""

    column: Any
    level: Any
    #: The levels of the column.
    available: tuple[Any, ...]

    def __str__(self) -> str:
        subject = f"column {self.column!r} has no level {self.level!r}"
        return _with_known(subject, self.level, self.available, "levels")


class BinNotFoundError(Fields, ValueError):
    """A column is asked for a bin that it does not have."""

    column: Any
    #: The bin as it was asked for: by its name, or by a value or level in it.
    bin: Any
    #: The names of the bins of the column.
    available: tuple[Any, ...]

    def __str__(self) -> str:
        subject = f"column {self.column!r} has no bin {self.bin!r}"
        return _with_known(subject, self.bin, self.available, "bins")


class OwnBinsError(Fields, ValueError):
    """Bins that a user gave for a column cannot be made."""

    column: Any
    #: The parameter that they were given by: "cuts", "groups" or "missing_with".
    parameter: str
    #: What was given for the column.
    given: Any
    #: What is wrong with it, and what is expected.
    problem: str

    def __str__(self) -> str:
        return f"{self.parameter} of column {self.column!r}: {self.problem}; given: {self.given!r}"


class TypedCardError(Fields, ValueError):
    """A card that is typed in has bins or points that cannot be read."""

    column: str
    #: The bin, or all bins of the column.
    bin: Any
    #: What is wrong, and what is expected.
    problem: str

    def __str__(self) -> str:
        return f"points of column {self.column!r}, {self.bin!r}: {self.problem}"


class MissingColumnsError(ColumnNotFoundError, ValueError):
    """A table lacks columns that a classifier was fitted to.

    Parameters
    ----------
    name : object
        The first of them.
    available : iterable
        Names of the columns there are.
    refusal : str
        What scikit-learn says of the table; it lists all columns that are missing or new.
    unused : iterable
        The columns that are missing, if none of them has points on the card.
    fitted : iterable
        All columns of the fit, which are not suggested for the one that is missing.
    """

    def __init__(
        self,
        name: Any,
        available: Iterable[Any],
        refusal: str,
        unused: Iterable[Any] = (),
        fitted: Iterable[Any] = (),
    ) -> None:
        super().__init__(name, available)
        self.refusal, self.unused, self.fitted = refusal, tuple(unused), tuple(fitted)
        self.args = (name, self.available, refusal, self.unused, self.fitted)

    @property
    def similar(self) -> tuple[str, ...]:
        """Names of columns that resemble the missing one, and that the fit did not have."""
        unknown = [each for each in self.available if each not in self.fitted]
        return similar_names(self.name, unknown)

    def __str__(self) -> str:
        text = f"{self.refusal.rstrip()}\n{super().__str__()}".lstrip()
        if not self.unused:
            return text
        return (
            f"{text}. The card gives no points to {', '.join(map(repr, self.unused))}: "
            "X.reindex(columns=card.feature_names_in_) adds such columns, without values"
        )


class LazyTableError(Fields, TypeError):
    """A table whose rows are not in memory is given where rows are needed."""

    #: What it is: "polars LazyFrame".
    kind: str

    def __str__(self) -> str:
        return (
            f"this needs rows in memory, and got a {self.kind}: call its collect() first, or train "
            "a classifier by fit_source(frame, target=...), which reads it as a stream"
        )


class ColumnNotInFileError(ColumnNotFoundError):
    """A file lacks a column that other files of the same source have.

    Parameters
    ----------
    name : str
    available : iterable of str
        Names of the columns of the file.
    path : str
        Of the file.
    """

    def __init__(self, name: Any, available: Iterable[Any], path: str) -> None:
        super().__init__(name, available)
        self.path = path
        self.args = (name, self.available, path)

    def __str__(self) -> str:
        return (
            f"no column named {self.name!r} in {self.path!r}, and other files have it; the columns "
            f"of this file are {all_or_few(self.available)}: write the column to every file (with "
            "missing values where there are none), or name the columns to use in features"
        )


class PandasIndexWarning(Fields, UserWarning):
    """The index of a pandas data frame, which its file holds as a column, is not used."""

    columns: tuple[str, ...]

    def __str__(self) -> str:
        names = ", ".join(self.columns)
        return (
            f"left out the index of a pandas data frame ({names}), which is no feature: name all "
            "features to use it"
        )


class ColumnNamesError(Fields, TypeError):
    """A data frame has names of columns that are no texts, and not just their positions."""

    #: All names.
    names: tuple[Any, ...]
    #: One that is no text.
    name: Any

    def __str__(self) -> str:
        return (
            f"names of columns must be texts, and {self.name!r} is none; the names are "
            f"{listed(self.names)}: give every column a text, for instance by "
            "X.columns = X.columns.astype(str)"
        )


class ColumnKindError(Fields, TypeError):
    """A column of a table holds something else than it should."""

    #: Name of the column.
    column: Any
    #: What it holds.
    holds: str
    #: What it should hold: numbers, booleans, texts or dates.
    expected: str

    def __str__(self) -> str:
        return (
            f"column {self.column!r} holds {self.holds}, but {self.expected} are expected: convert "
            "it, or leave it out"
        )


class ColumnChange(NamedTuple):
    """A column that is not what it was in the rows of a fit."""

    #: Position and name of the column.
    position: int
    column: Any
    #: What values are: "missing", "below" or "above" the usual range by far, "near zero", or "new"
    #: levels, which include those that were too rare in the fit.
    problem: str
    #: The number that values are below, above, or nearer to zero than; one of the new levels.
    limit: Any
    #: How many of the rows have such a value, and how many rows there are.
    rows: int
    total: int
    #: Share of such values in the rows of the fit.
    share: float
    #: The range of 99 % of the values of the fit.
    range: tuple[float, float]

    def __str__(self) -> str:
        count = f"{self.rows:,} of {self.total:,}"
        count = f"all {self.total:,}" if self.rows == self.total else count
        share = f"{100 * self.share:.2g} %" if self.share else "none"
        low, high = self.range
        usual = f", where 99 % are from {low:g} to {high:g}"
        if self.problem == "missing":
            what, usual = "missing", ""
        elif self.problem == "new":
            what, usual = f"new or rare levels, such as {self.limit!r}", ""
        elif self.problem == "near zero":
            what = f"within {self.limit:g} of zero"
        else:
            what = f"{self.problem} {self.limit:g}"
        return f"{self.column!r}: {count} values are {what} ({share} in training{usual})"


class ChangedColumnsWarning(Fields, UserWarning):
    """Columns of new rows are not what they were in training, by more than chance or drift."""

    #: The columns, those that have changed most first.
    changes: tuple[ColumnChange, ...]

    @property
    def columns(self) -> tuple[Any, ...]:
        """Names of the columns."""
        return tuple(change.column for change in self.changes)

    def __str__(self) -> str:
        shown = "; ".join(map(str, self.changes[:_LISTED_CHANGES]))
        left_out = len(self.changes) - _LISTED_CHANGES
        more = f"; and {left_out} more" if left_out > 0 else ""
        return (
            f"columns are not what they were in training: {shown}{more}. Check their source, units "
            "and codes"
        )


class UnusableColumnsError(Exception):
    """Base class for errors about feature columns that hold more than finite numbers.

    Attributes
    ----------
    columns : tuple
        Names of the columns; in arrays their indices.
    problem, remedy : str
        The two parts of the message: what the columns hold, and what to do about it.
    """

    columns: tuple[Any, ...]
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.problem}; {self.remedy}"


class NotNumericError(UnusableColumnsError, TypeError):
    """Feature columns hold text, dates or something else that is not numbers.

    Parameters
    ----------
    columns : iterable
    dtypes : iterable of str
        What each of the columns holds, as the library that holds it says.
    remedy : str, optional
    """

    def __init__(
        self, columns: Iterable[Any], dtypes: Iterable[str], remedy: str = _ENCODE
    ) -> None:
        self.columns, self.dtypes, self.remedy = tuple(columns), tuple(dtypes), remedy
        super().__init__(self.columns, self.dtypes, remedy)
        self.problem = _holds(self.columns, f"{', '.join(dict.fromkeys(self.dtypes))}, not numbers")


class _NotFiniteError(UnusableColumnsError, ValueError):
    """Base class for errors about numbers that are not finite."""

    _values: str

    def __init__(
        self,
        columns: Iterable[Any],
        rows: int,
        partial: bool = False,  # noqa: FBT001, FBT002 - pickle passes it by position
    ) -> None:
        self.columns, self.rows, self.partial = tuple(columns), rows, partial
        super().__init__(self.columns, rows, partial)
        count = f"{'at least ' * partial}{rows:,} row{'s' * (rows != 1)}"
        self.problem = _holds(self.columns, f"{self._values} in {count}")


class MissingValuesError(_NotFiniteError):
    """Feature columns hold missing values.

    Parameters
    ----------
    columns : iterable
    rows : int
        Number of rows that lack a value.
    partial : bool
        Whether only a part of the rows has been searched.
    """

    _values = "missing values (NaN)"
    remedy = _IMPUTE


class InfiniteValuesError(_NotFiniteError):
    """Feature columns hold infinity.

    Parameters
    ----------
    columns : iterable
    rows : int
        Number of rows that hold infinity.
    partial : bool
        Whether only a part of the rows has been searched.
    """

    _values = "infinity"
    remedy = "replace it by a finite number, or drop those rows"


def similar_names(name: Any, names: Iterable[Any]) -> tuple[str, ...]:
    """Return up to three names that resemble one, whatever their case."""
    by_lower = {str(known).lower(): str(known) for known in names}
    return tuple(by_lower[lower] for lower in get_close_matches(str(name).lower(), by_lower, n=3))


def suggest_names(name: Any, names: Iterable[Any]) -> str:
    """Return a question such as ``; did you mean 'fraud'?``, or "" if no name is similar."""
    return _question(similar_names(name, names))


def _question(similar: tuple[str, ...]) -> str:
    return f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""


def _with_known(subject: str, name: Any, known: tuple[Any, ...], noun: str) -> str:
    """Return what was not found, a similar name if there is one, and the names there are."""
    asked = suggest_names(name, known)
    return (
        f"{subject}{asked}{' Its' if asked else '; its'} {noun} are {listed(known, _LISTED_BINS)}"
    )


def listed(columns: tuple[Any, ...], most: int = _LISTED_COLUMNS) -> str:
    """Return the names of columns for a message, or of bins; the number of those beyond `most`."""
    left_out = len(columns) - most
    more = f" and {left_out} more" if left_out > 0 else ""
    return ", ".join(map(repr, columns[:most])) + more


def all_or_few(names: Iterable[Any]) -> str:
    """Return a list of names for a message; of more than 20 the first and how many others."""
    names = list(names)
    return str(names) if len(names) <= _LISTED_BINS else listed(tuple(names))


def _holds(columns: tuple[Any, ...], values: str) -> str:
    subject, verb = ("column", "holds") if len(columns) == 1 else ("columns", "hold")
    return f"{subject} {listed(columns)} {verb} {values}"
