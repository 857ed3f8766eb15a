"""SQL that summarises a table inside its database: two queries of sums, and one of sampled rows.

The SQL uses only syntax that all dialects share, so no library is needed to write it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from directrix._typing import FloatArray
from directrix.engines.sql_dialects import DIALECTS, Dialect
from directrix.moments import Moments, from_sql
from directrix.moments.moments import SAMPLE_ROWS
from directrix.rows.rows import checked_names


@dataclass(frozen=True)
class SqlQueries:
    """The queries that summarise one table; see `moments_sql` for the fields."""

    table: tuple[str, ...]
    target: str
    features: tuple[str, ...]
    dialect: str
    weight: str | None = None
    where: str | None = None
    fold: str | None = None

    @property
    def folded(self) -> bool:
        """Whether rows have folds."""
        return self.fold is not None

    @property
    def first(self) -> str:
        """The first query: counts, weights, means and numbers of missing values by class."""
        weighted = self.weight is not None
        usable = f"dx_w >= 0 AND dx_w <= {self._dialect.double(from_sql.LARGEST)}"
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
                f"COUNT(CASE WHEN ABS({x}) <= {self._dialect.double(from_sql.LARGEST)} THEN 1 END)",
            ]
        by = ["dx_label", *(["dx_fold"] if self.folded else [])]
        names = from_sql.first_columns(len(self.features), folded=self.folded)
        aliased = zip(values[1:], names[len(by) :], strict=True)
        columns = [*by, *(f"{value} AS {name}" for value, name in aliased)]
        label = [f"{self._dialect.name(self.target)} AS dx_label"]
        if self.fold is not None:
            label.append(f"{self._dialect.name(self.fold)} AS dx_fold")
        rows = self._rows(label, range(len(self.features)))
        return _select(columns, _from(rows, "dx_rows"), f"GROUP BY {', '.join(by)}")

    def second(self, rows_of_first: Any) -> tuple[str, ...]:
        """Return the second query: products of features centred at the means of the first query.

        ``rows_of_first`` is the result of the first query, with one row for each class. ValueError
        is raised if values are missing or not finite.

        Returns
        -------
        tuple of str
            A single statement up to 43 features, then one statement for every 1,000 products.
        """
        first_result = from_sql.read_first(rows_of_first, self.features, folded=self.folded)
        group = [f"{self._case(first_result)} AS dx_k"]
        return tuple(
            self._statement(sums, group, first_result.center)
            for sums in from_sql.second_sums(len(self.features))
        )

    def sample(self, rows_of_first: Any, most: int = SAMPLE_ROWS) -> str:
        """Return the query for a sample of at most ``most`` rows of each class.

        The database draws the rows anew whenever it is asked.
        """
        first_result = from_sql.read_first(rows_of_first, self.features, folded=self.folded)
        columns = [f"{self._case(first_result)} AS dx_class"]
        columns += [f"{self._dialect.name(self.target)} AS dx_label"]
        columns += [f"{self._dialect.random} AS dx_draw"]
        rows = self._rows(columns, range(len(self.features)))
        names = from_sql.sample_columns(len(self.features), weighted=self.weight is not None)
        rank = "ROW_NUMBER() OVER (PARTITION BY dx_label ORDER BY dx_draw) AS dx_rank"
        ranked = _select(["dx_class", rank, *names[2:]], _from(rows, "dx_rows"))
        return _select(names, _from(ranked, "dx_ranked"), f"WHERE dx_rank <= {most}")

    def _case(self, first_result: from_sql.FirstResult) -> str:
        """Return the number of the class and fold of a row, in the order of the first result."""
        target = self._dialect.name(self.target)
        conditions = [f"{target} = {self._dialect.label(k)}" for k in first_result.raw_labels]
        if self.fold is not None:
            fold = self._dialect.name(self.fold)
            folds = zip(conditions, first_result.folds, strict=True)
            conditions = [f"{condition} AND {fold} = {number}" for condition, number in folds]
        cases = (f"WHEN {condition} THEN {k}" for k, condition in enumerate(conditions))
        return f"CASE {' '.join(cases)} END"

    def _statement(self, sums: list[tuple[int, ...]], group: list[str], center: FloatArray) -> str:
        used = sorted({i for factors in sums for i in factors})
        weight = [] if self.weight is None else ["dx_w"]
        centers = "\nUNION ALL\n".join(
            f"SELECT {k} AS dx_class, "
            + ", ".join(f"{self._dialect.double(row[i])} AS dx_c_{i}" for i in used)
            for k, row in enumerate(center.tolist())
        )
        moved = _select(
            ["dx_class", *weight, *(f"dx_x_{i} - dx_c_{i} AS dx_z_{i}" for i in used)],
            _from(self._rows(group, used), "dx_rows"),
            f"JOIN (\n{centers}\n) AS dx_centers",
            "ON dx_k = dx_class",
        )
        columns = ["dx_class", "COUNT(*) AS dx_count"]
        for factors in sums:
            product = " * ".join([*weight, *(f"dx_z_{i}" for i in factors)])
            columns.append(f"SUM({product}) AS {from_sql.sum_name(factors)}")
        return _select(columns, _from(moved, "dx_moved"), "GROUP BY dx_class")

    def _rows(self, columns: list[str], used: Sequence[int]) -> str:
        """Return the inner query: columns, weight and features of the rows of non-zero weight."""
        columns, conditions = list(columns), []
        if self.where is not None:
            # On separate lines, because it may end in a comment.
            conditions.append(f"(\n{self.where}\n)")
        if self.weight is not None:
            weight = self._dialect.cast(self._dialect.name(self.weight))
            columns.append(f"{weight} AS dx_w")
            conditions.append(f"({weight} <> 0 OR {weight} IS NULL)")  # zeros are ignored
        columns += [
            f"{self._dialect.cast(self._dialect.name(self.features[i]))} AS dx_x_{i}" for i in used
        ]
        table = "FROM " + ".".join(self._dialect.name(part) for part in self.table)
        where = ["WHERE " + " AND ".join(conditions)] if conditions else []
        return _select(columns, table, *where)

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
    fold: str | None = None,
) -> SqlQueries:
    """Return the SQL that summarises a table inside its database.

    There are two queries, not one. A single query would have to read the table and compute the
    means again for every block of products. Parallel sums of floats differ a little between runs,
    so the blocks would be centred differently. Here the means are returned first. Missing values
    are refused before the expensive part, and every statement of the second query contains the
    same centre, with all digits. The second query also returns the sums of ``x − centre``, which
    are the exact distance of the centre from the mean; so rounding in the first query costs no
    digit.

    Parameters
    ----------
    table : str or sequence of str
        Name of the table. Dots in text separate schema and table; give names that contain a dot as
        a sequence: ``("sales", "orders.2024")``.
    target : str
        Column of the labels: numbers, booleans or text.
    features : sequence of str
        Columns of numbers, at most 300.
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse", "sqlite"}
        SQL dialect of the database.
    weight : str, optional
        Column of sample weights. Rows of weight zero are ignored.
    where : str, optional
        SQL condition that the rows must meet. It is inserted as it is, so never use untrusted text.
    fold : str, optional
        Column of fold numbers from zero.

    Returns
    -------
    SqlQueries
        ``first`` is the first query; ``second(rows_of_first)`` gives the statements of the second,
        and ``sample(rows_of_first)`` one for a sample of the rows of each class.

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
        msg = f"no dialect {dialect!r}; the dialects are {', '.join(DIALECTS)}"
        raise ValueError(msg)
    if isinstance(features, str):
        msg = f"features must be a list of columns, not the text {features!r}"
        raise TypeError(msg)
    names = checked_names(features, len(features))
    if not 0 < len(names) <= from_sql.MOST_FEATURES:
        msg = (
            f"a database can summarise 1 to {from_sql.MOST_FEATURES} features, not {len(names)}: "
            "choose fewer, or bring the rows out in batches and use `summarize`"
        )
        raise ValueError(msg)
    sql_dialect = DIALECTS[dialect]
    roles = {sql_dialect.key(name) for name in (target, weight, fold) if name is not None}
    conflicting = [name for name in names if sql_dialect.key(name) in roles]
    if conflicting:
        msg = f"column {conflicting[0]!r} has another role and cannot be a feature"
        raise ValueError(msg)
    remedy = "rename the column in the table or in a view of it, and give that name"
    sql_dialect.require_names(names, "feature", remedy)
    sql_dialect.require_names([target], "the target", remedy)
    sql_dialect.require_names([weight], "the weight", remedy)
    sql_dialect.require_names([fold], "the fold", remedy)
    path = tuple(table.split(".")) if isinstance(table, str) else tuple(table)
    if not all(path) or not path:
        msg = f"the name of a table has an empty part: {table!r}"
        raise ValueError(msg)
    return SqlQueries(path, target, names, dialect, weight, where, fold)


def summarize_sql(
    connection: Any,
    table: str | Sequence[str],
    *,
    target: str,
    features: Sequence[str],
    dialect: str = "duckdb",
    weight: str | None = None,
    where: str | None = None,
    fold: str | None = None,
    sample: int = SAMPLE_ROWS,
) -> Moments:
    """Summarise a table inside its database, which returns sums and a sample of the rows.

    Parameters
    ----------
    connection : DB-API connection or cursor, or DuckDB connection
        The table must not change between the queries; a changed number of rows raises ValueError.
        If others write to the table, begin a transaction that reads one snapshot.
    table, target, features, dialect, weight, where, fold
        As in `moments_sql`.
    sample : int
        Largest number of rows of each class to draw; 0 for none. The database draws them by random
        numbers: they are other rows each time, and cannot be subtracted.

    Returns
    -------
    Moments
        The summary that `Moments.of` gives for the same rows.

    Examples
    --------
    >>> import duckdb
    >>> from directrix.engines import summarize_sql
    >>> database = duckdb.connect()
    >>> _ = database.execute("CREATE TABLE t AS SELECT i % 2 = 0 AS even, i FROM range(7) _(i)")
    >>> summarize_sql(database, "t", target="even", features=["i"])
    <Moments: 7 rows; 1 features; classes {False: 3, True: 4}; a sample of 7 rows>
    """
    roles = {"weight": weight, "where": where, "fold": fold}
    queries = moments_sql(table, target, features, dialect=dialect, **roles)
    cursor = connection if hasattr(connection, "fetchall") else connection.cursor()
    try:
        first = _fetch(cursor, queries.first)
        second = [_fetch(cursor, statement) for statement in queries.second(first)]
        drawn = _fetch(cursor, queries.sample(first, sample)) if sample else None
    finally:
        if cursor is not connection:
            cursor.close()
    return Moments.from_sql_rows(
        first, second, queries.features, drawn, folded=queries.folded, most=sample
    )


def _fetch(cursor: Any, statement: str) -> Any:
    cursor.execute(statement)
    return cursor.fetchall()


def _select(columns: Sequence[str], source: str, *rest: str) -> str:
    # Lines are not indented afterwards, because a label or `where` may contain a line break.
    return "\n".join(["SELECT", ",\n".join("  " + column for column in columns), source, *rest])


def _from(query: str, name: str) -> str:
    return f"FROM (\n{query}\n) AS {name}"
