"""Bins of random tables by four routes: pandas, polars, Arrow, and SQL in DuckDB.

A binner is fitted on the Arrow table, every second one with cuts, groups and joined missing values
of its user. The cells of other rows, with values that training did not have, must be those of the
definition by every route; fits by pandas and polars must find the same bins.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

from directrix import Binner
from directrix.export import cells_to_sql

#: Names that a careless query, file or label would take for something else.
NAMES = (
    *("income", 'a "quoted" name', "it's", "x; DROP TABLE t", "select", "a\nb", "  ", "日本語"),
    *("a: b", "a > 1", "a > 1 (2)", "%s", "{}", "é", "e\u0301", "-- x", "/* x", "`b`", "\\"),
)
TEXTS = (
    *("", " ", "yes", "Yes", "yes ", "no", "it's", '"', "\\", "\\'", "a\nb", "\t", "é", "e\u0301"),
    *(
        "日本",
        "😀",
        "NULL",
        "null",
        "nan",
        "missing",
        "other",
        "0",
        "1.0",
        "x" * 300,
        "%",
        "--",
        "\0",
    ),
)
_EDGES = (
    *(0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e300, 2.0**53),
    *(1.7976931348623157e308, -1.7976931348623157e308, float("inf"), -float("inf"), 0.1, 1e12),
)
_DAY = 86_400 * 10**6


def random_table(
    rng: np.random.Generator, n_rows: int, makers: dict[str, str] | None = None
) -> tuple[pa.Table, dict[str, str]]:
    """Return an Arrow table, and how each of its columns was made.

    ``makers``, as returned by an earlier call, makes the same columns with other rows. By default
    there are one to eight columns with hostile names.
    """
    if makers is None:
        names = rng.choice(NAMES, size=rng.integers(1, 9), replace=False).tolist()
        makers = {name: str(rng.choice(list(MAKERS))) for name in names}
    return pa.table({name: _column(rng, n_rows, maker) for name, maker in makers.items()}), makers


def _column(rng: np.random.Generator, n: int, maker: str) -> pa.Array:
    """Return a column with a random share of missing values."""
    made = MAKERS[maker](rng, n)
    column = made if isinstance(made, pa.Array) else pa.array(made)
    share = rng.choice([0.0, 0.0, 0.1, 0.6, 1.0], p=[0.3, 0.2, 0.3, 0.15, 0.05])
    missing = pa.array(rng.random(n) < share)
    return pa.compute.if_else(missing, pa.scalar(None, column.type), column)


def _edges(rng: np.random.Generator, n: int) -> np.ndarray:
    values = rng.choice([*_EDGES, *rng.normal(size=5)], size=n)
    return np.where(rng.random(n) < 0.1, np.nan, values)


def _texts(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(rng.choice(np.array(TEXTS, dtype=object), size=n).tolist(), pa.string())


def _moments(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(-10_000 * _DAY, 30_000 * _DAY, size=n).astype("M8[us]")


def _zoned(rng: np.random.Generator, n: int) -> pa.Array:
    zone = str(rng.choice(["UTC", "Asia/Kolkata", "America/New_York"]))
    return pa.array(_moments(rng, n)).cast(pa.timestamp("us", zone))


#: Kinds of columns: each makes the values of a number of rows.
MAKERS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "far": lambda rng, n: 1e12 + rng.normal(size=n),
    "mostly_zero": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)),
    "edges": _edges,
    "single": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "small_integers": lambda rng, n: rng.integers(-3, 4, size=n).astype(np.int8),
    "large_integers": lambda rng, n: rng.integers(-(2**63), 2**63 - 1, size=n),
    "close_integers": lambda rng, n: 2**53 + rng.integers(0, 5, size=n),
    "booleans": lambda rng, n: rng.random(n) < rng.choice([0.02, 0.5]),
    "texts": _texts,
    "many_texts": lambda rng, n: pa.array(
        [f"town {k}" for k in rng.integers(0, 50, size=n)], pa.large_string()
    ),
    "categories": lambda rng, n: _texts(rng, n).dictionary_encode(),
    "dates": lambda rng, n: rng.integers(-40_000, 60_000, size=n).astype("M8[D]"),
    "seconds": lambda rng, n: rng.integers(-(10**9), 2 * 10**9, size=n).astype("M8[s]"),
    "moments": _moments,
    "close_moments": lambda rng, n: (19_000 * _DAY + rng.integers(0, 10, size=n)).astype("M8[us]"),
    "zoned": _zoned,
}


class Counts(NamedTuple):
    """How many tables and cells were compared, and how many differ by each route.

    ``other_bins`` are fits by pandas or polars with other bins than the fit by Arrow.
    """

    tables: int
    cells: int
    differences: dict[str, int]
    other_bins: int


def by_arrow(binner: Binner, rows: pa.Table) -> np.ndarray:
    """Return the cells of an Arrow table in two chunks."""
    half = len(rows) // 2
    return binner.cells(pa.concat_tables([rows[:half], rows[half:]]))


def by_duckdb(binner: Binner, rows: pa.Table) -> np.ndarray:
    """Return the cells that DuckDB computes."""
    expressions = cells_to_sql(binner).values()
    # By position: two names that differ only in case are one to DuckDB.
    made = ", ".join(f"{expression} AS c{k}" for k, expression in enumerate(expressions))
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        answer = connection.execute(f"SELECT {made} FROM rows").fetchall()  # noqa: S608
    return np.array(answer, dtype=np.int32).reshape(len(rows), len(binner.bins_))


ROUTES: dict[str, Callable[[Binner, pa.Table], np.ndarray]] = {
    "pandas": lambda binner, rows: binner.cells(rows.to_pandas()),
    "polars": lambda binner, rows: binner.cells(pl.from_arrow(rows)),
    "Arrow": by_arrow,
    "DuckDB SQL": by_duckdb,
}


def random_binner(rng: np.random.Generator, table: pa.Table) -> Binner:
    """Return a binner with random parameters, special values from the table among them."""
    special: dict[str, list[float]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = column.drop_null().unique().to_pylist()
        if values and type(values[0]) in {int, float} and rng.random() < 0.3:
            finite = [value for value in values if np.isfinite(float(value))]
            special[name] = list({float(value) for value in finite[:2]})
    return Binner(
        max_bins=int(rng.choice([2, 5, 64])),
        min_rows=float(rng.choice([1, 5])),
        min_level_rows=float(rng.choice([1, 3, 10])),
        special_values=special,
    )


def own_bins(rng: np.random.Generator, table: pa.Table) -> dict[str, dict[str, Any]]:
    """Return random cuts, groups of levels and bins for missing values, as parameters of `Binner`.

    Cuts and levels are values of the table. About half of the columns have some.
    """
    own: dict[str, dict[str, Any]] = {"cuts": {}, "groups": {}, "missing_with": {}}
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = [value for value in column.unique().to_pylist() if _is_finite(value)]
        if not values or rng.random() < 0.5:
            continue
        some = [values[k] for k in rng.permutation(len(values))[:6]]
        if isinstance(values[0], str):
            own["groups"][name] = [some[: len(some) // 2], some[len(some) // 2 :]]
        elif not isinstance(values[0], bool):
            own["cuts"][name] = sorted({_number(value): value for value in some[1:]}.items())
            own["cuts"][name] = [value for _, value in own["cuts"][name]]
        if rng.random() < 0.7:
            own["missing_with"][name] = some[0]
    return own


def _is_finite(value: Any) -> bool:
    return value is not None and (not isinstance(value, float) or bool(np.isfinite(value)))


def cells_by_definition(binner: Binner, rows: pa.Table) -> np.ndarray:
    """Return the cells by their definition, one Python value at a time."""
    columns = [
        [_cell(bins, value) for value in rows.column(bins.name).to_pylist()]
        for bins in binner.bins_
    ]
    return np.array(columns, dtype=np.int32).T


def _cell(bins: Any, value: Any) -> int:
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return int(bins.missing_cell)
    if bins.kind == "text":
        level_cells = dict(zip(bins.levels, bins.level_cells, strict=True))
        return int(level_cells.get(value, 1))
    number = _number(value)
    if number in bins.special_values:
        return 2 + len(bins.cuts) + bins.special_values.index(number)
    return 1 + sum(number > cut for cut in bins.cuts)


def _number(value: Any) -> float:
    return _days(value) if isinstance(value, date) else float(value)


def _days(value: date) -> float:
    """Return whole days since 1970-01-01 plus the fraction of the last one."""
    zone = getattr(value, "tzinfo", None)
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    past = moment - datetime(1970, 1, 1, tzinfo=None if zone is None else UTC)
    return past.days + (past - timedelta(past.days)) / timedelta(1)


def same_bins(binner: Binner, other: Binner) -> bool:
    """Return whether two fits have the same bins, but for columns without any value.

    pandas and polars do not know the kind of a column of nothing but missing values.
    """
    pairs = zip(binner.bins_, other.bins_, strict=True)
    return all(a == b for a, b in pairs if sum(a.weights[1:]) > 0)


def compare(n_tables: int) -> Counts:
    """Return what was counted over random tables; table k is the same in every run."""
    cells = other_bins = 0
    differences = dict.fromkeys(ROUTES, 0)
    for number in range(n_tables):
        rng = np.random.default_rng(number)
        table, makers = random_table(rng, int(rng.choice([1, 2, 5, 30, 300])))
        binner = random_binner(rng, table)
        if number % 2:
            binner.set_params(**own_bins(np.random.default_rng([number, 1]), table))
        binner.fit(table)
        for frame in (table.to_pandas(), pl.from_arrow(table)):
            other_bins += not same_bins(binner, Binner(**binner.get_params()).fit(frame))
        rows, _ = random_table(rng, 60, makers)
        rows = pa.concat_tables([rows, table[:60].cast(rows.schema)])
        expected = cells_by_definition(binner, rows)
        cells += expected.size
        for route, cells_of in ROUTES.items():
            differences[route] += int((cells_of(binner, rows) != expected).sum())
    return Counts(n_tables, cells, differences, other_bins)
