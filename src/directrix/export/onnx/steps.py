"""Steps of a pipeline in an ONNX graph: transformers of scikit-learn, and `Binner`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.export.onnx.card import Segments, add_segments
from directrix.export.onnx.graph import Graph
from directrix.export.onnx.table import Block, GraphTable
from directrix.tables import Binner, Bins, dense_features, thermometer

#: A text and a number that no category is, to see what an encoder makes of an unknown one.
_UNKNOWN_TEXT, _UNKNOWN_NUMBER = "\x01 unknown category", 0.1234567890123456e-300


def add_step(table: GraphTable, name: str, step: Any, missing_text: str) -> GraphTable:
    """Add a fitted transformer to a graph; return the columns that it makes.

    Parameters
    ----------
    table : GraphTable
        The columns that it takes.
    name : str
        Name of the step, for errors.
    step : transformer, "passthrough" or "drop"
    missing_text : str
        The text that stands for a missing text.

    Raises
    ------
    TypeError
        If it is a step that cannot be written.
    """
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return table
    if isinstance(step, str) and step == "drop":
        return table.select([])
    kind = type(step).__name__
    if kind == "FunctionTransformer" and step.func is None:  # a fitted "passthrough" is one
        return table
    if kind == "Pipeline":
        for inner_name, inner in step.steps:
            table = add_step(table, f"{name}: {inner_name}", inner, missing_text)
        return table
    if kind == "ColumnTransformer":
        parts = [
            add_step(table.select(columns), f"{name}: {inner_name}", inner, missing_text)
            for inner_name, inner, columns in step.transformers_
        ]
        blocks = tuple(block for part in parts for block in part.blocks)
        return GraphTable(table.graph, blocks)
    writer = _WRITERS.get(kind)
    if writer is None:
        msg = (
            f"step {name!r} of the pipeline is a {kind}, which is not written as ONNX; there are "
            f"{', '.join(['ColumnTransformer', *_WRITERS])}. Take the step out of the pipeline, "
            "and make its columns before the model is called"
        )
        raise TypeError(msg)
    return writer(table, name, step, missing_text)


def _add_scaler(table: GraphTable, name: str, step: Any, missing_text: str) -> GraphTable:
    del name, missing_text
    graph, values = table.graph, table.numbers()
    if step.with_mean:
        values = graph.add_node("Sub", [values, graph.constant(step.mean_)])
    if step.with_std:
        values = graph.add_node("Div", [values, graph.constant(step.scale_)])
    return table.with_numbers(values, table.width)


def _add_imputer(table: GraphTable, name: str, step: Any, missing_text: str) -> GraphTable:
    del missing_text
    if step.add_indicator:
        msg = f"step {name!r}: add_indicator of a SimpleImputer is not written as ONNX"
        raise TypeError(msg)
    known = step.missing_values
    if not (known is None or (isinstance(known, float) and np.isnan(known))):
        msg = f"step {name!r}: the missing value of the SimpleImputer must be NaN, not {known!r}"
        raise TypeError(msg)
    graph, fills = table.graph, step.statistics_
    if fills.dtype.kind in "OU":
        blocks = []
        for block, fill in zip(table.columns(), fills.tolist(), strict=True):
            block.read_as("text")
            filled = fill if block.fill is None else block.fill
            blocks.append(Block(block.node, 1, block.raw, str(filled)))
        return GraphTable(graph, tuple(blocks), table.names)
    # A column without values at the fit is dropped, or filled with zeros.
    empty = np.isnan(fills.astype(np.float64))
    if empty.any():
        kept = np.flatnonzero(~empty)
        table, fills = table.select(kept.tolist()), fills[kept]
    if not len(fills):
        return table.select([])
    values = table.numbers()
    constant = graph.constant(fills.astype(np.float64).reshape(1, -1))
    filled = graph.add_node("Where", [graph.add_node("IsNaN", [values]), constant, values])
    return table.with_numbers(filled, len(fills))


def _add_encoder(table: GraphTable, name: str, step: Any, missing_text: str) -> GraphTable:
    """Add a OneHotEncoder or an OrdinalEncoder: a table of the features of each category."""
    del name
    graph, columns = table.graph, table.columns()
    blocks = []
    features = _features_by_category(step)
    for block, categories, rows in zip(columns, step.categories_, features, strict=True):
        if rows.shape[1] == 0:
            continue
        text = categories.dtype.kind in "OU"
        block.read_as("text" if text else "number")
        add = _add_text_index if text else _add_number_index
        index = add(graph, block, categories, missing_text)
        index = graph.add_node("Reshape", [index, graph.constant(np.array([-1]))])
        node = graph.add_node("Gather", [graph.constant(rows), index], axis=0)
        blocks.append(Block(node, rows.shape[1]))
    return GraphTable(graph, tuple(blocks))


def _features_by_category(step: Any) -> list[FloatArray]:
    """Return for each column the features of an unknown category, and of its categories.

    The encoder itself is asked; an unknown category that it refuses has NaN.
    """
    made, first = [], 0
    base = [categories[0] for categories in step.categories_]
    for k, categories in enumerate(step.categories_):
        unknown = _UNKNOWN_TEXT if categories.dtype.kind in "OU" else _UNKNOWN_NUMBER
        text = any(each.dtype.kind in "OU" for each in step.categories_)
        rows = np.array([base] * (1 + len(categories)), dtype=object if text else np.float64)
        rows[1:, k] = categories
        known = _transformed(step, rows[1:])
        width = 1 if not hasattr(step, "drop_idx_") else _width(step, k)
        block = known[:, first : first + width]
        missing = np.full((1, width), np.nan)
        if step.handle_unknown != "error":
            rows[0, k] = unknown
            missing = _transformed(step, rows[:1])[:, first : first + width]
        made.append(np.vstack([missing, block]))
        first += width
    return made


def _transformed(step: Any, rows: AnyArray) -> FloatArray:
    with warnings.catch_warnings():
        # The rows have no names, and an unknown category is meant to be one.
        warnings.simplefilter("ignore", UserWarning)
        features = step.transform(rows)
    dense = features.toarray() if sparse.issparse(features) else features
    return np.asarray(dense, dtype=np.float64)


def _width(step: Any, k: int) -> int:
    """Return how many features a OneHotEncoder makes of a column."""
    width = len(step.categories_[k])
    infrequent = getattr(step, "infrequent_categories_", None)
    if infrequent is not None and infrequent[k] is not None:
        width -= len(infrequent[k]) - 1
    dropped = step.drop_idx_ is not None and step.drop_idx_[k] is not None
    return width - dropped


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _add_text_index(graph: Graph, block: Block, categories: AnyArray, missing_text: str) -> str:
    """Add one more than the index of a category, 0 if it is unknown."""
    numbers = {None if _is_missing(c) else str(c): k for k, c in enumerate(categories.tolist(), 1)}
    if missing_text in numbers:
        msg = (
            f"missing_text is {missing_text!r}, which is a category of column {block.node!r}: "
            "choose one that no row has"
        )
        raise ValueError(msg)
    keys = {text: k for text, k in numbers.items() if text is not None}
    keys[missing_text] = numbers.get(block.fill, 0)
    return graph.add_node(
        "LabelEncoder",
        [block.node],
        domain="ai.onnx.ml",
        keys_strings=list(keys),
        values_int64s=list(keys.values()),
        default_int64=0,
    )


def _add_number_index(graph: Graph, block: Block, categories: AnyArray, missing_text: str) -> str:
    """Add one more than the index of a category, 0 if it is unknown."""
    from onnx import TensorProto

    del missing_text
    values = categories.astype(np.float64)
    equal = graph.add_node("Equal", [block.node, graph.constant(values)])
    equal = graph.add_node("Cast", [equal], to=TensorProto.INT64)
    numbered = graph.add_node("Mul", [equal, graph.constant(np.arange(1, len(values) + 1))])
    axis = graph.constant(np.array([1]))
    index = graph.add_node("ReduceSum", [numbered, axis], keepdims=1)
    if not np.isnan(values).any():
        return index
    last = graph.constant(np.array(1 + int(np.flatnonzero(np.isnan(values))[0])))
    return graph.add_node("Where", [graph.add_node("IsNaN", [block.node]), last, index])


def read_columns(table: GraphTable, bins: Sequence[Bins]) -> list[str]:
    """Return a node for every column of a table that is cut into bins."""
    columns = table.columns()
    for block, each in zip(columns, bins, strict=True):
        block.read_as(each.kind if each.kind in {"text", "date"} else "number")
        if block.fill is not None:
            msg = f"column {block.node!r} has bins: do not impute its texts, missing is a bin"
            raise TypeError(msg)
    return [block.node for block in columns]


def _add_binner(table: GraphTable, name: str, step: Binner, missing_text: str) -> GraphTable:
    """Add a Binner: a table of the features of each cell, and of each pair of cells of a cross."""
    from onnx import TensorProto

    del name
    graph = table.graph
    segments = [Segments.of(bins) for bins in step.bins_]
    nodes = read_columns(table, step.bins_)
    order, index = add_segments(graph, segments, nodes, missing_text, narrow=False)
    cells = {}
    for place, k in enumerate(order):
        segment = graph.add_node("Gather", [index, graph.constant(np.array([place]))], axis=1)
        lookup = graph.constant(segments[k].cells.astype(np.int64))
        cells[k] = graph.add_node("Gather", [lookup, segment], axis=0)
    numbered = [(cells[k], bins.n_cells) for k, bins in enumerate(step.bins_)]
    for i, j in step.crosses_:
        right = step.bins_[j].n_cells
        row = graph.add_node("Mul", [cells[i], graph.constant(np.array(right))])
        pair = graph.add_node("Add", [row, cells[j]])
        numbered.append((pair, step.bins_[i].n_cells * right))
    blocks = []
    for k, (cell, n_cells) in enumerate(numbered):
        if step.encoding == "ordinal":
            node, width = graph.add_node("Cast", [cell], to=TensorProto.DOUBLE), 1
        else:
            ordered = step.encoding == "thermometer" and k < len(step.bins_)
            rows = _thermometer_table(step.bins_[k]) if ordered else np.eye(n_cells)
            flat = graph.add_node("Reshape", [cell, graph.constant(np.array([-1]))])
            node = graph.add_node("Gather", [graph.constant(rows), flat], axis=0)
            width = rows.shape[1]
        blocks.append(Block(node, width))
    return GraphTable(graph, tuple(blocks))


def _thermometer_table(bins: Bins) -> FloatArray:
    """Return the features of each cell."""
    return dense_features([thermometer(bins)], np.arange(bins.n_cells)[:, None])


_WRITERS: dict[str, Callable[[GraphTable, str, Any, str], GraphTable]] = {
    "StandardScaler": _add_scaler,
    "SimpleImputer": _add_imputer,
    "OneHotEncoder": _add_encoder,
    "OrdinalEncoder": _add_encoder,
    "Binner": _add_binner,
}
