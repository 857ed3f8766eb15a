"""
What a fit promises, and what new rows show
===========================================

Every fit reports the rates to expect on new rows, with 95 % intervals. The example checks this
promise: it fits a classifier to twenty small samples, and compares each promise with a large test
set. The rates on the rows that chose the threshold are too optimistic. The expected rates are close
to the truth, here a little too careful, and nearly all intervals cover it.
"""

# %%
# One fit
# -------
# 400 rows, and a test set of 50,000. ``on held-out rows`` was measured on rows that also chose the
# model and its threshold; quote ``expected on new rows``.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from directrix import MomentClassifier
from directrix.displays import style
from directrix.metrics import BalancedError

rng = np.random.default_rng(0)
effect = np.concatenate([[1.0, 0.7, 0.4], np.zeros(9)])


def sample(n):
    """Return rows of two classes that differ in mean and in spread, 20 % of them positive."""
    y = rng.random(n) < 0.2
    return rng.normal(size=(n, 12)) * np.where(y, 1.4, 1.0)[:, None] + y[:, None] * effect, y


X_test, y_test = sample(50_000)
metric = BalancedError()
first = MomentClassifier(metric).fit(*sample(400))
print(first.operating_point_)
print(
    f"balanced error on the test set: {metric.score(y_test, first.decision_function(X_test)):.4f}"
)

# %%
# Twenty fits
# -----------
# Each sample gives another model. The truth, balanced error on the test set, differs between them
# as well.

rows = []
for _ in range(20):
    classifier = MomentClassifier(metric).fit(*sample(400))
    point = classifier.operating_point_
    low, high = point.intervals.metric
    truth = metric.score(y_test, classifier.decision_function(X_test))
    rows.append((point.empirical.metric, point.expected.metric, low, high, truth))
fits = pd.DataFrame(rows, columns=["empirical", "expected", "low", "high", "truth"])
covers = fits.truth.between(fits.low, fits.high)
print(fits.mean().round(3).to_string())
print(f"the interval covers the truth in {covers.sum()} of {len(fits)} fits")

# %%
# The intervals
# -------------
# A point is what a fit promised, a cross what the test set shows. The triangles are the rates on
# the rows that chose the threshold: most of them are below the cross, which means too optimistic.

figure, ax = plt.subplots(figsize=(6.0, 4.4), layout="constrained")
fits = fits.sort_values("expected", ignore_index=True)
numbers = fits.index + 1
ax.vlines(numbers, fits.low, fits.high, color=style.SKY, linewidth=3, label="95 % interval")
ax.plot(numbers, fits.expected, "o", color=style.BLUE, label="expected on new rows")
ax.plot(numbers, fits.empirical, "^", color=style.ORANGE, label="on held-out rows")
ax.plot(numbers, fits.truth, "x", color=style.BLACK, label="on 50,000 test rows")
ax.set_xticks([1, 5, 10, 15, 20])
style.finish(ax, "fit, by the expected balanced error", "balanced error")
figure.suptitle("Promises of twenty fits to 400 rows, and a large test set")
