"""The application: all commands, and the options before them."""

from __future__ import annotations

from typing import Annotated

import typer

from directrix.cli.commands.fit import fit
from directrix.cli.commands.models import evaluate, export, predict
from directrix.cli.commands.reports import report
from directrix.cli.commands.summaries import show, summarize
from directrix.cli.commands.threshold import threshold
from directrix.cli.commands.watch import watch
from directrix.cli.reply import render_reply

#: Help is plain text: boxes and colours would clutter pipes and logs.
app = typer.Typer(
    name="directrix",
    help="Scorecards and linear classifiers, trained and judged at their operating point.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
for _command in (*(fit, predict, evaluate, threshold, report, export, show, summarize, watch),):
    app.command(_command.__name__)(render_reply(_command))
