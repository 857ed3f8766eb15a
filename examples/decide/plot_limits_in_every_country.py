"""
Keep a false-positive rate in every country
===========================================

A bank stops payments in five countries with one model. At most 5 % of honest payments may be
stopped, and the supervisor of each country asks about that country. The example compares a
threshold that keeps the limit over all payments with one that keeps it in every country, on new
payments.
"""

# %%
# Payments from five countries
# ----------------------------
# Honest payments look more like fraud in some countries than in others: the second feature is
# higher there. Malta is small.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from directrix import DirectClassifier
from directrix.displays import style
from directrix.estimators import evaluate
from directrix.metrics import InEverySegment

rng = np.random.default_rng(0)
names = np.array(["Austria", "Germany", "Italy", "Malta", "Switzerland"])
higher = {"Austria": 0.0, "Germany": -0.1, "Italy": 0.3, "Malta": 0.2, "Switzerland": 0.7}


def payments(n):
    """Return features, which payments are frauds, and their countries."""
    country = rng.choice(names, n, p=[0.2, 0.4, 0.22, 0.03, 0.15])
    fraud = rng.random(n) < 0.1
    X = rng.normal(size=(n, 4)) + fraud[:, None] * [1.4, 1.2, 0.8, 0.4]
    X[:, 1] += [higher[name] for name in country]
    return X, fraud, country


X, fraud, country = payments(15_000)
X_new, fraud_new, country_new = payments(200_000)

# %%
# A limit over all payments
# -------------------------
# The guarantee holds for all payments together. Rates by country, on payments that the model was
# not fitted to, show what that hides.

pooled = DirectClassifier("recall@fpr=0.05", guarantee=0.95, warn_baseline=False)
pooled.fit(X, fraud, segment=country)
print(pooled.operating_point_.segments)

# %%
# A limit in every country
# ------------------------
# One threshold for all payments, set so that the limit holds in each country; the country of a
# payment is not needed to predict. Malta has enough honest payments for a bound: with too few the
# fit would be refused, with the number of rows that it needs.

limits = InEverySegment({"fpr": 0.05})
everywhere = DirectClassifier("recall@fpr=0.05", limits=limits, guarantee=0.95, warn_baseline=False)
everywhere.fit(X, fraud, segment=country)
print(everywhere.operating_point_.guarantee)

# %%
# On 200,000 new payments
# -----------------------
# The country with the highest scores sets the threshold, and the others pay for it: their
# false-positive rates are far below the limit, and their recall is lower. That is the price of one
# threshold.

models = {
    "limit over all payments": (pooled, style.GREY),
    "limit in every country": (everywhere, style.BLUE),
}
figure, panels = plt.subplots(1, 2, figsize=(8.0, 3.6), sharey=True, layout="constrained")
for row, (name, (model, color)) in enumerate(models.items()):
    rates = evaluate(fraud_new, model.decision_function(X_new), threshold=0, segment=country_new)
    recall = model.predict(X_new)[fraud_new].mean()
    print(f"{name}: recall {recall:.3f} in all countries together")
    for ax, rate in zip(panels, ("fpr", "recall"), strict=True):
        shares = [getattr(each, rate) for each in rates.rates]
        middle = np.array([share.value for share in shares])
        ends = np.array([[share.low, share.high] for share in shares]).T
        y = np.arange(len(names)) + (0.14 if row else -0.14)
        ax.errorbar(middle, y, xerr=abs(ends - middle), fmt="o", color=color, label=name)
panels[0].axvline(0.05, color="black", linewidth=0.9, linestyle="--", label="limit")
panels[0].set(yticks=np.arange(len(names)), yticklabels=names, xlim=(0, None), ylim=(4.5, -0.5))
panels[1].set(xlim=(0, 1))
for ax, label in zip(panels, ("honest payments", "frauds"), strict=True):
    style.finish(ax, f"{label} that are stopped", "", columns=0)
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
figure.legend(
    *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
)
figure.suptitle("One threshold for five countries, on new payments")
