"""Options that several commands have, each said once."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from directrix.cli.output.errors import suggest_names
from directrix.metrics import TABLE, Metric, resolve

_COLUMNS = "separated by commas; may be given again"

Rows = Annotated[
    list[str],
    typer.Argument(
        metavar="ROWS", help="Parquet, Arrow, CSV or LIBSVM files, folders or patterns."
    ),
]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help="Column of the labels; LIBSVM needs none.")
]
Features = Annotated[
    list[str] | None,
    typer.Option("--features", help=f"Columns to use, {_COLUMNS}. By default all others."),
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", help=f"Columns to leave out, {_COLUMNS}.")
]
Weight = Annotated[str | None, typer.Option("--weight", help="Column of weights.")]
Positive = Annotated[
    str | None,
    typer.Option(help="Label that counts as positive, against all others. By default the last."),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="libsvm, where the names of the files do not say so."),
]
Width = Annotated[
    int | None, typer.Option("--n-features", help="Of LIBSVM files: how many features there are.")
]
Spark = Annotated[
    str | None, typer.Option(help="URL of a Spark master that reads the files, as local[4].")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
Output = Annotated[str, typer.Option("--output", "-o", help="File to write.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]
MaybeOutput = Annotated[
    str | None, typer.Option("--output", "-o", help="File to write; by default stdout.")
]


def _metrics(incomplete: str) -> list[str]:
    """Return the metrics that a shell may complete to."""
    names = [row.name for row in TABLE if not row.needs_parameters]
    names += ["recall@fpr=0.01", "precision@recall=0.9", "precision@k=100", "cost(fp=1, fn=20)"]
    return [name for name in names if name.startswith(incomplete)]


MetricText = Annotated[
    str | None,
    typer.Option(
        "--metric",
        "-m",
        help="error, auc, f1, recall@fpr=0.01, 'cost(fp=1, fn=20)', ...",
        autocompletion=_metrics,
    ),
]


def metric_of(text: str) -> Metric:
    """Return the metric that was asked for, or say which there are."""
    try:
        return resolve(text)
    except ValueError as error:
        names = [row.name for row in TABLE]
        msg = f"{error}{suggest_names(text, names)}"
        raise typer.BadParameter(msg, param_hint="--metric") from None


def columns_of(given: Sequence[str] | None) -> list[str] | None:
    """Return names that were given with commas; one that has a comma itself stands in quotes."""
    if not given:
        return None
    return [name.strip() for text in given for name in next(csv.reader([text])) if name.strip()]


def one_of(value: str, allowed: Sequence[str], option: str) -> str:
    """Return a choice, or say which there are."""
    if value not in allowed:
        msg = f"{value!r} is none of {', '.join(allowed)}{suggest_names(value, allowed)}"
        raise typer.BadParameter(msg, param_hint=option)
    return value


def require(condition: Any, message: str, option: str | None = None) -> None:
    """Refuse a call that cannot be meant, with exit code 2."""
    if not condition:
        raise typer.BadParameter(message, param_hint=option)
