"""The command ``report``: the document of a scorecard."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from directrix.cli import options as opt
from directrix.cli.options import load_model, require, require_output
from directrix.cli.reply import Reply, show_status
from directrix.files.atomic import atomic_file


def report(
    *,
    model: opt.Model,
    rows: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROWS]", help="Files of labelled rows to evaluate the card on."),
    ] = None,
    output: opt.Output,
    force: opt.Force = False,
    template: Annotated[
        Literal["committee", "clinical"], typer.Option(help="Kind of document.")
    ] = "committee",
    about: Annotated[
        str | None,
        typer.Option(help="TOML or JSON file with title, purpose, author, period, ..."),
    ] = None,
    target: opt.OptionalTarget = None,
    weight: opt.Weight = None,
    segment: opt.Segment = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Write an HTML document about a scorecard, to be signed."""
    from directrix.cli.rows import RowFiles
    from directrix.cli.settings import read_settings
    from directrix.documents import to_document

    require_output(output, [model, *(rows or ()), about], force=force)
    require(bool(rows) == bool(target), "give files of rows, and the column of labels", "--target")
    require(rows or not segment, "segments are those of rows: give files", "ROWS")
    classifier = load_model(model)
    options: dict[str, Any] = {"about": None if about is None else read_settings(about)}
    if rows:
        roles = {"target": target, "weight": weight, "segment": segment}
        read = RowFiles.for_model(classifier, rows, **roles).read()
        options |= {"X": read.X, "y": read.y}
        options |= {"sample_weight": read.weight, "segment": read.segment}
    with show_status("writing the document"):
        content = to_document(classifier, template=template, **options).encode()
    with atomic_file(output) as file:
        file.write(content)
    values = {"output": output, "bytes": len(content)}
    return Reply(f"wrote {output} ({len(content):,} bytes)", values)
