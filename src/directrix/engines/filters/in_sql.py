"""Conditions as SQL that DuckDB and DataFusion share."""

from __future__ import annotations

from directrix.engines.filters.condition import ORDERED, Condition


def sql_condition(condition: Condition, kind: str) -> str:
    """Return a condition on a column of this kind as SQL."""
    return f"{_sql_column(condition.column, kind)} {_sql_comparison(condition, kind)}"


def _sql_column(name: str, kind: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return f"CAST({quoted} AS DOUBLE)" if kind == "float" else quoted


def _sql_comparison(condition: Condition, kind: str) -> str:
    sql_type = {"float": "DOUBLE", "date": "DATE", "time": "TIMESTAMP"}.get(kind)
    literals = []
    for value in condition.values:
        text = "'" + str(value).replace("'", "''") + "'"
        if sql_type is not None:
            text = f"CAST({text} AS {sql_type})"
        literals.append(text if kind in ("text", "float", "date", "time") else str(value).upper())
    if condition.comparison in ORDERED:
        return f"{condition.comparison} {literals[0]}"
    return f"{condition.comparison.upper()} ({', '.join(literals)})"
