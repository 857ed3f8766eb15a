"""The writer of ONNX: points and probabilities as nodes of a graph.

The `Segments` of all columns of a card are numbered one after the other, so that the graph looks up
the points of all columns at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from directrix._printing import is_unicode
from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import Card, Cross
from directrix.export.expressions import Segments, free_name

#: A missing date: NumPy has this integer for NaT.
_NO_DATE = np.iinfo(np.int64).min
_LAST = np.iinfo(np.int64).max


@dataclass
class OnnxWriter:
    """Adds nodes and constants to a graph; as an `Arithmetic`, its values are names of nodes.

    `names` are those of the inputs, which no node may have: raw columns of shape (n, 1), or one
    matrix. A missing number is NaN, and `missing_text` stands for a missing text. If the graph is
    `narrow`, numbers of the input are in float32.
    """

    names: Sequence[str]
    missing_text: str = ""
    narrow: bool = False
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._taken = set(self.names)

    # ── Nodes ─────────────────────────────────────────────────────────────────────────────────────

    def free_name(self, name: str) -> str:
        """Return a name that nothing has yet, by underscores at its end, and note it as taken."""
        return free_name(name, self._taken)

    def constant(self, value: Any) -> str:
        """Add a number or an array; return its name."""
        from onnx import numpy_helper

        name = self.free_name(f"constant_{len(self.constants)}")
        array = np.asarray(value)
        array = array.astype(object) if array.dtype.kind == "U" else array
        with _texts_of_unicode():
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, operator: str, inputs: list[str], name: str = "", **options: Any) -> str:
        """Add an operator; return the name of its output, by default one that is free.

        Options are attributes of the operator, and its domain if it is not that of ONNX.
        """
        from onnx import helper

        name = name or self.free_name(f"{operator}_{len(self.nodes)}".lower())
        with _texts_of_unicode():
            self.nodes.append(helper.make_node(operator, inputs, [name], **options))
        return name

    def concat(self, nodes: list[str]) -> str:
        """Return nodes side by side."""
        return nodes[0] if len(nodes) == 1 else self.node("Concat", nodes, axis=1)

    def flat(self, node: str) -> str:
        """Return a node of shape (n, 1) as one of shape (n,)."""
        return self.node("Reshape", [node, self.constant([-1])])

    def add(self, value: str, number: float) -> str:
        """Return the value plus a number."""
        return self.node("Add", [value, self.constant(number)])

    def multiply(self, value: str, number: float) -> str:
        """Return the value times a number."""
        return self.node("Mul", [value, self.constant(number)])

    def slopes(self, value: str, below: float, above: float) -> str:
        """Return the value times one number where it is below zero, and times another elsewhere."""
        zero = self.constant(0.0)
        negative, positive = (self.node(name, [value, zero]) for name in ("Min", "Max"))
        return self.node("Add", [self.multiply(negative, below), self.multiply(positive, above)])

    def sigmoid(self, value: str) -> str:
        """Return 1 / (1 + exp(-value))."""
        return self.node("Sigmoid", [value])

    # ── Bins ──────────────────────────────────────────────────────────────────────────────────────

    def segments(
        self, segments: Sequence[Segments], columns: Sequence[str]
    ) -> tuple[list[int], str]:
        """Add the segment of every column, given as a node of shape (n, 1).

        Returns the order of the columns, numbers first, and the node of shape (n, columns).
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
            values = self.concat([columns[k] for k in groups[kind]])
            if kind == "number" and self.narrow:
                values = self.node("Cast", [values], to=TensorProto.DOUBLE)
            inputs = [values] if kind == "number" else [values, self.constant(_NO_DATE)]
            is_missing = self.node(missing_is, inputs)
            bounds = [segments[k].bounds for k in groups[kind]]
            parts.append(self._count(values, is_missing, bounds))
        parts += [self._levels(segments[k].bins, columns[k]) for k in groups["text"]]
        return [*groups["number"], *groups["date"], *groups["text"]], self.concat(parts)

    def _count(self, values: str, is_missing: str, bounds: list[AnyArray]) -> str:
        """Add one more than the number of bounds each value is above, and 0 if it is missing."""
        from onnx import TensorProto

        dates = bounds[0].dtype == np.int64
        width = max(len(column) for column in bounds)
        # No value is above the padding.
        padded = np.full((len(bounds), max(width, 1)), _LAST if dates else np.inf)
        for row, column in zip(padded, bounds, strict=True):
            row[: len(column)] = column
        last = self.constant([2])
        each = self.node("Unsqueeze", [values, last])
        above = self.node("Greater", [each, self.constant(padded)])
        above = self.node("Cast", [above], to=TensorProto.INT32)
        count = self.node("ReduceSum", [above, last], keepdims=0)
        count = self.node("Cast", [count], to=TensorProto.INT64)
        one, zero = self.constant(1), self.constant(0)
        return self.node("Where", [is_missing, zero, self.node("Add", [count, one])])

    def _levels(self, bins: Any, texts: str) -> str:
        if self.missing_text in bins.levels:
            msg = (
                f"missing_text is {self.missing_text!r}, which is a text of column {bins.name!r}: "
                "choose one that no row has"
            )
            raise ValueError(msg)
        pairs = zip(bins.levels, bins.level_cells, strict=True)
        cells = {level: cell for level, cell in pairs if is_unicode(level)} | {self.missing_text: 0}
        return self.node(
            "LabelEncoder",
            [texts],
            domain="ai.onnx.ml",
            keys_strings=list(cells),
            values_int64s=list(cells.values()),
            default_int64=1,
        )

    # ── Sums ──────────────────────────────────────────────────────────────────────────────────────

    def points(self, card: Card, columns: Sequence[str]) -> str:
        """Add the points of a card, from nodes of the columns of shape (n, 1)."""
        segments = [Segments.of(bins) for bins in card.bins]
        order, index = self.segments(segments, columns)
        sizes = [len(segments[k].cells) for k in order]
        offsets = np.cumsum([0, *sizes[:-1]])
        index = self.node("Add", [index, self.constant(offsets)])
        table = np.concatenate([card.columns[k][segments[k].cells] for k in order])
        points = self.node("Gather", [self.constant(table), index], axis=0)
        points = self.node("ReduceSum", [points, self.constant([1])], keepdims=1)
        points = self.node("Add", [points, self.constant([card.intercept])])
        if card.crosses:
            starts = {k: (place, int(offsets[place])) for place, k in enumerate(order)}
            points = self.node(
                "Add", [points, self._crosses(card.crosses, segments, starts, index)]
            )
        return points

    def _crosses(
        self,
        crosses: Sequence[Cross],
        segments: Sequence[Segments],
        starts: dict[int, tuple[int, int]],
        index: str,
    ) -> str:
        """Add the points of crosses, from the numbers of the segments.

        `starts` has for each column its position in `index`, and the number of its first segment.
        """
        bases = np.cumsum([0, *(cross.points.size for cross in crosses)])
        halves = []
        for side in (0, 1):
            groups: list[IntArray] = []
            positions, shifts = [], []
            for cross, base in zip(crosses, bases.tolist(), strict=False):
                column = cross.columns[side]
                group = np.asarray(cross.merged[side], dtype=np.int64)[segments[column].cells]
                # Cells of the points are numbered row by row, those of all crosses in a row.
                numbers = base + group * cross.points.shape[1] if side == 0 else group
                position, first = starts[column]
                shifts.append(sum(len(table) for table in groups) - first)
                groups.append(numbers)
                positions.append(position)
            chosen = self.node("Gather", [index, self.constant(positions)], axis=1)
            entry = self.node("Add", [chosen, self.constant(shifts)])
            numbered = self.constant(np.concatenate(groups))
            halves.append(self.node("Gather", [numbered, entry], axis=0))
        flat: FloatArray = np.concatenate([cross.points.ravel() for cross in crosses])
        cell = self.node("Add", halves)
        points = self.node("Gather", [self.constant(flat), cell], axis=0)
        return self.node("ReduceSum", [points, self.constant([1])], keepdims=1)


@contextmanager
def _texts_of_unicode() -> Iterator[None]:
    """Refuse texts with half of a surrogate pair, which ONNX cannot hold, by name."""
    try:
        yield
    except UnicodeEncodeError as error:
        msg = (
            f"ONNX cannot hold the text {error.object!r}, which has half of a surrogate pair: "
            "replace it in the table before the fit"
        )
        raise ValueError(msg) from None
