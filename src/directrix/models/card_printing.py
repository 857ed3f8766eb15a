"""A card as HTML: its tables, with a small picture of the points of each column."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.tables import LevelBins
from directrix.tables.counts.bin_counts import weights_of_evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray, IntArray
    from directrix.models.card import Card
    from directrix.tables.bins import Bins

# ── What several cells of a column have in common, as text ────────────────────────────────────────

#: Stands between parts that are not neighbours.
SEPARATOR = "; "


def cells_label(bins: Bins, cells: Sequence[int]) -> str:
    """Return the name of some cells of a column together; of one cell, its label.

    Neighbouring ordered bins are one range, levels are listed, and all else follows.

    Parameters
    ----------
    bins : NumberBins or LevelBins
    cells : sequence of int
        Increasing.
    """
    if isinstance(bins, LevelBins):
        return _levels_label(bins, cells)
    labels, parts = bins.labels, []
    ordered = [cell for cell in cells if 1 <= cell <= bins.n_ordered]
    while ordered:
        first = last = ordered.pop(0)
        while ordered and ordered[0] == last + 1:
            last = ordered.pop(0)
        parts.append(labels[first] if first == last else _range_label(bins, first, last))
    rest = [labels[cell] for cell in cells if not 1 <= cell <= bins.n_ordered]
    return SEPARATOR.join([*parts, *rest])


def printable(text: str) -> str:
    """Return a text in one line, with escapes for characters that cannot be printed."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _range_label(bins: Bins, first: int, last: int) -> str:
    cuts = bins.cut_labels  # type: ignore[union-attr]  # ordered bins are those of numbers
    if last == bins.n_ordered:
        return "any value" if first == 1 else f"> {cuts[first - 2]}"
    return f"<= {cuts[last - 1]}" if first == 1 else f"{cuts[first - 2]} to {cuts[last - 1]}"


def _levels_label(bins: LevelBins, cells: Sequence[int]) -> str:
    """Return the levels as bins that group them would name them, which quotes what is misread."""
    of_levels = [cell for cell in cells if cell > 1]
    rest = [bins.labels[cell] for cell in cells if cell <= 1]
    if len(of_levels) < 2:
        return SEPARATOR.join([*(bins.labels[cell] for cell in of_levels), *rest])
    members = [
        level
        for level, cell in zip(bins.levels, bins.level_cells, strict=True)
        if cell in of_levels
    ]
    grouped = replace(bins, levels=tuple(members), groups=(0,) * len(members), weights=())
    return SEPARATOR.join([grouped.labels[2], *rest])


# ── A card as text ────────────────────────────────────────────────────────────────────────────────

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


# ── The rows of a card's table: the points of each bin, and the training rows that are in it ──────

#: Added to each count of a row for its weight of evidence.
SMOOTHING = 0.5


class CardRow(NamedTuple):
    """A bin of a column, or several bins with equal points.

    Parameters
    ----------
    column : str
    bin : str
        What rows of the bin have.
    rows : float
        Weight of the training rows in it; NaN for a card without counts, as are the next three.
    share : float
        The same as a share of all training rows.
    positive_rate : float
        Share of the positives among them; NaN without rows.
    evidence : float
        Weight of evidence: logarithm of the bin's share of the positives over its share of the
        negatives, with 0.5 added to each count; zero without rows.
    points : float
    cells : tuple of int
        Cells of the column, as numbered by ``Binner.cells``.
    """

    column: str
    bin: str
    rows: float
    share: float
    positive_rate: float
    evidence: float
    points: float
    cells: tuple[int, ...]


def column_rows(bins: Bins, points: FloatArray, counts: FloatArray | None) -> list[CardRow]:
    """Return the rows of a column: neighbouring ordered bins, and levels, of equal points are one.

    Missing, other and special values keep rows of their own.

    Parameters
    ----------
    bins : NumberBins or LevelBins
    points : array of shape (cells,)
    counts : array of shape (2, cells) or None
        Weight of the negative and of the positive training rows.
    """
    groups = _level_groups(points) if isinstance(bins, LevelBins) else _ranges(bins, points)
    if counts is None:
        nothing = [float("nan")] * len(groups)
        totals, shares, rates, evidence = nothing, nothing, nothing, nothing
    else:
        merged = np.stack([counts[:, group].sum(axis=1) for group in groups], axis=1)
        weight, everything = merged.sum(axis=0), merged.sum()
        totals = weight.tolist()
        shares = (weight / (everything or 1.0)).tolist()
        rates = np.divide(
            merged[1], weight, np.full(len(weight), np.nan), where=weight > 0
        ).tolist()
        evidence = weights_of_evidence(merged, SMOOTHING).tolist()
    return [
        CardRow(
            bins.name,
            cells_label(bins, group),
            totals[k],
            shares[k],
            rates[k],
            evidence[k],
            float(points[group[0]]),
            tuple(group),
        )
        for k, group in enumerate(groups)
    ]


def _ranges(bins: Bins, points: FloatArray) -> list[list[int]]:
    groups: list[list[int]] = []
    for cell, value in enumerate(points.tolist()):
        inside = 1 < cell <= bins.n_ordered
        if inside and points[cell - 1] == value:
            groups[-1].append(cell)
        else:
            groups.append([cell])
    return groups


def _level_groups(points: FloatArray) -> list[list[int]]:
    """Return missing, other, and groups of levels in the order of their first ones."""
    groups: dict[float, list[int]] = {}
    for cell, value in enumerate(points[2:].tolist(), start=2):
        groups.setdefault(value, []).append(cell)
    return [[0], [1], *groups.values()]


# ── CrossTable: the points of a cross, with names for its rows and columns ────────────────────────


@dataclass(frozen=True, eq=False)
class CrossTable:
    """Points for the combinations of the bins of two columns.

    Parameters
    ----------
    columns : pair of str
        Names of the columns: that of the rows of ``points``, and that of its columns.
    bins : pair of tuples of str
        Names of the rows and of the columns of ``points``.
    points : array of shape (r, c)
    cells : pair of tuples of tuples of int
        For each row and column of ``points`` the cells it stands for.
    """

    columns: tuple[str, str]
    bins: tuple[tuple[str, ...], tuple[str, ...]]
    points: FloatArray
    cells: tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]

    @classmethod
    def of(
        cls, bins: tuple[Bins, Bins], merged: tuple[IntArray, IntArray], points: FloatArray
    ) -> CrossTable:
        """Merge neighbouring rows, and neighbouring columns, that are equal.

        Parameters
        ----------
        bins : pair of NumberBins and LevelBins
        merged : pair of arrays of int
            For each cell of either column its row or column in ``points``.
        points : array
        """
        used = np.unique(merged[0]), np.unique(merged[1])
        rows = _equal_runs(used[0], points[:, used[1]])
        columns = _equal_runs(used[1], points[used[0]].T)
        cells = tuple(_cells(merged[k], runs) for k, runs in enumerate((rows, columns)))
        labels = tuple(
            tuple(cells_label(b, c) for c in of) for b, of in zip(bins, cells, strict=True)
        )
        shown = points[np.ix_([run[0] for run in rows], [run[0] for run in columns])]
        return cls(
            (bins[0].name, bins[1].name), (labels[0], labels[1]), shown, (cells[0], cells[1])
        )

    @property
    def name(self) -> str:
        """What the cross is called."""
        return f"{self.columns[0]} x {self.columns[1]}"

    def transposed(self) -> CrossTable:
        """Return the same table with rows and columns exchanged."""
        return CrossTable(self.columns[::-1], self.bins[::-1], self.points.T, self.cells[::-1])


def _equal_runs(used: IntArray, points: FloatArray) -> list[list[int]]:
    """Return runs of neighbouring rows of equal points, among those that some cell belongs to."""
    runs = [[int(used[0])]]
    for before, after in pairwise(used.tolist()):
        if np.array_equal(points[before], points[after]):
            runs[-1].append(after)
        else:
            runs.append([after])
    return runs


def _cells(merged: IntArray, runs: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(np.flatnonzero(np.isin(merged, run)).tolist()) for run in runs)


# ── CardDocument: a card as the texts that every printed format shows ─────────────────────────────

#: Digits after the point that printed points have, unless all points of the card are whole.
DECIMALS = 1
#: Headings of the texts of a row.
HEADINGS = ("points", "rows", "share", "positive", "WoE", "bin")


@dataclass(frozen=True, eq=False)
class ColumnBlock:
    """The rows of a column.

    Parameters
    ----------
    title : str
        The name of the column, and its least and greatest points.
    rows : tuple of CardRow
    texts : tuple of tuples of str
        For each row one text for each of `HEADINGS`.
    n_ordered : int
        Number of ordered bins of the column.
    """

    title: str
    rows: tuple[CardRow, ...]
    texts: tuple[tuple[str, ...], ...]
    n_ordered: int


@dataclass(frozen=True, eq=False)
class CrossBlock:
    """The points of a cross.

    Parameters
    ----------
    title : str
    table : CrossTable
        With no more columns than rows.
    texts : tuple of tuples of str
        Points.
    """

    title: str
    table: CrossTable
    texts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class CardDocument:
    """All that is printed of a card, columns and crosses with the widest range of points first.

    Parameters
    ----------
    headline : str
        Base points, cutoff, and which side of it is predicted positive.
    columns : tuple of ColumnBlock
    unused : str
        Names the columns whose printed points are zero in every bin; empty if there are none.
    crosses : tuple of CrossBlock
    """

    headline: str
    columns: tuple[ColumnBlock, ...]
    unused: str
    crosses: tuple[CrossBlock, ...]

    @classmethod
    def of(cls, card: Card) -> CardDocument:
        """Round points as they are printed, merge bins whose points are then equal, and word it."""
        whole = all(np.array_equal(part, np.round(part)) for part in card.blocks)
        decimals = 0 if whole else DECIMALS
        columns, unused = [], []
        for index in card.ranked_columns:
            rows = card.column_table(index, DECIMALS)
            if not any(row.points for row in rows):
                unused.append(card.bins[index].name)
                continue
            title = _title(card.bins[index].name, card.columns[index], decimals)
            texts = tuple(_texts(row, decimals) for row in rows)
            columns.append(ColumnBlock(title, tuple(rows), texts, card.bins[index].n_ordered))
        crosses = []
        for table in card.cross_tables(DECIMALS):
            tall = table if table.points.shape[0] >= table.points.shape[1] else table.transposed()
            rows_of = [[points_text(p, decimals) for p in row] for row in tall.points.tolist()]
            title = _title(table.name, table.points, decimals)
            crosses.append(CrossBlock(title, tall, tuple(map(tuple, rows_of))))
        return cls(
            _headline(card, decimals), tuple(columns), _unused(unused, decimals), tuple(crosses)
        )


def points_text(points: float, decimals: int) -> str:
    """Return points as text, never as minus zero."""
    return f"{round(points, decimals) + 0.0:.{decimals}f}"


def count_text(count: float) -> str:
    """Return a weight of rows as text."""
    if np.isnan(count):
        return "-"
    return f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"


def share_text(share: float) -> str:
    """Return a share in per cent."""
    return "-" if np.isnan(share) else f"{100 * share:.1f} %"


def _texts(row: CardRow, decimals: int) -> tuple[str, ...]:
    evidence = "-" if np.isnan(row.evidence) else points_text(row.evidence, 2)
    return (
        points_text(row.points, decimals),
        count_text(row.rows),
        share_text(row.share),
        share_text(row.positive_rate),
        evidence,
        row.bin,
    )


def _headline(card: Card, decimals: int) -> str:
    base = points_text(card.intercept, decimals if card.intercept.is_integer() else DECIMALS)
    cutoff = points_text(card.cutoff, 0 if float(card.cutoff).is_integer() else DECIMALS)
    side = "above" if card.higher_is_positive else "below"
    label = "positive" if card.label is None else repr(card.label)
    return f"base points {base}; predicted {label} {side} a cutoff of {cutoff} points in all"


def _title(name: str, points: FloatArray, decimals: int) -> str:
    low, high = (points_text(float(end), decimals) for end in (points.min(), points.max()))
    return f"{name}: points from {low} to {high}"


def _unused(names: Sequence[str], decimals: int) -> str:
    return f"{points_text(0.0, decimals)} points in every bin: {', '.join(names)}" if names else ""


# ── A card as Markdown tables ─────────────────────────────────────────────────────────────────────

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


# ── A card as HTML: its tables, with a small picture of the points of each column ─────────────────

#: Size of a picture, and the height of the bars for rows at its foot.
_HTML_WIDTH, _HEIGHT, _FOOT = 240.0, 90.0, 14.0
_BLUE, _VERMILION, _GREY = "#0072b2", "#d55e00", "#b0b0b0"


def card_html(document: CardDocument) -> str:
    """Return a card as HTML without scripts or style sheets, all names escaped."""
    parts = [f"<p>{escape(document.headline)}</p>"]
    headings = (HEADINGS[-1], *HEADINGS[:-1])
    for block in document.columns:
        rows = [(texts[-1], *texts[:-1]) for texts in block.texts]
        parts += [_html_table(block.title, headings, rows), _picture(block)]
    for cross in document.crosses:
        table = cross.table
        header = (f"{table.columns[0]} / {table.columns[1]}", *table.bins[1])
        rows = [(name, *texts) for name, texts in zip(table.bins[0], cross.texts, strict=True)]
        parts.append(_html_table(cross.title, header, rows))
    if document.unused:
        parts.append(f"<p>{escape(document.unused)}</p>")
    return f"<div>{''.join(parts)}</div>"


def _html_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
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
    slot, room = _HTML_WIDTH / len(rows), _HEIGHT - _FOOT - 8.0

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
    zero = f'<path d="M0 {y(0.0):.1f}H{_HTML_WIDTH:.0f}" stroke="{_GREY}" stroke-dasharray="2 2"/>'
    path = (
        f'<path d="{steps}" stroke="{_VERMILION}" stroke-width="2" fill="none"/>' if steps else ""
    )
    return (
        f'<svg role="img" aria-label="{escape(block.title)}" width="{_HTML_WIDTH:.0f}" '
        f'height="{_HEIGHT:.0f}" viewBox="0 0 {_HTML_WIDTH:.0f} {_HEIGHT:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg">{zero}{path}{"".join(shapes)}</svg>'
    )


def _ordered(row: CardRow, n_ordered: int) -> bool:
    return 1 <= row.cells[0] <= n_ordered


def _bar(x: float, y: float, width: float, height: float, colour: str) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{colour}"/>'
