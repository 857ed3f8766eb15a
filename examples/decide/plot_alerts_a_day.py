"""
Keep 200 alerts a day as volume and fraud change
================================================

A team can check 200 payments a day. A share of the payments does not keep that: Mondays differ from
Sundays, and the share of frauds changes. The example sets a threshold that keeps the budget on 95 %
of new days, and moves it every day by the scores of the days before, without labels.
"""

# %%
# Ninety days of payments
# -----------------------
# Volume differs by weekday. From day 65 on there are twice as many frauds.

from datetime import date, timedelta

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator

from directrix import OperatingPointClassifier
from directrix.displays import style
from directrix.metrics import Budget
from directrix.monitoring import keep_budget, summarize_day

rng = np.random.default_rng(0)
first = date(2026, 1, 5)
week = np.array([1.0, 1.05, 1.0, 1.0, 1.1, 0.6, 0.5])


def payments(day):
    """Return the payments of a day, and whether each is a fraud."""
    n = rng.poisson(5_000 * week[day % 7])
    fraud = rng.random(n) < (0.01 if day < 65 else 0.02)
    return rng.normal(size=(n, 3)) + fraud[:, None] * [1.5, 1.0, 0.5], fraud


days = [payments(day) for day in range(90)]
X, fraud = (np.concatenate(each) for each in zip(*days[:5], strict=True))
booster = HistGradientBoostingClassifier(max_iter=50).fit(X, fraud)

# %%
# A threshold from 40 days
# ------------------------
# For each of the days 5 to 44 there is a threshold with which it would just have kept the budget.
# The second highest of 40 is kept by a new day with probability 39/41, whatever the volume and the
# share of frauds, as long as new days are like these.

X, fraud = (np.concatenate(each) for each in zip(*days[5:45], strict=True))
day = np.repeat(np.arange(5, 45), [len(labels) for _, labels in days[5:45]])
model = OperatingPointClassifier(
    FrozenEstimator(booster), limits=Budget(200, per="day"), guarantee=0.95
).fit(X, fraud, day=day)
print(model.operating_point_.budget)

# %%
# Move it every day
# -----------------
# The histograms of the scores of past days forecast the rows above each threshold, with the volume
# of the weekday; how far such forecasts were off tells how many alerts to aim at.

scores = {
    first + timedelta(days=day): summarize_day(model, days[day][0]).scores for day in range(5, 90)
}
share = np.quantile(model.decision_function(X), 1 - 200 * 40 / len(X))
alerts = {"a fixed share": [], "fixed threshold": [], "moved every day": []}
for number in range(45, 90):
    when = first + timedelta(days=number)
    past = {day: histogram for day, histogram in scores.items() if day < when}
    move = keep_budget(model, past)
    rows = days[number][0]
    alerts["a fixed share"].append(np.sum(model.decision_function(rows) > share))
    alerts["fixed threshold"].append(np.sum(model.predict(rows)))
    alerts["moved every day"].append(np.sum(move.model.predict(rows)))
print(move)
for name, counts in alerts.items():
    above, used = np.mean(np.array(counts) > 200), np.mean(counts) / 200
    print(f"{name:16} above the budget on {above:.0%} of days, {used:.0%} of it used")

# %%
# Alerts on the last 45 days
# --------------------------
# The fixed share breaks the budget on most working days. The fixed threshold keeps it, and leaves
# weekends idle; moved every day, it uses most of the budget on all of them.

figure, ax = plt.subplots(figsize=(8.0, 4.0), layout="constrained")
colors = (style.GREY, style.BLUE, style.VERMILION)
for (name, counts), color in zip(alerts.items(), colors, strict=True):
    ax.plot(np.arange(45, 90), counts, color=color, marker=".", label=name)
ax.axhline(200, color="black", linewidth=0.9, linestyle="--", label="budget")
ax.axvline(65, color=style.GREY, linewidth=0.9, linestyle=":")
ax.annotate("twice the frauds", (65.5, 20), color=style.GREY)
ax.set(xlim=(45, 89), ylim=(0, None))
style.finish(ax, "day", "alerts", columns=4)
figure.suptitle("200 alerts a day: three thresholds")
