"""HTML pages in one file, with figures embedded and nothing loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import Any

from directrix._printing import html_table
from directrix.fit.report import sentence
from directrix.fit.segment_rates import SegmentRates

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.55 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #1b1f24;
  background: #fff; max-width: 960px; margin: 2.5rem auto 4rem; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .6rem; padding-bottom: .25rem;
  border-bottom: 1px solid #d8dee4; }
p { margin: .5rem 0; max-width: 46rem; }
p.lead { color: #57606a; margin-bottom: 1.4rem; }
p.alert { font-weight: 600; border-left: 4px solid #d55e00; background: #fff4ec;
  padding: .5rem .8rem; max-width: none; }
p.note { color: #57606a; font-size: .92em; }
table { border-collapse: collapse; margin: .7rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .6rem; border-bottom: 1px solid #eaeef2; text-align: right;
  white-space: nowrap; }
th { font-weight: 600; white-space: normal; color: #57606a; border-bottom-color: #afb8c1;
  vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
tr.highlighted td { font-weight: 600; background: #f0f6ff; }
img { max-width: 100%; height: auto; display: block; margin: .8rem 0; }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; }
.card { border: 1px solid #d8dee4; border-radius: 8px; padding: .6rem 1rem; min-width: 8.2rem;
  max-width: 20rem; }
.card b { display: block; font-size: 1.35rem; font-weight: 600; }
.card span { color: #57606a; font-size: .88em; }
.bar { display: inline-block; position: relative; width: 90px; height: .8em; background: #f3f5f7;
  vertical-align: -1px; }
.bar i { position: absolute; top: 0; bottom: 0; }
.wide { overflow-x: auto; }
ul { padding-left: 1.2rem; max-width: 46rem; }
table.fields { width: 100%; }
table.fields td { white-space: normal; vertical-align: top; }
table.fields td:first-child { width: 11rem; color: #57606a; }
table.fields td + td { text-align: left; }
table.texts td, table.texts th { text-align: left; white-space: normal; vertical-align: top; }
table.texts td:first-child { white-space: nowrap; }
table.texts td:nth-child(2) { width: 44%; }
table.signatures { width: 99.5%; margin-top: 1.2rem; table-layout: fixed; }
table.signatures td { height: 3.1rem; vertical-align: bottom; border: 1px solid #afb8c1; }
table.signatures th { text-align: left; border: 1px solid #afb8c1; }
code { font: .9em/1.4 ui-monospace, "DejaVu Sans Mono", Menlo, monospace; overflow-wrap: anywhere; }
@page { size: A4; margin: 17mm 15mm 18mm;
  @bottom-right { content: counter(page) " / " counter(pages); font-size: 8pt; color: #57606a; } }
@media print {
  body { margin: 0; padding: 0; max-width: none; font: 10pt/1.4 system-ui, sans-serif; }
  h1 { font-size: 18pt; }
  h2 { font-size: 12.5pt; margin-top: 1.5rem; break-after: avoid; }
  h2 + p, p.before { break-after: avoid; }
  .wide + p.note { break-before: avoid; }
  p, li { orphans: 3; widows: 3; max-width: none; }
  img, tr, .cards, .kept { break-inside: avoid; }
  img { max-height: 85mm; width: auto; }
  thead { display: table-header-group; }
  .wide { overflow: visible; }
  .wide table { font-size: 9pt; }
  .wide svg { width: 34mm; height: auto; }
}
"""
#: Rows of a table that is printed on one page.
_KEPT_ROWS = 15
#: A line to write on.
_BLANK = "&nbsp;"
_POSITIVE, _NEGATIVE = "#d55e00", "#0072b2"


class Page:
    """HTML page that is written from top to bottom.

    ``lead`` is the paragraph below the title.
    """

    def __init__(self, title: str, lead: str) -> None:
        self._title = title
        self._parts = [f"<h1>{escape(title)}</h1>", f'<p class="lead">{escape(lead)}</p>']

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def paragraph(self, text: str, *, note: bool = False) -> None:
        """Add a paragraph; a note is smaller, and one with a colon stays with what is below it."""
        before = ' class="before"' if text.endswith(":") else ""
        attribute = ' class="note"' if note else before
        self._parts.append(f"<p{attribute}>{escape(text)}</p>")

    def alert(self, text: str) -> None:
        """Add a sentence that must not be missed."""
        self._parts.append(f'<p class="alert">{escape(text)}</p>')

    def fragment(self, html: str, *, kept: bool = False) -> None:
        """Add HTML that is complete in itself; ``kept`` on one page if it can be, when printed."""
        self._parts.append(f'<div class="wide{" kept" if kept else ""}">{html}</div>')

    def bullets(self, texts: Sequence[str]) -> None:
        """Add a bullet list."""
        items = "".join(f"<li>{escape(text)}</li>" for text in texts)
        self._parts.append(f"<ul>{items}</ul>")

    def cards(self, cards: Sequence[tuple[str, str]]) -> None:
        """Add a row of key figures; a card is a value and its caption."""
        items = "".join(
            f'<div class="card"><b>{escape(value)}</b><span>{escape(caption)}</span></div>'
            for value, caption in cards
        )
        self._parts.append(f'<div class="cards">{items}</div>')

    def table(
        self, header: Sequence[str], rows: Sequence[Sequence[Any]], highlighted: int | None = None
    ) -> None:
        """Add a table; a cell is a text or a `Bar`."""
        html = html_table(header, rows, highlighted=highlighted, css=None, cell=_cell)
        self.fragment(html, kept=len(rows) <= _KEPT_ROWS)

    def segments(self, rates: SegmentRates, rows: str) -> None:
        """Add a section with rates by segment; ``rows`` says on which rows."""
        self.heading("Rates by segment")
        self.paragraph(f"At the cutoff, on {rows}:")
        header, *table = rates.table()
        self.table(header, table)
        self.bullets([sentence(note) for note in rates.notes])

    def fields(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Add names with values; an empty value is left to be written in."""
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(value) or _BLANK}</td></tr>"
            for name, value in pairs
        )
        self._parts.append(f'<table class="fields"><tbody>{rows}</tbody></table>')

    def texts(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table of sentences, which are wrapped."""
        html = html_table(header, rows, css=None)
        self._parts.append(html.replace("<table>", '<table class="texts">', 1))

    def signatures(self, roles: Sequence[str]) -> None:
        """Add a block in which each role signs."""
        header = ("", "name", "date", "signature")
        html = html_table(header, [(role, "", "", "") for role in roles], css=None)
        block = html.replace("<table>", '<table class="signatures">', 1)
        self._parts.append(f'<div class="kept">{block}</div>')

    def code(self, text: str) -> None:
        """Add a line of code, such as a checksum."""
        self._parts.append(f"<p><code>{escape(text)}</code></p>")

    def figure(self, figure: Any, description: str) -> None:
        """Add a matplotlib figure as an embedded PNG, and close it."""
        from matplotlib import pyplot as plt

        png = BytesIO()
        figure.savefig(png, format="png", dpi=160, metadata={"Software": None})
        plt.close(figure)
        data = base64.b64encode(png.getvalue()).decode()
        width = int(figure.get_figwidth() * 100)
        self._parts.append(
            f'<img width="{width}" alt="{escape(description)}" src="data:image/png;base64,{data}">'
        )

    def html(self) -> str:
        """Return the page as HTML."""
        body = "\n".join(self._parts)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self._title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
            f"<body>\n{body}\n</body>\n</html>\n"
        )


class Bar:
    """Number drawn as a bar from the middle of a cell, to the right if it is positive.

    ``share`` is the length from -1 to 1, relative to half of the cell.
    """

    def __init__(self, share: float) -> None:
        self.share = max(-1.0, min(1.0, share))

    def html(self) -> str:
        """Return the bar as HTML."""
        width = 50.0 * abs(self.share)
        left = 50.0 if self.share > 0 else 50.0 - width
        colour = _POSITIVE if self.share > 0 else _NEGATIVE
        style = f"left:{left:.1f}%;width:{width:.1f}%;background:{colour}"
        return f'<span class="bar"><i style="{style}"></i></span>'


def _cell(cell: Any) -> str:
    return cell.html() if isinstance(cell, Bar) else escape(str(cell))
