"""The command ``edit``: the page on which a card is edited, and the card after its edits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.options import file_type, load_model, require, require_output
from directrix.cli.reply import Reply, show_status

if TYPE_CHECKING:
    from directrix.classifiers.scorecard.editor import CardEditor
    from directrix.cli.rows import RowFiles

#: Endings of files, and what is written to them; any other is a model.
_PAGE, _EDITOR = ".html", ".editor"


def edit(
    *,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL ROWS|EDITOR",
            help="A scorecard that fit wrote, then files of rows; or a saved editor.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help=f"Page (*{_PAGE}), editor (*{_EDITOR}), or model after the edits (any other).",
        ),
    ],
    edits: Annotated[
        str | None, typer.Option("--apply", help="JSON file of edits saved from the page.")
    ] = None,
    force: opt.Force = False,
    lockbox: Annotated[
        float, typer.Option(help="Share of the rows that no edit sees; 0 for none.")
    ] = 0.2,
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Scorecard",
    hide_below: Annotated[
        int | None, typer.Option(help="Hide counts of fewer rows than this on the page.")
    ] = None,
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    file_format: opt.Format = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Write a page to edit a scorecard on, or the edited scorecard."""
    from directrix.classifiers import ScorecardClassifier
    from directrix.cli.rows import RowFiles
    from directrix.export import save

    require_output(output, [*files, edits], force=force)
    first, rows = files[0], files[1:]
    if rows:
        card = load_model(first)
        is_card = isinstance(card, ScorecardClassifier)
        require(is_card, f"{first} is no scorecard: make one with fit -c scorecard", "MODEL")
        given = RowFiles.of(rows, target, features, drop, weight, positive, file_format)
        editor = _editor_of_rows(card, given, lockbox)
    else:
        require(file_type(first) != "model", f"give the rows of {first} after it", "ROWS")
        editor = ScorecardClassifier.load_editor(first)
    if edits is not None:
        editor = editor.apply(Path(edits))
    text, kind = str(editor.price()), Path(output).suffix
    if kind == _PAGE:
        editor.to_html(output, title=title, hide_below=hide_below)
    elif kind == _EDITOR:
        editor.save(output)
    else:
        model = editor.fit()
        save(model, output)
        text += f"\n\n{model.operating_point_}"
    parts = ("expected", "gap", "step")
    prices = [
        {**price._asdict(), **{part: getattr(price, part)._asdict() for part in parts}}
        for price in editor.price()
    ]
    values = {"output": output, "edits": list(editor.log()), "prices": prices}
    return Reply(f"{text}\n\nwrote {output}", values)


def _editor_of_rows(card: Any, files: RowFiles, lockbox: float) -> CardEditor:
    """Return the editor of a card with these parameters, fitted to the rows."""
    import numpy as np

    from directrix.cli.rows import matching_label, read_rows

    rows = read_rows(files, raw=not files.libsvm)
    y = files.labels(rows.y)
    if files.positive is not None and not files.libsvm and len(np.unique(rows.y)) == 2:
        y = rows.y
        card.set_params(positive=matching_label(files.positive, np.unique(y)))
    with show_status(f"fitting {type(card).__name__} to {len(y):,} rows"):
        editor: CardEditor = card.edit(
            rows.X, y, sample_weight=rows.weight, lockbox=lockbox or None
        )
    return editor
