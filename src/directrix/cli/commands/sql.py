"""sql: the queries that summarise a table in a warehouse, and their answers read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from directrix._atomic_file import atomic_file
from directrix.cli.commands.summaries import saved
from directrix.cli.io.options import (
    Features,
    Force,
    Json,
    MaybeOutput,
    Weight,
    columns_of,
    one_of,
    require,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.output.errors import UsageError
from directrix.cli.output.reply import Reply
from directrix.engines import csv_encoding, moments_sql
from directrix.engines.sql_dialects import DIALECTS
from directrix.moments import Moments

_TRUTHS = {"true": True, "false": False, "t": True, "f": False}


def sql(
    *,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[FEATURES]", help="Columns of numbers.")
    ] = None,
    table: Annotated[str, typer.Option(help="Table, with its schema: shop.orders.")],
    target: Annotated[str, typer.Option("--target", "-t", help="Column of the labels.")],
    features: Features = None,
    dialect: Annotated[str, typer.Option(help=f"{', '.join(DIALECTS)}.")] = "duckdb",
    weight: Weight = None,
    where: Annotated[
        str | None, typer.Option(help="Condition in SQL that the rows must meet, as it is.")
    ] = None,
    first: Annotated[
        str | None, typer.Option(help="Answer to the first query, as CSV or JSON.")
    ] = None,
    second: Annotated[
        list[str] | None, typer.Option(help="Answers to the second, one file each, in order.")
    ] = None,
    output: MaybeOutput = None,
    force: Force = False,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Print the SQL that summarises a table where it is; or read the answers.

    Without answers it prints the first query. With --first it prints the second, which may be
    several statements. With --first, --second and -o it writes the summary.
    """
    one_of(dialect, tuple(DIALECTS), "--dialect")
    columns = [*(columns_of(features) or []), *(names or [])]
    require(columns, "name the columns of the features", "--features")
    require(first or not second, "the second answer needs the first", "--first")
    require_output(output, [first, *(second or [])], force=force)
    queries = moments_sql(table, target, columns, dialect=dialect, weight=weight, where=where)
    if first is None:
        return _printed([queries.first], output, "first")
    told = _answer(first)
    if not second:
        return _printed(list(queries.second(told)), output, "second")
    require(output, "a summary is a file: give its name", "--output")
    moments = Moments.from_sql_rows(told, [_answer(path) for path in second], queries.features)
    return saved(moments, str(output))


def _printed(statements: list[str], output: str | None, which: str) -> Reply:
    text = "\n\n".join(f"{statement};" for statement in statements)
    facts = {"query": which, "statements": statements, "output": output}
    if output is None:
        return Reply(text, facts)
    with atomic_file(output) as file:
        file.write(f"{text}\n".encode())
    return Reply(f"wrote {output}: {len(statements)} statements", facts)


def _answer(path: str) -> list[dict[str, Any]]:
    """Read the rows of an answer; in CSV a label has the type that it looks like."""
    if not Path(path).is_file():
        msg = f"no file at {path!r}: give the answer of the database as CSV or JSON"
        raise UsageError(msg)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        csv_encoding.require_utf8(path)
        raise
    if text.lstrip().startswith("["):
        rows: list[dict[str, Any]] = json.loads(text)
        return rows
    read = list(csv.DictReader(text.splitlines()))
    for row in read:
        for name in row:
            if str(name).lower() == "dx_label":
                row[name] = _label(row[name])
    return read


def _label(text: Any) -> Any:
    if str(text).lower() in _TRUTHS:
        return _TRUTHS[str(text).lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except (TypeError, ValueError):
            continue
    return text or None
