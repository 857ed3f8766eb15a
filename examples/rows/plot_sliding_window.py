"""
Maintain a summary of the last thirty days
==========================================

The rows of each day are summarised once, and the summary is stored in a file. A window of thirty
days is the sum of thirty files. To move the window, add the newest day and subtract the oldest one;
no row is read again. A classifier that is trained from the window follows a drift that a classifier
of the first month misses.
"""

# %%
# A file for each day
# -------------------
# 5,000 transactions a day. What distinguishes frauds moves slowly from the amount to the distance;
# the clock counts seconds, so that its mean is far from zero.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from directrix import MomentClassifier, Moments
from directrix.displays import style
from directrix.metrics import AUC

rng = np.random.default_rng(0)
names = ["amount", "distance", "clock"]


def rows_of(day):
    """Return the transactions of one day, and whether each is a fraud."""
    fraud = rng.random(5_000) < 0.02
    X = rng.normal(size=(5_000, 3)) * [40.0, 12.0, 0.3] + [55.0, 41.0, 86_400.0 * day]
    X[:, 0] += fraud * 50.0 * (1 - day / 75)
    X[:, 1] += fraud * 15.0 * day / 75
    return pd.DataFrame(X, columns=names), fraud


with TemporaryDirectory() as folder:
    for day in range(75):
        summary = Moments.of(*rows_of(day))
        summary.save(Path(folder) / f"day{day:02}.moments")
    days = [Moments.load(path) for path in sorted(Path(folder).glob("*.moments"))]
print("one day:", days[0])

# %%
# Move the window
# ---------------
# Adding the thirty files again gives the same, up to rounding.

window = sum(days[:30], start=Moments.empty(3))
print("days 0 to 29:", window)
moved = window + days[30] - days[0]
print("days 1 to 30:", moved)
again = sum(days[1:31], start=Moments.empty(3))
gap = np.abs(moved.positive.scatter / again.positive.scatter - 1).max()
print(f"relative difference to adding the thirty days again: {gap:.0e}")

# %%
# A classifier for each window
# ----------------------------
# ``fit_summary`` needs only the summary. The clock is left out: a column that grows every day says
# nothing about tomorrow. Each day is scored by the classifier of the thirty days before it, and by
# the one of the first thirty days.

used = ["amount", "distance"]
first = MomentClassifier("auc").fit_summary(window.select(used))
results = []
for day in range(30, 75, 4):
    current = sum(days[day - 30 : day], start=Moments.empty(3))
    classifier = MomentClassifier("auc").fit_summary(current.select(used))
    rows, fraud = rows_of(day)
    both = (model.decision_function(rows[used]) for model in (first, classifier))
    results.append([day, *(AUC().score(fraud, scores) for scores in both)])
results = np.array(results)
print(
    "last day: AUC {1:.3f} with the first month, {2:.3f} with the last 30 days".format(*results[-1])
)

# %%
# AUC of each day
# ---------------

figure, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
ax.plot(results[:, 0], results[:, 1], "s--", color=style.ORANGE, label="trained on days 0 to 29")
ax.plot(results[:, 0], results[:, 2], "o-", color=style.BLUE, label="trained on the last 30 days")
style.finish(ax, "day", "AUC of the rows of the day")
figure.suptitle("A sliding window follows a drift")
