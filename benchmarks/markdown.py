"""Tables in Markdown, as every report writes them."""

from __future__ import annotations


def header(*cells: str) -> list[str]:
    """Return the first two lines of a table."""
    return [line(*cells), line(*("---" for _ in cells))]


def line(*cells: str) -> str:
    """Return one line of a table."""
    return f"| {' | '.join(cells)} |"
