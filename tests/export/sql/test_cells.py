"""Databases bin rows as the binner does; laws over random tables are in tests/contracts."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import numpy as np
import postgres_server
import pytest
import spark_cluster

from directrix import Binner
from directrix.exceptions import SqlNameError
from directrix.export import cells_to_sql
from directrix.export.expressions import last_microsecond
from directrix.export.sql_writer import SqlWriter
from directrix.moments import BinCounts
from directrix.tables import LevelBins, NumberBins, Table
from directrix.tables.table import days_of

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
psycopg = pytest.importorskip("psycopg")
sqlglot = pytest.importorskip("sqlglot")
pytest.importorskip("pandas")

DIALECTS = ["duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse", "sqlite"]
TEXTS = ["", " ", "it's", '"', "\\", "\\'", "a\nb", "é", "e\u0301", "日本", "😀", "NULL", "yes "]
#: Columns, and their types in PostgreSQL.
COLUMNS = {
    "key": "BIGINT",
    "number": "FLOAT8",
    'a "b"': "BIGINT",
    "text": "TEXT",
    "flag": "BOOLEAN",
    "day": "DATE",
    "at": "TIMESTAMP",
    "zoned": "TIMESTAMPTZ",
}


def rows(seed=0, n=400):
    rng = np.random.default_rng(seed)
    base = datetime(2020, 1, 1, tzinfo=UTC)
    numbers = rng.choice([*rng.normal(size=20), np.inf, -np.inf, np.nan, -999, 5e-324], size=n)
    micro = [timedelta(microseconds=int(k)) for k in rng.integers(-(10**15), 10**15, size=n)]
    table = {
        "key": list(range(n)),
        "number": numbers.tolist(),
        'a "b"': rng.integers(-5, 5, size=n).tolist(),
        "text": rng.choice(np.array(TEXTS, dtype=object), size=n).tolist(),
        "flag": (rng.random(n) < 0.5).tolist(),
        "day": [(base + step).date() for step in micro],
        "at": [(base + step).replace(tzinfo=None) for step in micro],
        "zoned": [base + step for step in micro],
    }
    for name, values in table.items():
        if name != "key":
            table[name] = [None if rng.random() < 0.1 else value for value in values]
    zoned = pa.array(table.pop("zoned"), pa.timestamp("us", "Asia/Tokyo"))
    return pa.table(table).append_column("zoned", zoned)


@pytest.fixture(scope="module")
def binner():
    special = {"number": [-999], "day": [date(2020, 1, 1)], "zoned": [datetime(2020, 1, 1)]}  # noqa: DTZ001
    return Binner(max_bins=16, special_values=special).fit(rows().drop_columns(["key"]))


def query(binner, dialect):
    cases = cells_to_sql(binner, dialect=dialect).values()
    made = ", ".join(f"{case} AS c{k}" for k, case in enumerate(cases))
    return f"SELECT {made} FROM t ORDER BY key"  # noqa: S608


def require_equal(answer, binner, table):
    cells = np.array([tuple(row) for row in answer], dtype=float)
    np.testing.assert_array_equal(cells, binner.cells(table))
    assert len(np.unique(cells)) > 10


@pytest.mark.parametrize("zone", ["UTC", "America/Lima"])
def test_duckdb(binner, zone):
    table = rows(1)
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{zone}'")
        connection.register("t", table)
        require_equal(connection.execute(query(binner, "duckdb")).fetchall(), binner, table)


def test_postgres(binner):
    programs = postgres_server.require_programs()
    table = rows(1)
    with (
        postgres_server.server(programs) as address,
        psycopg.connect(**address, autocommit=True) as connection,
    ):
        types = {name: f"{Q(name)} {sql_type}" for name, sql_type in COLUMNS.items()}
        columns = ", ".join(types[name] for name in table.column_names)
        connection.execute("SET TIME ZONE 'America/Lima'")
        connection.execute(f"CREATE TABLE t ({columns})")
        blanks = ", ".join(["%s"] * len(table.column_names))
        values = zip(*(column.to_pylist() for column in table.columns), strict=True)
        connection.cursor().executemany(f"INSERT INTO t VALUES ({blanks})", list(values))  # noqa: S608
        require_equal(connection.execute(query(binner, "postgres")).fetchall(), binner, table)


def Q(name):  # noqa: N802
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.skipif(spark_cluster.why_not() is not None, reason=str(spark_cluster.why_not()))
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_spark(binner, spark, tmp_path):
    from pyarrow import parquet

    table = rows(1)
    parquet.write_table(table, tmp_path / "t.parquet")
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        spark.read.parquet(str(tmp_path / "t.parquet")).createOrReplaceTempView("t")
        require_equal(spark.sql(query(binner, "spark")).collect(), binner, table)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "clickhouse"])
def test_other_dialects_say_the_same(dialect):
    # Parsed as what they are, and run as what DuckDB calls it.
    table = rows(1).select(["key", "number", 'a "b"', "text", "flag"])
    binner = Binner(max_bins=16, special_values={"number": [-999]}).fit(table.drop_columns(["key"]))
    tree = sqlglot.parse_one(query(binner, dialect), read=dialect)
    with duckdb.connect() as connection:
        connection.register("t", table)
        answer = connection.execute(tree.sql(dialect="duckdb")).fetchall()
    require_equal(answer, binner, table)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_can_be_parsed(dialect, binner):
    for case in cells_to_sql(binner, dialect=dialect).values():
        assert isinstance(sqlglot.parse_one(case, read=dialect), sqlglot.exp.Case)


def test_texts_that_no_database_can_hold_are_left_out():
    rows = [["a\0b"], ["\ud800"], ["x"]] * 20
    binner = Binner().fit(rows)
    case = cells_to_sql(binner, dialect="postgres", columns=["t"])["x0"]
    assert case.encode().count(b" = '") == 1
    assert "a\0b" in cells_to_sql(binner, columns=["t"])["x0"]


def test_many_levels():
    levels = [f"level {k}" for k in range(5000)]
    table = pa.table({"t": levels * 2})
    binner = Binner(min_level_rows=2).fit(table)
    with duckdb.connect() as connection:
        connection.register("t", table)
        answer = connection.execute(f"SELECT {cells_to_sql(binner)['t']} FROM t").fetchall()  # noqa: S608
    np.testing.assert_array_equal(np.array(answer), binner.cells(table))


def test_neighbours_with_the_same_result_share_a_condition():
    bins = NumberBins("x", "number", (1.0, 2.0, 3.0), (0.0,) * 4)
    case = SqlWriter("duckdb").case(bins, ["0", "7", "7", "8", "8"], "x")
    assert case.count("<=") == 1
    with duckdb.connect() as connection:
        for value, expected in [("1", 7), ("2", 7), ("3", 8), ("4", 8), ("NULL", 0), ("'nan'", 0)]:
            statement = f"SELECT {case} FROM (SELECT CAST({value} AS DOUBLE) AS x)"  # noqa: S608
            assert connection.execute(statement).fetchall() == [(expected,)]
    text = LevelBins("t", ("a", "b"))
    assert SqlWriter("duckdb").case(text, ["0", "1", "1", "1"], "t").count("WHEN") == 1


@pytest.mark.parametrize("seed", range(20))
def test_the_last_microsecond_is_the_last_that_is_not_above(seed):
    rng = np.random.default_rng(seed)
    near, far = rng.normal() * 2e4, rng.normal() * 2.9e6
    for days in (near, far, round(near), 0.0, round(near) + 1 / 3):
        last = last_microsecond(days)
        days_before_and_after = [read(last), read(last + 1)]
        assert days_before_and_after[0] <= days < days_before_and_after[1]


def read(microseconds):
    """Return the days that a table reads for a time in microseconds."""
    return Table.of(np.array([[microseconds]]).astype("M8[us]")).values[0, 0]


def test_microseconds_of_a_whole_day_are_exact():
    day = days_of(date(2024, 2, 29))
    exact = Fraction(int(day)) * 86_400 * 10**6
    assert last_microsecond(day) == exact


def test_wrong_arguments_are_named(binner):
    with pytest.raises(TypeError, match="takes a fitted Binner, not Binner"):
        cells_to_sql(Binner())
    with pytest.raises(TypeError, match="takes a fitted Binner, not dict"):
        cells_to_sql({})
    with pytest.raises(ValueError, match=r"did you mean 'sqlite'\? There are duckdb"):
        cells_to_sql(binner, dialect="SQLite")
    with pytest.raises(ValueError, match="no dialect 'mysql'; there are duckdb"):
        cells_to_sql(binner, dialect="mysql")
    with pytest.raises(ValueError, match="columns must be 7 names"):
        cells_to_sql(binner, columns=["a"])
    with pytest.raises(SqlNameError, match="column 1 of 2 has an empty name"):
        cells_to_sql(Binner().fit([[1, 2]]), columns=["", "b"])
    assert '"age"' in cells_to_sql(Binner().fit([[1.0]]), columns=["age"])["x0"]


def test_levels_that_share_a_cell_have_its_number():
    town = np.array([["Graz"], ["Linz"], ["Wien"], [None], ["Rom"]] * 3, dtype=object)
    binner = Binner(min_level_rows=1).fit(town[:12])
    counts = BinCounts.of(binner, town, np.arange(15) % 2)
    grouped = counts.rebin(merge={"x0": [("Graz", "Wien")]}, other={"x0": ["Rom"]}).binner
    (case,) = cells_to_sql(grouped).values()
    arrow = pa.table({"x0": town[:, 0]})  # noqa: F841 - DuckDB reads it by its name
    found = [row[0] for row in duckdb.sql(f"SELECT {case} FROM arrow").fetchall()]  # noqa: S608
    assert found == grouped.cells(town)[:, 0].tolist()
    assert found[:5] == [2, 3, 2, 0, 1]
