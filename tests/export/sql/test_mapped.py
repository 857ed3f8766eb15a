"""A model of mapped features scores the raw table in SQL, with texts, dates and missing values."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from directrix import MomentClassifier, summarize
from directrix.engines import HashFolds
from directrix.export import to_sql

N = 1200


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(0)
    town = rng.choice(["Köln", "it's", "2", "rare"], N, p=[0.5, 0.3, 0.195, 0.005])
    since = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 10**8, N), "s")
    table = pd.DataFrame({"amount": rng.lognormal(size=N), "town": town, "since": since})
    table["owner"] = pd.array(rng.random(N) < 0.3, dtype="boolean")
    risk = np.log(table["amount"]) + table["owner"].astype(float) + (town == "it's")
    table["status"] = np.where(risk + rng.logistic(size=N) > 1, "bad", "good")
    for start, name in enumerate(["amount", "town", "since", "owner"]):
        table.loc[start::9, name] = None  # missing
    return table


def model(loans, features, metric="auc"):
    summary = summarize(loans, target="status", features=features, fold=HashFolds(5))
    return MomentClassifier(metric, positive="bad").fit_summary(summary)


@pytest.mark.parametrize("features", ["linear", "splines"])
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_raw_rows_are_scored_as_by_the_model(loans, features, dialect):
    made, rows = model(loans, features), loans.assign(row=range(N))
    rows.loc[7, ["amount", "town"]] = [1e6, "a new town"]
    query = to_sql(made, dialect=dialect).select("loans", keep=["row"])
    if dialect == "duckdb":
        with pytest.importorskip("duckdb").connect() as database:
            database.register("loans", rows)
            found = database.sql(query).df()
    else:
        texts = rows.assign(since=rows["since"].astype(str).where(rows["since"].notna(), None))
        with closing(sqlite3.connect(":memory:")) as database:
            texts.to_sql("loans", database, index=False)
            found = pd.read_sql(query, database)
    found = found.sort_values("row")
    np.testing.assert_allclose(found["score"], made.decision_function(rows), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        found["probability_bad"], made.predict_proba(rows)[:, 0], rtol=0, atol=1e-12
    )
    assert found["prediction"].tolist() == made.predict(rows).tolist()


def test_columns_are_those_of_the_raw_table(loans):
    made = model(loans[["amount", "town", "status"]], "linear")
    sql = to_sql(made, columns=["Amount (EUR)", "Place"])
    assert '"Amount (EUR)"' in sql.score
    assert '"amount"' not in sql.score
    with pytest.raises(ValueError, match="2 different names"):
        to_sql(made, columns=["one"])


def test_cosines_are_refused():
    rng = np.random.default_rng(1)
    rings = pd.DataFrame(rng.normal(size=(N, 2)), columns=["a", "b"])
    rings["status"] = np.where(rings["a"] * rings["b"] > 0, "bad", "good")
    made = model(rings, "cosines")
    assert made.report_.chosen.endswith("cosines")
    with pytest.raises(ValueError, match=r"cosines are not written in SQL: .*'auto'"):
        to_sql(made)
