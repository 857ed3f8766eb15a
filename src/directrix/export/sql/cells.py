"""The cells of a fitted binner as SQL expressions, so that a database can bin its rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from directrix.engines.sql_dialects import DIALECTS, Dialect
from directrix.tables import Binner, LevelBins, NumberBins
from directrix.tables.bins import Bins
from directrix.tables.table import text_of

_MICROSECONDS = 86_400 * 10**6  # of a day
_BOOLEANS = ("False", "True")


class _Syntax(NamedTuple):
    """How one dialect reads a column."""

    is_nan: str  # template for a condition on a float
    text_type: str
    microseconds: str  # template for the microseconds since 1970-01-01 of a date or timestamp
    text_number: str  # template for the number that a text is
    is_number: str  # template for the condition that a value has a type with decimals
    is_boolean: str


_SYNTAX = {
    "duckdb": _Syntax(
        "isnan({})",
        "VARCHAR",
        "epoch_us({})",
        "TRY_CAST({} AS DOUBLE)",
        "typeof({0}) IN ('DOUBLE', 'FLOAT') OR typeof({0}) LIKE 'DECIMAL%'",
        "typeof({0}) = 'BOOLEAN'",
    ),
    "postgres": _Syntax(
        "{} = CAST('NaN' AS DOUBLE PRECISION)",
        "TEXT",
        "EXTRACT(EPOCH FROM {}) * 1000000",
        "CAST({} AS DOUBLE PRECISION)",
        "CAST(pg_typeof({0}) AS TEXT) IN ('double precision', 'real', 'numeric')",
        "CAST(pg_typeof({0}) AS TEXT) = 'boolean'",
    ),
    "bigquery": _Syntax(
        "IS_NAN({})",
        "STRING",
        "UNIX_MICROS(CAST({} AS TIMESTAMP))",
        "SAFE_CAST({} AS FLOAT64)",
        # There is no function for the type; the JSON of a text has quotes.
        "REGEXP_CONTAINS(TO_JSON_STRING({0}), '^-?[0-9]')",
        "TO_JSON_STRING({0}) IN ('true', 'false')",
    ),
    "snowflake": _Syntax(
        "{} = CAST('NaN' AS DOUBLE)",
        "VARCHAR",
        "DATE_PART(EPOCH_MICROSECOND, {})",
        "TRY_CAST({} AS DOUBLE)",
        "SYSTEM$TYPEOF({0}) LIKE 'FLOAT%' OR (SYSTEM$TYPEOF({0}) LIKE 'NUMBER(%' "
        "AND SYSTEM$TYPEOF({0}) NOT LIKE 'NUMBER(%,0)%')",
        "SYSTEM$TYPEOF({0}) LIKE 'BOOLEAN%'",
    ),
    "spark": _Syntax(
        "isnan({})",
        "STRING",
        "unix_micros(CAST({} AS TIMESTAMP))",
        "CAST({} AS DOUBLE)",
        "typeof({0}) IN ('double', 'float') OR typeof({0}) LIKE 'decimal%'",
        "typeof({0}) = 'boolean'",
    ),
    "clickhouse": _Syntax(
        "isNaN({})",
        "Nullable(String)",
        "toUnixTimestamp64Micro(CAST({} AS Nullable(DateTime64(6, 'UTC'))))",
        "toFloat64OrNull({})",
        "toTypeName({0}) LIKE '%Float%' OR toTypeName({0}) LIKE '%Decimal%'",
        "toTypeName({0}) LIKE '%Bool%'",
    ),
}


def cells_to_sql(
    binner: Any, *, dialect: str = "duckdb", columns: Sequence[str] | None = None
) -> dict[str, str]:
    """Return a ``CASE`` expression for each column that gives the number of its cell.

    In every row the expressions are equal to `Binner.cells`: NULL and NaN are cell 0, infinite
    values are beyond the ends, and texts that training rows did not have are cell 1. Numbers are
    compared as float64, and dates in whole microseconds; in Spark a date without a time zone is
    taken in the time zone of the session. Durations must be numbers of days in the database.

    Parameters
    ----------
    binner : Binner, fitted
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse"}
    columns : sequence of str, optional
        Columns of the database table, in the order of the columns of the binner; by default they
        have the same names.

    Returns
    -------
    dict of str
        Expressions by the name of the column in the binner.

    Examples
    --------
    >>> from directrix import Binner
    >>> from directrix.export import cells_to_sql
    >>> binner = Binner(min_rows=1, min_level_rows=1).fit([[1.0, "no"], [2.0, "yes"]])
    >>> print(cells_to_sql(binner, columns=["age", "smoker"])["x1"])
    CASE
      WHEN "smoker" IS NULL THEN 0
      WHEN CAST("smoker" AS VARCHAR) = 'no' THEN 2
      WHEN CAST("smoker" AS VARCHAR) = 'yes' THEN 3
      ELSE 1 END
    """
    if not isinstance(binner, Binner) or not hasattr(binner, "bins_"):
        msg = f"cells_to_sql takes a fitted Binner, not {type(binner).__name__}"
        raise TypeError(msg)
    if dialect not in DIALECTS:
        msg = f"no dialect {dialect!r}; there are {', '.join(DIALECTS)}"
        raise ValueError(msg)
    names = [bins.name for bins in binner.bins_] if columns is None else list(columns)
    if len(names) != len(binner.bins_):
        msg = f"columns must be {len(binner.bins_)} names, one for each column, not {len(names)}"
        raise ValueError(msg)
    remedy = "name the columns of the table with columns=[...]"
    DIALECTS[dialect].require_names(names, "column", remedy)
    return {
        bins.name: case_by_cell(bins, [str(k) for k in range(bins.n_cells)], name, dialect)
        for bins, name in zip(binner.bins_, names, strict=True)
    }


def case_by_cell(bins: Bins, results: Sequence[str], column: str, dialect: str) -> str:
    """Return a ``CASE`` expression that is one of several results, by the cell of a column.

    Neighbouring bins with the same result share a condition, and so do levels.

    Parameters
    ----------
    bins : NumberBins or LevelBins
    results : sequence of str
        An SQL expression for each cell.
    column : str
        Name of the column in the database.
    dialect : str
        One of `DIALECTS`.
    """
    return case_of_value(bins, results, DIALECTS[dialect].name(column), dialect)


def case_of_value(bins: Bins, results: Sequence[str], value: str, dialect: str) -> str:
    """Return the expression of `case_by_cell` for a value that is any SQL expression."""
    if isinstance(bins, LevelBins):
        return _levels(bins, results, value, dialect)
    if bins.kind == "boolean":
        no, yes = (results[int(cell)] for cell in bins.cells(np.array([0.0, 1.0])))
        return f"CASE WHEN {value} IS NULL THEN {results[0]} WHEN {value} THEN {yes} ELSE {no} END"
    if bins.kind == "date":
        return _dates(bins, results, value, _SYNTAX[dialect])
    return _numbers(bins, results, value, dialect)


def _levels(bins: LevelBins, results: Sequence[str], name: str, dialect: str) -> str:
    """Return the expression for texts; a column may hold numbers or booleans instead of texts.

    Databases write these in several ways (2 as ``2.0``, true as ``true``), and Python as ``2`` and
    ``True``: levels that are numbers are also compared as numbers where the type of the column has
    decimals, and levels that are booleans as booleans.
    """
    by_result: dict[str, list[str]] = {}
    for level, cell in zip(bins.levels, bins.level_cells, strict=True):
        if results[cell] != results[1] and can_be_stored(level, dialect):
            by_result.setdefault(results[cell], []).append(level)
    text, number = text_sql(name, dialect), _number_of_level(name, dialect)
    cases = []
    if any(_level_number(level) is not None for level in bins.levels):
        cases.append(f"WHEN {is_nan_sql(number, dialect)} THEN {results[0]}")
    syntax: Dialect = DIALECTS[dialect]
    for result, levels in by_result.items():
        conditions = [f"{text} {is_one_of(list(map(syntax.label, levels)))}"]
        numbers = [x for x in map(_level_number, levels) if x is not None]
        if numbers:
            conditions.append(f"{number} {is_one_of(list(map(syntax.double, numbers)))}")
        flags = [syntax.label(level.lower()) for level in levels if level in _BOOLEANS]
        if flags:
            is_boolean = _SYNTAX[dialect].is_boolean.format(name)
            conditions.append(f"({is_boolean} AND {text} {is_one_of(flags)})")
        cases.append(f"WHEN {' OR '.join(conditions)} THEN {result}")
    return _case(f"{name} IS NULL", results[0], cases, results[1])


def _number_of_level(name: str, dialect: str) -> str:
    """Return a value as a float if its type has decimals, otherwise NULL.

    It is read from its text: of float32 that is the shortest, as in Python. A cast that is not
    asked for a number is not evaluated in a CASE.
    """
    syntax = _SYNTAX[dialect]
    number = syntax.text_number.format(text_sql(name, dialect))
    return f"CASE WHEN {syntax.is_number.format(name)} THEN {number} END"


def _level_number(level: str) -> float | None:
    """Return the number that has this text in a column of texts, None if there is none."""
    try:
        number = float(level)
    except ValueError:
        return None
    return number if isfinite(number) and text_of(number, "") == level else None


def is_nan_sql(number: str, dialect: str) -> str:
    """Return the condition that a float is NaN."""
    return _SYNTAX[dialect].is_nan.format(number)


def text_sql(value: str, dialect: str) -> str:
    """Return a value as text."""
    return f"CAST({value} AS {_SYNTAX[dialect].text_type})"


def is_one_of(literals: Sequence[str]) -> str:
    """Return the end of a condition that a value is one of some literals."""
    return f"= {literals[0]}" if len(literals) == 1 else f"IN ({', '.join(literals)})"


def can_be_stored(text: str, dialect: str) -> bool:
    """Return whether a database can hold a text at all: if not, no row needs a condition."""
    if "\0" in text and dialect == "postgres":
        return False
    return not any("\ud800" <= character <= "\udfff" for character in text)  # surrogates


def _numbers(bins: NumberBins, results: Sequence[str], name: str, dialect: str) -> str:
    syntax: Dialect = DIALECTS[dialect]
    value = syntax.cast(name)
    cases = [f"WHEN {is_nan_sql(value, dialect)} THEN {results[0]}"]
    cases += [
        f"WHEN {value} = {syntax.double(number)} THEN {results[cell]}"
        for number, cell in bins.special_forms
    ]
    cuts = [(syntax.double(cut), k) for k, cut in enumerate(bins.cuts)]
    cases += _below(cuts, value, results)
    return _case(f"{name} IS NULL", results[0], cases, results[bins.n_ordered])


def _dates(bins: NumberBins, results: Sequence[str], name: str, syntax: _Syntax) -> str:
    value = syntax.microseconds.format(name)
    special = results[1 + bins.n_ordered :]
    cases = []
    for days, result in zip(bins.special_values, special, strict=True):
        first = last_microsecond(float(np.nextafter(days, -np.inf))) + 1
        cases.append(f"WHEN {value} BETWEEN {first} AND {last_microsecond(days)} THEN {result}")
    cuts = [(str(last_microsecond(cut)), k) for k, cut in enumerate(bins.cuts)]
    cases += _below(cuts, value, results)
    return _case(f"{value} IS NULL", results[0], cases, results[bins.n_ordered])


def _below(cuts: Sequence[tuple[str, int]], value: str, results: Sequence[str]) -> list[str]:
    return [
        f"WHEN {value} <= {cut} THEN {results[1 + k]}"
        for cut, k in cuts
        if results[1 + k] != results[2 + k]
    ]


def _case(is_null: str, missing: str, cases: Sequence[str], otherwise: str) -> str:
    return f"CASE\n  {_lines([f'WHEN {is_null} THEN {missing}', *cases])}\n  ELSE {otherwise} END"


def last_microsecond(days: float) -> int:
    """Return the last microsecond since 1970-01-01 that is read as at most this many days.

    `Table` reads a time as whole days plus a rounded fraction; the comparison of microseconds must
    agree with that of days in every row.

    Examples
    --------
    >>> last_microsecond(1.5)
    129600000000
    """
    whole, rest = divmod(days, 1.0)
    low = int(whole) * _MICROSECONDS + int(rest * _MICROSECONDS)
    # Rounding is monotone, and moves a time by less than the spacing of floats at this number.
    width = 2 + int(np.spacing(abs(days)) * _MICROSECONDS)
    low, high = low - 2 * width, low + 2 * width
    while high - low > 1:
        middle = (low + high) // 2
        if _days(middle) <= days:
            low = middle
        else:
            high = middle
    return low


def _days(microseconds: int) -> float:
    whole, rest = divmod(microseconds, _MICROSECONDS)
    return whole + rest / _MICROSECONDS


def _lines(cases: Sequence[str]) -> str:
    return "\n  ".join(cases)
