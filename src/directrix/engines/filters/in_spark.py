"""Conditions as Spark columns."""

from __future__ import annotations

from typing import Any

from directrix.engines.filters.condition import NOTHING, ORDERED, Condition

#: How the names of Spark's types begin.
_SPARK_KINDS = {
    "boolean": "boolean",
    "tinyint": "integer",
    "smallint": "integer",
    "int": "integer",
    "bigint": "integer",
    "float": "float",
    "double": "float",
    "decimal": "float",
    "string": "text",
    "varchar": "text",
    "char": "text",
    "date": "date",
    "timestamp_ntz": "time",
    "timestamp": "zoned time",
    "void": NOTHING,
}


def spark_column(condition: Condition, stored: str) -> Any:
    """Return a condition on a column of this Spark type; rows where it is null do not pass."""
    from pyspark.sql import functions

    kind = _SPARK_KINDS.get(stored.split("(", maxsplit=1)[0])
    onto = condition.onto(kind, stored)
    column = functions.col(f"`{condition.column.replace('`', '``')}`")
    if kind == NOTHING:
        return column.isNotNull()
    if kind == "float":
        column = column.cast("double")

    def literal(value: Any) -> Any:
        # A datetime without a time zone would become an instant in that of this process.
        if kind == "time":
            return functions.lit(str(value)).cast("timestamp_ntz")
        return functions.lit(value)

    if onto.comparison in ORDERED:
        return onto.compared(column, literal)
    within = column.isin([literal(value) for value in onto.values])
    return within if onto.comparison == "in" else ~within
