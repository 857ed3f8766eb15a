"""
Watch a model for 120 days, and repair it
=========================================

A fraud model is used for 120 days. Labels arrive after twenty days. The share of frauds rises for
a while, one day has a broken column and is removed, and at last the classes themselves drift. The
monitor sees only daily summaries: it estimates the share of frauds from rows without labels, and
tells a change of that share from drift.
"""

# %%
# A model and its reference
# -------------------------
# Thirty labelled days are the reference. The model was fitted to earlier rows.

from datetime import date, timedelta

import numpy as np

from directrix import MomentClassifier
from directrix.displays import DaysDisplay
from directrix.monitoring import Monitor, compare_models, decayed, refit, summarize_day

rng = np.random.default_rng(0)
first = date(2026, 1, 1)


def rows_of(day, n=3_000):
    """Return the rows of a day, and whether each is a fraud."""
    share = 0.04 + 0.05 * np.exp(-(((day - 60) / 8.0) ** 2))
    fraud = rng.random(n) < share
    X = rng.normal(size=(n, 4)) + fraud[:, None] * [1.4, 0.9, 0.5, 0.0]
    if day >= 95:  # from here on honest customers look different
        X[~fraud, 1] += 0.3
    if day == 80:  # a sensor sends nonsense
        X[:, 3] += 2.0
    return X, fraud


model = MomentClassifier("recall@fpr=0.05").fit(*rows_of(0, 20_000))
days = {first + timedelta(days=day): summarize_day(model, *rows_of(day)) for day in range(30)}
monitor = Monitor.of_days(model, days.values())
print(monitor)

# %%
# Ninety days without labels, which come twenty days later
# --------------------------------------------------------
# A day is checked without labels. When these are known, it is summarised with them.

waiting, checks, realised = {}, [], []
for day in range(30, 120):
    when = first + timedelta(days=day)
    X, fraud = rows_of(day)
    unlabelled = summarize_day(model, X)
    waiting[when] = X, fraud
    checks.append(monitor.check(unlabelled, when))
    realised.append(fraud.mean())
    known = when - timedelta(days=20)
    if known in waiting:
        days[known] = summarize_day(model, *waiting.pop(known))
alarms = [check.day for check in checks if check.alarm]
print("alarms:", ", ".join(alarms))
print(checks[30])

# %%
# Remove the bad day, and repair the model
# ----------------------------------------
# The decayed sum of the labelled days is a summary of recent rows, and fits a model in
# milliseconds. Both models are compared on days after the change, whose labels are known later.

bad = first + timedelta(days=80)
print(checks[50].explanation())
for when, rows in waiting.items():  # the last labels
    days[when] = summarize_day(model, *rows)
moments = {when: day.columns for when, day in days.items() if when != bad}
repaired = refit(model, decayed(moments, half_life=10))
print(repaired)
X, fraud = rows_of(119, 30_000)
champion, challenger = (summarize_day(each, X, fraud).scores for each in (model, repaired.model))
print(compare_models(champion, challenger, "recall@fpr=0.05"))

# %%
# All days
# --------
# The interval covers what labels showed later, while only the share of frauds changed. From the
# drift on it does not, and the lowest panel says so.

display = DaysDisplay.from_checks(checks, realised=realised)
display.figure_.suptitle("Ninety days of a model in use")
