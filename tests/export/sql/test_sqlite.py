"""SQLite scores as Python does; it is in the standard library, so that nothing is skipped."""

import sqlite3
from contextlib import closing
from datetime import date

import numpy as np
import pandas as pd
import pytest

from directrix import Binner, ScorecardClassifier
from directrix.cards.card import Card
from directrix.engines.sql_dialects import DIALECTS
from directrix.export import cells_to_sql, to_sql
from directrix.export.sql_writer import SqlWriter
from directrix.tables import LevelBins, NumberBins

KEY = "row id"
TEXTS = ["", "it's", '"', "`", "\\", "a\nb", "e\u0301", "😀", "NULL", "yes ", "nul\0nul", "\0"]


def run(statement, table, types=None):
    """Return the rows of a query of a table ``t``; dates are text, for lack of a type."""
    named = [f"{DIALECTS['sqlite'].name(name)} {(types or {}).get(name, '')}" for name in table]
    columns = [
        [None if pd.isna(each) else _plain(each) for each in table[name].tolist()] for name in table
    ]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(named)})")
        values = ", ".join("?" * len(named))
        connection.executemany(f"INSERT INTO t VALUES ({values})", zip(*columns, strict=True))  # noqa: S608
        return connection.execute(statement).fetchall()


def _plain(value):
    return str(value) if isinstance(value, date) else value


def test_lines_score_as_the_estimator(linear, many_rows, answer):
    X = many_rows(linear)[:2_000]
    names = getattr(linear, "feature_names_in_", [f"x{k}" for k in range(X.shape[1])])
    table = pd.DataFrame(X, columns=list(names)).assign(**{KEY: np.arange(len(X))})
    sql = to_sql(linear, dialect="sqlite", columns=list(names))
    result = run(sql.select("t", keep=[KEY]), table)
    score, probability, label = answer(linear, X)
    found = np.array([row[1:-1] for row in result], dtype=float)
    np.testing.assert_allclose(found[:, 0], score, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[:, 1], probability, rtol=0, atol=1e-12)
    assert [row[-1] for row in result] == label.tolist()


@pytest.fixture(scope="module")
def odd():
    """Return rows of every kind of column, with values at and beside the cuts of a binner."""
    rng = np.random.default_rng(0)
    n = 600
    micro = rng.integers(-(10**15), 10**15, n)
    numbers = [*rng.normal(size=20), np.inf, -np.inf, np.nan, -999, 5e-324, 3e-310, -0.0, 1e300]
    table = pd.DataFrame(
        {
            "number": rng.choice(numbers, n),
            'a "b`': rng.integers(-5, 5, n),
            "text": rng.choice(np.array(TEXTS, dtype=object), n),
            "mixed": rng.choice(np.array(["2", "2.5", "x", "0.1"], dtype=object), n),
            "flag": rng.random(n) < 0.5,
            "day": micro.astype("M8[us]").astype("M8[D]").astype(object),
            "at": micro.astype("M8[us]"),
            "zoned": pd.to_datetime(micro, unit="us", utc=True).tz_convert("Asia/Kolkata"),
        }
    )
    for name in ("text", "day", "at", "zoned"):
        table.loc[rng.random(n) < 0.1, name] = None
    special = {"number": [-999], "day": [date(2020, 1, 1)]}
    return table, Binner(max_bins=16, min_level_rows=1, special_values=special).fit(table)


def test_cells_are_those_of_the_binner(odd):
    table, binner = odd
    cases = ", ".join(cells_to_sql(binner, dialect="sqlite").values())
    found = np.array(run(f"SELECT {cases} FROM t", table))  # noqa: S608
    np.testing.assert_array_equal(found, binner.cells(table))
    assert len(np.unique(found)) > 10


def test_reasons_and_points_are_those_of_a_card(odd):
    table, binner = odd
    y = (table["text"].isin(["it's", "", "\0"]) + table["flag"] + np.arange(len(table)) % 3) > 1
    card = ScorecardClassifier("auc", binner=binner, cv=2, max_lines=None, warn_baseline=False).fit(
        table, y
    )
    sql = to_sql(card, dialect="sqlite")
    result = run(sql.select("t", keep=[KEY], reasons=2), table.assign(**{KEY: range(len(table))}))
    found = pd.DataFrame(result)
    np.testing.assert_array_equal(found[1], card.predict_points(table))
    np.testing.assert_array_equal(found[2], card.decision_function(table))
    np.testing.assert_array_equal(found[[5, 6]].fillna(""), card.reasons(table, 2).texts)


def test_numbers_in_a_column_of_levels_are_their_texts():
    bins = LevelBins("t", ("2", "2.5", "1e-05", "x"))
    case = SqlWriter("sqlite").case(bins, ["0", "1", "2", "3", "4", "5"], "`t`")
    values = [2, 2.0, 2.5, 1e-5, "2.5", "x", "2.0", None, 7.0]
    table = pd.DataFrame({"t": np.array(values, dtype=object)})
    assert [row[0] for row in run(f"SELECT {case} FROM t", table)] == [2, 2, 3, 4, 3, 5, 1, 0, 1]  # noqa: S608


def test_a_column_that_ignores_case_is_compared_with_case():
    case = SqlWriter("sqlite").case(LevelBins("t", ("yes", "no")), ["0", "1", "2", "3"], "`t`")
    table = pd.DataFrame({"t": ["yes", "YES", "no", "No"]})
    found = run(f"SELECT {case} FROM t", table, {"t": "TEXT COLLATE NOCASE"})  # noqa: S608
    assert [row[0] for row in found] == [2, 1, 3, 1]


def test_a_column_that_is_not_there_is_an_error_and_not_a_text(fitted):
    sql = to_sql(fitted("one_feature"), dialect="sqlite", columns=["missing"])
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        run(sql.select("t"), pd.DataFrame({"x": [1.0]}))


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e-300, 1e-310, 1e300])
def test_literals_are_exact(scale):
    numbers = np.random.default_rng(1).normal(size=400) * scale
    written = ", ".join(map(DIALECTS["sqlite"].double, [*numbers, 5e-324, 0.0, -5e-324]))
    (found,) = run(f"SELECT {written}", pd.DataFrame({"x": [1.0]}))
    np.testing.assert_array_equal(found, [*numbers, 5e-324, 0.0, -5e-324])


def test_thousands_of_columns_are_not_nested_too_deeply():
    n = 3_000
    bins = NumberBins("x", "number", (1.0, 2.0), (0.0,) * 3)
    card = Card(0.0, (np.array([0.0, 1.5, 2.0, 3.0]),) * n, (), (bins,) * n)
    sql = SqlWriter("sqlite").points(card, ["x"] * n)
    assert run(f"SELECT {sql} FROM t", pd.DataFrame({"x": [1.0, 5.0]})) == [(1.5 * n,), (3.0 * n,)]  # noqa: S608
