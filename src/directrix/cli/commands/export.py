"""export: a model as SQL, ONNX, JSON or Python."""

from __future__ import annotations

from typing import Annotated

import typer

from directrix._atomic_file import atomic_file
from directrix.cli.commands.evaluate import Model
from directrix.cli.io.files import model_of
from directrix.cli.io.options import (
    Features,
    Force,
    Json,
    MaybeOutput,
    columns_of,
    one_of,
    require,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.output.reply import Reply
from directrix.engines.sql_dialects import DIALECTS
from directrix.export import to_json, to_onnx, to_python, to_sql

_FORMS = ("sql", "onnx", "json", "python")


def export(
    *,
    model: Model,
    to: Annotated[str, typer.Option(help=f"{', '.join(_FORMS)}.")],
    dialect: Annotated[str, typer.Option(help=f"Of SQL: {', '.join(DIALECTS)}.")] = "duckdb",
    table: Annotated[
        str | None, typer.Option(help="Of SQL: write a whole query of this table.")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Of a query: columns to keep; commas in between.")
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(help="Of ONNX: float64, the default, or float32, which has fewer digits."),
    ] = None,
    features: Features = None,
    output: MaybeOutput = None,
    force: Force = False,
    as_json: Json = False,
) -> Reply:
    """Write a model as something that scores rows elsewhere."""
    one_of(to, _FORMS, "--to")
    one_of(dialect, tuple(DIALECTS), "--dialect")
    require(output or to != "onnx", "ONNX is no text: give a file", "--output")
    require(not (keep and table is None), "columns are kept in a query: give --table", "--keep")
    require(to == "onnx" or dtype is None, "only ONNX has another than float64", "--dtype")
    one_of(dtype or "float64", ("float64", "float32"), "--dtype")
    require_output(output, [model], force=force)
    classifier = model_of(model)
    content: str | bytes
    if to == "onnx":
        content = to_onnx(classifier, dtype=dtype or "float64").SerializeToString()
    elif to == "sql":
        sql = to_sql(classifier, dialect=dialect, columns=columns_of(features))
        named = zip(("score", "probability"), (sql.scores, sql.probabilities), strict=True)
        parts = [f"-- {name}\n{text}" for name, each in named for text in each]
        parts.append(f"-- prediction\n{sql.prediction}")
        content = "\n\n".join(parts) if table is None else sql.select(table, columns_of(keep) or ())
    else:
        content = (to_json if to == "json" else to_python)(classifier)
    facts = {"model": model, "to": to, "output": output}
    if output is None:
        return Reply(str(content).rstrip("\n"), {**facts, "text": content})
    raw = content if isinstance(content, bytes) else f"{content.rstrip()}\n".encode()
    with atomic_file(output) as file:
        file.write(raw)
    return Reply(f"wrote {output} ({len(raw):,} bytes)", facts, aside=not as_json)
