"""A card as HTML: its tables, with a small picture of the points of each column."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from directrix.classifiers.scorecard.card.printed.document import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.classifiers.scorecard.card.printed.document import CardDocument, ColumnBlock
    from directrix.classifiers.scorecard.card.printed.rows import CardRow

#: Size of a picture, and the height of the bars for rows at its foot.
_WIDTH, _HEIGHT, _FOOT = 240.0, 90.0, 14.0
_BLUE, _VERMILION, _GREY = "#0072b2", "#d55e00", "#b0b0b0"


def card_html(document: CardDocument) -> str:
    """Return a card as HTML without scripts or style sheets, all names escaped."""
    parts = [f"<p>{escape(document.headline)}</p>"]
    headings = (HEADINGS[-1], *HEADINGS[:-1])
    for block in document.columns:
        rows = [(texts[-1], *texts[:-1]) for texts in block.texts]
        parts += [_table(block.title, headings, rows), _picture(block)]
    for cross in document.crosses:
        table = cross.table
        header = (f"{table.columns[0]} / {table.columns[1]}", *table.bins[1])
        rows = [(name, *texts) for name, texts in zip(table.bins[0], cross.texts, strict=True)]
        parts.append(_table(cross.title, header, rows))
    if document.unused:
        parts.append(f"<p>{escape(document.unused)}</p>")
    return f"<div>{''.join(parts)}</div>"


def _table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    title = f'<caption style="text-align: left"><b>{escape(caption)}</b></caption>'
    top = "".join(f"<th>{escape(text)}</th>" for text in header)
    body = "".join(f"<tr>{''.join(map(_cell, range(len(row)), row))}</tr>" for row in rows)
    return f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(index: int, text: str) -> str:
    side = "left" if index == 0 else "right"
    return f'<td style="text-align: {side}">{escape(text)}</td>'


def _picture(block: ColumnBlock) -> str:
    """Return an SVG of the points: steps for ordered bins, bars for all else, rows at the foot."""
    rows = block.rows
    points = [row.points for row in rows]
    low, high = min(0.0, *points), max(0.0, *points)
    slot, room = _WIDTH / len(rows), _HEIGHT - _FOOT - 8.0

    def y(value: float) -> float:
        return 4.0 + room * (high - value) / ((high - low) or 1.0)

    most = max((row.rows for row in rows), default=0.0)
    shapes, steps = [], ""
    for k, row in enumerate(rows):
        left, right = k * slot, (k + 1) * slot
        if most > 0:
            tall = _FOOT * row.rows / most
            shapes.append(_bar(left, _HEIGHT - tall, slot, tall, _GREY))
        if _ordered(row, block.n_ordered):
            steps += f"{'V' if steps else f'M{left:.1f} '}{y(row.points):.1f}H{right:.1f}"
        else:
            top, bottom = sorted((y(row.points), y(0.0)))
            shapes.append(_bar(left + 0.2 * slot, top, 0.6 * slot, bottom - top, _BLUE))
        about = f"<title>{escape(row.bin)}: {escape(block.texts[k][0])}</title>"
        shapes.append(
            f'<rect x="{left:.1f}" y="0" width="{slot:.1f}" height="{_HEIGHT:.0f}" '
            f'fill="transparent">{about}</rect>'
        )
    zero = f'<path d="M0 {y(0.0):.1f}H{_WIDTH:.0f}" stroke="{_GREY}" stroke-dasharray="2 2"/>'
    path = (
        f'<path d="{steps}" stroke="{_VERMILION}" stroke-width="2" fill="none"/>' if steps else ""
    )
    return (
        f'<svg role="img" aria-label="{escape(block.title)}" width="{_WIDTH:.0f}" '
        f'height="{_HEIGHT:.0f}" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg">{zero}{path}{"".join(shapes)}</svg>'
    )


def _ordered(row: CardRow, n_ordered: int) -> bool:
    return 1 <= row.cells[0] <= n_ordered


def _bar(x: float, y: float, width: float, height: float, colour: str) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{colour}"/>'
