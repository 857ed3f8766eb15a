"""The points of scorecards in an ONNX graph: raw columns in.

The values of a column fall into *segments*: segment 0 is missing; those of a number or date are the
intervals between its cuts, where a special value is an interval of its own, and those of a text are
its cells. The segments of all columns are numbered one after the other, so that the graph looks up
the points of all columns at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.classifiers.scoring import CardFormula
from directrix.exceptions import Float32PrecisionWarning, find_stacklevel
from directrix.export.onnx.graph import Graph
from directrix.export.onnx.linear import LEAST_CHANGE, ROUNDING
from directrix.export.sql.cells import last_microsecond
from directrix.models.card import Card
from directrix.tables import LevelBins, NumberBins
from directrix.tables.bins import Bins

#: A missing date: NumPy has this integer for NaT.
_NO_DATE = np.iinfo(np.int64).min
_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Segments:
    """Segments of one column.

    Parameters
    ----------
    bins : NumberBins or LevelBins
    bounds : array
        A value above k of them is in segment 1 + k: numbers, or microseconds since 1970-01-01;
        empty for texts.
    cells : array of int
        The cell of each segment.
    """

    bins: Bins
    bounds: AnyArray
    cells: IntArray

    @classmethod
    def of(cls, bins: Bins) -> Segments:
        """Return the segments of a column."""
        if isinstance(bins, LevelBins):
            return cls(bins, np.empty(0), np.arange(bins.n_cells))
        special = np.array([value for value, _ in bins.special_forms])
        ends = np.unique([*bins.cuts, *np.nextafter(special, -np.inf), *special])
        # The upper end of a segment is part of it; the last segment has none.
        cells = bins.cells(np.array([np.nan, *ends, np.inf])).astype(np.int64)
        if bins.kind == "date":
            microseconds = [last_microsecond(end) for end in ends.tolist()]
            return cls(bins, np.array(microseconds, dtype=np.int64), cells)
        return cls(bins, ends, cells)


def add_card_points(
    graph: Graph, formula: CardFormula, columns: Sequence[str], missing_text: str, *, narrow: bool
) -> str:
    """Add the points to a graph; return their name.

    Parameters
    ----------
    graph : Graph
    formula : CardFormula
    columns : sequence of str
        Nodes of the columns, of shape (n, 1).
    missing_text : str
        The text that stands for a missing text.
    narrow : bool
        Whether numbers are in float32.
    """
    segments = [Segments.of(bins) for bins in formula.cards[0].bins]
    order, index = add_segments(graph, segments, columns, missing_text, narrow=narrow)
    sizes = [len(segments[k].cells) for k in order]
    offsets = np.cumsum([0, *sizes[:-1]])
    index = graph.add_node("Add", [index, graph.constant(offsets)])
    table = np.concatenate(
        [
            np.stack([card.columns[k][segments[k].cells] for card in formula.cards], axis=1)
            for k in order
        ]
    )
    points = graph.add_node("Gather", [graph.constant(table), index], axis=0)
    axis = graph.constant(np.array([1]))
    points = graph.add_node("ReduceSum", [points, axis], keepdims=0)
    intercepts = graph.constant(np.array([card.intercept for card in formula.cards]))
    points = graph.add_node("Add", [points, intercepts])
    if any(card.crosses for card in formula.cards):
        starts = {k: (place, int(offsets[place])) for place, k in enumerate(order)}
        crosses = _add_crosses(graph, formula.cards, segments, starts, index)
        points = graph.add_node("Add", [points, crosses])
    return points


def add_segments(
    graph: Graph,
    segments: Sequence[Segments],
    names: Sequence[str],
    missing: str,
    *,
    narrow: bool,
) -> tuple[list[int], str]:
    """Add the segment of every column to a graph.

    Parameters
    ----------
    graph : Graph
    segments : sequence of Segments
        Of each column.
    names : sequence of str
        Nodes of the columns, of shape (n, 1).
    missing : str
        The text that stands for a missing text.
    narrow : bool
        Whether numbers are in float32.

    Returns
    -------
    tuple
        The order of the columns, numbers first, and the node of shape (n, columns).
    """
    from onnx import TensorProto

    groups: dict[str, list[int]] = {"number": [], "date": [], "text": []}
    for k, column in enumerate(segments):
        kind = column.bins.kind
        groups["number" if kind == "boolean" else kind].append(k)
    parts = []
    for kind, missing_is in (("number", "IsNaN"), ("date", "Equal")):
        if not groups[kind]:
            continue
        values = _concat(graph, [names[k] for k in groups[kind]])
        if kind == "number" and narrow:
            values = graph.add_node("Cast", [values], to=TensorProto.DOUBLE)
        inputs = [values] if kind == "number" else [values, graph.constant(np.array(_NO_DATE))]
        is_missing = graph.add_node(missing_is, inputs)
        bounds = [segments[k].bounds for k in groups[kind]]
        parts.append(_add_count(graph, values, is_missing, bounds))
    parts += [_add_levels(graph, segments[k].bins, names[k], missing) for k in groups["text"]]
    return [*groups["number"], *groups["date"], *groups["text"]], _concat(graph, parts)


def _concat(graph: Graph, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else graph.add_node("Concat", parts, axis=1)


def _add_count(graph: Graph, values: str, is_missing: str, bounds: list[AnyArray]) -> str:
    """Add one more than the number of bounds that each value is above, and 0 if it is missing."""
    from onnx import TensorProto

    dates = bounds[0].dtype == np.int64
    width = max(len(column) for column in bounds)
    # No value is above the padding.
    padded = np.full((len(bounds), max(width, 1)), _LAST if dates else np.inf)
    for row, column in zip(padded, bounds, strict=True):
        row[: len(column)] = column
    last = graph.constant(np.array([2]))
    each = graph.add_node("Unsqueeze", [values, last])
    above = graph.add_node("Greater", [each, graph.constant(padded)])
    above = graph.add_node("Cast", [above], to=TensorProto.INT32)
    count = graph.add_node("ReduceSum", [above, last], keepdims=0)
    count = graph.add_node("Cast", [count], to=TensorProto.INT64)
    one, zero = graph.constant(np.array(1)), graph.constant(np.array(0))
    return graph.add_node("Where", [is_missing, zero, graph.add_node("Add", [count, one])])


def _add_levels(graph: Graph, bins: Any, name: str, missing: str) -> str:
    if missing in bins.levels:
        msg = (
            f"missing_text is {missing!r}, which is a text of column {bins.name!r}: choose one "
            "that no row has"
        )
        raise ValueError(msg)
    pairs = zip(bins.levels, bins.level_cells, strict=True)
    cells = {level: cell for level, cell in pairs if is_utf8(level)} | {missing: 0}
    return graph.add_node(
        "LabelEncoder",
        [name],
        domain="ai.onnx.ml",
        keys_strings=list(cells),
        values_int64s=list(cells.values()),
        default_int64=1,
    )


def is_utf8(text: str) -> bool:
    """Return whether a tensor can hold a text: if not, no row needs a key."""
    return not any("\ud800" <= character <= "\udfff" for character in text)  # surrogates


def _add_crosses(
    graph: Graph,
    cards: Sequence[Card],
    segments: Sequence[Segments],
    starts: dict[int, tuple[int, int]],
    index: str,
) -> str:
    """Add the points of the crosses of each card.

    Parameters
    ----------
    graph : Graph
    cards : sequence of Card
    segments : sequence of Segments
    starts : dict
        For each column its position in ``index``, and the number of its first segment.
    index : str
        Numbers of the segments.
    """
    crosses = [(owner, cross) for owner, card in enumerate(cards) for cross in card.crosses]
    bases = np.cumsum([0, *(cross.points.size for _, cross in crosses)])
    halves = []
    for side in (0, 1):
        groups: list[IntArray] = []
        columns, shifts = [], []
        for (_, cross), base in zip(crosses, bases.tolist(), strict=False):
            column = cross.columns[side]
            group = np.asarray(cross.merged[side], dtype=np.int64)[segments[column].cells]
            # Cells of the points are numbered row by row, those of all crosses after each other.
            numbers = base + group * cross.points.shape[1] if side == 0 else group
            place, first = starts[column]
            shifts.append(sum(len(table) for table in groups) - first)
            groups.append(numbers)
            columns.append(place)
        chosen = graph.add_node("Gather", [index, graph.constant(np.array(columns))], axis=1)
        entry = graph.add_node("Add", [chosen, graph.constant(np.array(shifts))])
        numbered = graph.constant(np.concatenate(groups))
        halves.append(graph.add_node("Gather", [numbered, entry], axis=0))
    flat: FloatArray = np.concatenate([cross.points.ravel() for _, cross in crosses])
    cell = graph.add_node("Add", halves)
    points = graph.add_node("Gather", [graph.constant(flat), cell], axis=0)
    owners = np.zeros((len(crosses), len(cards)))
    owners[np.arange(len(crosses)), [owner for owner, _ in crosses]] = 1.0
    return graph.add_node("MatMul", [points, graph.constant(owners)])


def warn_about_bins(formula: CardFormula) -> None:
    """Warn if numbers in float32 can be in another bin, further than the next one.

    A value that is rounded may pass the nearest cut, as may one that is measured a little
    differently; what matters is a whole bin that rounding can pass.
    """
    worst = 0.0
    for card, response in zip(formula.cards, formula.responses, strict=True):
        for bins, points in zip(card.bins, card.columns, strict=True):
            if not isinstance(bins, NumberBins) or bins.kind == "date" or len(bins.cuts) < 2:
                continue
            low, high = np.array(bins.cuts[:-1]), np.array(bins.cuts[1:])
            passed = high - low < ROUNDING * np.maximum(np.abs(low), np.abs(high))
            jumps = np.abs(points[3 : bins.n_ordered + 1] - points[1 : bins.n_ordered - 1])
            change = float(np.max(jumps, where=passed, initial=0.0))
            worst = max(worst, change * response.greatest_slope)
    if worst > LEAST_CHANGE:
        warnings.warn(Float32PrecisionWarning(worst), stacklevel=find_stacklevel())
