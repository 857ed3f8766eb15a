"""ScorecardDisplay: the points of a scorecard, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from directrix._typing import FloatArray
from directrix.cards.card import Card
from directrix.cards.card_printing import CardRow, CrossTable, card_document, half_widths
from directrix.displays import style
from directrix.tables import LevelBins, NumberBins

# ── What is drawn of a scorecard: where the bins of a column are, their points and intervals ──────

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


class ColumnPanel(NamedTuple):
    """Points of the bins of a column; positions are from 0 to 1.

    ``width`` is the range of the points, greatest minus least. ``n_steps`` is the number of ordered
    bins, which are drawn as steps and come first; all others are drawn as bars. ``n_scale`` is the
    number of ticks that are values; the others are names of bars.

    The arrays for the bins have the shape (bins,): ``left`` and ``right`` are the ends of each bin,
    ``low`` and ``high`` the 95 % interval of its ``points``, NaN without one, and ``share`` is its
    share of the training rows.
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

    ``columns`` are the names of the two columns: first the one along the rows of ``points``, then
    the one along its columns. ``width`` is the range of the points, greatest minus least. ``bins``
    are the names of the rows and of the columns of ``points``, which has the shape (r, c).
    """

    columns: tuple[str, str]
    width: float
    bins: tuple[tuple[str, ...], tuple[str, ...]]
    points: FloatArray


def column_panel(card: Card, index: int, slope: float) -> ColumnPanel:
    """Return the panel of the column at a position.

    ``slope`` is the log-odds that one point is worth.
    """
    bins, rows = card.bins[index], card.column_table(index)
    ordered = bins.kind in ("number", "date")
    steps = [row for row in rows if ordered and 1 <= row.cells[0] <= bins.n_ordered]
    bars = [row for row in rows if row not in steps and (row.rows > 0 or row.cells[0] > 1)]
    if isinstance(bins, LevelBins):
        most_frequent = sorted(bars, key=lambda row: -np.nan_to_num(row.rows))[:_BARS]
        bars = sorted(most_frequent, key=lambda row: row.points)
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
    reach = half_widths(card.counts[index] if card.counts else None, steps, bars) / slope
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


def _number_axis(
    bins: NumberBins, steps: Sequence[CardRow]
) -> tuple[FloatArray, list[float], tuple[str, ...]]:
    """Return the ends of steps and the ticks of a number, from 0 to 1, and labels of the ticks.

    The outermost bins have no end: they are drawn a little beyond the outermost cuts.
    """
    # The cut above the last ordered bin of a step; missing and special values may have joined it.
    kept = [max(cell for cell in row.cells if cell <= bins.n_ordered) - 1 for row in steps[:-1]]
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
    """Scale of an axis: linear, logarithmic, or an inverse hyperbolic sine around zero.

    ``cuts`` must be increasing.
    """

    def __init__(self, cuts: FloatArray) -> None:
        # In units of the farthest cut, since the range of huge ones would be infinite.
        farthest = float(np.abs(cuts).max()) or 1.0
        scaled = cuts / farthest
        quarter, three_quarters = np.quantile(scaled, [0.25, 0.75])
        even = len(cuts) < 4 or scaled[-1] - scaled[0] <= _UNEVEN * (three_quarters - quarter)
        self.linear = bool(even and farthest < _HUGE)
        self.logarithmic = not self.linear and bool(cuts[0] > 0)
        sizes = np.abs(cuts[cuts != 0])
        self.unit = max(float(np.median(sizes / 4.0)) if sizes.size else 1.0, farthest / _HUGE)

    def __call__(self, values: FloatArray) -> FloatArray:
        if self.linear:
            return values
        return np.log(values) if self.logarithmic else np.arcsinh(values / self.unit)

    def ticks(self, low: float, high: float) -> FloatArray:
        """Return a few round numbers between two positions on the axis."""
        if self.linear:
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
        return values[chosen]


def _round_step(least: float) -> float:
    """Return 1, 2 or 5 times a power of ten, not below a number."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(power * next(m for m in (1.0, 2.0, 5.0, 10.0) if m * power >= least * (1 - 1e-9)))


# ── ScorecardDisplay: the points of a scorecard, column by column ─────────────────────────────────

#: Height of a row of panels, in inches; of the counts at their foot, as a share of a panel.
_HEIGHT, _FOOT = 1.9, 0.16
_SMALL, _SMALLEST = 7, 6
#: Labels along an axis of a heat map, and characters of all bars' labels beyond which they lean.
_TICKS, _CROWDED = 5, 24
_NAME = 30  # characters of a name before it is cut off
#: Least height of an axis of points, as a share of the widest one: noise should look small.
_FLATTEST = 0.25


@dataclass(eq=False)
class ScorecardDisplay:
    r"""Points of the bins of each column, and how many training rows they have.

    Numbers and dates are steps along their axis, which is logarithmic where a few values are far
    out; missing and special values are bars beside it. Texts and booleans are bars, those of texts
    sorted by points. Crosses are heat maps. Grey, at the foot, is the share of the training rows.
    Columns and then crosses are in the order of the printed card: what moves the training rows most
    is first.

    The intervals are those of the weight of evidence of a bin,

    .. math:: p_k \pm 1.96 \sqrt{\frac{1}{n_k^+ + 1/2} + \frac{1}{n_k^- + 1/2}} \Big/ \beta

    with :math:`\beta`, the log-odds of a point, from the calibration of the classifier. They show
    how much the rows of a bin alone can say; neighbouring bins of a number are taken together
    until they have a tenth of the rows. Other columns and the penalty of the fit make points
    steadier than that. Create one with `from_estimator`.

    Parameters
    ----------
    panels : tuple of ColumnPanel and CrossPanel
    n_more : int
        Columns and crosses with points that are not drawn.
    title : str
        Title of a new figure: the base points, the cutoff, and the side that is predicted positive.

    Attributes
    ----------
    ax_ : array of matplotlib axes
    figure_ : matplotlib figure
    lines_, intervals_, counts_, heat_maps_ : lists of matplotlib artists
    """

    panels: tuple[ColumnPanel | CrossPanel, ...]
    n_more: int = 0
    title: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_panels: int = 12,
        title: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the card of a classifier.

        Parameters
        ----------
        estimator : fitted ScorecardClassifier
        max_panels : int
            Largest number of columns and crosses to draw.
        title : str, optional
            First line of the title of a new figure; the base points and the cutoff are below it.
        ax : as in `plot`
        """
        style.pyplot()
        check_is_fitted(estimator)
        if not hasattr(estimator, "card_"):
            msg = f"a {type(estimator).__name__} has no card to draw: give a ScorecardClassifier"
            raise TypeError(msg)
        card, calibration = estimator.card_, estimator.calibration_
        slope = (calibration.below + calibration.above) / 2.0
        used = [k for k in card.ranked_columns if np.ptp(card.columns[k]) > 0]
        found: list[ColumnPanel | CrossPanel] = [column_panel(card, k, slope) for k in used]
        found += [cross_panel(table) for table in card.cross_tables()]
        if not found:
            msg = "all points of this card are equal: there is nothing to draw"
            raise ValueError(msg)
        lines = [*([] if title is None else [title]), card_document(card).headline]
        n_more = max(len(found) - max_panels, 0)
        return cls(tuple(found[:max_panels]), n_more, "\n".join(lines)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the stored panels.

        Parameters
        ----------
        ax : matplotlib axes, one for each panel, optional
            By default those of a new figure, in two columns.
        """
        n = len(self.panels)
        if ax is None:
            rows = -(-n // 2)
            height = _HEIGHT * rows + 0.5
            made = style.panels(None, (rows, min(n, 2)), height)
            for surplus in made[n:]:
                surplus.remove()
            self.ax_ = made[:n]
        else:
            self.ax_ = style.panels(ax, (1, n), _HEIGHT)
        self.figure_ = self.ax_[0].figure
        self.lines_: list[Any] = []
        self.intervals_: list[Any] = []
        self.counts_: list[Any] = []
        self.heat_maps_: list[Any] = []
        labelled = False
        for panel, axes in zip(self.panels, self.ax_, strict=True):
            if isinstance(panel, ColumnPanel):
                self._draw_column(axes, panel, labelled=not labelled)
                labelled = True
            else:
                self._draw_cross(axes, panel)
        if ax is None and self.n_more:
            self.figure_.supxlabel(f"and {self.n_more} more", fontsize=_SMALL)
        if ax is None and self.title:
            self.figure_.suptitle(
                style.plain_text(self.title), fontsize=_SMALL + 2, x=0.01, ha="left"
            )
        return self

    def _draw_column(self, axes: Any, panel: ColumnPanel, *, labelled: bool) -> None:
        low, high = _limits(panel, _FLATTEST * max(each.width for each in self.panels))
        names = ("points", "95 % interval", "training rows") if labelled else ("", "", "")
        labels = [{"label": name} if name else {} for name in names]
        for part in _parts(panel):
            x = np.column_stack([panel.left[part], panel.right[part]])
            is_step = part.stop <= panel.n_steps
            # Steps are one line, bars one each.
            groups = [slice(None)] if is_step else [slice(k, k + 1) for k in range(len(x))]
            for group in groups:
                along = x[group].ravel()
                points, below, above = (
                    np.repeat(values[part][group], 2)
                    for values in (panel.points, panel.low, panel.high)
                )
                if not is_step:
                    how = {"color": style.SKY, "alpha": 0.5, "linewidth": 0.0}
                    axes.fill_between(along, 0.0, points, **how)
                self.lines_ += axes.plot(
                    along, points, color=style.BLUE, linewidth=1.6, **labels[0]
                )
                self.intervals_.append(
                    axes.fill_between(
                        along, below, above, color=style.BLUE, alpha=0.15, linewidth=0, **labels[1]
                    )
                )
                labels[:2] = [{}, {}]
        tallest = np.nanmax(panel.share, initial=0.0) or 1.0
        width = panel.right - panel.left
        self.counts_.append(
            axes.bar(
                panel.left,
                np.nan_to_num(panel.share) / tallest * _FOOT,
                width,
                align="edge",
                color=style.GREY,
                alpha=0.5,
                transform=axes.get_xaxis_transform(),
                **labels[2],
            )
        )
        axes.axhline(0.0, color=style.GREY, linewidth=0.7, linestyle=":")
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(low, high)
        style.finish(axes, "", "points", columns=0)
        _name(axes, panel.name, "points")
        if labelled:
            axes.legend(
                loc="lower left",
                bbox_to_anchor=(0.0, 1.0),
                ncols=3,
                fontsize=_SMALLEST,
                frameon=False,
                borderaxespad=0.2,
                columnspacing=0.8,
                handlelength=1.2,
            )
        axes.set_xticks(panel.ticks, [style.plain_text(text) for text in panel.tick_labels])
        axes.tick_params(labelsize=_SMALL)
        bars = axes.get_xticklabels()[panel.n_scale :]
        if panel.n_steps or sum(len(tick.get_text()) for tick in bars) > _CROWDED:
            _lean(bars)

    def _draw_cross(self, axes: Any, panel: CrossPanel) -> None:
        reach = float(np.abs(panel.points).max()) or 1.0
        image = axes.imshow(
            panel.points, cmap="RdBu_r", vmin=-reach, vmax=reach, aspect="auto", origin="lower"
        )
        self.heat_maps_.append(image)
        bar = axes.figure.colorbar(image, cax=axes.inset_axes((1.03, 0.0, 0.04, 1.0)))
        bar.ax.tick_params(labelsize=_SMALLEST)
        bar.set_label("points", fontsize=_SMALL)
        _name(axes, panel.columns[1], panel.columns[0])
        for axis, labels in ((axes.yaxis, panel.bins[0]), (axes.xaxis, panel.bins[1])):
            chosen = np.unique(np.linspace(0, len(labels) - 1, _TICKS).round().astype(int))
            shown = [style.plain_text(labels[k]) for k in chosen.tolist()]
            axis.set_ticks(chosen, shown, fontsize=_SMALLEST)
        _lean(axes.get_xticklabels())


def _name(axes: Any, xlabel: str, ylabel: str) -> None:
    axes.set_xlabel(style.plain_text(short(xlabel, _NAME)), fontsize=_SMALL + 1)
    axes.set_ylabel(style.plain_text(short(ylabel, _NAME)), fontsize=_SMALL + 1)


def _lean(ticks: Any) -> None:
    """Rotate labels that would overlap."""
    for tick in ticks:
        tick.set(rotation=25, ha="right", rotation_mode="anchor", fontsize=_SMALLEST)


def _parts(panel: ColumnPanel) -> list[slice]:
    """Return the steps and the bars of a panel, without those that it lacks."""
    parts = slice(0, panel.n_steps), slice(panel.n_steps, len(panel.points))
    return [part for part in parts if part.stop > part.start]


def _limits(panel: ColumnPanel, least: float) -> tuple[float, float]:
    """Return the ends of the axis of points: intervals are inside, and counts have room below."""
    ends = np.concatenate([panel.points, panel.low, panel.high, [0.0]])
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    margin = max(0.08 * (high - low), (least - (high - low)) / 2.0)
    low, high = low - margin, high + margin
    return low - (high - low) * _FOOT / (1.0 - _FOOT), high
