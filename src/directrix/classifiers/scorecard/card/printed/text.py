"""A card as text."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from directrix.classifiers.scorecard.card.printed.document import HEADINGS
from directrix.classifiers.scorecard.card.printed.labels import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.classifiers.scorecard.card.printed.document import CardDocument, CrossBlock

#: Characters of a line of names before the rest goes to the next line.
_WIDTH = 72
_GAP = "  "


def card_text(document: CardDocument) -> str:
    """Return a card as text: for each column a line for each row of its table."""
    lines = [document.headline]
    for block in document.columns:
        lines += ["", printable(block.title), *aligned_lines([HEADINGS, *block.texts])]
    for cross in document.crosses:
        lines += ["", printable(cross.title), *_cross_lines(cross)]
    if document.unused:
        lines += ["", *_wrapped(document.unused)]
    return "\n".join(lines)


def aligned_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of texts below each other: right-aligned, but for the last, which may be long."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        start = _GAP + "".join(
            f"{text:>{width}}{_GAP}" for text, width in zip(row, widths, strict=False)
        )
        first, *rest = _wrapped(row[-1]) or [""]
        lines.append((start + first).rstrip())
        lines += [" " * len(start) + line for line in rest]
    return lines


def _cross_lines(cross: CrossBlock) -> list[str]:
    """Return the table of a cross; its columns are numbered, since their names may be long."""
    names = cross.table.bins
    numbers = [f"[{k + 1}]" for k in range(len(names[1]))]
    lines = [f"{_GAP}{printable(cross.table.columns[1])}:"]
    lines += aligned_lines(list(zip(numbers, names[1], strict=True)))
    header = [*numbers, cross.table.columns[0]]
    return lines + aligned_lines(
        [header, *([*row, name] for row, name in zip(cross.texts, names[0], strict=True))]
    )


def _wrapped(text: str) -> list[str]:
    return wrap(printable(text), _WIDTH, break_long_words=False, break_on_hyphens=False)
