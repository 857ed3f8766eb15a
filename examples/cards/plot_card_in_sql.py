"""
Score rows in a database with the SQL of a scorecard
====================================================

A scorecard is a sum of ``CASE`` expressions, so a database can compute it from raw columns, missing
values and texts that it has never seen included. The example exports a card, scores a table inside
the database of Python's standard library, and draws the bad rate by points from a single query.
"""

# %%
# A card with whole points
# ------------------------

import sqlite3

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from directrix import Binner, ScorecardClassifier
from directrix.displays import style
from directrix.export import to_sql

rng = np.random.default_rng(3)


def applicants(n):
    """Return applications, and whether the loan was bad."""
    table = pd.DataFrame(
        {
            "income": np.exp(rng.normal(8, 0.6, n)).round(),
            "age": rng.integers(19, 75, n),
            "late_payments": rng.poisson(0.6, n),
            "home": rng.choice(["owner", "parents", "rent"], n),
        }
    )
    table["income"] = table["income"].mask(rng.random(n) < 0.08)
    risk = np.abs(table.age - 47) / 5 - 1.5 * np.log(table.income.fillna(1500) / 3000)
    risk += table.late_payments + (table.home == "rent")
    return table, (risk + rng.logistic(size=n) > 5.5).to_numpy()


train, bad = applicants(3_000)
card = ScorecardClassifier(
    "recall@fpr=0.05",
    binner=Binner(max_bins=5),
    learn_from="counts",
    max_crosses=0,
    points="integer",
    monotone={"income": "decreasing", "late_payments": "increasing"},
    cv=3,
).fit(train, bad)

# %%
# The card as an expression
# -------------------------
# ``to_sql`` writes the dialects of DuckDB, PostgreSQL, BigQuery, Snowflake, Spark and ClickHouse.
# ``points``, ``score``, ``probability`` and ``prediction`` are expressions for your own queries,
# and ``select`` is a whole query. Bins with equal points share a condition.

sql = to_sql(card, dialect="duckdb")
print(sql.points)

# %%
# Score a table
# -------------
# SQLite is in the standard library, so that this example runs everywhere. It has no dialect of its
# own, but understands the points in that of DuckDB once it has the function ``isnan``; it stores
# NaN as NULL, so the function has nothing to do. All points are equal to those in Python, also for
# texts that the training rows did not have.

new, new_bad = applicants(20_000)
new.loc[::50, "home"] = "boat"
database = sqlite3.connect(":memory:")
database.create_function("isnan", 1, lambda _: False, deterministic=True)
new.assign(bad=new_bad).to_sql("applications", database, index_label="id")
query = f"SELECT id, home, {sql.points} AS points FROM applications"  # noqa: S608 - our own text
scored = pd.read_sql_query(query, database)
print(scored.head().to_string(index=False))
equal = scored["points"].to_numpy() == card.predict_points(new)
print(f"equal points in {equal.sum():,} of {len(equal):,} rows")

# %%
# The bad rate by points, from one query
# --------------------------------------
# Applicants above the cutoff are turned down.

query = f"""
    SELECT 5 * CAST(points / 5 AS INTEGER) AS bucket, COUNT(*) AS rows, AVG(bad) AS bad_rate
    FROM (SELECT bad, {sql.points} AS points FROM applications)
    GROUP BY bucket ORDER BY bucket
"""  # noqa: S608
buckets = pd.read_sql_query(query, database)
database.close()
print(buckets.round(3).to_string(index=False))
figure, (rate, rows) = plt.subplots(
    2, 1, figsize=(6.0, 4.6), layout="constrained", sharex=True, height_ratios=[2, 1]
)
rate.bar(buckets["bucket"] + 2, buckets["bad_rate"], width=4.6, color=style.VERMILION)
rows.bar(buckets["bucket"] + 2, buckets["rows"], width=4.6, color=style.BLUE)
for ax in (rate, rows):
    ax.axvline(card.card_.cutoff, color=style.BLACK, linestyle="--", label="cutoff")
style.finish(rate, "", "share of bad loans")
style.finish(rows, "points", "rows", columns=0)
figure.suptitle("Bad loans by points, computed in the database")
