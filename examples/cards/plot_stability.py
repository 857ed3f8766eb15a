"""
Monitor a scorecard by counts of each period
============================================

A card keeps the counts of its training rows. Whether later rows still look like them, and what a
shift does to the mean score, follows from the counts of a period, which a warehouse can send
without a single row. The example watches a card of 2008 until the end of 2010, while the bank
calls other and other customers.
"""

# %%
# A card of 2008
# --------------
# Calls of a bank, in the order of time, that sold a deposit or not. The card is fitted to those of
# 2008.

import matplotlib.pyplot as plt
import numpy as np

from directrix import Binner, ScorecardClassifier
from directrix.datasets import load_bank
from directrix.displays import style
from directrix.moments import BinCounts

table, deposit = load_bank()
table = table.drop(columns=["day", "month"])
first = 5_546  # first call of 2009
card = ScorecardClassifier(
    "auc",
    positive="yes",
    binner=Binner(max_bins=8),
    max_crosses=0,
    max_lines=None,
    warn_baseline=False,
).fit(table[:first], deposit[:first])
print(card.operating_point_)

# %%
# Counts of each period
# ---------------------
# ``BinCounts`` needs no labels: a period can be checked long before it is known who bought.

starts = {"Jan-Feb 09": first, "Mar-Apr 09": 6_241, "May 09": 6_836, "Jun-Dec 09": 7_951}
starts["2010"] = 8_519
ends = [*list(starts.values())[1:], len(table)]
periods = {}
for (name, start), end in zip(starts.items(), ends, strict=True):
    periods[name] = BinCounts.of(card.binner_, table[start:end], np.zeros(end - start))
print(periods["2010"])

# %%
# Stability of the columns
# ------------------------
# PSI is the population stability index. Below the noise level it says nothing; "points" is how far
# the column has moved the mean score.

report = card.card_.stability(periods)
print(report)

# %%
# Period by period
# ----------------
# In 2008 the bank did not always note how it reached a customer; from 2009 on it did, so that
# ``contact`` jumps and takes the mean score with it. The share of customers who had been called
# before grows from period to period. Age and balance change less, until June 2009.

frame = report.to_frame()
figure, (index, shift) = plt.subplots(2, 1, figsize=(6.0, 5.6), layout="constrained", sharex=True)
columns = ["contact", "calls_before", "balance", "age"]
looks = zip(columns, (style.BLUE, style.VERMILION, style.GREEN, style.PURPLE), "os^D", strict=True)
for column, color, marker in looks:
    rows = frame[frame.column == column].set_index("period").loc[list(periods)]
    index.plot(rows.index, rows.psi, color=color, marker=marker, label=column)
    shift.plot(rows.index, rows["shift"], color=color, marker=marker)
index.axhline(0.25, color=style.BLACK, linestyle="--", linewidth=0.9, label="large change")
index.axhline(frame.noise.max(), color=style.GREY, linestyle=":", linewidth=1.2, label="noise")
index.set_yscale("log")
style.finish(index, "", "population stability index", columns=3)
style.finish(shift, "", "change of the mean score")
figure.suptitle("Stability of a scorecard of 2008 until 2010")
