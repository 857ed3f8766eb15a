"""Reports in Markdown: their tables, their verdicts, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def header(*cells: str) -> list[str]:
    """Return the first two lines of a table."""
    return [line(*cells), line(*("---" for _ in cells))]


def line(*cells: str) -> str:
    """Return one line of a table."""
    return f"| {' | '.join(cells)} |"


def bold_if(cell: str, condition: bool) -> str:  # noqa: FBT001 - written where it is called
    """Return a cell, bold under a condition."""
    return f"**{cell}**" if condition else cell


def listed(names: Iterable[object]) -> str:
    """Return names with commas between them, or that there are none."""
    return ", ".join(map(str, names)) or "none"


def holds(held: bool) -> str:  # noqa: FBT001 - the comparison is written where it is called
    """Return whether a claim holds, in words."""
    return "holds" if held else "does not hold"


def verdict(good: int, of: int) -> str:
    """Return how far a claim holds that is true in some of the cases."""
    if not of:
        return "Not measured"
    if good == of:
        return "Holds"
    share = good / of
    return "Mostly holds" if share >= 0.75 else "Fails" if share <= 0.25 else "Holds in part"


def write_report(path: Path, lines: Iterable[str]) -> None:
    """Print a report, and write it."""
    text = "\n".join(lines) + "\n"
    print(text, end="")
    path.write_text(text, encoding="utf-8")
