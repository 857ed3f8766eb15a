"""Reports in Markdown: their tables, their verdicts, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


def header(*cells: str) -> list[str]:
    """Return the first two lines of a table; ``"a | b"`` is two cells."""
    names = " | ".join(cells).split(" | ")
    return [line(*names), line(*("---" for _ in names))]


def line(*cells: object) -> str:
    """Return one line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def table(columns: str, rows: Iterable[Sequence[object]], title: str = "") -> list[str]:
    """Return a table of named columns (``"a | b"``), below an empty line and a title."""
    above = ["", f"## {title}"] if title else []
    return [*above, "", *header(columns), *(line(*row) for row in rows)]


def signed_error(mean: float, error: float) -> str:
    """Return a difference with its standard error in brackets."""
    return f"{mean:+.4f} ({error:.4f})"


def sentence_case(text: str) -> str:
    """Return a text whose first letter is a capital; the others are as they are."""
    return f"{text[0].upper()}{text[1:]}"


def bold_if(cell: str, condition: bool) -> str:  # noqa: FBT001 - written where it is called
    """Return a cell, bold under a condition."""
    return f"**{cell}**" if condition else cell


def best_bold(values: Sequence[float | None], digits: int = 4) -> list[str]:
    """Return numbers as cells, the greatest bold; None is an empty cell."""
    best = max((value for value in values if value is not None), default=None)
    return ["" if v is None else bold_if(f"{v:.{digits}f}", v == best) for v in values]


def listed(names: Iterable[object]) -> str:
    """Return names with commas between them, or that there are none."""
    return ", ".join(map(str, names)) or "none"


def holds(held: bool) -> str:  # noqa: FBT001 - the comparison is written where it is called
    """Return whether a claim holds, in words."""
    return "holds" if held else "does not hold"


def verdict(good: int, of: int) -> str:
    """Return whether a claim holds: in 85 % of the cases, or in part, in 60 %."""
    if not of:
        return "Not measured"
    share = good / of
    return "Holds" if share >= 0.85 else "Holds in part" if share >= 0.6 else "Does not hold"


def write_report(path: Path, lines: Iterable[str]) -> None:
    """Print a report, and write it."""
    text = "\n".join(lines) + "\n"
    print(text, end="")
    path.write_text(text, encoding="utf-8")
