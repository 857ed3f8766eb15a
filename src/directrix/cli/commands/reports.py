"""The command ``report``: the document of a scorecard."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.options import check_choice, load_model, require, require_output
from directrix.cli.reply import Reply, show_status
from directrix.files.atomic import atomic_file

_TEMPLATES = ("committee", "clinical")


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
        str, typer.Option(help=f"Kind of document: {', '.join(_TEMPLATES)}.")
    ] = "committee",
    about: Annotated[
        str | None,
        typer.Option(help="TOML or JSON file with title, purpose, author, period, ..."),
    ] = None,
    target: opt.Target = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    segment: opt.Segment = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Write an HTML document about a scorecard, to be signed."""
    from directrix.cli.card_settings import read_settings
    from directrix.cli.rows import RowFiles, read_rows
    from directrix.documents import to_document

    require_output(output, [model, *(rows or ()), about], force=force)
    check_choice(template, _TEMPLATES, "--template")
    require(rows or segment is None, "segments are those of rows: give files", "ROWS")
    classifier = load_model(model)
    options: dict[str, Any] = {"about": None if about is None else read_settings(about)}
    if rows:
        files = RowFiles.of(rows, target, weight=weight, positive=positive, segment=segment)
        read = read_rows(files.for_model(classifier), raw=True)
        options |= {"X": read.X, "y": files.labels(read.y, classifier.classes_)}
        options |= {"sample_weight": read.weight, "segment": read.segment}
    with show_status("writing the document"):
        content = to_document(classifier, template=template, **options).encode()
    with atomic_file(output) as file:
        file.write(content)
    values = {"output": output, "bytes": len(content)}
    return Reply(f"wrote {output} ({len(content):,} bytes)", values)
