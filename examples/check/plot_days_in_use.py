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
# Thirty labelled days fill the store. The model was fitted to earlier rows.

from datetime import date, timedelta
from tempfile import TemporaryDirectory

import numpy as np

from directrix import MomentClassifier
from directrix.displays import DaysDisplay
from directrix.monitoring import Monitor, SummaryStore, compare_models, refit, summarize_day

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
folder = TemporaryDirectory()
store = SummaryStore(folder.name, keep_days=120)
for day in range(30):
    store.add(first + timedelta(days=day), list(summarize_day(model, *rows_of(day))))
monitor = Monitor.of_store(model, store)
print(store)

# %%
# Ninety days without labels, which come twenty days later
# --------------------------------------------------------
# A day is added without labels, and checked. When its labels are known, one step replaces it.

waiting, checks, realised = {}, [], []
for day in range(30, 120):
    when = first + timedelta(days=day)
    X, fraud = rows_of(day)
    unlabelled = summarize_day(model, X)
    store.add(when, list(unlabelled))
    waiting[day] = X, fraud, unlabelled
    checks.append(monitor.check(unlabelled, when))
    realised.append(fraud.mean())
    if day - 20 in waiting:
        X, fraud, unlabelled = waiting.pop(day - 20)
        store.correct(
            first + timedelta(days=day - 20),
            subtract=list(unlabelled),
            add=list(summarize_day(model, X, fraud)),
            key="labels",
            note="labels after 20 days",
        )
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
store.remove_day(bad)
for day, (X, fraud, unlabelled) in waiting.items():  # the last labels
    when = first + timedelta(days=day)
    store.correct(
        when, subtract=list(unlabelled), add=list(summarize_day(model, X, fraud)), key="labels"
    )
repaired = refit(model, store.decayed("moments", half_life=10))
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
folder.cleanup()
