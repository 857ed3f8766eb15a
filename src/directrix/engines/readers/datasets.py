"""Pyarrow datasets, read in order with little memory, with one type for a column of all files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from directrix.engines.column_roles import POSITION
from directrix.exceptions.columns import ColumnNotInFileError
from directrix.rows.keys import position_keys

#: Largest number of rows and of values in a batch that is read; wide rows come in smaller batches.
BATCH_ROWS = 1 << 16
READ_VALUES = 1 << 23
_FEWEST_ROWS = 1 << 12


class Opened(NamedTuple):
    """An opened source of Arrow batches: its columns, and functions that read it.

    ``batches`` takes column names and returns an iterator of batches; ``positioned`` adds a column
    of keys of the positions of rows in their files; ``n_rows`` counts the rows, if that is cheap.
    """

    columns: list[str]
    batches: Callable[[list[str]], Iterator[Any]]
    n_rows: Callable[[], int] | None = None
    positioned: Callable[[list[str]], Iterator[Any]] | None = None


def batch_rows(n_columns: int) -> int:
    """Return the number of rows of a batch that is read."""
    return min(max(READ_VALUES // max(n_columns, 1), _FEWEST_ROWS), BATCH_ROWS)


def open_dataset(rows: Any, *, complete: bool = False) -> Opened:
    """Open a dataset; rows of files are identified by their positions.

    With ``complete`` each file must have the columns that are read. Otherwise the schema of the
    dataset says what there is, as that of a Delta table does, and a file without a column has
    missing values.
    """
    from pyarrow import dataset

    is_parquet = isinstance(getattr(rows, "format", None), dataset.ParquetFileFormat)
    is_files = isinstance(rows, dataset.FileSystemDataset)
    # With its own threads a scan reads up to a gigabyte ahead of its consumer.
    options: dict[str, Any] = {"use_threads": False, "batch_readahead": 2, "fragment_readahead": 1}
    if is_parquet:
        # By default everything read from a file is buffered until its end.
        options["fragment_scan_options"] = dataset.ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True
        )
    if is_files:
        rows, row_filter = _without_filter(rows)
        options["filter"] = row_filter

    def scanner(columns: list[str]) -> Any:
        if complete:
            require_columns(rows, columns)
        typed = with_common_types(rows, columns)
        return typed.scanner(columns=columns, batch_size=batch_rows(len(columns)), **options)

    def batches(columns: list[str]) -> Iterator[Any]:
        return read_ahead(scanner(columns).to_batches())

    def positioned(columns: list[str]) -> Iterator[Any]:
        scanned = scanner(columns).scan_batches()
        return read_ahead(with_positions((batch, fragment.path) for batch, fragment in scanned))

    # The footer of a Parquet file has its number of rows; other files would have to be read.
    counted = is_parquet and options.get("filter") is None
    names = names_in_files(rows) if complete else rows.schema.names
    return Opened(
        names, batches, rows.count_rows if counted else None, positioned if is_files else None
    )


def _without_filter(rows: Any) -> tuple[Any, Any]:
    """Return a dataset of files without the filter that its user has set, and that filter.

    Arrow does not list the files of a filtered dataset, and their types must be known.
    """
    row_filter = rows._scan_options.get("filter")  # noqa: SLF001 - there is no public way to ask
    if row_filter is None:
        return rows, None
    plain = rows.replace_schema(rows.schema)
    plain._scan_options = {}  # noqa: SLF001
    return plain, row_filter


def with_positions(batches_and_files: Iterator[Any]) -> Iterator[Any]:
    """Yield batches with a column of keys, from the number of the file and the row position.

    It takes each batch with the path of its file. Rows that a scan skips are not counted; every
    scan with the same filter skips the same rows.
    """
    import pyarrow as pa

    files: dict[str, list[int]] = {}  # number of the file, and rows read from it
    for batch, path in batches_and_files:
        file_and_offset = files.setdefault(path, [len(files), 0])
        keys = position_keys(batch.num_rows, *file_and_offset)
        file_and_offset[1] += batch.num_rows
        yield batch.append_column(POSITION, pa.array(keys))


def read_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches; while one is in use, the next is read in a thread."""
    with ThreadPoolExecutor(1) as reader:
        pending = reader.submit(next, batches, None)
        while (batch := pending.result()) is not None:
            pending = reader.submit(next, batches, None)
            yield batch
            del batch


# ── Columns of the files: whether all files have them, and a common Arrow type ────────────────────


class _FileColumn(NamedTuple):
    """A column of one file: the fragment, its Arrow type, and the result of `_category`."""

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
    files. A type that the schema of the dataset states is kept. TypeError is raised if a column
    holds, for instance, text in one file and numbers in another.
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
            f"column {name!r} holds {first.type} in {first.fragment.path!r} and {other.type} in "
            f"{other.fragment.path!r}: write it with one type in all files"
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
