"""
Choose the threshold by the costs of both errors
================================================

An inspection costs 1, a machine that breaks down costs 20. ``Cost(fp=1, fn=20)`` trains for the
mean cost and sets the threshold with it. The example compares it with logistic regression at a
probability of one half, and at the probability that the costs ask for, and draws the costs of all
of them for other prices of a breakdown.
"""

# %%
# Machines
# --------
# One machine in ten breaks down within a month. Before that, its temperature is high and steady;
# the temperature of the others varies a lot.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import DirectClassifier
from directrix.displays import TradeoffDisplay, style
from directrix.metrics import Cost

rng = np.random.default_rng(0)
n = 24_000
breaks = rng.random(n) < 0.1
X = rng.normal(size=(n, 4))
X[:, 0] = np.where(breaks, 2.5 + 0.4 * X[:, 0], 2.5 * X[:, 0])
X[:, 1] += 1.2 * breaks
X[:, 2] += 0.6 * breaks
X_train, y_train, X_test, y_test = X[::6], breaks[::6], X[1::2], breaks[1::2]

# %%
# Train for several costs of a breakdown
# --------------------------------------
# ``fit_each`` trains a classifier for each metric; the candidates are fitted once.

prices = [5, 10, 20, 50, 100]
metrics = [Cost(fp=1, fn=price) for price in prices]
trained = dict(zip(prices, DirectClassifier().fit_each(metrics, X_train, y_train), strict=True))
print(trained[20].operating_point_)
print(trained[20].report_.summary())

# %%
# Costs on test rows
# ------------------
# The threshold of one half is that of ``LogisticRegression.predict``. If probabilities are right,
# the threshold of least cost is fp / (fp + fn). They are not right here: no logistic curve
# describes machines whose temperature is high *and* steady, so training for the cost is worth it.
# Where a logistic model is right, the last two columns agree.

line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
probability = line.predict_proba(X_test)[:, 1]
rows = []
for price, metric in zip(prices, metrics, strict=True):
    scores = {
        "logistic, one half": probability - 0.5,
        "logistic, fp / (fp + fn)": probability - 1 / (1 + price),
        "trained for the cost": trained[price].decision_function(X_test),
    }
    rows.append([metric.score(y_test, score) for score in scores.values()])
costs = pd.DataFrame(rows, index=pd.Index(prices, name="cost of a miss"), columns=list(scores))
print(costs.round(3).to_string())

# %%
# Cost curves
# -----------
# No model should cost more than the cheaper of two that need no data: inspect every machine, or
# none.

share = y_test.mean()
figure, ax = plt.subplots(figsize=(6.0, 4.2), layout="constrained")
trivial = np.minimum(1 - share, share * costs.index)
ax.fill_between(costs.index, trivial, 2, color=style.PALE, label="inspect all or none costs less")
for name, color, marker in zip(
    costs, (style.BLUE, style.GREEN, style.VERMILION), ("s", "^", "o"), strict=True
):
    ax.plot(costs.index, costs[name], color=color, marker=marker, label=name)
ax.set(xscale="log", xlim=(5, 100), ylim=(0, 1.2), xticks=prices, xticklabels=prices)
ax.minorticks_off()
style.finish(ax, "cost of a miss (a false alarm costs 1)", "mean cost of a row")
figure.suptitle("Mean cost on test rows by the cost of a miss")

# %%
# Thresholds around the chosen one
# --------------------------------
# The cost of the classifier for a breakdown of 20, at every threshold. The valley is steep to the
# right, where machines that break down are missed.

display = TradeoffDisplay.from_estimator(trained[20], X_test, y_test)
display.figure_.suptitle("Mean cost by the threshold, on test rows")
