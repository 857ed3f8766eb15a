"""Features of a pipeline in an ONNX graph, from expressions of raw columns.

Features that are made in the same way are made together: scaling a thousand columns is two nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from directrix.export.onnx.card import Segments, add_segments, is_utf8
from directrix.export.onnx.graph import Graph
from directrix.export.pipelines.expressions import (
    Binned,
    Calculated,
    Expression,
    Filled,
    Lookup,
    RawColumn,
    raw_position,
)
from directrix.tables.bins import Bins

_OPERATORS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div"}


@dataclass
class FeatureGraph:
    """Adds expressions of raw columns to a graph. A missing number is NaN.

    Parameters
    ----------
    graph : Graph
    names : sequence of str
        Inputs of the raw columns, of shape (n, 1).
    missing_text : str
        The text that stands for a missing text.
    """

    graph: Graph
    names: Sequence[str]
    missing_text: str
    #: What each raw column that is read holds, by its position: "number", "text" or "date".
    kinds: dict[int, str] = field(default_factory=dict)
    #: Nodes of filled texts, categories and cells, which several features may share.
    _shared: dict[Hashable, str] = field(default_factory=dict)

    def numbers(self, expressions: Sequence[Expression]) -> str:
        """Return a node of shape (n, features)."""
        runs = [list(run) for _, run in groupby(expressions, _kind)]
        if len(runs) > 1:
            return self._concat([self.numbers(run) for run in runs])
        run: list[Any] = runs[0]
        first, graph = run[0], self.graph
        if isinstance(first, RawColumn):
            return self._concat([self._raw(column, "number") for column in run])
        if isinstance(first, Lookup | Binned):
            return self._looked_up(run)
        if any(isinstance(getattr(each, "fill", 0.0), str) for each in run):
            msg = "texts that a SimpleImputer has filled are to be encoded before a classifier"
            raise TypeError(msg)
        values = self.numbers([each.value for each in run])
        if isinstance(first, Calculated):
            constants = graph.constant(np.array([each.number for each in run]))
            return graph.add_node(_OPERATORS[first.operator], [values, constants])
        if isinstance(first, Filled):
            fills = graph.constant(np.array([float(each.fill) for each in run]))
            return graph.add_node("Where", [graph.add_node("IsNaN", [values]), fills, values])
        low, high = (
            graph.constant(np.array([getattr(each, end) for each in run]))
            for end in ("low", "high")
        )
        return graph.add_node("Min", [graph.add_node("Max", [values, low]), high])

    def column(self, expression: Expression, bins: Bins) -> str:
        """Return a node of shape (n, 1) that is to be cut into bins."""
        if bins.kind == "text":
            return self._text(expression)
        if bins.kind == "date" and isinstance(expression, RawColumn):
            return self._raw(expression, "date")
        return self.numbers([expression])

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
        return self.graph.add_node("Gather", [self.graph.constant(table), index], axis=0)

    def _cells(self, binned: Binned) -> str:
        """Return a node of shape (n,) with the cell of each row."""
        key = binned.value, binned.bins
        if key not in self._shared:
            segments = Segments.of(binned.bins)
            column = self.column(binned.value, binned.bins)
            _, index = add_segments(
                self.graph, [segments], [column], self.missing_text, narrow=False
            )
            cells = self.graph.constant(segments.cells.astype(np.int64))
            self._shared[key] = self._flat(self.graph.add_node("Gather", [cells, index], axis=0))
        return self._shared[key]

    def _categories(self, lookup: Lookup) -> str:
        """Return a node of shape (n,): 0 if missing, 1 if unknown, two more than the category."""
        key = lookup.value, lookup.categories
        if key not in self._shared:
            of_texts = any(isinstance(category, str) for category in lookup.categories)
            index = self._text_index(lookup) if of_texts else self._number_index(lookup)
            self._shared[key] = self._flat(index)
        return self._shared[key]

    def _text_index(self, lookup: Lookup) -> str:
        fill = lookup.value.fill if isinstance(lookup.value, Filled) else None
        if self.missing_text in lookup.categories and self.missing_text != fill:
            name = self.names[raw_position(lookup.value)]
            msg = (
                f"missing_text is {self.missing_text!r}, which is a category of column {name!r}: "
                "choose one that no row has"
            )
            raise ValueError(msg)
        keys: dict[Any, int] = {
            text: k for k, text in enumerate(lookup.categories, 2) if is_utf8(str(text))
        }
        if fill is None:
            keys[self.missing_text] = 0
        return self._label_encoder(self._text(lookup.value), keys, unknown=1)

    def _number_index(self, lookup: Lookup) -> str:
        from onnx import TensorProto

        graph, values = self.graph, self.numbers([lookup.value])
        categories = np.array(lookup.categories, dtype=np.float64)
        equal = graph.add_node("Equal", [values, graph.constant(categories)])
        equal = graph.add_node("Cast", [equal], to=TensorProto.INT64)
        # No category is equal to an unknown number, and the sum is 0.
        numbered = graph.add_node("Mul", [equal, graph.constant(1 + np.arange(len(categories)))])
        total = graph.add_node("ReduceSum", [numbered, graph.constant(np.array([1]))], keepdims=1)
        known = graph.add_node("Add", [total, graph.constant(np.array(1))])
        missing = graph.add_node("IsNaN", [values])
        return graph.add_node("Where", [missing, graph.constant(np.array(0)), known])

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

            graph, texts = self.graph, self._text(expression.value)
            missing = self._label_encoder(texts, {self.missing_text: 1}, unknown=0)
            missing = graph.add_node("Cast", [missing], to=TensorProto.BOOL)
            fill = graph.constant(np.array(str(expression.fill)))
            self._shared[expression] = graph.add_node("Where", [missing, fill, texts])
        return self._shared[expression]

    def _label_encoder(self, texts: str, keys: dict[Any, int], *, unknown: int) -> str:
        """Return a node with a whole number for each text."""
        return self.graph.add_node(
            "LabelEncoder",
            [texts],
            domain="ai.onnx.ml",
            keys_strings=list(keys),
            values_int64s=list(keys.values()),
            default_int64=unknown,
        )

    def _raw(self, column: RawColumn, kind: str) -> str:
        """Return the input of a raw column, which every step must read as the same kind."""
        name, known = self.names[column.position], self.kinds.setdefault(column.position, kind)
        if known != kind:
            msg = f"column {name!r} is read as {known} by one step, and as {kind} by another"
            raise ValueError(msg)
        return name

    def _concat(self, nodes: list[str]) -> str:
        return nodes[0] if len(nodes) == 1 else self.graph.add_node("Concat", nodes, axis=1)

    def _flat(self, node: str) -> str:
        return self.graph.add_node("Reshape", [node, self.graph.constant(np.array([-1]))])


def _kind(expression: Expression) -> Hashable:
    """Return what neighbouring features that are made together have in common."""
    if isinstance(expression, Lookup):
        return expression.value, expression.categories
    if isinstance(expression, Binned):
        return expression.value, expression.bins
    return type(expression), getattr(expression, "operator", None)
