import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import postgres_server
import pytest
import sqlglot
from nearness import distance
from sqlglot import exp

from directrix import Moments
from directrix.engines import moments_sql, summarize_sql
from directrix.exceptions import SqlNameError

psycopg = pytest.importorskip("psycopg")

DIALECTS = ["duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse", "sqlite"]
each_dialect = pytest.mark.parametrize("dialect", DIALECTS)

#: Sums in another order. The same rows as raw sums are 1e-4 off where the mean is 1e6.
SCALED = 1e-12

RNG = np.random.default_rng(42)
N = 120
NAMES = ["a", "b", "c"]
X = RNG.normal([0.0, 50.0, -1.0], [1.0, 3.0, 0.1], (N, 3)) @ [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]
LABELS = np.array(["low", "mid", "top"])[RNG.choice(3, N, p=[0.6, 0.3, 0.1])]
WEIGHT = RNG.choice([0.0, 0.25, 1.0, 3.0], N)

#: What a name, or a label, may be made of.
ODD_NAMES = ["Up per", 'he said "no"', "größe", "select", "a`b", "back\\slash"]
ODD_LABELS = ["it's", 'the "best"', "back\\slash", "two\nlines", "50 %% or %s", "'; DROP --", ""]


@dataclass(frozen=True)
class Database:
    """A connection, its dialect, and how to fill a table of it."""

    dialect: str
    connection: Any
    placeholder: str

    def fill(self, table, types, rows):
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
        self.connection.execute(f"CREATE TABLE {table} ({columns})")
        if len(rows):
            values = ", ".join([self.placeholder] * len(types))
            statement = f"INSERT INTO {table} VALUES ({values})"  # noqa: S608
            cursor = self.connection.cursor()
            if self.dialect == "duckdb":
                cursor.begin()  # or each row would be a transaction of its own
            cursor.executemany(statement, [list(row) for row in rows])
            if self.dialect == "duckdb":
                cursor.commit()

    def summarize(self, table, **roles):
        return summarize_sql(self.connection, table, dialect=self.dialect, **roles)

    def ask(self, statement):
        cursor = self.connection.cursor()
        cursor.execute(statement)
        return cursor.fetchall()


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(scope="session")
def postgres():
    programs = postgres_server.require_programs()
    with postgres_server.server(programs) as address:
        yield address


@pytest.fixture
def duck():
    with duckdb.connect() as connection:
        yield Database("duckdb", connection, "?")


@pytest.fixture
def sqlite():
    with closing(sqlite3.connect(":memory:")) as connection:
        yield Database("sqlite", connection, "?")


@pytest.fixture
def in_postgres(postgres):
    with psycopg.connect(**postgres) as connection:
        yield Database("postgres", connection, "%s")
        connection.rollback()


@pytest.fixture(params=["duck", "in_postgres"])
def database(request):
    return request.getfixturevalue(request.param)


def fill(database, X=X, labels=LABELS, weight=WEIGHT, label_type="TEXT", table="t", names=NAMES):
    types = {"y": label_type, "w": "DOUBLE PRECISION"} | dict.fromkeys(names, "DOUBLE PRECISION")
    rows = zip(labels, weight, *np.transpose(X), strict=True)
    plain = [[v.item() if isinstance(v, np.generic) else v for v in row] for row in rows]
    database.fill(table, types, plain)


# ── the same as in memory ─────────────────────────────────────────────────────────────────────────


def test_sqlite_summarises_a_wide_table(sqlite):
    wide, names = np.tile(X, 100) + RNG.normal(size=(N, 300)), [f"c{k}" for k in range(300)]
    fill(sqlite, X=wide, labels=(LABELS == "low").tolist(), label_type="BOOLEAN", names=names)
    moments = sqlite.summarize("t", target="y", features=names)
    expected = Moments.of(wide, (LABELS == "low").astype(int), feature_names=names)
    assert distance(moments, expected) < SCALED


def test_sqlite_refuses_missing_values(sqlite):
    fill(sqlite, X=np.where(X > 50.5, np.nan, X))
    with pytest.raises(ValueError, match="holds NULL in 50 rows of column 'b'"):
        sqlite.summarize("t", target="y", features=NAMES)


def test_features_are_taken_in_the_order_given(database):
    fill(database)
    moments = database.summarize("t", target="y", features=["c", "a"])
    assert distance(moments, Moments.of(X[:, [2, 0]], LABELS, feature_names=["c", "a"])) < SCALED


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e10])
@pytest.mark.parametrize("kind", ["duck", "in_postgres", "sqlite"])
def test_an_offset_costs_no_digits(request, kind, offset, weight):
    database = request.getfixturevalue(kind)
    far = X / X.std(axis=0) + offset
    fill(database, X=far)
    moments = database.summarize("t", target="y", features=NAMES, weight=weight)
    expected = Moments.of(far, LABELS, WEIGHT if weight else None, feature_names=NAMES)
    assert distance(moments, expected) < SCALED


@pytest.mark.every_case
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("kind", ["duck", "in_postgres", "sqlite"])
def test_folds_and_a_sample_are_those_of_the_rows(request, kind, weight):
    database, fold = request.getfixturevalue(kind), np.arange(N) % 3
    names = [*NAMES, "fold"]
    fill(database, X=np.column_stack([X, fold]), names=names)
    roles = {"target": "y", "features": NAMES, "fold": "fold", "weight": weight}
    w = None if weight is None else WEIGHT
    expected = Moments.of(X, LABELS, w, fold=fold, feature_names=NAMES)
    whole = database.summarize("t", **roles)
    assert whole.n_folds == 3
    for part, of_rows in zip(whole.folds, expected.folds, strict=True):
        assert distance(part, of_rows) < SCALED
    # All rows fit into the sample: it holds each of them, with its label, weight and fold.
    order = [np.argsort(each.sample.X[:, 0]) for each in (whole, expected)]
    for name in ("X", "y", "weight", "fold"):
        drawn, rows = (
            getattr(each.sample, name)[k] for each, k in zip((whole, expected), order, strict=True)
        )
        np.testing.assert_array_equal(drawn, rows)
    with pytest.raises(ValueError, match="database has drawn"):
        whole - expected


@pytest.mark.every_case
@pytest.mark.parametrize("kind", ["duck", "in_postgres", "sqlite"])
def test_a_drawn_sample_is_at_one_rate_in_each_class(request, kind):
    database = request.getfixturevalue(kind)
    rows = np.random.default_rng(0).normal(size=(8000, 1))
    fill(database, X=rows, labels=["a", "b"] * 4000, weight=np.ones(8000), names=["x"])
    sample = database.summarize("t", target="y", features=["x"], sample=400).sample
    assert [sample.count(label) for label in ("a", "b")] == [400, 400]
    assert np.array(list(sample.thresholds.values())) / 2**64 == pytest.approx([0.1, 0.1])
    assert sample.X.mean() == pytest.approx(0.0, abs=4 / 800**0.5)


def test_each_class_has_a_centre_of_its_own(database):
    apart = X + 1e8 * (LABELS == "top")[:, None]
    fill(database, X=apart)
    moments = database.summarize("t", target="y", features=NAMES)
    assert distance(moments, Moments.of(apart, LABELS, feature_names=NAMES)) < SCALED


@pytest.mark.parametrize("weight", [None, "w"])
def test_one_row_and_a_constant_column_have_no_scatter(database, weight, tmp_path):
    # A third of 0.1 is no float, and neither is the sum of many.
    flat = np.column_stack([X[:, 0], np.full(N, 0.1)])
    labels = np.where(np.arange(N) == 7, "rare", "usual")
    weights = np.full(N, 1 / 3)
    fill(database, X=flat, labels=labels, weight=weights, names=["a", "b"])
    moments = database.summarize("t", target="y", features=["a", "b"], weight=weight)
    expected = Moments.of(flat, labels, weights if weight else None, feature_names=["a", "b"])
    assert distance(moments, expected) < SCALED
    assert not moments.by_class["rare"].scatter.any()
    assert not moments.by_class["usual"].scatter[1].any()
    moments.save(tmp_path / "a.moments")
    assert Moments.load(tmp_path / "a.moments") == moments


def test_a_wide_table_takes_several_statements(database):
    d = 60
    wide = RNG.normal(100.0, 1.0, (150, d)) @ RNG.normal(size=(d, d))
    labels, weight = np.arange(150) % 2, RNG.uniform(0, 2, 150)
    names = [f"column {i}" for i in range(d)]
    fill(database, X=wide, labels=labels, weight=weight, label_type="INTEGER", names=names)
    queries = moments_sql("t", "y", names, dialect=database.dialect, weight="w")
    assert len(queries.second(database.ask(queries.first))) == 2
    moments = database.summarize("t", target="y", features=names, weight="w")
    assert distance(moments, Moments.of(wide, labels, weight, feature_names=names)) < SCALED


def test_only_the_rows_that_meet_a_condition_count(database):
    fill(database)
    kept = (X[:, 0] > 0) | (X[:, 1] > 53)
    condition = "a > 0 OR b > 53 -- of these"
    moments = database.summarize("t", target="y", features=NAMES, weight="w", where=condition)
    expected = Moments.of(X[kept], LABELS[kept], WEIGHT[kept], feature_names=NAMES)
    assert distance(moments, expected) < SCALED


def test_a_row_of_weight_zero_is_not_looked_at(database):
    rows = [[1.0, 1], [2.0, 1], [4.0, 1], [None, 0]]
    database.fill("t", {"x": "DOUBLE PRECISION", "w": "INTEGER"}, rows)
    database.connection.execute("ALTER TABLE t ADD COLUMN y INTEGER")
    database.connection.execute("UPDATE t SET y = 5 WHERE w > 0")  # and no label where it is zero
    moments = database.summarize("t", target="y", features=["x"], weight="w")
    expected = Moments.of([[1.0], [2], [4]], [5] * 3, [1.0] * 3, feature_names=["x"])
    assert distance(moments, expected) < SCALED


def test_whole_and_decimal_columns_are_numbers(database):
    types = {"y": "BOOLEAN", "i": "BIGINT", "d": "DECIMAL(20, 10)", "f": "REAL"}
    rows = [[k % 3 == 0, k + 2**40, Decimal(k) / 1024 + 10**8, k / 4 + 10.0**5] for k in range(40)]
    database.fill("t", types, rows)
    moments = database.summarize("t", target="y", features=["i", "d", "f"])
    numbers = np.array([[float(value) for value in row[1:]] for row in rows])
    expected = Moments.of(numbers, [row[0] for row in rows], feature_names=["i", "d", "f"])
    assert distance(moments, expected) < SCALED


# ── labels and names ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "given", "kept"),
    [
        ("TEXT", ["1", "0"], ["0", "1"]),
        ("INTEGER", [3, -10], [-10, 3]),
        ("BIGINT", [2**62 + 1, 2**62], [2**62, 2**62 + 1]),
        ("BOOLEAN", [True, False], [False, True]),
        ("DOUBLE PRECISION", [0.1, -2.5], [-2.5, 0.1]),
        ("DECIMAL(4, 1)", [Decimal(1), Decimal(0)], [0, 1]),
        ("DECIMAL(4, 1)", [Decimal("1.5"), Decimal(0)], [0.0, 1.5]),
    ],
)
def test_labels_keep_their_type(database, kind, given, kept):
    labels = [given[i % 5 == 0] for i in range(N)]
    fill(database, labels=labels, label_type=kind)
    moments = database.summarize("t", target="y", features=NAMES)
    plain = np.array(labels).astype(type(kept[0]))
    assert distance(moments, Moments.of(X, plain, feature_names=NAMES)) < SCALED
    assert [type(label) for label in moments.classes.tolist()] == [type(label) for label in kept]
    assert moments.classes.tolist() == kept


def test_odd_names_and_labels_in_a_schema(database):
    names = ["x " + name for name in ODD_NAMES]
    rows = RNG.normal(size=(70, len(names)))
    labels = np.array(ODD_LABELS)[np.arange(70) % len(ODD_LABELS)]
    database.connection.execute('CREATE SCHEMA "My ""Sales"""')
    types = {"The.Label": "TEXT"} | dict.fromkeys(names, "DOUBLE PRECISION")
    table = '"My ""Sales"""."Orders.2024"'
    database.fill(table, types, [[str(y), *x.tolist()] for y, x in zip(labels, rows, strict=True)])
    roles = {"target": "The.Label", "features": names}
    moments = database.summarize(('My "Sales"', "Orders.2024"), **roles)
    assert distance(moments, Moments.of(rows, labels, feature_names=names)) < SCALED


def test_labels_of_an_enumeration(database):
    database.connection.execute("CREATE TYPE level AS ENUM ('top', 'mid', 'low')")
    fill(database, label_type="level")
    moments = database.summarize("t", target="y", features=NAMES)
    assert distance(moments, Moments.of(X, LABELS, feature_names=NAMES)) < SCALED


# ── every dialect ─────────────────────────────────────────────────────────────────────────────────


@each_dialect
@pytest.mark.parametrize("weight", [None, "the weight"])
def test_every_dialect_parses_and_means_the_same(duck, dialect, weight):
    """What a parser of the dialect understands, told to DuckDB, gives the moments."""
    names = ["x " + name for name in ODD_NAMES]
    rows = RNG.normal(1e6, 1.0, (70, len(names)))
    labels = np.array(ODD_LABELS)[np.arange(70) % len(ODD_LABELS)]
    weights = RNG.choice([0.0, 0.5, 2.0], 70)
    types = {"la bel": "TEXT", "the weight": "DOUBLE"} | dict.fromkeys(names, "DOUBLE")
    duck.connection.execute('CREATE SCHEMA "My Sales"')
    content = zip(labels.tolist(), weights.tolist(), *rows.T.tolist(), strict=True)
    duck.fill('"My Sales"."Orders"', types, list(content))

    queries = moments_sql("My Sales.Orders", "la bel", names, dialect=dialect, weight=weight)
    first = duck.ask(in_duckdb(queries.first, dialect))
    second = [duck.ask(in_duckdb(text, dialect)) for text in queries.second(first)]
    moments = Moments.from_sql_rows(first, second, names)
    given = weights if weight else None
    assert distance(moments, Moments.of(rows, labels, given, feature_names=names)) < SCALED


def in_duckdb(text, dialect):
    (tree,) = sqlglot.parse(text, dialect=dialect)
    assert isinstance(tree, exp.Select)
    return tree.sql(dialect="duckdb")


@each_dialect
@pytest.mark.parametrize("label", [True, 3, 2.5, Decimal("1.50"), "a'b\\c\n", np.int64(3)])
def test_every_dialect_writes_every_kind_of_label(dialect, label):
    queries = moments_sql("t", "y", ["x"], dialect=dialect)
    (statement,) = queries.second([(label, 2, 2, 2, 2, 0.5, 0, 1, 2, 2)])
    tree = sqlglot.parse_one(statement, dialect=dialect)
    (case,) = tree.find_all(exp.Case)
    written = case.args["ifs"][0].this.expression
    is_cast = isinstance(written, exp.Cast)
    value = (written.this if is_cast else written).to_py()
    assert (float(value) if is_cast else value) == label
    # A number with a point is a decimal, but in SQLite, which has floats only.
    assert is_cast == (isinstance(label, float) and dialect != "sqlite")
    assert isinstance(value, bool) == isinstance(label, bool)


def test_what_parsers_forgive_and_databases_do_not():
    def both(dialect):
        queries = moments_sql("t", "y", ["x"], dialect=dialect)
        return queries.first + queries.second([("two\nlines", 2, 2, 2, 2, 0.5, 0, 1, 2, 2)])[0]

    assert r"'two\nlines'" in both("bigquery")  # which has no line breaks in text
    assert "CAST(`x` AS Nullable(Float64))" in both("clickhouse")  # Float64 would refuse a NULL
    assert "CAST('5.0000000000000000e-01' AS DOUBLE)" in both("snowflake")  # or it is a decimal


@each_dialect
def test_no_statement_is_too_wide(dialect):
    names = [f"x{i}" for i in range(300)]
    queries = moments_sql("t", "y", names, dialect=dialect, weight="w")
    assert len(re.findall(r" AS dx_(?!x_|w\b)\w+,?\n", queries.first)) < 1664  # PostgreSQL's limit
    row = ["a", 5, 5.0, 5.0, 5, *([0.5, 0.0, 1.0, 5, 5] * 300)]
    statements = queries.second([row])
    sums = [re.findall(r"AS (dx_sum_\w+)", statement) for statement in statements]
    assert max(map(len, sums)) <= 1000
    assert len({name for names in sums for name in names}) == 300 + 300 * 301 // 2
    assert max(map(len, statements)) < 250_000  # ClickHouse reads 256 KiB


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([None, None, 1.0, 2.0], "NULL in 2 rows of column 'b': fill those values in, or leave"),
        ([1.0, None, 1.0, 2.0], "NULL in 1 row of column 'b': "),
        ([np.nan, 1.0, 1.0, np.nan], r"NaN, infinity or beyond 1e\+140 in 2 rows of column 'b'"),
        ([np.inf, 1.0, 1.0, 2.0], "infinity .* in 1 row of column 'b'"),
        ([1.0, 1.0, -np.inf, 2.0], "infinity .* in 1 row of column 'b'"),
        ([1.0, -1e141, 1.0, 2.0], r"beyond 1e\+140 in 1 row of column 'b'"),
        ([None, 1.0, 1.0, np.nan], "NULL in 1 row of column 'b'; NaN, .* in 1 row of column 'b'"),
    ],
)
@pytest.mark.parametrize("weight", [None, "w"])
def test_missing_values_are_counted_and_refused(database, values, words, weight):
    types = dict.fromkeys(["a", "b", "w"], "DOUBLE PRECISION") | {"y": "INTEGER"}
    rows = [[float(k), value, 1.0, k % 2] for k, value in enumerate(values)]
    database.fill("t", types, rows)
    with pytest.raises(ValueError, match="^the table holds .*" + words):
        database.summarize("t", target="y", features=["a", "b"], weight=weight)
    assert database.summarize("t", target="y", features=["a"], weight=weight).count == 4


def test_many_bad_columns_are_not_all_listed(duck):
    names = [f"x{i}" for i in range(8)]
    duck.fill("t", {"y": "TEXT"} | dict.fromkeys(names, "DOUBLE"), [["a"] + [None] * 8])
    with pytest.raises(ValueError, match="row of column 'x4'; and 3 more such columns: fill"):
        duck.summarize("t", target="y", features=names)


def test_a_missing_label_is_counted_and_refused(database):
    fill(database, labels=["a", None, None] * 40)
    with pytest.raises(ValueError, match="the table holds NULL in 80 rows of the target: "):
        database.summarize("t", target="y", features=NAMES)
    where = "y IS NOT NULL"
    assert database.summarize("t", target="y", features=NAMES, where=where).count == 40


@pytest.mark.parametrize("bad", [None, np.nan, np.inf, -1.0, 1e141])
def test_a_weight_that_is_none_is_counted_and_refused(database, bad):
    fill(database, labels=["a"] * N, weight=[bad, 0.0, 1.0] * 40)
    words = r"NULL, NaN, infinity, less than zero or beyond 1e\+140 in 40 rows of the weight: "
    with pytest.raises(ValueError, match=words):
        database.summarize("t", target="y", features=NAMES, weight="w")


def test_weights_beyond_their_range_are_refused(duck):
    fill(duck, weight=WEIGHT * 1e-150)
    with pytest.raises(ValueError, match=r"the weights of a class add up to .*: multiply all w"):
        duck.summarize("t", target="y", features=NAMES, weight="w")


def test_an_empty_result_is_refused(database):
    fill(database, weight=np.zeros(N))
    words = "the first query result has no rows: the table is empty, or `where` excludes every row"
    for roles in ({"where": "a > 1000"}, {"weight": "w"}):
        with pytest.raises(ValueError, match=words):
            database.summarize("t", target="y", features=NAMES, **roles)
    database.connection.execute("DELETE FROM t")
    with pytest.raises(ValueError, match=words):
        database.summarize("t", target="y", features=NAMES)


def test_a_target_of_dates_is_refused(database):
    fill(database, labels=["2024-01-01"] * N, label_type="DATE")
    with pytest.raises(TypeError, match=r"must be all numbers or all text; these are .* date"):
        database.summarize("t", target="y", features=NAMES)


def test_a_table_that_changes_between_the_queries_is_noticed(database):
    fill(database)
    queries = moments_sql("t", "y", NAMES, dialect=database.dialect)
    first = database.ask(queries.first)
    statements = queries.second(first)
    n = np.count_nonzero(LABELS == "low")
    database.connection.execute("INSERT INTO t VALUES ('low', 1, 1, 1, 1)")
    second = [database.ask(statement) for statement in statements]
    words = f"'low' has {n} rows in the first query result and {n + 1} rows in result 1 of the sec"
    with pytest.raises(ValueError, match=words):
        Moments.from_sql_rows(first, second, NAMES)
    database.connection.execute("DELETE FROM t WHERE y = 'low'")
    second = [database.ask(statement) for statement in statements]
    with pytest.raises(ValueError, match=r"and 0 rows in result 1 .*: the table has changed in"):
        Moments.from_sql_rows(first, second, NAMES)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"dialect": "mysql"}, ValueError, "no dialect 'mysql'; the dialects are duckdb, p"),
        ({"features": "abc"}, TypeError, "features must be a list of columns, not the text 'abc'"),
        ({"features": []}, ValueError, "can summarise 1 to 300 features, not 0"),
        ({"features": range(301)}, ValueError, "can summarise 1 to 300 features, not 301: choose"),
        ({"features": ["a", "a"]}, ValueError, "must be 2 different names"),
        ({"features": ["a", "y"]}, ValueError, "column 'y' has another role and cannot be a feat"),
        ({"weight": "a"}, ValueError, "column 'a' has another role and cannot be a feature"),
        ({"features": ["Y"]}, ValueError, "column 'Y' has another role and cannot be a feature"),
        ({"features": ["a", ""]}, SqlNameError, "feature 2 of 2 has an empty name, .*: rename"),
        ({"features": ["a", "A"]}, SqlNameError, "feature 1 and feature 2 would be one column"),
        ({"features": ["a", "\0"]}, SqlNameError, "feature 2 of 2 has a NUL character"),
        ({"target": ""}, SqlNameError, "the target has an empty name"),
        ({"weight": ""}, SqlNameError, "the weight has an empty name"),
        (
            {"features": ["a" * 63, "a" * 64], "dialect": "postgres"},
            SqlNameError,
            "cuts names to 63 bytes",
        ),
        ({"table": "sales."}, ValueError, r"the name of a table has an empty part: 'sales\.'"),
        ({"table": ()}, ValueError, "the name of a table has an empty part"),
    ],
)
def test_queries_that_cannot_be_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        moments_sql(**{"table": "t", "target": "y", "features": ["a"]} | arguments)


# ── rows that come back by other ways ─────────────────────────────────────────────────────────────


FIRST = [("fine", 4, 4.0, 4.0, 4, 2.5, 1.0, 4.0, 4, 4), ("rare", 1, 1.0, 1.0, 1, 7.0, 7, 7, 1, 1)]
SECOND = [[(1, 1, 0.0, 0.0), (0, 4, 0.0, 5.0)]]
EXPECTED = Moments.of(
    [[1.0], [2], [3], [4], [7]], ["fine"] * 4 + ["rare"], feature_names=["x"], sample=0
)
FIRST_NAMES = [
    *("dx_label", "dx_count", "dx_weight", "dx_weight_sq", "dx_good_weight"),
    *("dx_mean_0", "dx_min_0", "dx_max_0", "dx_known_0", "dx_finite_0"),
]
SECOND_NAMES = ["dx_class", "dx_count", "dx_sum_0", "dx_sum_0_0"]


def named(names, rows, change=str):
    return [{change(name): value for name, value in zip(names, row, strict=True)} for row in rows]


def changed(rows, change):
    return [(row[0], *map(change, row[1:])) for row in rows]


class Keyed:
    """A row that knows its columns but is no mapping, as some drivers have it."""

    def __init__(self, content):
        self.keys = content.keys
        self.content = content

    def __getitem__(self, name):
        return self.content[name]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (FIRST, SECOND),
        (FIRST[::-1], [SECOND[0][::-1]]),
        ([list(row) for row in FIRST], SECOND),
        (named(FIRST_NAMES, FIRST), [named(SECOND_NAMES, SECOND[0])]),
        (named(FIRST_NAMES, FIRST, str.upper), [named(SECOND_NAMES, SECOND[0], str.upper)]),
        (map(Keyed, named(FIRST_NAMES, FIRST)), [map(Keyed, named(SECOND_NAMES, SECOND[0]))]),
        (changed(FIRST, str), [changed(SECOND[0], str)]),
        (changed(FIRST, Decimal), [changed(SECOND[0], Decimal)]),
    ],
    ids=["tuples", "reversed", "lists", "names", "upper case", "keyed", "text", "decimals"],
)
def test_rows_may_come_in_many_forms(first, second):
    assert Moments.from_sql_rows(first, second, ["x"]) == EXPECTED


def test_a_single_value_has_no_scatter_even_where_it_came_back_rounded():
    first = [FIRST[0], ("rare", 1, 1, 1, 1, "7.1", "7.1", "7.1", 1, 1)]
    second = [[(0, 4, 0.0, 5.0), (1, 1, -0.1, 0.0101)]]
    moments = Moments.from_sql_rows(first, second, ["x"])
    assert moments.by_class["rare"].mean == 7.0
    assert moments.by_class["rare"].scatter == 0.0


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_means_need_only_be_near(database, weight):
    fill(database)
    queries = moments_sql("t", "y", NAMES, dialect=database.dialect, weight=weight)
    first = [list(row) for row in database.ask(queries.first)]
    for row in first:
        for i in range(3):
            row[5 + 5 * i] += 0.3 - 0.1 * i
    second = [database.ask(statement) for statement in queries.second(first)]
    moments = Moments.from_sql_rows(first, second, NAMES)
    given = WEIGHT if weight else None
    assert distance(moments, Moments.of(X, LABELS, given, feature_names=NAMES)) < SCALED


@pytest.mark.parametrize(
    ("first", "second", "error", "words"),
    [
        (["fine"], SECOND, TypeError, "a row of the first query result must have columns, .* str"),
        ([5], SECOND, TypeError, "a row of the first query result must have columns, .* int"),
        (FIRST, SECOND[0], ValueError, "is 1 statements, and there are 2 results: give a list"),
        (FIRST, [], ValueError, "is 1 statements, and there are 0 results"),
        (SECOND[0], SECOND, ValueError, "row of the first query result has 4 columns, not the 10"),
        (FIRST, [FIRST], ValueError, "result 1 of the second query has 10 columns, not the 4 of"),
        ([{"n": 1}], SECOND, ValueError, "the first query result lacks the column 'dx_label'; "),
        (FIRST[:1] * 2, SECOND, ValueError, "two rows for one class: .'fine', 'fine'."),
        (FIRST[:1], SECOND, ValueError, "result 1 of the second query has more classes than that"),
        (FIRST, [[(1, 1, 0, 0), (0, 4, 0, np.inf)]], ValueError, "holds sums that are not finite"),
        (FIRST, [[(1, 1, 0, 0), (0, 4, 0, None)]], ValueError, "holds sums that are not finite"),
        (
            [(*FIRST[0][:5], np.inf, *FIRST[0][6:])],
            SECOND,
            ValueError,
            "the mean of column 'x' overflowed: rescale it, or the weights",
        ),
    ],
)
def test_results_that_do_not_fit_are_refused(first, second, error, words):
    with pytest.raises(error, match=words):
        Moments.from_sql_rows(first, second, ["x"])


# ── connections ───────────────────────────────────────────────────────────────────────────────────


def test_a_cursor_serves_as_a_connection(database):
    fill(database)
    cursor = database.connection.cursor()
    roles = {"target": "y", "features": NAMES, "dialect": database.dialect}
    assert summarize_sql(cursor, "t", **roles).count == N


def test_rows_may_be_dictionaries(postgres):
    with psycopg.connect(**postgres, row_factory=psycopg.rows.dict_row) as connection:
        fill(Database("postgres", connection, "%s"))
        roles = {"target": "y", "features": NAMES, "dialect": "postgres"}
        moments = summarize_sql(connection, "t", **roles)
        connection.rollback()
    assert distance(moments, Moments.of(X, LABELS, feature_names=NAMES)) < SCALED


def test_what_only_this_connection_sees_can_be_summarised(duck):
    fill(duck, table="everyone")
    duck.connection.execute("CREATE TEMP TABLE t AS FROM everyone")
    assert duck.summarize("t", target="y", features=NAMES).count == N


def test_only_the_cursor_that_was_opened_is_closed():
    closed = []
    rows = iter([FIRST, *SECOND])
    cursor = SimpleNamespace(
        execute=lambda _: None, fetchall=lambda: next(rows), close=lambda: closed.append(1)
    )
    connection = SimpleNamespace(cursor=lambda: cursor)
    assert summarize_sql(connection, "t", target="y", features=["x"], sample=0) == EXPECTED
    assert closed == [1]
    rows = iter([FIRST, *SECOND])
    assert summarize_sql(cursor, "t", target="y", features=["x"], sample=0) == EXPECTED
    assert closed == [1]
