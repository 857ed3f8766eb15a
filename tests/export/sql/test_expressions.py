import io
from copy import copy, deepcopy
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import postgres_server
import pytest
import spark_cluster
import sqlglot
from sqlglot import exp

from directrix import MomentClassifier
from directrix.exceptions import SqlNameError
from directrix.export import to_sql

psycopg = pytest.importorskip("psycopg")

#: Of the score, relative to it where it is greater than one; of the probability.
CLOSE = 1e-9
KEY = "row id"

needs_spark = pytest.mark.skipif(
    spark_cluster.why_not() is not None, reason=str(spark_cluster.why_not())
)


def columns_of(classifier):
    names = getattr(classifier, "feature_names_in_", None)
    return [f"x {k}" for k in range(classifier.n_features_in_)] if names is None else list(names)


def frame(classifier, X):
    table = pd.DataFrame(X, columns=columns_of(classifier))
    table[KEY] = np.arange(len(X))
    return table


def query(classifier, dialect, table="t"):
    sql = to_sql(classifier, dialect=dialect, columns=columns_of(classifier))
    return sql.select(table, keep=[KEY])


def distances(result, expected):
    """Return the greatest distance of scores and of probabilities; labels must be equal."""
    result = sorted(map(tuple, result))
    _, scores, probability = np.array([row[:-1] for row in result], dtype=float).T
    labels = [row[-1] for row in result]
    assert labels == expected[2].tolist()
    assert {type(label) for label in labels} == {type(label) for label in expected[2].tolist()}
    return (
        float((np.abs(scores - expected[0]) / np.maximum(np.abs(expected[0]), 1.0)).max()),
        float(np.abs(probability - expected[1]).max()),
    )


@pytest.fixture(scope="module")
def postgres():
    programs = postgres_server.require_programs()
    with (
        postgres_server.server(programs) as address,
        psycopg.connect(**address, autocommit=True) as connection,
    ):
        yield connection


def fill_postgres(connection, table):
    columns = ", ".join('"' + name.replace('"', '""') + '" FLOAT8' for name in table.columns)
    connection.execute("DROP TABLE IF EXISTS t")
    connection.execute(f"CREATE TABLE t ({columns})")
    text = io.StringIO()
    table.to_csv(text, header=False, index=False)
    with connection.cursor().copy("COPY t FROM STDIN (FORMAT csv)") as copy:
        copy.write(text.getvalue())


def run_duckdb(statement, table):
    with duckdb.connect() as connection:
        connection.register("t", table)
        return connection.execute(statement).fetchall()


def test_duckdb_scores_as_the_estimator(linear, many_rows, answer, figure):
    X = many_rows(linear)
    result = run_duckdb(query(linear, "duckdb"), frame(linear, X))
    score, probability = distances(result, answer(linear, X))
    figure(f"SQL in DuckDB, {type(linear).__name__}: {score:.1e}, {probability:.1e}")
    assert max(score, probability) < CLOSE


def test_postgres_scores_as_the_estimator(linear, many_rows, answer, postgres, figure):
    X = many_rows(linear)
    fill_postgres(postgres, frame(linear, X))
    result = postgres.execute(query(linear, "postgres")).fetchall()
    score, probability = distances(result, answer(linear, X))
    figure(f"SQL in PostgreSQL, {type(linear).__name__}: {score:.1e}, {probability:.1e}")
    assert max(score, probability) < CLOSE


@needs_spark
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", ["odd_names", "text_labels", "whole_labels", "far", "wide"])
def test_spark_scores_as_the_estimator(name, fitted, many_rows, answer, spark, tmp_path, figure):
    classifier = fitted(name)
    X = many_rows(classifier)
    frame(classifier, X).to_parquet(tmp_path / "t.parquet")
    spark.read.parquet(str(tmp_path / "t.parquet")).createOrReplaceTempView("t")
    result = spark.sql(query(classifier, "spark")).collect()
    score, probability = distances(result, answer(classifier, X))
    figure(f"SQL in Spark, {name}: {score:.1e}, {probability:.1e}")
    assert max(score, probability) < CLOSE


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "clickhouse"])
def test_other_dialects_say_the_same(dialect, linear, many_rows, answer):
    # Parsed as what they are, and run as what DuckDB calls it.
    X = many_rows(linear)[:200]
    tree = sqlglot.parse_one(query(linear, dialect), read=dialect)
    result = run_duckdb(tree.sql(dialect="duckdb"), frame(linear, X))
    expected = answer(linear, X)
    assert max(distances(result, expected)) < CLOSE


@pytest.mark.parametrize(
    "dialect", ["duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse", "sqlite"]
)
def test_names_and_labels_are_quoted(dialect, fitted):
    named, labelled = fitted("odd_names"), fitted("text_labels")
    tree = sqlglot.parse_one(to_sql(named, dialect=dialect).score, read=dialect)
    columns = [column.name for column in tree.find_all(exp.Column)]
    assert sorted(columns) == sorted(named.feature_names_in_)
    sql = to_sql(labelled, dialect=dialect, columns=["a", "b", "c"])
    tree = sqlglot.parse_one(sql.prediction, read=dialect)
    texts = {literal.this for literal in tree.find_all(exp.Literal) if literal.is_string}
    assert set(labelled.classes_.tolist()) <= texts


def run_somewhere(where, statement, table, postgres):
    if where == "duckdb":
        return run_duckdb(statement, table)
    fill_postgres(postgres, table)
    return postgres.execute(statement).fetchall()


@pytest.mark.parametrize("where", ["duckdb", "postgres"])
def test_single_expressions_are_those_of_the_query(where, linear, many_rows, request):
    postgres = request.getfixturevalue("postgres") if where == "postgres" else None
    table = frame(linear, many_rows(linear)[:20])
    sql = to_sql(linear, dialect=where, columns=columns_of(linear))
    made = ", ".join([f'"{KEY}"', sql.score, sql.probability, sql.prediction])
    alone = run_somewhere(where, f"SELECT {made} FROM t", table, postgres)  # noqa: S608
    together = run_somewhere(where, sql.select("t", keep=[KEY]), table, postgres)
    assert sorted(alone) == sorted(together)


@pytest.mark.parametrize("where", ["duckdb", "postgres"])
@pytest.mark.parametrize("name", ["odd_names", "whole_labels"])
def test_null_gives_null_and_so_does_nan(where, name, fitted, request):
    postgres = request.getfixturevalue("postgres") if where == "postgres" else None
    classifier = fitted(name)
    sql = to_sql(classifier, dialect=where, columns=columns_of(classifier))
    table = frame(classifier, np.zeros((1, classifier.n_features_in_)))
    first = columns_of(classifier)[0].replace('"', '""')
    for value in ("NULL", "'NaN'", "'Infinity'"):
        others = ", ".join('"' + name.replace('"', '""') + '"' for name in table.columns[1:])
        view = f'SELECT CAST({value} AS DOUBLE PRECISION) AS "{first}", {others} FROM t'  # noqa: S608
        statement = sql.select("t", keep=[KEY]).replace('FROM "t"', f"FROM ({view}) AS u")
        ((_, *result),) = run_somewhere(where, statement, table, postgres)
        assert result[1:] == [None, None]
        if value == "NULL":
            assert result[0] is None


@needs_spark
def test_null_and_nan_give_null_in_spark(fitted, spark):
    classifier = fitted("whole_labels")
    sql = to_sql(classifier, dialect="spark", columns=["a", "b"])
    result = [
        spark.sql(
            sql.select("t").replace("FROM `t`", f"FROM (SELECT {value} AS a, 1.0 AS b)")
        ).collect()
        for value in ("NULL", "double('NaN')", "double('Infinity')")
    ]
    assert [tuple(row)[1:] for (row,) in result] == [(None, None)] * 3
    assert result[0][0].score is None


def test_a_column_without_coefficient_is_not_read(fitted):
    classifier = deepcopy(fitted("odd_names"))
    classifier.coef_[0, 2] = 0.0
    table = frame(classifier, np.zeros((1, 7))).astype(object)
    table[columns_of(classifier)[2]] = None
    ((_, score, probability, label),) = run_duckdb(query(classifier, "duckdb"), table)
    assert None not in (score, probability, label)


def test_numbers_are_doubles_with_all_digits():
    classifier = MomentClassifier(sample=0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    classifier.coef_[0, 0], classifier.intercept_[0] = 0.1 + 0.2, -1e-17
    sql = to_sql(classifier, columns=["x"])
    with duckdb.connect() as connection:
        given = "(SELECT CAST(1 AS DECIMAL(9, 2)) AS x) AS t"
        result = connection.execute(f"SELECT {sql.score}, typeof({sql.score}) FROM {given}")  # noqa: S608
        assert result.fetchall() == [(0.1 + 0.2 - 1e-17, "DOUBLE")]


def test_thousands_of_columns_are_not_nested_too_deeply(fitted):
    classifier = copy(fitted("one_feature"))
    weight = np.linspace(-1.0, 1.0, 3_000)
    classifier.coef_, classifier.n_features_in_ = weight[None], len(weight)
    ((_, score, _, _),) = run_duckdb(query(classifier, "duckdb"), frame(classifier, weight[None]))
    assert score == pytest.approx(weight @ weight + classifier.intercept_[0], rel=1e-12)


def test_schemas_and_columns_to_keep(fitted):
    sql = to_sql(fitted("one_feature"), columns=["x"], dialect="postgres")
    assert 'FROM "sales"."orders 2024"\n' in sql.select("sales.orders 2024")
    assert 'FROM "sales"."orders.2024"\n' in sql.select(("sales", "orders.2024"))
    assert sql.select("t", keep=['a"b']).startswith('SELECT\n  "a""b",\n')


#: Names of two columns that a database cannot tell apart, or cannot have, and the reason.
WRONG_NAMES = [
    ("duckdb", ["a", ""], "feature 2 of 2 has an empty name"),
    ("postgres", ["", "b"], "feature 1 of 2 has an empty name"),
    ("bigquery", ["", "b"], "feature 1 of 2 has an empty name"),
    ("snowflake", ["a", ""], "feature 2 of 2 has an empty name"),
    ("spark", ["a", ""], "feature 2 of 2 has an empty name"),
    ("clickhouse", ["a", ""], "feature 2 of 2 has an empty name"),
    ("postgres", ["a", "b\0c"], r"feature 2 of 2 has a NUL character in its name 'b\\x00c'"),
    ("duckdb", ["Age", "age"], "upper and lower case are the same"),
    ("bigquery", ["Age", "age"], "upper and lower case are the same"),
    ("postgres", ["a" * 63 + "b", "a" * 63 + "c"], "cuts names to 63 bytes"),
    ("postgres", ["ä" * 40 + "b", "ä" * 40 + "c"], "cuts names to 63 bytes"),
]


@pytest.mark.parametrize(("dialect", "names", "words"), WRONG_NAMES)
def test_names_that_no_column_can_have_are_refused(dialect, names, words, fitted):
    classifier = fitted("whole_labels")
    with pytest.raises(SqlNameError, match=words) as caught:
        to_sql(classifier, dialect=dialect, columns=names)
    assert "columns=[...]" in str(caught.value)


def test_a_name_that_is_not_written_may_be_any(fitted):
    classifier = copy(fitted("whole_labels"))
    line = classifier._result.line * [1.0, 0.0, 1.0]
    classifier._result = replace(classifier._result, line=line)
    assert '""' not in to_sql(classifier, columns=["a", ""]).prediction
    assert "Age" in to_sql(classifier, columns=["Age", "\ud800"]).prediction
    with pytest.raises(SqlNameError, match="feature 1 and feature 2 would be one column"):
        to_sql(classifier, columns=["Age", "age"])  # the database has one of them
    assert "Age" in to_sql(classifier, dialect="postgres", columns=["Age", "age"]).prediction


@pytest.mark.parametrize(
    ("dialect", "names"),
    [
        ("postgres", ["Age", "age"]),
        ("snowflake", ["Age", "age"]),
        ("clickhouse", ["Age", "age"]),
        ("duckdb", ["a" * 300 + "b", "a" * 300 + "c"]),
        ("duckdb", [" ", "two\nlines"]),
        ("postgres", ["--", "/* '"]),
    ],
)
def test_names_that_are_odd_and_different_are_written(dialect, names, fitted):
    sql = to_sql(fitted("whole_labels"), dialect=dialect, columns=names)
    parsed = sqlglot.parse_one(sql.select("t"), dialect=dialect)
    assert {column.name for column in parsed.find_all(exp.Column)} >= set(names)


def test_columns_to_keep_are_columns(fitted):
    sql = to_sql(fitted("one_feature"), columns=["x"])
    for keep, words in [
        ([""], "kept column has an empty name"),
        (["a", ""], "kept column 2 of 2 has an empty name"),
        (["id", "id"], "they are equal"),
        (["id", "ID"], "upper and lower case"),
        (["DX_score"], "would be there twice"),
    ]:
        with pytest.raises(ValueError, match=words):
            sql.select("t", keep=keep)


def test_what_is_refused(fitted):
    classifier = fitted("one_feature")
    sql = to_sql(classifier, columns=["x"])
    for wrong, words in [
        (lambda: to_sql(classifier), "without names of features: give columns="),
        (lambda: to_sql(classifier, columns=["a", "b"]), "1 different names"),
        (lambda: to_sql(classifier, columns=["x"], dialect="oracle"), "no dialect 'oracle'"),
        (lambda: sql.select("a..b"), "empty part"),
        (lambda: sql.select("t", keep=["Score"]), "twice"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong()
    with pytest.raises(TypeError, match="must be a list"):
        to_sql(classifier, columns="x")
    with pytest.raises(TypeError, match="must be a list"):
        sql.select("t", keep="x")
