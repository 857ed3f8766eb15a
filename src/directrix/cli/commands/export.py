"""The command ``export``: a model as SQL, ONNX, PMML, JSON or Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from directrix.cli.io.files import load_model
from directrix.cli.io.options import (
    DIALECTS,
    Features,
    Force,
    Json,
    Model,
    OptionalOutput,
    check_choice,
    parse_columns,
    require,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.output.reply import Reply
from directrix.files.atomic import atomic_file

_FORMATS = ("sql", "onnx", "pmml", "json", "python")
_DTYPES = ("float64", "float32")


def export(
    *,
    model: Model,
    to: Annotated[str, typer.Option(help=f"Format to write: {', '.join(_FORMATS)}.")],
    dialect: Annotated[str, typer.Option(help=f"SQL dialect: {', '.join(DIALECTS)}.")] = "duckdb",
    table: Annotated[
        str | None, typer.Option(help="With SQL: write a complete query of this table.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="With --table: columns to copy to the result, separated by commas."),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(help="With ONNX: float64 (default), or float32, which has fewer digits."),
    ] = None,
    features: Features = None,
    output: OptionalOutput = None,
    force: Force = False,
    as_json: Json = False,
) -> Reply:
    """Write a model in a format that scores rows without directrix."""
    from directrix.export import to_json, to_onnx, to_pmml, to_python

    check_choice(to, _FORMATS, "--to")
    check_choice(dialect, DIALECTS, "--dialect")
    require(output or to != "onnx", "ONNX is a binary format: give a file", "--output")
    require(not (keep and table is None), "columns are copied by a query: give --table", "--keep")
    require(to == "onnx" or dtype is None, "only ONNX has another type than float64", "--dtype")
    check_choice(dtype or "float64", _DTYPES, "--dtype")
    require_output(output, [model], force=force)
    classifier = load_model(model)
    content: str | bytes
    if to == "onnx":
        content = to_onnx(classifier, dtype=dtype or "float64").SerializeToString()
    elif to == "sql":
        content = _sql(classifier, dialect, parse_columns(features), table, parse_columns(keep))
    elif to == "pmml":
        content = to_pmml(classifier, columns=parse_columns(features))
    else:
        content = (to_json if to == "json" else to_python)(classifier)
    values = {"model": model, "to": to, "output": output}
    if output is None:
        return Reply(str(content).rstrip("\n"), {**values, "text": content})
    data = content if isinstance(content, bytes) else f"{content.rstrip()}\n".encode()
    with atomic_file(output) as file:
        file.write(data)
    return Reply(f"wrote {output} ({len(data):,} bytes)", values, on_stderr=not as_json)


def _sql(
    classifier: Any,
    dialect: str,
    columns: Sequence[str] | None,
    table: str | None,
    keep: Sequence[str] | None,
) -> str:
    """Return a query of a table, or the expressions that it would consist of."""
    from directrix.export import to_sql

    sql = to_sql(classifier, dialect=dialect, columns=columns)
    if table is not None:
        return sql.select(table, keep or ())
    names = [
        *(sql.formula.names_by_score("points") if sql.card_points else ()),
        *sql.formula.names_by_score("score"),
        *sql.formula.probability_names,
    ]
    texts = [*sql.card_points, *sql.scores, *sql.probabilities]
    parts = [f"-- {name}\n{text}" for name, text in zip(names, texts, strict=True)]
    return "\n\n".join([*parts, f"-- prediction\n{sql.prediction}"])
