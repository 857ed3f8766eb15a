"""Conditions as polars expressions."""

from __future__ import annotations

from typing import Any

from directrix.engines.filters.condition import NOTHING, ORDERED, Condition


def polars_kind(dtype: Any) -> str | None:
    """Return the kind of a column of this type, as `Condition.onto` takes it."""
    name = str(dtype).split("(")[0]
    if name == "Datetime":
        return "time" if dtype.time_zone is None else "zoned time"
    if name in ("Boolean", "Date"):
        return name.lower()
    if name in ("String", "Categorical", "Enum"):
        return "text"
    if name == "Null":
        return NOTHING
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "float"
    return None


def polars_expression(condition: Condition, kind: str | None) -> Any:
    """Return a condition that is False, or null, if a value is missing."""
    import polars as pl

    column = pl.col(condition.column)
    if kind == "zoned time":
        column = column.dt.convert_time_zone("UTC")
    elif kind in ("float", "text"):
        column = column.cast(pl.Float64 if kind == "float" else pl.String)
    if kind == NOTHING:
        return column.is_not_null()
    present = column.is_not_nan() if kind == "float" else column.is_not_null()
    if condition.comparison in ORDERED:
        return present & condition.compared(column, pl.lit)
    if kind in ("time", "zoned time"):  # of any unit
        within = pl.any_horizontal([column == pl.lit(value) for value in condition.values])
    else:
        within = column.is_in(list(condition.values))
    return present & (within if condition.comparison == "in" else ~within)
