"""Columns on their way through the steps of a pipeline in an ONNX graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np

from directrix.export.onnx.graph import Graph


@dataclass
class RawColumn:
    """An input of the graph, whose kind the first step that reads it decides.

    Parameters
    ----------
    name : str
    kind : {"number", "text", "date"}, optional
        None as long as no step has read the column.
    """

    name: str
    kind: str | None = None


@dataclass(frozen=True)
class Block:
    """Neighbouring columns in one node, of shape (n, width).

    Parameters
    ----------
    node : str
    width : int
    raw : RawColumn, optional
        The input that the node is; without one, the node holds numbers.
    fill : str, optional
        The text that missing texts are replaced by.
    """

    node: str
    width: int
    raw: RawColumn | None = None
    fill: str | None = None

    def read_as(self, kind: str) -> None:
        """Note the kind of an input, or raise ValueError if it is another already."""
        known = "number" if self.raw is None else self.raw.kind or kind
        if known != kind:
            name = self.node if self.raw is None else self.raw.name
            msg = f"column {name!r} is read as {known} by one step, and as {kind} by another"
            raise ValueError(msg)
        if self.raw is not None:
            self.raw.kind = kind


@dataclass(frozen=True)
class GraphTable:
    """Columns of a table in a graph.

    Parameters
    ----------
    graph : Graph
    blocks : tuple of Block
    names : tuple of str
        Names of the columns by which a step may select them; empty if they have none.
    """

    graph: Graph
    blocks: tuple[Block, ...]
    names: tuple[str, ...] = field(default=())

    @classmethod
    def of_inputs(cls, graph: Graph, raw: Sequence[RawColumn]) -> GraphTable:
        """Return the table of the inputs of a graph."""
        blocks = tuple(Block(column.name, 1, column) for column in raw)
        return cls(graph, blocks, tuple(column.name for column in raw))

    @property
    def width(self) -> int:
        """The number of columns."""
        return sum(block.width for block in self.blocks)

    def numbers(self) -> str:
        """Return one node with all columns, which must be numbers."""
        for block in self.blocks:
            block.read_as("number")
        nodes = [block.node for block in self.blocks]
        return nodes[0] if len(nodes) == 1 else self.graph.add_node("Concat", nodes, axis=1)

    def select(self, columns: Any) -> GraphTable:
        """Return some columns, given as scikit-learn does: names, positions, a slice or a mask."""
        places = self._positions(columns)
        starts = np.cumsum([0, *(block.width for block in self.blocks)])
        owners = [int(np.searchsorted(starts, k, side="right")) - 1 for k in places]
        made: list[Block] = []
        for owner, group in groupby(zip(owners, places, strict=True), key=lambda pair: pair[0]):
            block, inside = self.blocks[owner], [k - int(starts[owner]) for _, k in group]
            if inside == list(range(block.width)):
                made.append(block)
            elif block.width == 1:
                made += [block] * len(inside)
            else:
                index = self.graph.constant(np.array(inside))
                node = self.graph.add_node("Gather", [block.node, index], axis=1)
                made.append(Block(node, len(inside)))
        names = tuple(self.names[k] for k in places) if self.names else ()
        return GraphTable(self.graph, tuple(made), names)

    def columns(self) -> list[Block]:
        """Return every column as a block of its own."""
        return [self.select([k]).blocks[0] for k in range(self.width)]

    def with_numbers(self, node: str, width: int) -> GraphTable:
        """Return a table of numbers in one node."""
        return replace(self, blocks=(Block(node, width),) if width else (), names=())

    def _positions(self, columns: Any) -> list[int]:
        if isinstance(columns, slice):
            first, last = columns.start, columns.stop
            if isinstance(first, str) or isinstance(last, str):  # the last name is included
                start = 0 if first is None else self.names.index(first)
                stop = self.width if last is None else self.names.index(last) + 1
                columns = slice(start, stop, columns.step)
            within: list[int] = list(range(self.width))[columns]
            return within
        chosen = [columns] if isinstance(columns, str | int) else list(columns)
        if chosen and isinstance(chosen[0], bool | np.bool_):
            return [int(k) for k in np.flatnonzero(chosen)]
        return [
            self.names.index(column) if isinstance(column, str) else range(self.width)[int(column)]
            for column in chosen
        ]
