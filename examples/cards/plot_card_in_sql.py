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
import pandas as pd

from directrix import Binner, ScorecardClassifier
from directrix.datasets import load_credit
from directrix.displays import style
from directrix.export import to_sql

loans, status = load_credit()
loans = loans[["account", "duration", "savings", "age", "housing"]]
bad = status == "bad"
card = ScorecardClassifier(
    "recall@fpr=0.1",
    binner=Binner(max_bins=5),
    max_crosses=0,
    monotone={"duration": "increasing", "age": "decreasing"},
    warn_baseline=False,
).fit(loans[::2], bad[::2])

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

new = loans[1::2].reset_index(drop=True)
new.loc[::50, "housing"] = "houseboat"
database = sqlite3.connect(":memory:")
database.create_function("isnan", 1, lambda _: False, deterministic=True)
new.assign(bad=bad[1::2]).to_sql("applications", database, index_label="id")
query = f"SELECT id, housing, {sql.points} AS points FROM applications"  # noqa: S608 - our own text
scored = pd.read_sql_query(query, database)
print(scored.head().to_string(index=False))
equal = scored["points"].to_numpy() == card.predict_points(new)
print(f"equal points in {equal.sum():,} of {len(equal):,} rows")

# %%
# The bad rate by points, from one query
# --------------------------------------
# Applicants above the cutoff are turned down.

query = f"""
    SELECT 20 * CAST(points / 20 AS INTEGER) AS bucket, COUNT(*) AS rows, AVG(bad) AS bad_rate
    FROM (SELECT bad, {sql.points} AS points FROM applications)
    GROUP BY bucket ORDER BY bucket
"""  # noqa: S608
buckets = pd.read_sql_query(query, database)
database.close()
print(buckets.round(3).to_string(index=False))
figure, (rate, rows) = plt.subplots(
    2, 1, figsize=(6.0, 4.6), layout="constrained", sharex=True, height_ratios=[2, 1]
)
rate.bar(buckets["bucket"] + 10, buckets["bad_rate"], width=18, color=style.VERMILION)
rows.bar(buckets["bucket"] + 10, buckets["rows"], width=18, color=style.BLUE)
for ax in (rate, rows):
    ax.axvline(card.card_.cutoff, color=style.BLACK, linestyle="--", label="cutoff")
style.finish(rate, "", "share of bad loans")
style.finish(rows, "points", "rows", columns=0)
figure.suptitle("Bad loans by points, computed in the database")
