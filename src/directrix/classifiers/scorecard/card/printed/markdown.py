"""A card as Markdown tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from directrix.classifiers.scorecard.card.printed.document import HEADINGS
from directrix.classifiers.scorecard.card.printed.labels import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.classifiers.scorecard.card.printed.document import CardDocument

#: Marks of Markdown, and the beginnings of HTML tags and entities; underscores inside words are
#: none, nor is the sign of "<= 30".
_MARKS = re.compile(r"[\\`*|$~]|[\[\]](?!\d+\])|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=[#\w])")


def card_markdown(document: CardDocument) -> str:
    """Return a card as Markdown: a table for each column and cross."""
    headings = (HEADINGS[-1], *HEADINGS[:-1])
    parts = [document.headline]
    for block in document.columns:
        rows = [(texts[-1], *texts[:-1]) for texts in block.texts]
        parts += [f"**{escaped(block.title)}**", _table(headings, rows)]
    for cross in document.crosses:
        table = cross.table
        header = (f"{table.columns[0]} / {table.columns[1]}", *table.bins[1])
        rows = [(name, *texts) for name, texts in zip(table.bins[0], cross.texts, strict=True)]
        parts += [f"**{escaped(cross.title)}**", _table(header, rows)]
    if document.unused:
        parts.append(escaped(document.unused))
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return _MARKS.sub(r"\\\g<0>", printable(text))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [_line(header), "|---|" + "---:|" * (len(header) - 1), *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
