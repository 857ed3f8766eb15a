"""Conditions on Arrow columns, in memory or as expressions that a scan pushes down."""

from __future__ import annotations

from typing import Any

from directrix.engines.filters.condition import NOTHING, ORDERED, Condition


def arrow_kind(arrow_type: Any) -> str | None:
    """Return the kind of a column of this type, as `Condition.onto` takes it."""
    from pyarrow import types

    if types.is_null(arrow_type):
        return NOTHING
    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_timestamp(arrow_type):
        return "time" if arrow_type.tz is None else "zoned time"
    if str(arrow_type) in ("string", "large_string", "string_view"):
        return "text"
    kinds = {
        "boolean": types.is_boolean,
        "integer": types.is_integer,
        "float": lambda of: types.is_floating(of) or types.is_decimal(of),
        "date": types.is_date,
    }
    return next((kind for kind, matches in kinds.items() if matches(arrow_type)), None)


def arrow_mask(condition: Condition, column: Any, arrow_type: Any) -> Any:
    """Return a condition over an Arrow column, or as an expression over a field."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = arrow_kind(arrow_type)
    if kind == NOTHING:
        return pc.is_valid(column)
    cast_to = {"float": pa.float64(), "text": pa.large_string()}.get(str(kind))
    if kind == "zoned time":
        cast_to = pa.timestamp(arrow_type.unit, "UTC")
    if cast_to is not None and arrow_type not in (cast_to, pa.string()):
        column = column.cast(cast_to)
    unsigned = str(arrow_type) == "uint64" and all(value >= 0 for value in condition.values)
    literal_type = {
        "boolean": pa.bool_(),
        "integer": pa.uint64() if unsigned else pa.int64(),
        "float": pa.float64(),
        "text": pa.string() if arrow_type == pa.string() else pa.large_string(),
        "date": pa.date32(),
        "time": pa.timestamp("us"),
        "zoned time": pa.timestamp("us", "UTC"),
    }[str(kind)]
    if condition.comparison in ORDERED:
        names = {">": "greater", ">=": "greater_equal", "<": "less", "<=": "less_equal"}
        compare = getattr(pc, names[condition.comparison])
        return compare(column, pa.scalar(condition.values[0], literal_type))
    within = pc.is_in(column, value_set=pa.array(condition.values, literal_type))
    if condition.comparison == "in":
        return within
    return pc.invert(pc.or_kleene(within, pc.is_null(column, nan_is_null=True)))
