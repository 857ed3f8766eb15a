"""RowFilter: the conditions of ``where=``, evaluated in memory and written for other engines.

Every engine evaluates the conditions on the tables that it reads. Engines that can skip rows before
they are read get the conditions in their own language as well; that may let rows pass that the
conditions refuse, but never the reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.engines.filters.condition import NOTHING, Condition, is_collection
from directrix.engines.filters.in_arrow import arrow_kind, arrow_mask
from directrix.engines.filters.in_iceberg import iceberg_expression
from directrix.engines.filters.in_numpy import numpy_mask
from directrix.engines.filters.in_polars import polars_expression, polars_kind
from directrix.engines.filters.in_spark import spark_column
from directrix.engines.filters.in_sql import sql_condition


@dataclass(frozen=True)
class RowFilter:
    """Conditions that all rows to be read meet; missing values (NaN too) meet none.

    Parameters
    ----------
    conditions : tuple of Condition
    """

    conditions: tuple[Condition, ...]

    @classmethod
    def of(cls, where: Any) -> RowFilter | None:
        """Return the filter of a list of conditions; None if there are none."""
        if where is None or isinstance(where, RowFilter):
            return where
        if isinstance(where, tuple) and where and isinstance(where[0], str):
            where = [where]  # a single condition
        if isinstance(where, str) or not is_collection(where):
            msg = (
                "where= takes a list of conditions such as ('year', '>=', 2024), not "
                f"{type(where).__name__}"
            )
            raise TypeError(msg)
        conditions = tuple(Condition.of(given) for given in where)
        return cls(conditions) if conditions else None

    @property
    def columns(self) -> tuple[Any, ...]:
        """The columns that are compared."""
        return tuple(dict.fromkeys(condition.column for condition in self.conditions))

    def mask(self, column: Callable[[Any], AnyArray]) -> AnyArray:
        """Return which rows pass; ``column`` returns the NumPy values of a column."""
        masks = [numpy_mask(condition, column(condition.column)) for condition in self.conditions]
        passes: AnyArray = np.logical_and.reduce(masks)
        return passes

    def arrow(self, schema: Any, column: Callable[[str], Any]) -> Any:
        """Return which rows pass as an Arrow array, or as an expression.

        Parameters
        ----------
        schema : pyarrow.Schema
            Types of the columns.
        column : callable
            Returns the values of a column, or its field for an expression.
        """
        import pyarrow.compute as pc

        masks = (
            arrow_mask(condition, column(condition.column), schema.field(condition.column).type)
            for condition, _, _ in self._onto_arrow(schema)
        )
        return reduce(pc.and_kleene, masks)

    def polars(self, schema: Any) -> Any:
        """Return the filter as a polars expression, for columns of these types."""
        import polars as pl

        pieces = []
        for condition in self.conditions:
            dtype = schema[condition.column]
            kind = polars_kind(dtype)
            pieces.append(polars_expression(condition.onto(kind, str(dtype)), kind))
        return pl.all_horizontal(pieces).fill_null(value=False)

    def sql(self, schema: Any) -> str | None:
        """Return the filter as SQL for DuckDB and DataFusion; None if no condition can be written.

        Parameters
        ----------
        schema : pyarrow.Schema
        """
        pieces = [
            sql_condition(condition, kind)
            for condition, kind, _ in self._onto_arrow(schema)
            if kind not in (NOTHING, "zoned time") and condition.values
        ]
        return " AND ".join(pieces) or None

    def spark(self, types: dict[str, str]) -> Any:
        """Return the filter as a Spark column, for columns of these types."""
        pieces = [spark_column(condition, types[condition.column]) for condition in self.conditions]
        return reduce(lambda passes, piece: passes & piece, pieces)

    def iceberg(self, schema: Any) -> Any:
        """Return the filter as a pyiceberg expression.

        Parameters
        ----------
        schema : pyarrow.Schema
        """
        from pyiceberg import expressions

        pieces = (iceberg_expression(*onto) for onto in self._onto_arrow(schema))
        return reduce(expressions.And, pieces)

    def _onto_arrow(self, schema: Any) -> Iterator[tuple[Condition, str, str]]:
        """Yield each condition with the kind and the Arrow type of its column."""
        for condition in self.conditions:
            arrow_type = schema.field(condition.column).type
            kind = arrow_kind(arrow_type)
            yield condition.onto(kind, str(arrow_type)), str(kind), str(arrow_type)
