"""Options that several commands share, and checks of their values."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli.reply import UsageError

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
    files, folders or patterns; None entries are ignored. ``force`` says whether an existing file
    may be overwritten. An input never is.
    """
    if output is None:
        return
    path = Path(output)
    if not path.parent.is_dir():
        msg = f"there is no folder {str(path.parent)!r} to write {path.name} to: make it first"
        raise UsageError(msg)
    require(not path.is_dir(), f"{output} is a folder: give the name of a file", _OUTPUT)
    if not path.is_file():  # a new file, or a device such as /dev/null, which stores nothing
        return
    for given in filter(None, reads):
        message = f"{output} is read by this command ({given}): give another name"
        require(not _is_read(path, given), message, _OUTPUT)
    require(force, f"{output} exists: overwrite it with --force, or give another name", _OUTPUT)


def _is_read(output: Path, given: str) -> bool:
    """Return whether an existing file is among those that an argument names.

    A file may be reached by another path, a symbolic link or a hard link: the system knows.
    """
    from directrix.engines.readers import matching_files

    try:
        paths = list(map(Path, matching_files(given)))
    except FileNotFoundError:  # said when it is read
        return False
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return any(file.exists() and output.samefile(file) for file in files)


# ── Options that several commands share, and checks of their values ───────────────────────────────

_OUTPUT = "--output"
_COLUMNS = "separated by commas; may be repeated"

Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file written by fit.")]
Rows = Annotated[
    list[str],
    typer.Argument(metavar="ROWS", help="Parquet, Arrow or CSV files, folders or patterns."),
]
Target = Annotated[str, typer.Option("--target", "-t", help="Column with the labels.")]
OptionalTarget = Annotated[
    str | None, typer.Option("--target", "-t", help="Column with the labels.")
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--features", help=f"Feature columns, {_COLUMNS}. Default: all columns not used otherwise."
    ),
]
ModelFeatures = Annotated[
    list[str] | None,
    typer.Option(
        "--features",
        help=f"Feature columns in the order of the model, {_COLUMNS}. Default: the names that the "
        "model was fitted with.",
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
Positive = Annotated[
    str | None,
    typer.Option(help="Label to catch, of two. Default: the last in sorted order."),
]
Guarantee = Annotated[
    float | None,
    typer.Option(help="Confidence that new rows stay within the limits, such as 0.95."),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON on stdout, and nothing else.")
]
Output = Annotated[str, typer.Option(_OUTPUT, "-o", help="File to write.")]
OptionalOutput = Annotated[
    str | None, typer.Option(_OUTPUT, "-o", help="File to write. Default: none.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output file if it exists.")]


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


def parse_metric(text: str | None) -> Metric | None:
    """Return the metric that a text names; raise a usage error that suggests similar names."""
    from directrix.metrics.table import resolve

    try:
        return None if text is None else resolve(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--metric") from None


def parse_columns(given: Sequence[str] | None) -> list[str] | None:
    """Return names that are separated by commas; a name that has a comma is in quotes."""
    if not given:
        return None
    return [name.strip() for text in given for name in next(csv.reader([text])) if name.strip()]


def require(condition: Any, message: str, option: str | None = None) -> None:
    """Raise a usage error, with exit code 2, unless a condition holds."""
    if not condition:
        raise typer.BadParameter(message, param_hint=option)
