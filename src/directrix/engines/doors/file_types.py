"""Columns of the files of a dataset: whether all files have them, and a common Arrow type."""

from __future__ import annotations

from typing import Any, NamedTuple

from directrix.exceptions.columns import ColumnNotInFileError


class _FileColumn(NamedTuple):
    """Type of a column in one file.

    Parameters
    ----------
    fragment : pyarrow.dataset.Fragment
        The file.
    type : pyarrow.DataType
    category : str or None
        Result of `_category`.
    """

    fragment: Any
    type: Any
    category: str | None


def names_in_files(rows: Any) -> list[str]:
    """Return the columns of a dataset and those that only some of its later files have."""
    names = dict.fromkeys(rows.schema.names)
    for fragment in _several_files(rows):
        names.update(dict.fromkeys(fragment.physical_schema.names))
    return list(names)


def require_columns(rows: Any, columns: list[str]) -> None:
    """Raise ColumnNotInFileError if a file with rows lacks a column that another file has.

    Columns that no file has are those of the folders of partitions.

    Parameters
    ----------
    rows : pyarrow.dataset.Dataset
    columns : list of str
        The columns to be read.
    """
    fragments = _several_files(rows)
    schemas = [fragment.physical_schema for fragment in fragments]
    for name in columns:
        lacking = [k for k, schema in enumerate(schemas) if name not in schema.names]
        if len(lacking) in (0, len(schemas)):
            continue
        for k in lacking:
            if fragments[k].count_rows():
                raise ColumnNotInFileError(name, schemas[k].names, fragments[k].path)


def with_common_types(rows: Any, columns: list[str]) -> Any:
    """Return the dataset with a schema that holds the values of all of its files.

    Arrow gives every column its type in the first file and casts the other files to it, so the
    label 2 would be read as True after labels True and False. Here a column that is numeric in all
    files (booleans count as 0 and 1, as in memory) gets the widest of its types.

    The types are read from the footers of Parquet and Arrow files, and from the first block of CSV
    files. A type that the schema of the dataset states is kept.

    Parameters
    ----------
    rows : pyarrow.dataset.Dataset
    columns : list of str
        The columns to be read; the types of other columns are ignored.

    Raises
    ------
    TypeError
        If a column holds, for instance, text in one file and numbers in another.
    """
    from pyarrow import dataset

    fragments = _several_files(rows)
    schemas = [fragment.physical_schema for fragment in fragments]
    if not schemas or all(file_schema.equals(schemas[0]) for file_schema in schemas):
        return rows
    by_file = [
        dict(zip(file_schema.names, file_schema.types, strict=True)) for file_schema in schemas
    ]
    inferred = isinstance(rows.format, dataset.CsvFileFormat)
    schema = rows.schema
    for name in columns:
        in_files = [
            _FileColumn(fragment, types[name], _category(types[name]))
            for fragment, types in zip(fragments, by_file, strict=True)
            if name in types
        ]
        index = schema.get_field_index(name)
        if (
            len({file_schema.type for file_schema in in_files}) < 2
            or schema.field(index).type != in_files[0].type
        ):
            continue
        common = _common_type(name, in_files, inferred=inferred)
        if common is not None:
            schema = schema.set(index, schema.field(index).with_type(common))
    if schema.equals(rows.schema):
        return rows
    # `replace_schema` would refuse another type.
    return dataset.FileSystemDataset(fragments, schema, rows.format, rows.filesystem)


def _several_files(rows: Any) -> list[Any]:
    """Return the files of a dataset; none if there is only one, or it is not one of files."""
    from pyarrow import dataset

    if not isinstance(rows, dataset.FileSystemDataset) or len(rows.files) < 2:
        return []
    return list(rows.get_fragments())


def _category(column_type: Any) -> str | None:
    """Return "numbers", "text" or the name of another type; None if all values are missing."""
    from pyarrow import types

    if types.is_dictionary(column_type):
        return _category(column_type.value_type)
    if types.is_null(column_type):
        return None
    tests = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    if any(test(column_type) for test in tests):
        return "numbers"
    if str(column_type) in ("string", "large_string", "string_view"):
        return "text"
    return str(column_type).split("[")[0].split("<")[0].removeprefix("large_")


def _common_type(name: str, in_files: list[_FileColumn], *, inferred: bool) -> Any:
    """Return the type that holds all values of a column, or None to leave it to Arrow."""
    import pyarrow as pa
    from pyarrow import types

    if not inferred and len({column.category for column in in_files} - {None}) > 1:
        # Writers guess the types of tables without rows, so such files are ignored.
        in_files = [column for column in in_files if column.fragment.count_rows()]
    present = [column for column in in_files if column.category is not None]
    if not present:
        return None
    first = present[0]
    other = next((column for column in present if column.category != first.category), None)
    if other is None and inferred:
        # "true" is not read as a number.
        first_is_boolean = types.is_boolean(first.type)
        other = next(
            (column for column in present if types.is_boolean(column.type) != first_is_boolean),
            None,
        )
    if other is not None:
        if inferred and "text" in (first.category, other.category):
            return pa.string()
        msg = (
            f"column {name!r} holds {first.type} in {_path(first)} and {other.type} in "
            f"{_path(other)}: write it with one type in all files"
        )
        raise TypeError(msg)
    if first.category == "text":
        large = any("large" in str(column.type) for column in present)
        return pa.large_string() if large else pa.string()
    return (
        _widest({column.type for column in present}) if first.category == "numbers" else first.type
    )


def _widest(numeric: set[Any]) -> Any:
    """Return a type that holds numbers of several types."""
    import pyarrow as pa
    from pyarrow import types

    if len(numeric) == 1:
        return next(iter(numeric))
    if not all(
        types.is_integer(column_type) or types.is_boolean(column_type) for column_type in numeric
    ):
        return pa.float64()
    # Arrow raises an error for values beyond 63 bits.
    return pa.int64()


def _path(column: _FileColumn) -> str:
    return repr(column.fragment.path)
