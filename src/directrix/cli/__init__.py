"""The command line: one public call of the library for each sub-command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; without its libraries, say how to install them."""
    try:
        from directrix.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.stderr.write("the command line needs typer and rich: pip install 'directrix[cli]'\n")
        raise SystemExit(2) from None
    app(prog_name="directrix")
