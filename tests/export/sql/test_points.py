"""Cards in SQL give the points of Python; benchmarks.studies.card_exports compares more rows."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sqlglot")

import duckdb
import pyarrow as pa
import sqlglot

from benchmarks.studies.card_exports.compare import CARDS, difference, raw_rows
from directrix import Binner, ScorecardClassifier
from directrix.cards.card import Card, Cross
from directrix.estimators.scoring import ScoringFormula, Sigmoid
from directrix.exceptions import SqlNameError
from directrix.export import to_sql
from directrix.export.expressions import terms, used_features
from directrix.export.sql_writer import SqlWriter, has_integer_points
from directrix.tables import LevelBins, NumberBins

DIALECTS = ["duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse", "sqlite"]
NUMBER = NumberBins("x", "number", (1.0, 2.0), (0.0,) * 3)  # 4 cells
TEXT = LevelBins("t", ("a", "b", "c"))  # 5 cells


def answer(expression, table):
    with duckdb.connect() as connection:
        connection.register("t", table)
        return [row[0] for row in connection.execute(f"SELECT {expression} FROM t").fetchall()]  # noqa: S608


@pytest.mark.parametrize("database", ["DuckDB", "SQLite"])
@pytest.mark.parametrize("card", list(CARDS))
def test_databases_give_the_points_scores_and_labels_of_python(card, database):
    assert difference(card, f"SQL in {database}", raw_rows(3_000, 4, new=True)).is_close


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_can_be_parsed(dialect):
    classifier = CARDS["additive"]()
    tree = sqlglot.parse_one(to_sql(classifier, dialect=dialect).select("t", ["id"]), read=dialect)
    named = [column.name for column in tree.find_all(sqlglot.exp.Column)]
    assert set(named) >= set(classifier.feature_names_in_)


@pytest.fixture(scope="module")
def without_dates():
    """Return rows, and a card of columns that every dialect reads alike."""
    rows, y = raw_rows(600, 1, new=False).drop_columns(["opened", "at"]), np.arange(600) % 7
    binner = Binner(max_bins=8, special_values={'amount "€"': [-999]})
    card = ScorecardClassifier("auc", binner=binner, cv=2, max_crosses=1, max_lines=None)
    label = (rows.column(1).to_numpy() + 9 * y) > 60
    return raw_rows(300, 3, new=True).drop_columns(["opened", "at"]), card.fit(rows, label)


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "clickhouse"])
def test_other_dialects_say_the_same(dialect, without_dates):
    # Parsed as what they are, and run as what DuckDB calls it.
    rows, card = without_dates
    tree = sqlglot.parse_one(to_sql(card, dialect=dialect).points, read=dialect)
    np.testing.assert_array_equal(
        answer(tree.sql(dialect="duckdb"), rows), card.predict_points(rows)
    )


def test_single_expressions_are_those_of_the_query():
    classifier, rows = CARDS["integer"](), raw_rows(200, 9, new=True)
    sql = to_sql(classifier)
    with duckdb.connect() as connection:
        connection.register("t", rows)
        made = f"{sql.points}, {sql.score}, {sql.probability}, {sql.prediction}"
        alone = connection.execute(f"SELECT {made} FROM t").fetchall()  # noqa: S608
        together = connection.execute(sql.select("t")).fetchall()
        types = connection.execute(f"SELECT typeof({sql.points}), typeof({sql.score}) FROM t")  # noqa: S608
        assert types.fetchone() == ("INTEGER", "DOUBLE")
    assert alone == together


def test_a_line_has_no_points(fitted):
    with pytest.raises(ValueError, match=r"no points: use \.score"):
        to_sql(fitted("one_feature"), columns=["x"]).points  # noqa: B018


def points_sql(card, values, dialect):
    return SqlWriter(dialect).points(card, values)


def card_of(columns, crosses=(), bins=(), intercept=0.0):
    return Card(intercept, tuple(map(np.array, columns)), crosses, bins)


def test_columns_that_do_not_matter_are_not_read():
    flat = Cross((0, 2), (np.arange(4), np.arange(5)), np.full((4, 5), 3.0))
    # The points depend on the text only, and on a row of points that no cell of the number has.
    merged = np.zeros(4, dtype=int), np.array([0, 0, 1, 1, 0])
    of_text = Cross((0, 2), merged, np.array([[1.0, 2.0], [5.0, 7.0]]))
    columns = ([5.0] * 4, [0.25, 1.0, 1.0, 1.0], [2.0] * 5)
    card = card_of(columns, (flat, of_text), (NUMBER, NUMBER, TEXT), 0.5)
    formula = ScoringFormula(
        classes=(0, 1), features=None, card=card, response=Sigmoid(0.0, 1.0, 1.0)
    )
    assert used_features(formula) == {1, 2}
    assert [term.columns for term in terms(card)] == [(), (), (1,), (), (), (2,)]
    sql = points_sql(card, ["x0", "x1", "x2"], "duckdb")
    assert "x0" not in sql
    table = pa.table({"x1": [None, 0.0, 9.0], "x2": ["a", "c", "new"]})
    cells = np.array([[0, 0, 2], [3, 1, 4], [2, 3, 1]])
    assert answer(sql, table) == card.points(cells).tolist() == [12.75, 12.5, 12.5]


def test_a_card_that_depends_on_nothing_is_a_number():
    card = card_of([[3.0] * 4], bins=(NUMBER,), intercept=-5.0)
    assert points_sql(card, ["x"], "duckdb") == "(-2)"


def test_whole_numbers_are_integers_unless_their_sum_could_be_too_large():
    small = card_of([[1.0, 2.0, 3.0, 2.0**30]], bins=(NUMBER,))
    assert has_integer_points(small)
    assert points_sql(small, ["x"], "duckdb").endswith("THEN 3\n  ELSE 1073741824 END)")
    large = card_of([[1.0, 2.0, 3.0, 2.0**30]] * 2, bins=(NUMBER, NUMBER))
    assert not has_integer_points(large)
    assert not has_integer_points(replace(small, intercept=-(2.0**30)))
    assert not has_integer_points(replace(small, intercept=0.5))
    sql = points_sql(large, ["x", "x"], "duckdb")
    assert answer(sql, pa.table({"x": [5.0]})) == [2.0**31]


def test_texts_of_the_same_points_share_a_condition():
    card = card_of([[0.0, 1.0, 4.0, 4.0, 1.0]], bins=(TEXT,))
    sql = points_sql(card, ['"t"'], "postgres")
    assert "IN ('a', 'b') THEN 4" in sql
    assert "'c'" not in sql


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_texts_of_a_cross_are_written_once(order):
    points = np.arange(20.0).reshape(4, 5)
    points = points if order == (0, 1) else points.T
    merged = tuple(np.arange(size) for size in points.shape)
    cross = Cross(order, merged, points)
    card = card_of([[0.0] * 4, [0.0] * 5], (cross,), (NUMBER, TEXT))
    sql = points_sql(card, ["x", "s"], "duckdb")
    assert sql.count("'a'") == 1
    rows = {"x": [None, 1.0, 1.5, 3.0, 3.0], "s": ["a", None, "b", "c", "?"]}
    cells = np.array([[0, 2], [1, 0], [2, 3], [3, 4], [3, 1]])
    assert answer(sql, pa.table(rows)) == card.points(cells).tolist()


def test_thousands_of_columns_are_not_nested_too_deeply():
    n = 1_100
    card = card_of([[0.0, 1.5, 2.0, 3.0]] * n, bins=(NUMBER,) * n)
    sql = points_sql(card, ["x"] * n, "duckdb")
    assert answer(sql, pa.table({"x": [1.0, 5.0]})) == [1.5 * n, 3.0 * n]


def test_a_name_that_is_not_read_may_be_any():
    classifier, names = copy(CARDS["additive"]()), [f"c{k}" for k in range(7)]
    card = classifier.card_
    classifier.card_ = replace(card, columns=(*card.columns[:-1], np.full(2, 0.5)))
    with pytest.raises(SqlNameError, match="feature 1 of 7 has an empty name"):
        to_sql(classifier, columns=["", *names[1:]])
    assert '""' not in to_sql(classifier, columns=[*names[:-1], ""]).score
    with pytest.raises(SqlNameError, match="feature 1 and feature 7 would be one column, 'C0'"):
        to_sql(classifier, columns=[*names[:-1], "C0"])


def test_names_are_needed_and_points_are_a_column_of_the_query():
    classifier = copy(CARDS["additive"]())
    sql = to_sql(classifier)
    with pytest.raises(ValueError, match="'points' would be there twice"):
        sql.select("t", keep=["points"])
    del classifier.feature_names_in_
    with pytest.raises(ValueError, match="without names of features"):
        to_sql(classifier)


def test_a_cutoff_and_its_side_are_part_of_the_score():
    classifier = copy(CARDS["additive"]())
    card, rows = classifier.card_, raw_rows(50, 3, new=True)
    classifier.card_ = replace(card, cutoff=-0.3, higher_is_positive=False)
    sql = to_sql(classifier)
    np.testing.assert_array_equal(
        answer(sql.score, rows), -0.3 - card.points(classifier._cells(rows))
    )
    np.testing.assert_array_equal(answer(sql.points, rows), card.points(classifier._cells(rows)))
