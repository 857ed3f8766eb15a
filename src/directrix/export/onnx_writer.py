"""The writer of ONNX: features, points and probabilities as nodes of a graph.

Features that are made in the same way are made together: scaling a thousand columns is two nodes.
The `Segments` of all columns of a card are numbered one after the other, so that the graph looks up
the points of all columns at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.export.expressions import (
    Binned,
    Calculated,
    Expression,
    Filled,
    Lookup,
    RawColumn,
    Segments,
    free_name,
    is_unicode,
    raw_position,
)
from directrix.models.card import Card
from directrix.tables.bins import Bins

#: A missing date: NumPy has this integer for NaT.
_NO_DATE = np.iinfo(np.int64).min
_LAST = np.iinfo(np.int64).max
_OPERATORS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div"}


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
    #: What each raw column that is read holds, by its position: "number", "text" or "date".
    kinds: dict[int, str] = field(default_factory=dict)
    #: Nodes of filled texts, categories and cells, which several features may share.
    _shared: dict[Hashable, str] = field(default_factory=dict)

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

    def label_encoder(self, texts: str, keys: dict[Any, int], *, unknown: int) -> str:
        """Return a node with a whole number for each text."""
        return self.node(
            "LabelEncoder",
            [texts],
            domain="ai.onnx.ml",
            keys_strings=list(keys),
            values_int64s=list(keys.values()),
            default_int64=unknown,
        )

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

    def at_most(self, value: str, number: float) -> str:
        """Return the lesser of the value and a number."""
        return self.node("Min", [value, self.constant(number)])

    def sigmoid(self, value: str) -> str:
        """Return 1 / (1 + exp(-value))."""
        return self.node("Sigmoid", [value])

    # ── Features ──────────────────────────────────────────────────────────────────────────────────

    def numbers(self, expressions: Sequence[Expression]) -> str:
        """Return a node of shape (n, features)."""
        runs = [list(run) for _, run in groupby(expressions, _made_by)]
        if len(runs) > 1:
            return self.concat([self.numbers(run) for run in runs])
        run: list[Any] = runs[0]
        first = run[0]
        if isinstance(first, RawColumn):
            return self.concat([self._raw(column, "number") for column in run])
        if isinstance(first, Lookup | Binned):
            return self._looked_up(run)
        if any(isinstance(getattr(each, "fill", 0.0), str) for each in run):
            msg = "texts that a SimpleImputer has filled are to be encoded before a classifier"
            raise TypeError(msg)
        values = self.numbers([each.value for each in run])
        if isinstance(first, Calculated):
            constants = self.constant([each.number for each in run])
            return self.node(_OPERATORS[first.operator], [values, constants])
        if isinstance(first, Filled):
            fills = self.constant([float(each.fill) for each in run])
            return self.node("Where", [self.node("IsNaN", [values]), fills, values])
        low, high = (self.constant([getattr(each, end) for each in run]) for end in ("low", "high"))
        return self.node("Min", [self.node("Max", [values, low]), high])

    def column(self, expression: Expression, bins: Bins) -> str:
        """Return a node of shape (n, 1) that is to be cut into bins."""
        if bins.kind == "text":
            return self._text(expression)
        if bins.kind == "date" and isinstance(expression, RawColumn):
            return self._raw(expression, "date")
        return self.numbers([expression])

    def _raw(self, column: RawColumn, kind: str) -> str:
        """Return the input of a raw column, which every step must read as the same kind."""
        name, known = self.names[column.position], self.kinds.setdefault(column.position, kind)
        if known != kind:
            msg = f"column {name!r} is read as {known} by one step, and as {kind} by another"
            raise ValueError(msg)
        return name

    def _text(self, expression: Expression) -> str:
        """Return a node of shape (n, 1) with texts."""
        if isinstance(expression, RawColumn):
            return self._raw(expression, "text")
        if not isinstance(expression, Filled):
            msg = "a step reads the numbers that another has made as texts, which ONNX cannot"
            raise TypeError(msg)
        if isinstance(expression.value, Filled):  # nothing is missing any more
            return self._text(expression.value)
        if expression not in self._shared:
            from onnx import TensorProto

            texts = self._text(expression.value)
            missing = self.label_encoder(texts, {self.missing_text: 1}, unknown=0)
            missing = self.node("Cast", [missing], to=TensorProto.BOOL)
            fill = self.constant(str(expression.fill))
            self._shared[expression] = self.node("Where", [missing, fill, texts])
        return self._shared[expression]

    def _looked_up(self, run: Sequence[Any]) -> str:
        """Return features of one column's categories or cells: a row of a table for each."""
        if isinstance(run[0], Binned):
            index = self._cells(run[0])
            table = np.array([each.numbers for each in run]).T
        else:
            index = self._categories(run[0])
            table = np.array(
                [[each.missing, each.unknown, *each.numbers] for each in run], dtype=np.float64
            ).T
        return self.node("Gather", [self.constant(table), index], axis=0)

    def _cells(self, binned: Binned) -> str:
        """Return a node of shape (n,) with the cell of each row."""
        key = binned.value, binned.bins
        if key not in self._shared:
            segments = Segments.of(binned.bins)
            _, index = self.segments([segments], [self.column(binned.value, binned.bins)])
            cells = self.constant(segments.cells.astype(np.int64))
            self._shared[key] = self.flat(self.node("Gather", [cells, index], axis=0))
        return self._shared[key]

    def _categories(self, lookup: Lookup) -> str:
        """Return a node of shape (n,): 0 if missing, 1 if unknown, two more than the category."""
        key = lookup.value, lookup.categories
        if key not in self._shared:
            of_texts = any(isinstance(category, str) for category in lookup.categories)
            index = self._text_index(lookup) if of_texts else self._number_index(lookup)
            self._shared[key] = self.flat(index)
        return self._shared[key]

    def _text_index(self, lookup: Lookup) -> str:
        fill = lookup.value.fill if isinstance(lookup.value, Filled) else None
        if self.missing_text != fill:
            name = self.names[raw_position(lookup.value)]
            self._require_free(lookup.categories, "category", name)
        keys: dict[Any, int] = {
            text: k for k, text in enumerate(lookup.categories, 2) if is_unicode(str(text))
        }
        if fill is None:
            keys[self.missing_text] = 0
        return self.label_encoder(self._text(lookup.value), keys, unknown=1)

    def _require_free(self, texts: Sequence[Any], noun: str, column: str) -> None:
        if self.missing_text in texts:
            msg = (
                f"missing_text is {self.missing_text!r}, which is a {noun} of column {column!r}: "
                "choose one that no row has"
            )
            raise ValueError(msg)

    def _number_index(self, lookup: Lookup) -> str:
        from onnx import TensorProto

        values = self.numbers([lookup.value])
        categories = np.array(lookup.categories, dtype=np.float64)
        equal = self.node("Equal", [values, self.constant(categories)])
        equal = self.node("Cast", [equal], to=TensorProto.INT64)
        # No category is equal to an unknown number, and the sum is 0.
        numbered = self.node("Mul", [equal, self.constant(1 + np.arange(len(categories)))])
        total = self.node("ReduceSum", [numbered, self.constant([1])], keepdims=1)
        known = self.node("Add", [total, self.constant(1)])
        missing = self.node("IsNaN", [values])
        return self.node("Where", [missing, self.constant(0), known])

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
        self._require_free(bins.levels, "text", bins.name)
        pairs = zip(bins.levels, bins.level_cells, strict=True)
        cells = {level: cell for level, cell in pairs if is_unicode(level)} | {self.missing_text: 0}
        return self.label_encoder(texts, cells, unknown=1)

    # ── Sums ──────────────────────────────────────────────────────────────────────────────────────

    def points(self, cards: Sequence[Card], columns: Sequence[str]) -> str:
        """Add the points of each card, from nodes of the columns of shape (n, 1)."""
        segments = [Segments.of(bins) for bins in cards[0].bins]
        order, index = self.segments(segments, columns)
        sizes = [len(segments[k].cells) for k in order]
        offsets = np.cumsum([0, *sizes[:-1]])
        index = self.node("Add", [index, self.constant(offsets)])
        table = np.concatenate(
            [np.stack([card.columns[k][segments[k].cells] for card in cards], 1) for k in order]
        )
        points = self.node("Gather", [self.constant(table), index], axis=0)
        points = self.node("ReduceSum", [points, self.constant([1])], keepdims=0)
        intercepts = self.constant([card.intercept for card in cards])
        points = self.node("Add", [points, intercepts])
        if any(card.crosses for card in cards):
            starts = {k: (place, int(offsets[place])) for place, k in enumerate(order)}
            points = self.node("Add", [points, self._crosses(cards, segments, starts, index)])
        return points

    def _crosses(
        self,
        cards: Sequence[Card],
        segments: Sequence[Segments],
        starts: dict[int, tuple[int, int]],
        index: str,
    ) -> str:
        """Add the points of the crosses of each card, from the numbers of the segments.

        `starts` has for each column its position in `index`, and the number of its first segment.
        """
        crosses = [(owner, cross) for owner, card in enumerate(cards) for cross in card.crosses]
        bases = np.cumsum([0, *(cross.points.size for _, cross in crosses)])
        halves = []
        for side in (0, 1):
            groups: list[IntArray] = []
            positions, shifts = [], []
            for (_, cross), base in zip(crosses, bases.tolist(), strict=False):
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
        flat: FloatArray = np.concatenate([cross.points.ravel() for _, cross in crosses])
        cell = self.node("Add", halves)
        points = self.node("Gather", [self.constant(flat), cell], axis=0)
        owners = np.zeros((len(crosses), len(cards)))
        owners[np.arange(len(crosses)), [owner for owner, _ in crosses]] = 1.0
        return self.node("MatMul", [points, self.constant(owners)])


def _made_by(expression: Expression) -> Hashable:
    """Return what neighbouring features that are made together have in common."""
    if isinstance(expression, Lookup):
        return expression.value, expression.categories
    if isinstance(expression, Binned):
        return expression.value, expression.bins
    return type(expression), getattr(expression, "operator", None)


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
