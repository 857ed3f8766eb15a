"""Readers: files, datasets and tables of a lake house as Arrow batches.

CSV files must be UTF-8; `explain_encoding` tells where one is not.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from glob import glob
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from directrix.engines.column_roles import POSITION
from directrix.exceptions.columns import ColumnNotInFileError
from directrix.exceptions.files import NotUtf8Error
from directrix.rows.keys import position_keys

# ── Pyarrow datasets, read in order with little memory, with one type for a column ────────────────

#: Largest number of rows and of values in a batch that is read; wide rows come in smaller batches.
BATCH_ROWS = 1 << 16
READ_VALUES = 1 << 23
_FEWEST_ROWS = 1 << 12


class Opened(NamedTuple):
    """An opened source of Arrow batches: its columns, and functions that read it.

    ``batches`` takes column names and returns an iterator of batches; ``positioned`` adds a column
    of keys of the positions of rows in their files; ``n_rows`` counts the rows, if that is cheap.
    ``pandas_index`` are columns that are the index of the pandas data frame which was written.
    """

    columns: list[str]
    batches: Callable[[list[str]], Iterator[Any]]
    n_rows: Callable[[], int] | None = None
    positioned: Callable[[list[str]], Iterator[Any]] | None = None
    pandas_index: tuple[str, ...] = ()


def index_of(schema: Any) -> tuple[str, ...]:
    """Return the columns of an Arrow schema that are the index of a pandas data frame."""
    written = (schema.pandas_metadata or {}).get("index_columns", ())
    return tuple(name for name in written if isinstance(name, str))


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
    count = rows.count_rows if counted else None
    return Opened(names, batches, count, positioned if is_files else None, index_of(rows.schema))


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
    by_file = [dict(zip(each.names, each.types, strict=True)) for each in schemas]
    inferred = isinstance(rows.format, dataset.CsvFileFormat)
    schema = rows.schema
    for name in columns:
        in_files = [
            _FileColumn(fragment, types[name], _category(types[name], inferred=inferred))
            for fragment, types in zip(fragments, by_file, strict=True)
            if name in types
        ]
        index = schema.get_field_index(name)
        differ = len({column.type for column in in_files}) > 1
        if not differ or schema.field(index).type != in_files[0].type:
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


def _category(column_type: Any, *, inferred: bool) -> str | None:
    """Return "numbers", "text" or the name of another type; None if all values are missing.

    In CSV files, whose types are ``inferred``, "true" is not read as a number.
    """
    from pyarrow import types

    if types.is_dictionary(column_type):
        return _category(column_type.value_type, inferred=inferred)
    if types.is_null(column_type):
        return None
    if types.is_boolean(column_type):
        return "booleans" if inferred else "numbers"
    if any(test(column_type) for test in (types.is_integer, types.is_floating, types.is_decimal)):
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
    first, kinds = present[0], {column.category for column in present}
    if kinds == {"text"} or (inferred and "text" in kinds):
        large = any("large" in str(column.type) for column in present)
        return pa.large_string() if large else pa.string()
    if len(kinds) > 1:
        other = next(column for column in present if column.category != first.category)
        msg = (
            f"column {name!r} holds {first.type} in {first.fragment.path!r} and {other.type} in "
            f"{other.fragment.path!r}: write it with one type in all files"
        )
        raise TypeError(msg)
    numeric = {column.type for column in present}
    if kinds != {"numbers"} or len(numeric) == 1:
        return first.type
    whole = all(types.is_integer(each) or types.is_boolean(each) for each in numeric)
    # Arrow raises an error for values beyond 63 bits.
    return pa.int64() if whole else pa.float64()


# ── Delta tables: the rows of one version, without those that were deleted or replaced ────────────

#: Features of tables whose files alone do not show the rows: some are deleted, names differ.
_NOT_IN_FILES = {"columnMapping", "deletionVectors"}


def is_delta_folder(path: Path) -> bool:
    """Return whether a path is the folder of a Delta table."""
    return (path / "_delta_log").is_dir()


def open_delta_folder(path: str) -> Opened:
    """Open the newest version of the Delta table in a folder."""
    try:
        from deltalake import DeltaTable
    except ModuleNotFoundError as error:
        msg = (
            f"{path!r} is the folder of a Delta table, and deltalake, which reads it, is not "
            "installed: pip install 'directrix[delta]'"
        )
        raise ModuleNotFoundError(msg, name="deltalake") from error
    return open_delta(DeltaTable(path))


def open_delta(table: Any) -> Opened:
    """Open a version of a Delta table.

    Its files are read as a dataset where they hold exactly the rows of the table. Otherwise, or
    where the names of columns in files differ from those of the table, the engine of deltalake
    reads them.
    """
    from pyarrow import dataset

    features = set(table.protocol().reader_features or ())
    # Tables of reader version 2 map columns without naming the feature.
    mapped = table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none"
    if mapped or features & _NOT_IN_FILES:
        return _scanned(table)
    rows = table.to_pyarrow_dataset()
    # The order of the files is not part of the table; here it is that of their names.
    fragments = sorted(rows.get_fragments(), key=lambda fragment: str(fragment.path))
    ordered = dataset.FileSystemDataset(fragments, rows.schema, rows.format, rows.filesystem)
    return open_dataset(ordered)


def _scanned(table: Any) -> Opened:
    """Open a table by the engine of deltalake, which returns rows in any order."""
    import pyarrow as pa

    if not hasattr(table, "scan"):
        msg = (
            "the Delta table has deletion vectors or mapped columns, which this release of "
            "deltalake does not read: install a newer one"
        )
        raise ValueError(msg)

    def batches(columns: list[str]) -> Iterator[Any]:
        return read_ahead(iter(pa.RecordBatchReader.from_stream(table.scan(columns))))

    return Opened(pa.schema(table.schema().to_arrow()).names, batches)


# ── Iceberg tables and scans of pyiceberg, read file by file ──────────────────────────────────────


def open_iceberg(source: Any) -> Opened:
    """Open the current snapshot of a table, or a scan with its snapshot, filter and columns."""
    scan = source.scan() if hasattr(source, "scan") else source
    if scan.limit is not None:
        msg = (
            "the Iceberg scan has a limit, which keeps any rows: leave it out, or select rows "
            "with its row_filter"
        )
        raise ValueError(msg)

    def batches(columns: list[str]) -> Iterator[Any]:
        return read_ahead(batch for batch, _ in _batches_and_files(scan, columns))

    def positioned(columns: list[str]) -> Iterator[Any]:
        return read_ahead(with_positions(_batches_and_files(scan, columns)))

    return Opened([field.name for field in scan.projection().fields], batches, None, positioned)


def _batches_and_files(scan: Any, columns: list[str]) -> Iterator[tuple[Any, str]]:
    """Yield the batches of all files, in the order of their names, with the paths of the files.

    A reader of a whole scan would read all files at once, and hold what is not consumed.
    """
    from pyiceberg.io.pyarrow import ArrowScan

    chosen = scan.select(*columns)
    schema = chosen.projection()
    arrow_schema = schema.as_arrow()
    reader = ArrowScan(
        chosen.table_metadata, chosen.io, schema, chosen.row_filter, chosen.case_sensitive
    )
    for task in sorted(chosen.plan_files(), key=lambda task: str(task.file.file_path)):
        for batch in reader.to_record_batches([task]):
            # Files written by different programs may hold texts as different types.
            yield batch.cast(arrow_schema).select(columns), task.file.file_path


# ── Paths: Parquet, Arrow and CSV files, folders of partitions, and folders of Delta tables ───────

_FORMATS = {"parquet": "parquet", "pq": "parquet", "csv": "csv", "arrow": "ipc", "feather": "ipc"}
COMPRESSED = {".gz", ".bz2", ".zst", ".lz4", ".br"}
#: Number of bytes decoded at a time; Arrow infers column types from about as many.
_BLOCK = 1 << 20


def are_paths(source: Any) -> bool:
    """Return whether a source is a path or a list of paths."""
    paths = source if isinstance(source, list | tuple) else [source]
    return bool(paths) and all(isinstance(path, str | PathLike) for path in paths)


def open_paths(source: Any) -> Opened:
    """Open a path or pattern, or a list of them: files of one format, or one Delta table."""
    paths: list[str] = []
    for path_or_pattern in [source] if isinstance(source, str | PathLike) else source:
        given = Path(path_or_pattern)
        matches = matching_files(str(fspath(path_or_pattern)))
        if not given.is_file():  # a folder, or a pattern
            _refuse_files_of_tables(given, matches)
        paths += matches
    if any(is_delta_folder(Path(path)) for path in paths):
        if len(paths) > 1:
            msg = "one of the paths is the folder of a Delta table: give it alone"
            raise ValueError(msg)
        return open_delta_folder(paths[0])
    return open_dataset(_files(paths), complete=True)


def _refuse_files_of_tables(given: Path, matches: list[str]) -> None:
    """Raise ValueError if only the log of a table knows which of the files in a folder count."""
    around = (folder for path in matches[:1] for folder in Path(path).absolute().parents)
    below = (log.parent for log in given.glob("**/_delta_log")) if given.is_dir() else ()
    folders = (folder for folder in (*below, *around) if is_delta_folder(folder))
    table = None if is_delta_folder(given) else next(folders, None)
    if table is not None:
        msg = (
            f"{str(given)!r} has files of the Delta table {str(table)!r}, some of which may be "
            "deleted: give the folder of the table"
        )
        raise ValueError(msg)
    if next(given.glob("metadata/*.metadata.json"), None) is not None:
        msg = (
            f"{str(given)!r} is the folder of an Iceberg table, some files of which may be "
            "deleted: load the table from its catalog with pyiceberg, and give that"
        )
        raise ValueError(msg)


def _files(paths: list[str]) -> Any:
    """Return Parquet, Arrow or CSV files, or folders of partitions, as a dataset."""
    from pyarrow import csv, dataset

    formats = {file_format(Path(path)) for path in paths}
    if len(formats) > 1:
        msg = f"the files have several formats ({', '.join(sorted(formats))}): give one format"
        raise ValueError(msg)
    file_type: Any = formats.pop()
    if file_type == "csv":  # empty fields are missing in text columns too
        options = csv.ConvertOptions(strings_can_be_null=True)
        file_type = dataset.CsvFileFormat(convert_options=options)
    single = len(paths) == 1
    return dataset.dataset(paths[0] if single else paths, format=file_type, partitioning="hive")


def matching_files(path: str) -> list[str]:
    """Return the files that match a path or pattern, or raise FileNotFoundError."""
    if Path(path).exists():
        return [path]
    matches = glob(path, recursive=True) if any(c in path for c in "*?[") else []  # noqa: PTH207
    # Such files hold no data (for instance _SUCCESS of Spark).
    files = sorted(match for match in matches if not Path(match).name.startswith(("_", ".")))
    if not files:
        msg = f"no file at {path!r}: give the path of a file or folder, or a pattern"
        raise FileNotFoundError(msg)
    return files


def file_format(path: Path) -> str:
    """Return the format of a file by its suffix, or of a folder by its first file."""
    if path.is_dir():
        inside = (file for file in sorted(path.rglob("*.*")) if file.is_file())
        path = next((file for file in inside if not file.name.startswith(("_", "."))), path)
    if path.suffix in COMPRESSED:
        path = path.with_suffix("")
    return _FORMATS.get(path.suffix.lstrip(".").lower(), "parquet")


# ── Encoding of CSV files ─────────────────────────────────────────────────────────────────────────


def explain_encoding(source: Any, error: Exception) -> None:
    """Raise NotUtf8Error if the encoding of a file explains an error; otherwise return.

    Arrow raises its own error for text that is not UTF-8, except in the first rows, where it reads
    the column as bytes, which are neither numbers nor labels. Files are inspected only after such
    an error of a source that is a path.
    """
    if not are_paths(source):
        return
    whole_file = isinstance(error, UnicodeError) or type(error).__module__.startswith("pyarrow")
    if not whole_file and not isinstance(error, TypeError):
        return
    for path_or_pattern in [source] if isinstance(source, str | PathLike) else source:
        for path in _csv_files(str(path_or_pattern)):
            with suppress(OSError):  # the original error then says why
                require_utf8(path, None if whole_file else _BLOCK)


def require_utf8(path: str | PathLike[str], max_bytes: int | None = None) -> None:
    """Raise NotUtf8Error if a file, compressed or not, is not UTF-8 (in its first bytes)."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, n_read = 1, 0
    with _open(path) as file:
        while max_bytes is None or n_read < max_bytes:
            block: bytes = file.read(_BLOCK)
            try:
                line += decoder.decode(block, final=not block).count("\n")
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                has_mark = n_read == 0 and block.startswith(
                    (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
                )
                encoding = "UTF-16" if has_mark else "ISO-8859-1"
                byte = error.object[error.start]
                raise NotUtf8Error(str(path), line, byte, encoding) from None
            n_read += len(block)
            if not block:
                return


def _open(path: str | PathLike[str]) -> Any:
    if Path(path).suffix not in COMPRESSED:
        return Path(path).open("rb")
    import pyarrow as pa

    return pa.input_stream(str(path), compression="detect")


def _csv_files(path_or_pattern: str) -> Iterator[str]:
    try:
        paths = [Path(path) for path in matching_files(path_or_pattern)]
    except FileNotFoundError:
        return
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (str(file) for file in inside if file.is_file() and file_format(file) == "csv")
