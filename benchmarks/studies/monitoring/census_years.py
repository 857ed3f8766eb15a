"""A card of 1994 on rows of 1994 and of 1995, of a survey that was made in both years.

``python -m benchmarks.studies.monitoring.census_years`` fits a card to rows of the table
``census_income`` of one year, gives a monitor other labelled rows of that year as the reference,
and checks days of new rows of both years.

Some columns of this survey were asked in one year only, and are missing in the other. They are the
drift that is known to be there; cards without them show what else has changed.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np

from benchmarks.harness.data import load_table
from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit, commits_of, mean_of, select
from benchmarks.harness.runner import Part, Study, quiet
from directrix import ScorecardClassifier
from directrix.monitoring import Monitor, summarize_day

TABLE, YEAR, FIRST, METRIC = "census_income", "year", "94", "recall@fpr=0.05"
#: Asked in one year only.
ASKED_ONCE = (
    *("migration", "region_previous", "state_previous", "lived_here_a_year", "employment_status"),
)
ALL, COMPARABLE = "all columns", "columns of both years"
CHOICES = (ALL, COMPARABLE)
TRAINING, REFERENCE, DAY, DAYS = 40_000, 60_000, 2_000, 20


@cache
def rows_of(columns: str) -> dict[str, tuple[Any, Any]]:
    """Return the rows of each year in random order, without the year itself."""
    X, y = load_table(TABLE)
    order = np.random.default_rng(0).permutation(len(y))
    years = X[YEAR].to_numpy()[order]
    left = [name for name in X if name == YEAR or _once(name, columns)]
    X, y = X.drop(columns=left).iloc[order], y[order]
    return {year: (X[years == year], y[years == year]) for year in sorted(set(years))}


def _once(name: str, columns: str) -> bool:
    return columns == COMPARABLE and name.startswith(ASKED_ONCE)


@cache
def monitored(columns: str) -> tuple[Any, Monitor]:
    """Return a card of the first year, and a monitor with other rows of it as the reference."""
    X, y = rows_of(columns)[FIRST]
    with quiet():
        model = ScorecardClassifier(METRIC).fit(X[:TRAINING], y[:TRAINING])
    end = TRAINING + REFERENCE
    reference = summarize_day(model, X[TRAINING:end], y[TRAINING:end])
    return model, Monitor(reference.scores, reference.columns)


def measure(columns: str, year: str) -> list[tuple[object, ...]]:
    """Check the days of a year."""
    model, monitor = monitored(columns)
    X, y = rows_of(columns)[year]
    begin = TRAINING + REFERENCE if year == FIRST else 0
    records = []
    for day in range(DAYS):
        part = slice(begin + day * DAY, begin + (day + 1) * DAY)
        check = monitor.check(summarize_day(model, X[part]))
        rates = summarize_day(model, X[part], y[part]).scores.rates(0.0)
        share, alerts = check.prevalence, check.alerts
        numbers = (check.p_value, *share[:3], float(np.mean(y[part])))
        counts = (alerts.observed, alerts.low, alerts.high)
        records.append(
            (
                *(columns, year, day, check.verdict),
                *(f"{value:.4g}" for value in (*numbers, *counts, rates.tpr, rates.fpr)),
                *(check.columns[0].column, commit()),
            )
        )
    return records


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        f"Days of {DAY:,} rows of `{TABLE}`; how: see `census_years.py`. Commit {commits_of(rows)}."
    )
    cells = []
    for columns, year in product(CHOICES, YEARS):
        of = select(rows, columns=columns, year=year)
        first = [row["first_column"] for row in of]
        covered = (
            sum(float(row[low]) <= float(row[value]) <= float(row[high]) for row in of)
            for low, value, high in (("low", "realised", "high"), ALERTS)
        )
        rates = (f"{mean_of(of, name):.3f}" for name in ("recall", "fpr"))
        most = f"`{max(first, key=first.count)}`"
        alarms = len(select(of, verdict="drift"))
        cells.append((columns, f"19{year}", len(of), alarms, *covered, *rates, most))
    header = (
        "columns | year | days | alarms | share covered | alerts covered | recall | FPR | "
        "column of the largest change, on most days"
    )
    return ["# A card of 1994 in 1995", "", about, *table(header, cells)]


YEARS, ALERTS = ("94", "95"), ("alerts_low", "alerts", "alerts_high")
RECORD = Record.beside(
    __file__,
    "columns, year, day, verdict, p_value, share, low, high, realised, alerts, alerts_low, "
    "alerts_high, recall, fpr, first_column, commit",
    "columns, year",
)
STUDY = Study([Part(RECORD, lambda _: product(CHOICES, YEARS), measure)], lines)

if __name__ == "__main__":
    STUDY.main(__doc__)
