"""Reasons of rows in SQL and in Python modules are those of the classifier."""

import numpy as np
import pytest

from directrix import Binner, ScorecardClassifier
from directrix.export import to_python, to_sql

pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")


@pytest.fixture(scope="module", params=[0, None], ids=["additive", "crosses"])
def fitted(request):
    rng = np.random.default_rng(3)
    n = 900
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "wealth": np.exp(rng.normal(8, 2, n)),
            "since": np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("m8[D]"),
            "home": rng.choice(["o'wn", "rent; no", "boat", "tent"], n, p=[0.4, 0.4, 0.19, 0.01]),
            "member": rng.random(n) < 0.5,
        }
    )
    table.loc[::9, "age"] = np.nan
    table.loc[::10, "age"] = -999.0
    table.loc[::7, "wealth"] = np.nan
    risk = np.abs(table.age.fillna(70).clip(18) - 45) / 9 + (table.wealth < 1000)
    risk += 2 * ((table.home == "boat") ^ table.member)
    y = np.where(risk + rng.normal(size=n) > 4, "bad", "good")
    binner = Binner(max_bins=8, special_values=[-999.0], missing_with={"wealth": 2000.0})
    options = {"cv": 2, "max_lines": None, "points": "pdo"}
    card = ScorecardClassifier(
        "auc", positive="bad", binner=binner, max_crosses=request.param, **options
    ).fit(table, y)
    assert bool(card.card_.crosses) == (request.param is None)
    rows = table.iloc[:300].copy()
    rows.loc[::11, "home"] = "never seen"
    rows.loc[::13, "since"] = pd.NaT
    return card, rows


def test_a_query_has_the_reasons_of_every_row(fitted):
    card, rows = fitted
    expected = card.reasons(rows, 3).texts
    query = to_sql(card).select("numbered", ["id"], reasons=3)
    with duckdb.connect() as connection:
        connection.register("numbered", rows.assign(id=np.arange(len(rows))))
        found = connection.sql(query).df().sort_values("id")
    reasons = found[["reason_1", "reason_2", "reason_3"]].fillna("").to_numpy()
    assert (expected != "").any(axis=0).all()
    assert (expected == "").any()
    np.testing.assert_array_equal(reasons, expected)
    assert found["prediction"].tolist() == card.predict(rows).tolist()


@pytest.mark.parametrize(
    "dialect", ["postgres", "bigquery", "snowflake", "spark", "clickhouse", "duckdb", "sqlite"]
)
def test_every_dialect_can_be_parsed(fitted, dialect):
    sqlglot = pytest.importorskip("sqlglot")
    query = to_sql(fitted[0], dialect=dialect).select("t", reasons=2)
    (parsed,) = sqlglot.parse(query, read=dialect)
    assert [column.alias for column in parsed.expressions][-2:] == ["reason_1", "reason_2"]


def test_a_module_has_the_reasons_of_every_row(fitted):
    card, rows = fitted
    scope = {}
    exec(to_python(card, reasons=True), scope)  # noqa: S102 - our own text
    expected = card.reasons(rows, 3)
    for k, row in enumerate(rows.to_dict("records")):
        found = scope["reasons"](row, 3)
        kept = expected.losses[k] > 0
        assert [reason["column"] for reason in found] == expected.columns[k][kept].tolist()
        assert [reason["bin"] for reason in found] == expected.bins[k][kept].tolist()
        assert [reason["points_lost"] for reason in found] == expected.losses[k][kept].tolist()


def test_no_reasons_unless_asked_for(fitted):
    assert "reason" not in to_python(fitted[0])
    assert "reason" not in to_sql(fitted[0]).select("t")


@pytest.mark.filterwarnings("ignore::directrix.exceptions.TableWarning")  # one column tells
def test_lines_have_none():
    from directrix import MomentClassifier

    X = np.random.default_rng(0).normal(size=(90, 2))
    line = MomentClassifier(sample=0).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="only a card has reasons"):
        to_python(line, reasons=True)
    with pytest.raises(ValueError, match="only a card has reasons"):
        to_sql(line, columns=["a", "b"]).select("t", reasons=1)
