"""Conditions as pyiceberg expressions."""

from __future__ import annotations

from datetime import date
from typing import Any

from directrix.engines.filters.condition import NOTHING, ORDERED, Condition


def iceberg_expression(condition: Condition, kind: str, stored: str) -> Any:
    """Return a condition as a pyiceberg expression.

    Parameters
    ----------
    condition : Condition
        With values of the kind of the column.
    kind, stored : str
        Kind and Arrow type of the column.
    """
    from pyiceberg import expressions

    # pyiceberg would round values to float32, and compares no decimal with a float.
    if kind in (NOTHING, "zoned time") or (kind == "float" and stored != "double"):
        return expressions.AlwaysTrue()
    comparisons = {
        ">": expressions.GreaterThan,
        ">=": expressions.GreaterThanOrEqual,
        "<": expressions.LessThan,
        "<=": expressions.LessThanOrEqual,
        "in": expressions.In,
        "not in": expressions.NotIn,
    }
    values = [value.isoformat() if isinstance(value, date) else value for value in condition.values]
    comparison = comparisons[condition.comparison]
    column = expressions.Reference(condition.column)
    return comparison(column, values[0] if condition.comparison in ORDERED else set(values))
