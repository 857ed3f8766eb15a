"""One Arrow type per column for datasets whose files disagree on it."""

from __future__ import annotations

from typing import Any, NamedTuple


class _Typed(NamedTuple):
    """The type of a column in one file."""

    fragment: Any
    type: Any
    kind: str | None


def with_common_types(rows: Any, columns: list[str]) -> Any:
    """Return the dataset with a schema that suits all of its files.

    Arrow gives every column the type it has in the first file and casts the others to it, so that
    after labels True and False the label 2 would be read as True. Here a column that is numeric in
    all files (booleans count as 0 and 1, as they do in memory) becomes the widest of these types.

    The types come from the footers of Parquet and Arrow files, and from the first block of CSV
    files. A type that was stated in the dataset's schema is kept.

    Parameters
    ----------
    rows : pyarrow.dataset.Dataset
    columns : list of str
        The columns to be read; the types of others do not matter.

    Raises
    ------
    TypeError
        Where a column holds, for instance, text in one file and numbers in another.
    """
    from pyarrow import dataset

    if not isinstance(rows, dataset.FileSystemDataset) or len(rows.files) < 2:
        return rows
    fragments = list(rows.get_fragments())
    schemas = [fragment.physical_schema for fragment in fragments]
    if all(each.equals(schemas[0]) for each in schemas):
        return rows
    by_file = [dict(zip(each.names, each.types, strict=True)) for each in schemas]
    inferred = isinstance(rows.format, dataset.CsvFileFormat)
    schema = rows.schema
    for name in columns:
        typed = [
            _Typed(fragment, types[name], _kind(types[name]))
            for fragment, types in zip(fragments, by_file, strict=True)
            if name in types
        ]
        index = schema.get_field_index(name)
        if len({each.type for each in typed}) < 2 or schema.field(index).type != typed[0].type:
            continue
        common = _common_type(name, typed, inferred=inferred)
        if common is not None:
            schema = schema.set(index, schema.field(index).with_type(common))
    if schema.equals(rows.schema):
        return rows
    # `replace_schema` would refuse another type.
    return dataset.FileSystemDataset(fragments, schema, rows.format, rows.filesystem)


def _kind(column_type: Any) -> str | None:
    """Return what a type holds: numbers, text, or its own name; None where all is missing."""
    from pyarrow import types

    if types.is_dictionary(column_type):
        return _kind(column_type.value_type)
    if types.is_null(column_type):
        return None
    tests = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    if any(test(column_type) for test in tests):
        return "numbers"
    if str(column_type) in ("string", "large_string", "string_view"):
        return "text"
    return str(column_type).split("[")[0].split("<")[0].removeprefix("large_")


def _common_type(name: str, typed: list[_Typed], *, inferred: bool) -> Any:
    """Return the type that holds all values of a column; None leaves the choice to Arrow."""
    import pyarrow as pa
    from pyarrow import types

    if not inferred and len({each.kind for each in typed} - {None}) > 1:
        # A writer guesses the types of a table without rows.
        typed = [each for each in typed if each.fragment.count_rows()]
    present = [each for each in typed if each.kind is not None]
    if not present:
        return None
    first = present[0]
    other = next((each for each in present if each.kind != first.kind), None)
    if other is None and inferred:
        # "true" is not read as a number.
        first_is_boolean = types.is_boolean(first.type)
        other = next((e for e in present if types.is_boolean(e.type) != first_is_boolean), None)
    if other is not None:
        if inferred and "text" in (first.kind, other.kind):
            return pa.string()
        msg = (
            f"column {name!r} holds {first.type} in {_path(first)} and {other.type} in "
            f"{_path(other)}: write it with one type in all files"
        )
        raise TypeError(msg)
    if first.kind == "text":
        large = any("large" in str(each.type) for each in present)
        return pa.large_string() if large else pa.string()
    return _widest({each.type for each in present}) if first.kind == "numbers" else first.type


def _widest(numeric: set[Any]) -> Any:
    """Return a type for numbers of several types."""
    import pyarrow as pa
    from pyarrow import types

    if len(numeric) == 1:
        return next(iter(numeric))
    if not all(types.is_integer(each) or types.is_boolean(each) for each in numeric):
        return pa.float64()
    # Beyond 63 bits Arrow says that a value does not fit.
    return pa.int64()


def _path(typed: _Typed) -> str:
    return repr(typed.fragment.path)
