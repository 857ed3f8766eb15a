"""What is drawn of a scorecard: where the bins of a column are, their points and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.tables import LevelBins, NumberBins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.classifiers.scorecard.card.card import Card
    from directrix.classifiers.scorecard.card.printed.cross_table import CrossTable
    from directrix.classifiers.scorecard.card.printed.rows import CardRow

#: Bars of a column of texts; the levels with most rows have one.
_BARS = 12
#: Characters of a label before it is cut off.
_LONGEST = 14
#: Width of a bar beside the axis of a number, and of the gap before it, of the whole axis.
_BESIDE, _GAP = 0.1, 0.05
#: An axis is bent if its cuts reach so many times farther than the middle half of them.
_UNEVEN = 8.0
#: Numbers that are added and divided below it do not overflow.
_HUGE = 1e300
#: Share of the training rows that an interval of a number is made of, at least.
_RUN = 0.1
#: Normal quantile of a 95 % interval.
_QUANTILE = 1.959964


class ColumnPanel(NamedTuple):
    """Points of the bins of a column; positions are from 0 to 1.

    Parameters
    ----------
    name : str
    width : float
        Greatest less least points.
    n_steps : int
        Number of ordered bins, which are drawn as steps; they come first, all others are bars.
    left, right : arrays of shape (bins,)
        Ends of each bin.
    points, low, high : arrays of shape (bins,)
        Points, and their 95 % interval; NaN without one.
    share : array of shape (bins,)
        Share of the training rows.
    ticks : array
    tick_labels : tuple of str
    n_scale : int
        Number of ticks that are values; the others are names of bars.
    """

    name: str
    width: float
    n_steps: int
    left: FloatArray
    right: FloatArray
    points: FloatArray
    low: FloatArray
    high: FloatArray
    share: FloatArray
    ticks: FloatArray
    tick_labels: tuple[str, ...]
    n_scale: int


class CrossPanel(NamedTuple):
    """Points of the cells of a cross.

    Parameters
    ----------
    columns : pair of str
        Names of the columns: that of the rows of ``points`` and that of its columns.
    width : float
        Greatest less least points.
    bins : pair of tuples of str
        Names of the rows and columns.
    points : array of shape (r, c)
    """

    columns: tuple[str, str]
    width: float
    bins: tuple[tuple[str, ...], tuple[str, ...]]
    points: FloatArray


def column_panel(card: Card, index: int, slope: float) -> ColumnPanel:
    """Return the panel of the column at a position.

    Parameters
    ----------
    card : Card
    index : int
    slope : float
        Log-odds of a point.
    """
    bins, rows = card.bins[index], card.column_table(index)
    ordered = bins.kind in ("number", "date")
    steps = [row for row in rows if ordered and 1 <= row.cells[0] <= bins.n_ordered]
    bars = [row for row in rows if row not in steps and (row.rows > 0 or row.cells[0] > 1)]
    if isinstance(bins, LevelBins):
        bars = _most_frequent(bars)
    elif steps:
        bars = [row for row in bars if row.rows > 0]
    edges, ticks, labels = _number_axis(bins, steps) if steps else (np.empty(0), [], ())  # type: ignore[arg-type]
    size = _BESIDE if steps else 1.0 / max(len(bars), 1)
    start = 1.0 - size * len(bars)
    lefts = start + size * np.arange(len(bars))
    # Numbers have what is left of the axis.
    room = (start - _GAP if bars else 1.0) if steps else 0.0
    drawn = [*steps, *bars]
    points = np.array([row.points for row in drawn])
    reach = np.array(_half_widths(card, index, steps, bars)) / slope
    return ColumnPanel(
        bins.name,
        float(np.ptp(card.columns[index])),
        len(steps),
        np.concatenate([edges[:-1] * room, lefts + 0.1 * size]),
        np.concatenate([edges[1:] * room, lefts + 0.9 * size]),
        points,
        points - reach,
        points + reach,
        np.array([row.share for row in drawn]),
        np.concatenate([np.array(ticks) * room, lefts + 0.5 * size]),
        (*labels, *(short(row.bin) for row in bars)),
        len(labels),
    )


def cross_panel(table: CrossTable) -> CrossPanel:
    """Return the panel of a cross."""
    names = tuple(tuple(map(short, labels)) for labels in table.bins)
    return CrossPanel(
        table.columns, float(np.ptp(table.points)), (names[0], names[1]), table.points
    )


def short(text: str, longest: int = _LONGEST) -> str:
    """Return a label in one line that fits below an axis."""
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _half_widths(
    card: Card, index: int, steps: Sequence[CardRow], bars: Sequence[CardRow]
) -> list[float]:
    """Return half the width of the 95 % interval of each bin's weight of evidence.

    Neighbouring steps are taken together until they have a tenth of the training rows.
    """
    runs: list[list[CardRow]] = []
    for row in steps:
        if not runs or sum(other.share for other in runs[-1]) >= _RUN:
            runs.append([])
        runs[-1].append(row)
    widths = []
    for run in [*runs, *([row] for row in bars)]:
        width = float("nan")
        if card.counts and sum(row.rows for row in run) > 0:
            cells = [cell for row in run for cell in row.cells]
            negative, positive = card.counts[index][:, cells].sum(axis=1).tolist()
            width = _QUANTILE * float(np.sqrt(1.0 / (negative + 0.5) + 1.0 / (positive + 0.5)))
        widths += [width] * len(run)
    return widths


def _most_frequent(rows: Sequence[CardRow]) -> list[CardRow]:
    """Return the rows with most training rows, sorted by points."""
    kept = sorted(rows, key=lambda row: -np.nan_to_num(row.rows))[:_BARS]
    return sorted(kept, key=lambda row: row.points)


def _number_axis(
    bins: NumberBins, steps: Sequence[CardRow]
) -> tuple[FloatArray, list[float], tuple[str, ...]]:
    """Return the ends of steps and the ticks of a number, from 0 to 1, and labels of the ticks.

    The outermost bins have no end: they are drawn a little beyond the outermost cuts.
    """
    kept = [row.cells[-1] - 1 for row in steps[:-1]]  # the cut above the last cell of a step
    all_cuts = np.array(bins.cuts)
    if not len(all_cuts):
        return np.array([0.0, 1.0]), [], ()
    bend = _Bend(all_cuts)
    cuts = bend(all_cuts)
    margin = 0.08 * (cuts[-1] - cuts[0]) or 1.0
    low, high = cuts[0] - margin, cuts[-1] + margin

    def position(values: FloatArray) -> FloatArray:
        scaled: FloatArray = (values - low) / (high - low)
        return scaled

    edges = np.concatenate([[0.0], position(cuts[kept]), [1.0]])
    if bins.kind == "date":
        chosen = sorted({0, len(all_cuts) - 1})
        labels = tuple(bins.cut_labels[k] for k in chosen)
        return edges, position(cuts[chosen]).tolist(), labels
    values = bend.ticks(low, high)
    return edges, position(bend(values)).tolist(), tuple(f"{value:g}" for value in values)


class _Bend:
    """Scale of an axis: straight, logarithmic, or an inverse hyperbolic sine around zero.

    Parameters
    ----------
    cuts : array
        Increasing.
    """

    def __init__(self, cuts: FloatArray) -> None:
        # In units of the farthest cut, since the range of huge ones would be infinite.
        farthest = float(np.abs(cuts).max()) or 1.0
        scaled = cuts / farthest
        quarter, three_quarters = np.quantile(scaled, [0.25, 0.75])
        even = len(cuts) < 4 or scaled[-1] - scaled[0] <= _UNEVEN * (three_quarters - quarter)
        self.straight = bool(even and farthest < _HUGE)
        self.logarithmic = not self.straight and bool(cuts[0] > 0)
        sizes = np.abs(cuts[cuts != 0])
        self.unit = max(float(np.median(sizes / 4.0)) if sizes.size else 1.0, farthest / _HUGE)

    def __call__(self, values: FloatArray) -> FloatArray:
        if self.straight:
            return values
        bent: FloatArray = np.log(values) if self.logarithmic else np.arcsinh(values / self.unit)
        return bent

    def ticks(self, low: float, high: float) -> FloatArray:
        """Return a few round numbers between two positions on the axis."""
        if self.straight:
            step = _round_step((high - low) / 4.0)
            return step * np.arange(np.ceil(low / step), np.floor(high / step) + 1.0) + 0.0
        powers: FloatArray = 10.0 ** np.arange(-12.0, 16.0)
        values = powers if self.logarithmic else np.concatenate([-powers[::-1], [0.0], powers])
        where = self(values)
        chosen: list[int] = []
        for k in np.flatnonzero((where >= low) & (where <= high)).tolist():
            # Labels of ticks that are nearer to each other would overlap.
            if not chosen or where[k] - where[chosen[-1]] > 0.28 * (high - low):
                chosen.append(k)
        found: FloatArray = values[chosen]
        return found


def _round_step(least: float) -> float:
    """Return 1, 2 or 5 times a power of ten, not below a number."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(power * next(m for m in (1.0, 2.0, 5.0, 10.0) if m * power >= least * (1 - 1e-9)))
