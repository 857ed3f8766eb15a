"""
Decide about payments by money, row by row
==========================================

What a missed fraud costs is the amount of the payment; a false alert costs five minutes of work.
The example trains on 60 days with the amount as the cost of a miss, decides about 30 more days row
by row, and compares the money saved with that of one threshold for all payments.
"""

# %%
# Ninety days of payments
# -----------------------
# Amounts have a long tail: few payments carry most of the money. A false alert costs 5.

import matplotlib.pyplot as plt
import numpy as np

from directrix import DirectClassifier
from directrix.displays import style
from directrix.metrics import Cost

rng = np.random.default_rng(0)
n_days, n = 90, 300
day = np.repeat(np.arange(n_days), n)
fraud = rng.random(n_days * n) < 0.03
amount = np.exp(rng.normal(3.5, 1.5, n_days * n))
X = rng.normal(size=(n_days * n, 4)) + fraud[:, None] * [1.4, 0.9, 0.5, 0.0]
old, new = day < 60, day >= 60

# %%
# Train with the amounts
# ----------------------
# ``fn="amount"`` names the column of the costs, which is given to ``fit`` and to ``predict``. The
# rates are those of payments; money has a table of its own, with intervals that long tails
# survive, and a sentence where few payments carry most of the money.

cost = Cost(fp=5, fn="amount")
model = DirectClassifier(cost, warn_baseline=False)
model.fit(X[old], fraud[old], amount=amount[old])
print(model.operating_point_)

# %%
# If the amount is not known in time
# ----------------------------------
# With ``known=False`` the cost of a row is its weight in training, and one threshold decides.

blind = DirectClassifier(Cost(fp=5, fn="amount", known=False), warn_baseline=False)
blind.fit(X[old], fraud[old], amount=amount[old])
decisions = {
    "one threshold": blind.predict(X[new]),
    "row by row": model.predict(X[new], amount=amount[new]),
}
for name, flagged in decisions.items():
    saved = np.where(flagged, np.where(fraud[new], amount[new], -5.0), 0.0)
    print(f"{name:14} {flagged.sum():4} alerts, {saved.sum():,.0f} saved in 30 days")

# %%
# What row by row means, and what it saves
# ----------------------------------------
# A payment is flagged above the line: small ones only if fraud is probable, large ones on a slight
# suspicion.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 4.0), layout="constrained")
probability = model.predict_proba(X[new])[:, 1]
for label, color, size in ((False, style.GREY, 2), (True, style.VERMILION, 12)):
    kind = fraud[new] == label
    name = "fraud" if label else "honest"
    left.scatter(amount[new][kind], probability[kind], s=size, color=color, label=name)
grid = np.geomspace(0.3, 3000, 200)
left.plot(grid, 5 / (5 + grid), color=style.BLUE, label="flagged above")
left.set(xscale="log", yscale="log", xlim=(0.3, 3000), ylim=(1e-3, 1.2))
style.finish(left, "amount", "probability of fraud", columns=3)
for name, color in (("one threshold", style.GREY), ("row by row", style.BLUE)):
    gain = np.where(decisions[name], np.where(fraud[new], amount[new], -5.0), 0.0)
    daily = np.bincount(day[new] - 60, gain)
    right.plot(np.arange(1, 31), np.cumsum(daily), color=color, label=name)
lost = np.bincount(day[new] - 60, np.where(fraud[new], amount[new], 0.0))
right.plot(np.arange(1, 31), np.cumsum(lost), color=style.VERMILION, ls="--", label="all frauds")
right.set(xlim=(1, 30), ylim=(0, None))
style.finish(right, "new day", "money saved so far", columns=3)
figure.suptitle("Payments decided about by their own amounts")
