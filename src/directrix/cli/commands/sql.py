"""The command ``sql``: queries that summarise a table in a database, and reading their results."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from directrix.cli.commands.summaries import save_summary
from directrix.cli.io.options import (
    DIALECTS,
    Features,
    Force,
    Json,
    OptionalOutput,
    Weight,
    check_choice,
    parse_columns,
    require,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.output.errors import UsageError
from directrix.cli.output.reply import Reply
from directrix.files.atomic import atomic_file

#: Spellings of Boolean labels in CSV.
_BOOLEANS = {"true": True, "false": False, "t": True, "f": False}


def sql(
    *,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[FEATURES]", help="Feature columns.")
    ] = None,
    table: Annotated[
        str, typer.Option(help="Table, with its schema if it has one, such as shop.orders.")
    ],
    target: Annotated[str, typer.Option("--target", "-t", help="Column with the labels.")],
    features: Features = None,
    dialect: Annotated[str, typer.Option(help=f"SQL dialect: {', '.join(DIALECTS)}.")] = "duckdb",
    weight: Weight = None,
    first: Annotated[
        str | None, typer.Option(help="Result of the first query, as CSV or JSON.")
    ] = None,
    second: Annotated[
        list[str] | None,
        typer.Option(help="Result of each statement of the second query, in order."),
    ] = None,
    output: OptionalOutput = None,
    force: Force = False,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Print the SQL that summarises a table in a database, or read its results.

    Without results it prints the first query. With --first it prints the second query, which may be
    several statements. With --first, --second and -o it writes the summary.
    """
    from directrix.engines import moments_sql
    from directrix.moments import Moments

    check_choice(dialect, DIALECTS, "--dialect")
    columns = [*(parse_columns(features) or []), *(names or [])]
    require(columns, "give the feature columns", "--features")
    require(first or not second, "the second result needs the first", "--first")
    require_output(output, [first, *(second or [])], force=force)
    queries = moments_sql(table, target, columns, dialect=dialect, weight=weight)
    if first is None:
        return _print_statements([queries.first], output, "first")
    first_result = _read_result(first)
    if not second:
        return _print_statements(list(queries.second(first_result)), output, "second")
    require(output, "a summary is a binary file: give its name", "--output")
    second_results = [_read_result(path) for path in second]
    moments = Moments.from_sql_rows(first_result, second_results, queries.features)
    return save_summary(moments, str(output))


def _print_statements(statements: list[str], output: str | None, query: str) -> Reply:
    """Return a reply with some statements, or write them to a file."""
    text = "\n\n".join(f"{statement};" for statement in statements)
    values = {"query": query, "statements": statements, "output": output}
    if output is None:
        return Reply(text, values)
    with atomic_file(output) as file:
        file.write(f"{text}\n".encode())
    return Reply(f"wrote {output}: {len(statements)} statements", values)


def _read_result(path: str) -> list[dict[str, Any]]:
    """Read the rows of a result; in CSV the type of a label is inferred from its text."""
    if not Path(path).is_file():
        msg = f"no file at {path!r}: give the result of the query as CSV or JSON"
        raise UsageError(msg)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        from directrix.engines.readers.files import require_utf8

        require_utf8(path)
        raise
    if text.lstrip().startswith("["):
        rows: list[dict[str, Any]] = json.loads(text)
        return rows
    records = list(csv.DictReader(text.splitlines()))
    for record in records:
        for name in record:
            if str(name).lower() == "dx_label":
                record[name] = _parse_label(record[name])
    return records


def _parse_label(text: Any) -> Any:
    """Return a label as a bool, an int, a float or a text; None if it is empty."""
    if str(text).lower() in _BOOLEANS:
        return _BOOLEANS[str(text).lower()]
    for label_type in (int, float):
        try:
            return label_type(text)
        except (TypeError, ValueError):
            continue
    return text or None
