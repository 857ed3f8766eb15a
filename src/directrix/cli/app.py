"""The application: all commands, and the options before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from directrix.cli.commands.fit import fit
from directrix.cli.commands.models import evaluate, export, predict
from directrix.cli.commands.reports import report
from directrix.cli.commands.summaries import show, summarize
from directrix.cli.commands.threshold import threshold
from directrix.cli.commands.watch import watch
from directrix.cli.reply import Reply, render_reply

#: Help is plain text: boxes and colours would clutter pipes and logs.
app = typer.Typer(
    name="directrix",
    help="Scorecards and linear classifiers, trained and judged at their operating point.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

#: The commands, each with the example of its help.
_COMMANDS: dict[Callable[..., Reply], str] = {
    fit: "loans.parquet -t bad -m recall@fpr=0.05 -o card.dx",
    predict: "card.dx new.parquet --keep id -o scored.parquet",
    evaluate: "card.dx later.parquet -t bad",
    threshold: "scored.parquet -s score -t bad --limit fpr=0.01 --guarantee 0.95",
    report: "card.dx later.parquet -t bad -o card.html",
    export: "card.dx -o card.sql",
    show: "card.dx",
    summarize: "may.parquet -t bad --add april.moments -o both.moments",
    watch: "card.dx today.parquet -r 'days/*.parquet' -t bad",
}


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer passes it by position
    if value:
        from importlib.metadata import version

        typer.echo(f"directrix {version('directrix')}")
        raise typer.Exit


def _main(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Scorecards and linear classifiers, trained and judged at their operating point."""


app.callback()(_main)
for _command, _example in _COMMANDS.items():
    _name = _command.__name__
    app.command(_name, epilog=f"Example: directrix {_name} {_example}")(render_reply(_command))
