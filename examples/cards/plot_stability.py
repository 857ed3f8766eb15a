"""
Monitor a scorecard by counts of each month
===========================================

A card keeps the counts of its training rows. Whether later applicants still look like them, and
what a shift does to the mean score, follows from the counts of a month, which a warehouse can send
without a single row. The example watches a card for six months, in which one column drifts slowly
and another one breaks.
"""

# %%
# A card, and six months
# ----------------------
# Incomes rise by 3 % each month. From month 5 on, a new form asks for the number of late payments
# in another way, and most applicants leave it empty.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from directrix import Binner, ScorecardClassifier
from directrix.displays import style
from directrix.tables import BinCounts

rng = np.random.default_rng(0)


def applicants(n, month=0):
    """Return the applications of a month, and whether each loan was bad."""
    table = pd.DataFrame(
        {
            "income": (np.exp(rng.normal(8, 0.6, n)) * 1.03**month).round(),
            "age": rng.integers(19, 75, n),
            "late_payments": rng.poisson(0.8, n).astype(float),
            "home": rng.choice(["owner", "parents", "rent"], n),
        }
    )
    risk = np.abs(table.age - 47) / 8 - 1.5 * np.log(table.income / 3000)
    risk += 1.2 * table.late_payments + (table.home == "rent")
    if month >= 5:
        table["late_payments"] = table["late_payments"].mask(rng.random(n) < 0.6)
    return table, (risk + rng.logistic(size=n) > 5).to_numpy()


table, bad = applicants(4_000)
card = ScorecardClassifier(
    "recall@fpr=0.05",
    binner=Binner(max_bins=8),
    learn_from="counts",
    max_crosses=0,
    points="integer",
    cv=3,
).fit(table, bad)
print(card.operating_point_)

# %%
# Counts of each month
# --------------------
# ``BinCounts`` needs no labels: a month can be checked long before it is known which loans are bad.

months = {}
for month in range(1, 7):
    rows, _ = applicants(1_500, month)
    months[f"month {month}"] = BinCounts.of(card.binner_, rows, np.zeros(len(rows)))
print(months["month 6"])

# %%
# Stability of the columns
# ------------------------
# PSI is the population stability index. Below the noise level it says nothing; "points" is how far
# the column has moved the mean score.

report = card.card_.stability(months)
print(report)

# %%
# Month by month
# --------------
# The incomes drift: by convention they are stable until month 5, but the mean score falls steadily.
# The late payments break: their index jumps. The mean score hardly notices, because missing values
# have the points of an average row; the standard deviation of the score falls, since the column no
# longer tells rows apart.

frame = report.to_frame()
frame["month"] = frame.period.str.removeprefix("month ").astype(int)
figure, (index, shift) = plt.subplots(2, 1, figsize=(6.0, 5.6), layout="constrained", sharex=True)
columns = ["income", "late_payments", "age", "home"]
looks = zip(columns, (style.BLUE, style.VERMILION, style.GREEN, style.PURPLE), "os^D", strict=True)
for column, color, marker in looks:
    rows = frame[frame.column == column].sort_values("month")
    index.plot(rows.month, rows.psi, color=color, marker=marker, label=column)
    shift.plot(rows.month, rows["shift"], color=color, marker=marker)
index.axhline(0.25, color=style.BLACK, linestyle="--", linewidth=0.9, label="large change")
index.axhline(frame.noise.max(), color=style.GREY, linestyle=":", linewidth=1.2, label="noise")
index.set_yscale("log")
style.finish(index, "", "population stability index", columns=3)
style.finish(shift, "month", "change of the mean score")
figure.suptitle("Stability of a scorecard over six months")
