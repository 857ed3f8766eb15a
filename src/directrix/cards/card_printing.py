"""A card as text, Markdown and HTML, all with the same numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from directrix._printing import cell_style, html_table, printable, text_table, wrapped
from directrix._typing import FloatArray, IntArray
from directrix.cards.prior import CellKinds
from directrix.fit.shares import wilson
from directrix.tables import LevelBins
from directrix.tables.bins import SEPARATOR, Bins
from directrix.tables.evidence import weights_of_evidence

# ── What several cells of a column have in common, as text ────────────────────────────────────────


def cells_label(bins: Bins, cells: Sequence[int]) -> str:
    """Return the name of some cells of a column together; of one cell, its label.

    Neighbouring ordered bins are one range, levels are listed, and all else follows, missing values
    last. Cells are given in increasing order.
    """
    if bins.missing_cell:  # say so where missing values are, and nowhere else
        joined = {0} if bins.missing_cell in cells else set()
        cells, bins = sorted(joined | {*cells} - {0}), replace(bins, missing_cell=0)
    if isinstance(bins, LevelBins):
        return _levels_label(bins, cells)
    labels, parts = bins.labels, []
    ordered = [cell for cell in cells if 1 <= cell <= bins.n_ordered]
    while ordered:
        first = last = ordered.pop(0)
        while ordered and ordered[0] == last + 1:
            last = ordered.pop(0)
        parts.append(labels[first] if first == last else _range_label(bins, first, last))
    rest = [labels[cell] for cell in _missing_last(cells) if not 1 <= cell <= bins.n_ordered]
    return SEPARATOR.join([*parts, *rest])


def _range_label(bins: Bins, first: int, last: int) -> str:
    cuts = bins.cut_labels  # type: ignore[union-attr]  # ordered bins are those of numbers
    if last == bins.n_ordered:
        return "any value" if first == 1 else f"> {cuts[first - 2]}"
    return f"<= {cuts[last - 1]}" if first == 1 else f"{cuts[first - 2]} to {cuts[last - 1]}"


def _missing_last(cells: Sequence[int]) -> list[int]:
    return sorted(cells, key=lambda cell: cell == 0)


def _levels_label(bins: LevelBins, cells: Sequence[int]) -> str:
    """Return the levels as bins that group them would name them, which quotes what is misread."""
    of_levels = [cell for cell in cells if cell > 1]
    rest = [bins.labels[cell] for cell in _missing_last(cells) if cell <= 1]
    if len(of_levels) < 2:
        return SEPARATOR.join([*(bins.labels[cell] for cell in of_levels), *rest])
    members = [
        level
        for level, cell in zip(bins.levels, bins.level_cells, strict=True)
        if cell in of_levels
    ]
    grouped = replace(bins, levels=tuple(members), groups=(0,) * len(members), weights=())
    return SEPARATOR.join([grouped.labels[2], *rest])


# ── The rows of a card's table: the points of each bin, and the training rows that are in it ──────

#: Digits after the point that printed points have, unless all points of the card are whole.
DECIMALS = 1
#: Added to each count of a row for its weight of evidence.
SMOOTHING = 0.5
#: Share of the training rows that the interval of an ordered bin is made of, at least.
_RUN = 0.1
#: Normal quantile of a 95 % interval.
_QUANTILE = 1.959964


class CardRow(NamedTuple):
    """A bin of a column, or several bins with equal points.

    `rows` is the weight of the training rows in it, `share` the same as a share of all, and
    `positive_rate` the share of the positives among them (NaN without rows). `evidence` is the
    weight of evidence: the logarithm of the bin's share of the positives over its share of the
    negatives, with 0.5 added to each count; zero without rows. All four are NaN for a card without
    counts. `cells` are those of the column, as numbered by ``Binner.cells``.
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
    """Return the rows of a column, as `line_groups` has them.

    Counts are the weights of the negative and of the positive training rows in each cell, if they
    are known.
    """
    groups = line_groups(bins, points, None if counts is None else counts.sum(axis=0))
    numbers = np.full((4, len(groups)), np.nan)
    if counts is not None:
        merged = np.stack([counts[:, group].sum(axis=1) for group in groups], axis=1)
        weight = merged.sum(axis=0)
        numbers[0], numbers[1] = weight, weight / (merged.sum() or 1.0)
        np.divide(merged[1], weight, numbers[2], where=weight > 0)
        numbers[3] = weights_of_evidence(merged, SMOOTHING)
    names = [cells_label(bins, group) for group in groups]
    return [
        CardRow(bins.name, name, rows, share, rate, woe, float(points[group[0]]), tuple(group))
        for name, group, (rows, share, rate, woe) in zip(
            names, groups, numbers.T.tolist(), strict=True
        )
    ]


def line_groups(
    kinds: Bins | CellKinds, points: FloatArray, rows: FloatArray | None = None
) -> list[list[int]]:
    """Return the cells of each printed line of a column.

    Ordered bins ascend, and special values follow; levels ascend by their points. Neighbouring bins
    of equal points are one line, and so are levels, but what is stated has a line of its own.
    Missing values have the last one. `unlisted_cells` have none.

    ``rows`` are the weights of the training rows in each cell, if the card knows them.
    """
    stated, unlisted = set(kinds.stated_cells), unlisted_cells(kinds, points, rows)
    groups: list[list[int]] = []
    of_points: dict[float, list[int]] = {}
    for cell in range(1, kinds.n_cells):
        value = float(points[cell])
        if cell in unlisted:
            continue
        if cell in stated:
            groups.append([cell])
        elif kinds.n_ordered and groups and points[cell - 1] == value:
            groups[-1].append(cell)
        elif kinds.n_ordered or value not in of_points:
            groups.append([cell])
            of_points[value] = groups[-1]
        else:
            of_points[value].append(cell)
    if not kinds.n_ordered:
        groups.sort(key=lambda group: float(points[group[0]]))
    return groups if 0 in unlisted else [*groups, [0]]


def unlisted_cells(
    kinds: Bins | CellKinds, points: FloatArray, rows: FloatArray | None = None
) -> list[int]:
    """Return the cells without a line: missing values and other levels where no row had them.

    Of a card that was typed in, these are the ones without points. ``rows`` are those of
    `line_groups`.
    """
    held = points
    if rows is not None or len(kinds.weights):
        weights = np.array(kinds.weights) if len(kinds.weights) else np.zeros(kinds.n_cells)
        held = weights if rows is None else weights + rows
    joined = kinds.missing_cell
    cells = [0] if joined or not held[0] else []
    return cells if kinds.n_ordered or held[1] or joined == 1 else [*cells, 1]


def half_widths(
    counts: FloatArray | None, steps: Sequence[CardRow], others: Sequence[CardRow]
) -> FloatArray:
    r"""Return half the width of the 95 % interval of the weight of evidence of each row.

    .. math:: 1.96 \sqrt{\frac{1}{n^+ + 1/2} + \frac{1}{n^- + 1/2}}

    Neighbouring ``steps``, which are ordered bins, are taken together until they have a tenth of
    the training rows; the others are by themselves. NaN without rows or counts.
    """
    runs: list[list[CardRow]] = []
    for row in steps:
        if not runs or sum(other.share for other in runs[-1]) >= _RUN:
            runs.append([])
        runs[-1].append(row)
    widths = []
    for run in [*runs, *([row] for row in others)]:
        width = float("nan")
        if counts is not None and sum(row.rows for row in run) > 0:
            cells = [cell for row in run for cell in row.cells]
            negative, positive = counts[:, cells].sum(axis=1).tolist()
            width = _QUANTILE * float(np.sqrt(1.0 / (negative + 0.5) + 1.0 / (positive + 0.5)))
        widths += [width] * len(run)
    return np.array(widths)


def printed_points(points: FloatArray, decimals: int | None = DECIMALS) -> FloatArray:
    """Return points as they are printed, without minus zero, which would be another text.

    They are rounded to so many decimals; None leaves them exact.
    """
    rounded: FloatArray = points if decimals is None else np.round(points, decimals)
    return rounded + 0.0


# ── CrossTable: the points of a cross, with names for its rows and columns ────────────────────────


@dataclass(frozen=True, eq=False)
class CrossTable:
    """Points for the combinations of the bins of two columns.

    Each pair has first what belongs to the rows of `points`, then what belongs to its columns: the
    names of the two columns of the table, the names of their bins, and the cells of each.
    """

    columns: tuple[str, str]
    bins: tuple[tuple[str, ...], tuple[str, ...]]
    points: FloatArray
    cells: tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]

    @classmethod
    def of(
        cls, bins: tuple[Bins, Bins], merged: tuple[IntArray, IntArray], points: FloatArray
    ) -> CrossTable:
        """Make the table of a cross; neighbouring rows or columns of equal points are merged.

        `merged` has for each cell of either column its row or column in the points.
        """
        merged = _with_joined(bins[0], merged[0]), _with_joined(bins[1], merged[1])
        rows, columns = cross_runs(merged, points)
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
        """Name of the cross."""
        return f"{self.columns[0]} x {self.columns[1]}"

    def transposed(self) -> CrossTable:
        """Return the same table with rows and columns exchanged."""
        return CrossTable(self.columns[::-1], self.bins[::-1], self.points.T, self.cells[::-1])


def cross_runs(
    merged: tuple[IntArray, IntArray], points: FloatArray
) -> tuple[list[list[int]], list[list[int]]]:
    """Return runs of neighbouring rows, and of columns, of points that are equal."""
    used = np.unique(merged[0]), np.unique(merged[1])
    return _equal_runs(used[0], points[:, used[1]]), _equal_runs(used[1], points[used[0]].T)


def _with_joined(bins: Bins, merged: IntArray) -> IntArray:
    """Return groups of cells in which missing values are where the bin is that they have joined."""
    return np.concatenate([merged[[bins.missing_cell]], merged[1:]])


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

#: Headings of the texts of a column, with the positive label.
HEADINGS = ("bin", "points", "rows", "share", "rate of {}", "95 % interval")
#: What the name of a bin ends with that no training row is in.
NO_ROWS = " (no rows)"


@dataclass(frozen=True, eq=False)
class Block:
    """The printed table of a column or cross; the first text of a row is its name.

    A column has `rows` and a number of ordered bins, a cross a table with no more columns than
    rows.
    """

    title: str
    header: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    rows: tuple[CardRow, ...] = ()
    n_ordered: int = 0
    cross: CrossTable | None = None


@dataclass(frozen=True, eq=False)
class CardDocument:
    """All that is printed of a card: columns, then crosses, those that move rows most first.

    The headline has the base points, the cutoff, and which side of it is predicted positive. Notes
    at the foot are about all columns.
    """

    headline: str
    blocks: tuple[Block, ...]
    notes: tuple[str, ...]


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


def row_texts(row: CardRow, decimals: int, effective: float = 1.0) -> tuple[str, ...]:
    """Return the texts of a row of a column, in the order of `HEADINGS`.

    A bin without training rows says so: its points come from its neighbours and the prior alone.
    ``effective`` is the effective number of rows of a unit of weight.
    """
    if row.rows == 0:
        return (row.bin + NO_ROWS, points_text(row.points, decimals), "0", "-", "-", "-")
    interval = "-"
    if not np.isnan(row.rows):
        ends = wilson(row.positive_rate, effective * row.rows)
        interval = " to ".join(map(share_text, ends))
    return (
        row.bin,
        points_text(row.points, decimals),
        count_text(row.rows),
        share_text(row.share),
        share_text(row.positive_rate),
        interval,
    )


def points_range(name: str, points: FloatArray, decimals: int) -> str:
    """Return the title of a column or cross: its name, and its least and greatest points."""
    low, high = (points_text(float(end), decimals) for end in (points.min(), points.max()))
    return f"{name}: points from {low} to {high}"


def card_document(card: Any) -> CardDocument:
    """Return what is printed of a card: rounded points, with bins of equal points merged."""
    whole = all(np.array_equal(part, np.round(part)) for part in card.blocks)
    decimals = 0 if whole else DECIMALS
    effective = 1.0 if card.held_out is None else card.held_out.effective
    header = (*HEADINGS[:4], HEADINGS[4].format(_label(card)), HEADINGS[5])
    blocks, unused = [], []
    unseen = _unseen_points(card, decimals)
    for index in card.ranked_columns:
        rows, bins = tuple(card.column_table(index, DECIMALS)), card.bins[index]
        if not printed_points(card.columns[index]).any():
            unused.append(bins.name)
            continue
        title = points_range(bins.name, card.columns[index], decimals)
        if len(unseen) > 1:
            title += f", mean {points_text(card.mean_points(index), decimals)}"
        texts = tuple(row_texts(row, decimals, effective) for row in rows)
        blocks.append(Block(title, header, texts, rows, bins.n_ordered))
    for table in card.cross_tables(DECIMALS):
        tall = table if table.points.shape[0] >= table.points.shape[1] else table.transposed()
        names = (f"{tall.columns[0]} / {tall.columns[1]}", *tall.bins[1])
        texts = tuple(
            (name, *(points_text(p, decimals) for p in row))
            for name, row in zip(tall.bins[0], tall.points.tolist(), strict=True)
        )
        title = points_range(table.name, table.points, decimals)
        blocks.append(Block(title, names, texts, cross=tall))
    notes = [*_odds_note(card), *_range_note(card)]
    if unseen:
        what = "Never seen in training, or missing where none was" if card.counts else "Not listed"
        points = f"{min(unseen)} points" if len(unseen) == 1 else "the mean points of the column"
        points = "1 point" if unseen == {"1"} else points
        notes.append(f"{what}: {points}.")
    if unused:
        notes.append(f"{points_text(0.0, decimals)} points in every bin: {', '.join(unused)}")
    return CardDocument(_headline(card, decimals), tuple(blocks), tuple(notes))


def _unseen_points(card: Any, decimals: int) -> set[str]:
    """Return the points of all cells without a line, as they are printed."""
    return {
        points_text(float(points[cell]), decimals)
        for k, points in enumerate(card.columns)
        if printed_points(points).any()
        for cell in card.unlisted(k)
    }


def _odds_note(card: Any) -> list[str]:
    """Return what a point is worth, if log-odds are one line of the points."""
    if card.held_out is None or len(card.held_out.points) < 2:
        return []
    total, odds = card.held_out.points, logit(card.held_out.probability)
    slope = float((odds[-1] - odds[0]) / (total[-1] - total[0]))
    if not np.allclose(odds, odds[0] + slope * (total - total[0]), atol=1e-6):
        return []
    change = f"{'double' if slope > 0 else 'halve'} every {np.log(2.0) / abs(slope):.3g} points"
    even = points_text(float(total[0] - odds[0] / slope), DECIMALS)
    return [f"The odds of {_label(card)} {change}; they are even at a total of {even}."]


def _range_note(card: Any) -> list[str]:
    has_range = any(bins.kind in ("number", "date") and bins.n_ordered > 2 for bins in card.bins)
    return ["A range includes its upper end, not its lower one."] if has_range else []


def _label(card: Any) -> str:
    return "positive" if card.label is None else repr(card.label)


def _headline(card: Any, decimals: int) -> str:
    base = points_text(card.intercept, decimals if card.intercept.is_integer() else DECIMALS)
    cutoff = points_text(card.cutoff, 0 if float(card.cutoff).is_integer() else DECIMALS)
    side = "above" if card.higher_is_positive else "below"
    return f"base points {base}; a total {side} {cutoff} points is predicted {_label(card)}"


# ── Formats ───────────────────────────────────────────────────────────────────────────────────────

#: Characters of a line of names before the rest goes to the next line.
_WIDTH = 60
_GAP = "  "
#: Marks of Markdown, and the beginnings of HTML tags and entities; underscores inside words are
#: none, nor is the sign of "<= 30".
_MARKS = re.compile(r"[\\`*|$~]|[\[\]](?!\d+\])|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=[#\w])")
#: Size of a picture, and the height of the bars for rows at its foot.
_WIDE, _HEIGHT, _FOOT = 200.0, 90.0, 14.0
#: Style of the table of a column with its picture.
_BLOCK = (
    "display: flex; flex-wrap: wrap; align-items: center; gap: 0.5em 1.5em; margin: 0 0 1.4em; "
    "break-inside: avoid"
)
#: Least widths of the columns of such a table, so that those of all tables are below each other.
_EMS = (11.0, 2.6, 3.0, 3.0, 4.6, 7.6)
_BLUE, _VERMILION, _GREY = "#0072b2", "#d55e00", "#b0b0b0"


def named_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of numbers, aligned right, with a name at the end that is wrapped."""
    return text_table(rows, left=(len(rows[0]) - 1,), indent=_GAP, wrap_at=_WIDTH)


def card_text(document: CardDocument) -> str:
    """Return a card as text: for each column a line for each row of its table."""
    lines = [document.headline]
    for block in document.blocks:
        lines += ["", printable(block.title)]
        rows = [(*numbers, name) for name, *numbers in block.texts]
        if block.cross is None:
            _, *headings = block.header
            lines += named_lines([(*headings, block.header[0]), *rows])
        else:  # its columns are numbered, since their names may be long
            first, second = block.cross.columns
            numbers = [f"[{k + 1}]" for k in range(len(block.header) - 1)]
            lines.append(f"{_GAP}{printable(second)}:")
            lines += named_lines(list(zip(numbers, block.cross.bins[1], strict=True)))
            lines += named_lines([(*numbers, first), *rows])
    for note in document.notes:
        lines += ["", *wrapped(note, _WIDTH)]
    return "\n".join(lines)


def card_markdown(document: CardDocument) -> str:
    """Return a card as Markdown: a table for each column and cross."""
    parts = [document.headline]
    for block in document.blocks:
        top = [_line(block.header), "|---|" + "---:|" * (len(block.header) - 1)]
        table = "\n".join([*top, *map(_line, block.texts)])
        parts += [f"**{escaped(block.title)}**", table]
    parts += map(escaped, document.notes)
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return _MARKS.sub(r"\\\g<0>", printable(text))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"


def card_html(document: CardDocument) -> str:
    """Return a card as HTML without scripts or style sheets, all names escaped.

    The picture of a column is beside its table where there is room, and else below it.
    """
    parts = [f'<p style="break-after: avoid"><b>{escape(document.headline)}</b></p>']
    for block in document.blocks:
        css = cell_style if block.cross else _cell_style
        table = html_table(block.header, block.texts, block.title, css=css)
        picture = _picture(block) if block.rows else ""
        parts.append(f'<div style="{_BLOCK}">{table}{picture}</div>')
    parts += [f"<p>{escape(note)}</p>" for note in document.notes]
    return f"<div>{''.join(parts)}</div>"


def _cell_style(k: int) -> str:
    align = "right; white-space: nowrap" if k else f"left; white-space: normal; width: {_EMS[0]}em"
    return f"min-width: {_EMS[k]}em; padding: 0.2em 0.4em; text-align: {align}"


def _picture(block: Block) -> str:
    """Return an SVG of the points: steps for ordered bins, bars for all else, rows at the foot."""
    rows = block.rows
    points = [row.points for row in rows]
    low, high = min(0.0, *points), max(0.0, *points)
    slot, room = _WIDE / len(rows), _HEIGHT - _FOOT - 8.0

    def y(value: float) -> float:
        return 4.0 + room * (high - value) / ((high - low) or 1.0)

    most = max((row.rows for row in rows), default=0.0)
    shapes, steps = [], ""
    for k, row in enumerate(rows):
        left, right = k * slot, (k + 1) * slot
        if most > 0:
            tall = _FOOT * row.rows / most
            shapes.append(_bar(left, _HEIGHT - tall, slot, tall, _GREY))
        if 1 <= row.cells[0] <= block.n_ordered:
            steps += f"{'V' if steps else f'M{left:.1f} '}{y(row.points):.1f}H{right:.1f}"
        else:
            top, bottom = sorted((y(row.points), y(0.0)))
            shapes.append(_bar(left + 0.2 * slot, top, 0.6 * slot, bottom - top, _BLUE))
        about = f"<title>{escape(row.bin)}: {escape(block.texts[k][1])}</title>"
        shapes.append(
            f'<rect x="{left:.1f}" y="0" width="{slot:.1f}" height="{_HEIGHT:.0f}" '
            f'fill="transparent">{about}</rect>'
        )
    zero = f'<path d="M0 {y(0.0):.1f}H{_WIDE:.0f}" stroke="{_GREY}" stroke-dasharray="2 2"/>'
    path = (
        f'<path d="{steps}" stroke="{_VERMILION}" stroke-width="2" fill="none"/>' if steps else ""
    )
    return (
        f'<svg role="img" aria-label="{escape(block.title)}" width="{_WIDE:.0f}" '
        f'height="{_HEIGHT:.0f}" viewBox="0 0 {_WIDE:.0f} {_HEIGHT:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg">{zero}{path}{"".join(shapes)}</svg>'
    )


def _bar(x: float, y: float, width: float, height: float, colour: str) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{colour}"/>'
