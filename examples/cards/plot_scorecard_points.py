"""
Points of a scorecard for effects that bend
===========================================

``ScorecardClassifier`` cuts the columns of a table into bins and trains points for each. The points
of a column are a step function: here they recover an effect that no straight line has. The default
rate is high for young and for old customers, and where the income is unknown.
"""

# %%
# A table with texts and missing values
# -------------------------------------

import numpy as np
import pandas as pd

from directrix import DirectClassifier, ScorecardClassifier
from directrix.displays import ScorecardDisplay
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
# Train on the table as it is
# ---------------------------
# One call takes texts and missing values, and trains for the recall at 5 % false positives.

metric = RecallAtFPR(0.05)
card = ScorecardClassifier(metric).fit(train, default[::2])
print(card.report_)

# %%
# Compare with a linear model
# ---------------------------
# The columns of the linear model are prepared by hand: medians for missing incomes, indicators for
# texts.

by_hand = pd.get_dummies(table.fillna({"income": table.income.median()}), dtype=float)
line = DirectClassifier(metric).fit(by_hand[::2], default[::2])
print(f"card: {metric.score(default[1::2], card.decision_function(test)):.3f}")
print(f"line: {metric.score(default[1::2], line.decision_function(by_hand[1::2])):.3f}")

# %%
# Draw the points
# ---------------
# The points of each column, the 95 % intervals that the rows of a bin alone would give, and the
# share of the training rows.

display = ScorecardDisplay.from_estimator(card)
display.figure_.suptitle("Points by age, income and home")

# %%
# The card as a table
# -------------------
# Here its last column, and why two customers are flagged.

print(card.card_.to_frame(decimals=1).query("column == 'home'").to_string(index=False))
flagged = test[card.predict(test)][:2]
print(card.reasons(flagged, k=2, texts={("income", "missing"): "Income is unknown"}))
