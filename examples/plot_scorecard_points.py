"""
Points of a scorecard
=====================

``ScorecardClassifier`` cuts the columns of a table into bins and trains points for each. The points
of a column are a step function: here they recover an effect that no straight line has. The default
rate is high for young and for old customers, and where the income is unknown.
"""

# %%
# A table with a missing value in one of twenty rows, and texts.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from directrix import DirectClassifier, ScorecardClassifier
from directrix.metrics import RecallAtFPR

rng = np.random.default_rng(0)
n = 6000
table = pd.DataFrame(
    {
        "age": rng.integers(18, 80, n).astype(float),
        "income": np.exp(rng.normal(8, 1, n)),
        "home": rng.choice(["owner", "parents", "rent"], n),
    }
)
table.loc[::20, "income"] = np.nan
effect = np.abs(table.age - 45) / 6 - np.log(table.income).fillna(6) / 2 + (table.home == "rent")
default = (effect + rng.normal(size=n) > 0.5).to_numpy()
train, test = table[::2], table[1::2]

# %%
# One call takes the table as it is, and trains for the recall at 5 % false positives.
metric = RecallAtFPR(0.05)
card = ScorecardClassifier(metric).fit(train, default[::2])
print(card.report_)

# %%
# On the test rows, against a linear model on columns that were prepared by hand.
by_hand = pd.get_dummies(table.fillna({"income": table.income.median()}), dtype=float)
line = DirectClassifier(metric).fit(by_hand[::2], default[::2])
print(f"card: {metric.score(default[1::2], card.decision_function(test)):.3f}")
print(f"line: {metric.score(default[1::2], line.decision_function(by_hand[1::2])):.3f}")

# %%
# The points of each bin, and how many training rows it has.
figure, axes = plt.subplots(2, 2, figsize=(9, 5), height_ratios=[3, 1], sharex="col")
for column, name in enumerate(["age", "income"]):
    bins, points = card.binner_.bins_[column], card.card_.columns[column]
    cuts = np.array(bins.cuts)
    edges = np.concatenate([[2 * cuts[0] - cuts[1]], cuts, [2 * cuts[-1] - cuts[-2]]])
    ordered = slice(1, 1 + bins.n_ordered)
    axes[0, column].stairs(points[ordered], edges, baseline=None, linewidth=2)
    axes[0, column].axhline(points[0], color="0.5", linestyle=":", label="missing")
    axes[0, column].set_title(name)
    axes[1, column].stairs(np.array(bins.weights)[ordered], edges, fill=True, color="0.7")
    axes[1, column].set_xlabel(name)
axes[0, 1].set_xscale("log")
axes[0, 1].legend()
axes[0, 0].set_ylabel("points")
axes[1, 0].set_ylabel("rows")
figure.suptitle("Points of the bins of two columns, and their training rows")
figure.tight_layout()
