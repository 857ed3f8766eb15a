"""Pipelines in SQL score as scikit-learn does."""

import io

import duckdb
import numpy as np
import pandas as pd
import pipeline_samples as samples
import postgres_server
import pytest
import spark_cluster
import sqlglot
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from directrix import MomentClassifier
from directrix.export import to_sql
from directrix.export.expressions import Binned, Clipped, Filled, Lookup, RawColumn
from directrix.export.sql_writer import SqlWriter
from directrix.tables import NumberBins

psycopg = pytest.importorskip("psycopg")

KEY = "key"
DIALECTS = ["duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse", "sqlite"]
pytestmark = pytest.mark.filterwarnings("ignore:Found unknown categories")


def run_duckdb(statement, table):
    with duckdb.connect() as connection:
        connection.register("t", table)
        return connection.execute(statement).fetchall()


def require_same(result, pipeline, frame):
    """Compare scores, probabilities and labels with those of the pipeline."""
    result = sorted(map(tuple, result))
    labels = [row[-1] for row in result]
    assert labels == pipeline.predict(frame).tolist()
    k, n_points = len(pipeline.classes_), hasattr(pipeline[-1], "cards_")
    k = 1 if k == 2 else k
    numbers = np.array([row[1:-1] for row in result], dtype=float)[:, n_points * k :]
    expected = pipeline.decision_function(frame).reshape(len(frame), -1)
    np.testing.assert_allclose(numbers[:, :k], expected, rtol=1e-9, atol=1e-9)
    probabilities = pipeline.predict_proba(frame)[:, -k:]
    np.testing.assert_allclose(numbers[:, k:], probabilities, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", list(samples.PIPELINES))
def test_duckdb_scores_as_the_pipeline(name):
    pipeline, new = samples.fitted(name), samples.rows(500, 7, new=True)
    sql = to_sql(pipeline)
    require_same(run_duckdb(sql.select("t", keep=[KEY]), new), pipeline, new)
    alone = run_duckdb(f"SELECT key, {', '.join(sql.scores)} FROM t", new[:40])  # noqa: S608
    expected = pipeline.decision_function(new[:40]).reshape(40, -1)
    np.testing.assert_allclose(np.array(alone)[:, 1:], expected, rtol=1e-9, atol=1e-9)


def test_postgres_scores_as_the_pipelines():
    programs = postgres_server.require_programs()
    new = samples.rows(300, 8, new=True)
    types = {name: "TEXT" if name in samples.TEXTS else "FLOAT8" for name in new.columns}
    columns = ['"{}" {}'.format(name.replace('"', '""'), types[name]) for name in new.columns]
    text = io.StringIO()
    new.to_csv(text, header=False, index=False)
    with (
        postgres_server.server(programs) as address,
        psycopg.connect(**address, autocommit=True) as connection,
    ):
        connection.execute(f"CREATE TABLE t ({', '.join(columns)})")
        with connection.cursor().copy("COPY t FROM STDIN (FORMAT csv)") as copy:
            copy.write(text.getvalue())
        for name in samples.PIPELINES:
            pipeline = samples.fitted(name)
            query = to_sql(pipeline, dialect="postgres").select("t", keep=[KEY])
            require_same(connection.execute(query).fetchall(), pipeline, new)
            # A condition on the key chooses rows before they are scored, and steps are not merged.
            view = f"SELECT * FROM ({query}) AS q WHERE key = 5"  # noqa: S608
            plan = [row[0] for row in connection.execute(f"EXPLAIN VERBOSE {view}").fetchall()]
            scan = next(k for k, line in enumerate(plan) if "Seq Scan on public.t" in line)
            assert any("Filter: (t.key =" in line for line in plan[scan:])
            assert any("Nested Loop" in line for line in plan[:scan])


@pytest.mark.skipif(spark_cluster.why_not() is not None, reason=str(spark_cluster.why_not()))
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", ["usual", "thermometers", "card after an imputer"])
def test_spark_scores_as_the_pipeline(name, spark, tmp_path):
    pipeline, new = samples.fitted(name), samples.rows(200, 9, new=True)
    new.to_parquet(tmp_path / "t.parquet")
    spark.read.parquet(str(tmp_path / "t.parquet")).createOrReplaceTempView("t")
    query = to_sql(pipeline, dialect="spark").select("t", keep=[KEY])
    require_same(spark.sql(query).collect(), pipeline, new)


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "clickhouse"])
@pytest.mark.parametrize("name", ["usual", "dropped and clipped", "ordinal, then three scalers"])
def test_other_dialects_say_the_same(dialect, name):
    # Parsed as what they are, and run as what DuckDB calls it.
    pipeline, new = samples.fitted(name), samples.rows(60, 9, new=True)
    query = to_sql(pipeline, dialect=dialect).select("t", keep=[KEY])
    tree = sqlglot.parse_one(query, read=dialect)
    require_same(run_duckdb(tree.sql(dialect="duckdb"), new), pipeline, new)


def value(expression, given, dialect="duckdb"):
    text = SqlWriter(dialect, ["x"]).feature(expression)
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {text} FROM (SELECT {given} AS x)").fetchone()[0]  # noqa: S608


X = RawColumn(0)


@pytest.mark.parametrize(
    ("expression", "given", "expected"),
    [
        (Filled(X, 2.5), "NULL", 2.5),
        (Filled(X, 2.5), "CAST('nan' AS DOUBLE)", 2.5),
        (Filled(X, 2.5), "7", 7.0),
        (Filled(X, "it's"), "NULL", "it's"),
        (Filled(X, "it's"), "''", ""),
        (Clipped(X, -1.0, 2.0), "NULL", None),
        (Clipped(X, -1.0, 2.0), "CAST('nan' AS DOUBLE)", None),
        (Clipped(X, -1.0, 2.0), "CAST('inf' AS DOUBLE)", 2.0),
        (Clipped(X, -1.0, 2.0), "-9", -1.0),
        (Clipped(X, -1.0, 2.0), "0.5", 0.5),
        (Lookup(X, ("a", "b"), (0.0, 1.0), 5.0, None), "'a'", 0.0),
        (Lookup(X, ("a", "b"), (0.0, 1.0), 5.0, None), "'c'", None),
        (Lookup(X, ("a", "b"), (0.0, 1.0), 5.0, None), "NULL", 5.0),
        (Lookup(X, (1.0, 2.0), (0.0, 1.0), None, -1.0), "2", 1.0),
        (Lookup(X, (1.0, 2.0), (0.0, 1.0), None, -1.0), "3", -1.0),
        (Lookup(X, (1.0, 2.0), (0.0, 1.0), None, -1.0), "CAST('nan' AS DOUBLE)", None),
        (Lookup(X, (False, True), (3.0, 4.0), 0.0, 0.0), "TRUE", 4.0),
        (Lookup(X, (False, True), (3.0, 4.0), 0.0, 0.0), "FALSE", 3.0),
        (Lookup(X, (), (), 1.0, 0.0), "'a'", 0.0),
        (Binned(X, NumberBins("x", "number", (1.0,), (0.0, 2.0)), (7.0, 8.0, 9.0)), "1", 8.0),
        (Binned(X, NumberBins("x", "number", (1.0,), (0.0, 2.0)), (7.0, 8.0, 9.0)), "NULL", 7.0),
    ],
    ids=repr,
)
def test_expressions_have_their_values(expression, given, expected):
    assert value(expression, given) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_and_texts_are_quoted(dialect):
    tree = sqlglot.parse_one(to_sql(samples.fitted("usual"), dialect=dialect).score, read=dialect)
    named = {column.name for column in tree.find_all(sqlglot.exp.Column)}
    assert named == {*samples.NUMBERS, *samples.TEXTS}
    texts = {literal.this for literal in tree.find_all(sqlglot.exp.Literal) if literal.is_string}
    assert set(samples.LEVELS["it's home"]) <= texts


def test_columns_without_influence_are_not_read():
    pipeline = samples.fitted("usual")
    features = pipeline[0].get_feature_names_out()
    of_job = np.array(["job" in name for name in features])
    pipeline[-1].coef_ = np.where(of_job, 0.0, pipeline[-1].coef_)
    sql = to_sql(pipeline)
    assert "job" not in sql.score
    assert "job" not in sql.select("t")


def test_columns_can_be_renamed_and_must_have_names():
    X = np.random.default_rng(0).normal(size=(40, 2))
    pipeline = make_pipeline(StandardScaler(), MomentClassifier(learn_from="moments"))
    pipeline.fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="without names of features: give columns="):
        to_sql(pipeline)
    with pytest.raises(ValueError, match="2 different names"):
        to_sql(pipeline, columns=["a"])
    with pytest.raises(TypeError, match="must be a list of names"):
        to_sql(pipeline, columns="ab")
    assert '"b c"' in to_sql(pipeline, columns=["a", "b c"]).score


def test_null_stays_null_in_a_line_without_an_imputer():
    frame = pd.DataFrame({"x": np.arange(40.0), "t": ["a", "b"] * 20})
    y = np.arange(40) > 19
    scaled = make_pipeline(StandardScaler(), MomentClassifier("auc", learn_from="moments"))
    scaled.fit(frame[["x"]], y)
    given = pd.DataFrame({"x": [None, 3.0]}, dtype=float)
    result = run_duckdb(to_sql(scaled).select("t"), given)  # NaN, which is not NULL to DuckDB
    assert result[0][1:] == (None, None)
    assert None not in result[1]
    # A category that would raise an error in Python gives NULL.
    encoder = OneHotEncoder(sparse_output=False, drop="first")
    encoded = make_pipeline(encoder, MomentClassifier("auc", learn_from="moments"))
    encoded.fit(frame[["t"]], np.arange(40) % 6 % 2 > 0)
    result = run_duckdb(to_sql(encoded).select("t"), pd.DataFrame({"t": ["a", "new", None]}))
    assert result[1:] == [(None, None, None)] * 2


def test_a_pipeline_must_end_with_a_classifier_of_directrix():
    X = np.arange(8.0)[:, None]
    pipeline = make_pipeline(SimpleImputer(), LogisticRegression()).fit(X, X[:, 0] > 3)
    with pytest.raises(TypeError, match="not LogisticRegression"):
        to_sql(pipeline, columns=["x"])
