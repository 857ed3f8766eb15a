"""SQL that summarises a table where it is: two queries, one row a class, and no row leaves.

The text keeps to what all dialects share, so no library is needed to write it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from directrix._typing import FloatArray
from directrix.engines.sql_dialects import DIALECTS, Dialect
from directrix.moments import Moments
from directrix.moments.columns import checked_names
from directrix.moments.from_sql import (
    LARGEST,
    MOST_FEATURES,
    first_columns,
    read_first,
    second_sums,
    sum_name,
)


@dataclass(frozen=True)
class SqlQueries:
    """The queries that summarise one table; see `moments_sql`.

    Parameters
    ----------
    table : tuple of str
        Name of the table, with the schemas it is in.
    target : str
    features : tuple of str
    dialect : str
    weight, where : str, optional
    """

    table: tuple[str, ...]
    target: str
    features: tuple[str, ...]
    dialect: str
    weight: str | None = None
    where: str | None = None

    @property
    def first(self) -> str:
        """The query for counts, weights and means, and for how many values are missing."""
        weighted = self.weight is not None
        usable = f"dx_w >= 0 AND dx_w <= {self._dialect.double(LARGEST)}"
        values = [
            "dx_label",
            "COUNT(*)",
            "SUM(dx_w)" if weighted else self._dialect.cast("COUNT(*)"),
            "SUM(dx_w * dx_w)" if weighted else self._dialect.cast("COUNT(*)"),
            f"COUNT(CASE WHEN {usable} THEN 1 END)" if weighted else "COUNT(*)",
        ]
        for x in (f"dx_x_{i}" for i in range(len(self.features))):
            values += [
                f"SUM(dx_w * {x}) / NULLIF(SUM(dx_w), 0)" if weighted else f"AVG({x})",
                f"MIN({x})",
                f"MAX({x})",
                f"COUNT({x})",
                f"COUNT(CASE WHEN ABS({x}) <= {self._dialect.double(LARGEST)} THEN 1 END)",
            ]
        names = first_columns(len(self.features))
        columns = [f"{value} AS {name}" for value, name in zip(values, names, strict=True)]
        columns[0] = "dx_label"
        label = f"{self._dialect.name(self.target)} AS dx_label"
        rows = self._rows(label, range(len(self.features)))
        return _select(columns, _from(rows, "dx_rows"), "GROUP BY dx_label")

    def second(self, rows_of_first: Any) -> tuple[str, ...]:
        """Return the statements for the products about the means that the first query gave.

        Parameters
        ----------
        rows_of_first : list of dict or of tuple
            One row a class; raises ValueError where they tell of values that are missing.

        Returns
        -------
        tuple of str
            One statement up to 43 features, then one for every 1,000 products.
        """
        told = read_first(rows_of_first, self.features)
        target = self._dialect.name(self.target)
        cases = [
            f"WHEN {target} = {self._dialect.label(label)} THEN {k}"
            for k, label in enumerate(told.raw_labels)
        ]
        label = f"CASE {' '.join(cases)} END AS dx_k"
        return tuple(
            self._statement(sums, label, told.center) for sums in second_sums(len(self.features))
        )

    def _statement(self, sums: list[tuple[int, ...]], label: str, center: FloatArray) -> str:
        used = sorted({i for factors in sums for i in factors})
        weight = [] if self.weight is None else ["dx_w"]
        centers = "\nUNION ALL\n".join(
            "SELECT " + ", ".join([f"{k} AS dx_class", *(self._center(row, i) for i in used)])
            for k, row in enumerate(center.tolist())
        )
        moved = _select(
            ["dx_class", *weight, *(f"dx_x_{i} - dx_c_{i} AS dx_z_{i}" for i in used)],
            _from(self._rows(label, used), "dx_rows"),
            f"JOIN (\n{centers}\n) AS dx_centers",
            "ON dx_k = dx_class",
        )
        columns = ["dx_class", "COUNT(*) AS dx_count"]
        for factors in sums:
            product = " * ".join([*weight, *(f"dx_z_{i}" for i in factors)])
            columns.append(f"SUM({product}) AS {sum_name(factors)}")
        return _select(columns, _from(moved, "dx_moved"), "GROUP BY dx_class")

    def _center(self, row: list[float], i: int) -> str:
        return f"{self._dialect.double(row[i])} AS dx_c_{i}"

    def _rows(self, label: str, used: Sequence[int]) -> str:
        """Return the query for the label, the weight and some features of every row that counts."""
        columns = [label]
        conditions = []
        if self.where is not None:
            conditions.append(f"(\n{self.where}\n)")  # on lines of its own: it may end in a comment
        if self.weight is not None:
            weight = self._dialect.cast(self._dialect.name(self.weight))
            columns.append(f"{weight} AS dx_w")
            conditions.append(f"({weight} <> 0 OR {weight} IS NULL)")  # weight zero is absence
        columns += [
            f"{self._dialect.cast(self._dialect.name(self.features[i]))} AS dx_x_{i}" for i in used
        ]
        table = "FROM " + ".".join(self._dialect.name(part) for part in self.table)
        if not conditions:
            return _select(columns, table)
        return _select(columns, table, "WHERE " + " AND ".join(conditions))

    @property
    def _dialect(self) -> Dialect:
        return DIALECTS[self.dialect]


def moments_sql(
    table: str | Sequence[str],
    target: str,
    features: Sequence[str],
    *,
    dialect: str = "duckdb",
    weight: str | None = None,
    where: str | None = None,
) -> SqlQueries:
    """Return the SQL that summarises a table inside its database.

    Two steps, not one query. A single one would have to compute the means, and read the table,
    once more for every block of products; sums of floats in parallel come out a little different
    each time, so its blocks would be centred differently. Here the means come back first: missing
    values are refused before the costly part, and every statement of the second query has the same
    centre, written out in full. It returns the sums of ``x − centre`` as well, which say exactly by
    how much the centre misses the mean; so rounding in the first query costs no digit.

    Parameters
    ----------
    table : str or sequence of str
        Dots in text part schema and table; a name that itself has a dot goes in a sequence:
        ``("sales", "orders.2024")``.
    target : str
        Column of the labels: numbers, booleans or text.
    features : sequence of str
        Columns of numbers, at most 300.
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse"}
    weight : str, optional
        Column of weights. A row of weight zero is absent.
    where : str, optional
        Condition in SQL that the rows must meet. It is taken as it is: never from strangers.

    Returns
    -------
    SqlQueries
        ``first`` is a query; ``second(rows_of_first)`` gives the statements that follow it.

    Examples
    --------
    >>> from directrix.engines import moments_sql
    >>> queries = moments_sql("sales.orders", "fraud", ["amount", "Age"], dialect="bigquery")
    >>> print(queries.first)
    SELECT
      dx_label,
      COUNT(*) AS dx_count,
      ...
      AVG(dx_x_0) AS dx_mean_0,
      ...
    FROM (
    SELECT
      `fraud` AS dx_label,
      CAST(`amount` AS FLOAT64) AS dx_x_0,
      CAST(`Age` AS FLOAT64) AS dx_x_1
    FROM `sales`.`orders`
    ) AS dx_rows
    GROUP BY dx_label
    """
    if dialect not in DIALECTS:
        msg = f"no dialect {dialect!r}; there are {', '.join(DIALECTS)}"
        raise ValueError(msg)
    if isinstance(features, str):
        msg = f"features must be a list of columns, not the text {features!r}"
        raise TypeError(msg)
    names = checked_names(features, len(features))
    if not 0 < len(names) <= MOST_FEATURES:
        msg = (
            f"a database can summarise 1 to {MOST_FEATURES} features, not {len(names)}: choose "
            "fewer, or bring the rows out in batches and use `summarize`"
        )
        raise ValueError(msg)
    written = DIALECTS[dialect]
    roles = {written.key(name) for name in (target, weight) if name is not None}
    taken = [name for name in names if written.key(name) in roles]
    if taken:
        msg = f"column {taken[0]!r} has another role and cannot be a feature"
        raise ValueError(msg)
    remedy = "rename the column in the table or in a view of it, and give that name"
    written.require_names(names, "feature", remedy)
    written.require_names([target], "the target", remedy)
    written.require_names([weight], "the weight", remedy)
    path = tuple(table.split(".")) if isinstance(table, str) else tuple(table)
    if not all(path) or not path:
        msg = f"the name of a table has an empty part: {table!r}"
        raise ValueError(msg)
    return SqlQueries(path, target, names, dialect, weight, where)


def summarize_sql(
    connection: Any,
    table: str | Sequence[str],
    *,
    target: str,
    features: Sequence[str],
    dialect: str = "duckdb",
    weight: str | None = None,
    where: str | None = None,
) -> Moments:
    """Summarise a table inside its database: it sends back a few rows of sums, and no others.

    Parameters
    ----------
    connection : DB-API connection or cursor
        Or a connection of DuckDB. The table must not change between the queries (this is noticed
        where rows come or go): where others write to it, begin a transaction that reads one
        snapshot.
    table, target, features, dialect, weight, where
        As in `moments_sql`.

    Returns
    -------
    Moments
        What `Moments.of` gives for the same rows.

    Examples
    --------
    >>> import duckdb
    >>> from directrix.engines import summarize_sql
    >>> database = duckdb.connect()
    >>> _ = database.execute("CREATE TABLE t AS SELECT i % 2 = 0 AS even, i FROM range(7) _(i)")
    >>> summarize_sql(database, "t", target="even", features=["i"])
    <Moments: 7 rows; 1 features; classes {False: 3, True: 4}>
    """
    queries = moments_sql(table, target, features, dialect=dialect, weight=weight, where=where)
    cursor = connection if hasattr(connection, "fetchall") else connection.cursor()
    try:
        first = _answer(cursor, queries.first)
        second = [_answer(cursor, statement) for statement in queries.second(first)]
    finally:
        if cursor is not connection:
            cursor.close()
    return Moments.from_sql_rows(first, second, queries.features)


def _answer(cursor: Any, statement: str) -> Any:
    cursor.execute(statement)
    return cursor.fetchall()


def _select(columns: Sequence[str], source: str, *rest: str) -> str:
    # Lines are never indented afterwards: a label or `where` may hold a line break.
    return "\n".join(["SELECT", ",\n".join("  " + column for column in columns), source, *rest])


def _from(query: str, name: str) -> str:
    return f"FROM (\n{query}\n) AS {name}"
