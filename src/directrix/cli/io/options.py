"""Options that several commands share, and checks of their values."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.exceptions.columns import suggest_names

if TYPE_CHECKING:
    from directrix.metrics.base import Metric

#: SQL dialects, for help texts; `directrix.engines` would take long to import for them.
DIALECTS = ("duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse")
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
        "--features", help=f"Feature columns, {_COLUMNS}. Default: all columns without another use."
    ),
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", help=f"Columns to leave out, {_COLUMNS}.")
]
Weight = Annotated[str | None, typer.Option("--weight", help="Column with sample weights.")]
Positive = Annotated[
    str | None,
    typer.Option(help="Label of the positive class, against all others. Default: the last label."),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="File format: libsvm, if the file names do not show it."),
]
FeatureCount = Annotated[
    int | None, typer.Option("--n-features", help="Number of features of LIBSVM files.")
]
Spark = Annotated[
    str | None, typer.Option(help="URL of a Spark master that reads the files, such as local[4].")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
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
    from directrix.metrics.table import TABLE, resolve

    try:
        return resolve(text)
    except ValueError as error:
        names = [row.name for row in TABLE]
        msg = f"{error}{suggest_names(text, names)}"
        raise typer.BadParameter(msg, param_hint="--metric") from None


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
