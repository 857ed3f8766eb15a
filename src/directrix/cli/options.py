"""Options that several commands share, and checks of their values."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from directrix.cli.reply import UsageError
from directrix.exceptions.columns import suggest_names

if TYPE_CHECKING:
    from directrix.metrics.base import Metric
    from directrix.moments import Moments

# ── Files that directrix wrote: telling summaries from models, and reading them ───────────────────


#: Bytes of a file in which the name of its format is searched.
_HEADER_BYTES = 1 << 20
#: Names of the formats, as headers have them, and what the command line calls the files.
_FORMATS = {
    "directrix.moments": "summary",
    "directrix.model": "model",
}


def file_type(path: str) -> str | None:
    """Return what a file of ours is, as `_FORMATS` has it, or None, by its first bytes."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        header = file.read(_HEADER_BYTES)
    # The name of the format is within a text in the JSON of the header.
    return next((name for key, name in _FORMATS.items() if key.encode() in header), None)


def load_summary(path: str) -> Moments:
    """Read a summary; raise an error that says what the file is instead."""
    from directrix.moments import Moments

    _require_file(path)
    if file_type(path) == "model":
        msg = f"{path} is a model, and this needs a summary: make one with directrix summarize"
        raise UsageError(msg)
    return Moments.load(path)


def load_model(path: str) -> Any:
    """Read a model; raise an error that says what the file is instead."""
    from directrix.export import load

    _require_file(path)
    if file_type(path) == "summary":
        msg = f"{path} is a summary, and this needs a model: make one with directrix fit"
        raise UsageError(msg)
    return load(path)


def _require_file(path: str) -> None:
    if not Path(path).is_file():
        msg = f"no file at {path!r}: give the path of a file that directrix wrote"
        raise UsageError(msg)


# ── Checks of output files: no input is overwritten, and other files only with ``--force`` ────────


def require_output(output: str | None, reads: Iterable[str | None], *, force: bool) -> None:
    """Raise an error if a command must not write its output file; call this before any work.

    ``output`` is None if the command writes to stdout. ``reads`` are the inputs of the command:
    files, folders, patterns or URLs; None entries are ignored. ``force`` says whether an existing
    file may be overwritten. An input never is.
    """
    if output is None:
        return
    path = Path(output)
    if not path.parent.is_dir():
        folder = str(path.parent)
        msg = f"there is no folder {folder!r} to write {path.name} to: make it first"
        raise UsageError(msg)
    if path.is_dir():
        _refuse(f"{output} is a folder: give the name of a file")
    if not path.is_file():  # a new file, or a device such as /dev/null, which stores nothing
        return
    for given in reads:
        if given is not None and _is_read(path, given):
            _refuse(f"{output} is read by this command ({given}): give another name")
    if not force:
        _refuse(f"{output} exists: overwrite it with --force, or give another name")


def _refuse(message: str) -> None:
    raise typer.BadParameter(message, param_hint="--output")


def _is_read(output: Path, given: str) -> bool:
    """Return whether an existing file is among those that an argument names.

    A file may be reached by another path, a symbolic link or a hard link: the system knows.
    """
    from directrix.engines.readers import matching_files

    try:
        paths = matching_files(_local(given))
    except FileNotFoundError:  # said when it is read
        return False
    for path in paths:
        if Path(path).is_dir():
            inside = output.resolve().is_relative_to(Path(path).resolve())
            if inside or any(_same(output, file) for file in _files_under(path)):
                return True
        elif _same(output, path):
            return True
    return False


def _local(given: str) -> str:
    """Return the path of a ``file:`` URL, which Spark reads; any other text unchanged."""
    parts = urlsplit(given)
    if parts.scheme != "file":
        return given
    from urllib.request import url2pathname

    return url2pathname(parts.path)


def _same(output: Path, path: str) -> bool:
    try:
        return output.samefile(path)
    except OSError:  # a broken link is not a file that can be read
        return False


def _files_under(folder: str) -> Iterator[str]:
    """Iterate over all files below a folder; links are followed, each folder once."""
    visited = set()
    for root, folders, names in os.walk(folder, followlinks=True):
        state = Path(root).stat()
        if (state.st_dev, state.st_ino) in visited:
            folders.clear()
            continue
        visited.add((state.st_dev, state.st_ino))
        for name in names:
            yield str(Path(root) / name)


# ── Options that several commands share, and checks of their values ───────────────────────────────


#: SQL dialects, for help texts; `directrix.engines` would take long to import for them.
DIALECTS = ("duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse", "sqlite")
_COLUMNS = "separated by commas; may be repeated"

Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file written by fit.")]
Rows = Annotated[
    list[str],
    typer.Argument(
        metavar="ROWS", help="Parquet, Arrow, CSV or LIBSVM files, folders or patterns."
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", "-t", help="Column with the labels; not needed for LIBSVM files."),
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--features", help=f"Feature columns, {_COLUMNS}. Default: all columns not used otherwise."
    ),
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", help=f"Columns to leave out, {_COLUMNS}.")
]
Weight = Annotated[str | None, typer.Option("--weight", help="Column with sample weights.")]
Segment = Annotated[
    str | None,
    typer.Option("--segment", help="Column with the segment of each row, such as a country."),
]
InEverySegment = Annotated[
    bool,
    typer.Option(
        "--in-every-segment",
        help="Keep the limits in each segment of --segment, not only over all rows.",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(help="Label to catch; all others are the other class. Default: the last label."),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="File format if the file names do not show it: libsvm."),
]
FeatureCount = Annotated[
    int | None, typer.Option("--n-features", help="Number of features of LIBSVM files.")
]
Spark = Annotated[
    str | None,
    typer.Option(
        help="URL of a Spark master that reads the files, such as local[4], or of Spark Connect."
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON on stdout, and nothing else.")
]
Output = Annotated[str, typer.Option("--output", "-o", help="File to write.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output file if it exists.")]
OptionalOutput = Annotated[
    str | None, typer.Option("--output", "-o", help="File to write. Default: stdout.")
]


def _complete_metric(incomplete: str) -> list[str]:
    """Return the metrics that a shell may complete a text to."""
    from directrix.metrics.table import TABLE

    names = [row.name for row in TABLE if not row.needs_parameters]
    names += ["recall@fpr=0.01", "precision@recall=0.9", "precision@k=100", "cost(fp=1, fn=20)"]
    return [name for name in names if name.startswith(incomplete)]


MetricText = Annotated[
    str | None,
    typer.Option(
        "--metric",
        "-m",
        help="Metric: error, auc, f1, recall@fpr=0.01, 'cost(fp=1, fn=20)', ...",
        autocompletion=_complete_metric,
    ),
]


def parse_metric(text: str) -> Metric:
    """Return the metric that a text names; raise a usage error that suggests similar names."""
    from directrix.metrics.table import resolve

    try:
        return resolve(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--metric") from None


def parse_columns(given: Sequence[str] | None) -> list[str] | None:
    """Return names that are separated by commas; a name that has a comma is in quotes."""
    if not given:
        return None
    return [name.strip() for text in given for name in next(csv.reader([text])) if name.strip()]


def check_choice(value: str, allowed: Sequence[str], option: str) -> str:
    """Return a value that is allowed; raise a usage error for any other."""
    if value not in allowed:
        msg = f"{value!r} is not one of {', '.join(allowed)}{suggest_names(value, allowed)}"
        raise typer.BadParameter(msg, param_hint=option)
    return value


def require(condition: Any, message: str, option: str | None = None) -> None:
    """Raise a usage error, with exit code 2, unless a condition holds."""
    if not condition:
        raise typer.BadParameter(message, param_hint=option)
