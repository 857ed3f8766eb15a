"""
Keep your model: a threshold and ninety days around a booster
=============================================================

A fraud team has a booster and keeps it. What it lacks comes after the score: a threshold that meets
its limit on new payments, the rates to expect there, and a look at every day in use. The example
sets a guaranteed threshold around a frozen booster and watches it for sixty days without labels.
"""

# %%
# Ninety days of payments
# -----------------------
# From day 60 on there are twice as many frauds. From day 75 on the first feature is measured
# otherwise, for all payments.

from datetime import date, timedelta

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator

from directrix import OperatingPointClassifier
from directrix.displays import DaysDisplay
from directrix.monitoring import Monitor, summarize_day

rng = np.random.default_rng(0)
first = date(2026, 1, 5)


def payments(day):
    """Return the payments of a day, and whether each is a fraud."""
    n = rng.poisson(2_000)
    fraud = rng.random(n) < (0.02 if day < 60 else 0.04)
    X = rng.normal(size=(n, 3)) + fraud[:, None] * [1.5, 1.0, 0.5]
    X[:, 0] += 0.6 * (day >= 75)
    return X, fraud


days = [payments(day) for day in range(90)]
X, fraud = (np.concatenate(each) for each in zip(*days[:10], strict=True))
booster = HistGradientBoostingClassifier(max_iter=50).fit(X, fraud)

# %%
# A threshold that keeps its limit
# --------------------------------
# Twenty days that the booster has not seen set the threshold. At most 1 % of honest payments are
# stopped, with a confidence of 95 %, whatever the booster is like inside.

X, fraud = (np.concatenate(each) for each in zip(*days[10:30], strict=True))
model = OperatingPointClassifier(
    FrozenEstimator(booster), limits={"fpr": 0.01}, guarantee=0.95
).fit(X, fraud)
print(model.operating_point_)

X, fraud = (np.concatenate(each) for each in zip(*days[30:60], strict=True))
flagged = model.predict(X)
print(f"days 30 to 59: recall {flagged[fraud].mean():.3f}, FPR {flagged[~fraud].mean():.4f}")

# %%
# Sixty days without labels
# -------------------------
# The days that set the threshold are the reference. Each later day is a histogram of its scores: it
# tells the share of frauds if only that has changed, and whether more has changed.

reference = [summarize_day(model, *days[day]) for day in range(10, 30)]
monitor = Monitor.of_days(model, reference)
checks = [
    monitor.check(summarize_day(model, days[day][0]), first + timedelta(days=day))
    for day in range(30, 90)
]
print(checks[0])
print(checks[-1])

# %%
# What the days show
# ------------------
# The share of frauds doubles on day 60, which the scores say without a label. From day 75 on, no
# share of frauds explains them: the alarm is one of drift.

truth = [days[day][1].mean() for day in range(30, 90)]
display = DaysDisplay.from_checks(checks, realised=truth)
display.figure_.suptitle("A booster in use, from daily histograms of its scores")
