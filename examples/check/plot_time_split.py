"""
Train on the past, test on the future
=====================================

In practice, a model is trained on past months and used in later ones. Random folds mix the months:
each row that is held out has others of its month in the training rows, which future rows do not
have. What such folds promise is then too good. The example holds out whole periods with ``cv=``,
and compares both promises with what came later.
"""

# %%
# Calls in the order of time
# --------------------------
# A bank called customers from May 2008 to November 2010; some bought a deposit. The calls until May
# 2009 train a card, and are divided into twelve periods of equal size. The calls of the next
# seventeen months, divided into four periods, show what it was worth.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import PredefinedSplit

from directrix import ScorecardClassifier
from directrix.datasets import load_bank
from directrix.displays import style
from directrix.metrics import AUC

X, y = load_bank()
X, buys = X.drop(columns="day"), y == "yes"
june = 7_951  # first call of June 2009
period = np.arange(june) * 12 // june
later = np.array_split(np.arange(june, len(y)), 4)

# %%
# Two ways to hold out rows
# -------------------------
# ``cv=5`` draws random folds. ``PredefinedSplit`` holds out one period after the other, so that
# each row is held out once, as ``cv=`` asks for. (``TimeSeriesSplit`` never holds out the first
# rows, and is refused.) Whether logistic regression is as good does not matter here.

ways = {"random folds": 5, "periods held out": PredefinedSplit(period)}
cards = {}
for name, cv in ways.items():
    cards[name] = ScorecardClassifier(
        "auc", cv=cv, max_crosses=0, max_lines=None, warn_baseline=False
    ).fit(X[:june], buys[:june])
    expected = cards[name].report_.expected
    print(f"{name}: expect {expected.value:.3f} ({expected.low:.3f} to {expected.high:.3f})")

# %%
# The next seventeen months
# -------------------------
# The two cards are nearly the same; what differs is what they promise.

truth = {}
for name, card in cards.items():
    scores = card.decision_function(X)
    truth[name] = [AUC().score(buys[rows], scores[rows]) for rows in later]
    print(f"{name}: AUC {AUC().score(buys[june:], scores[june:]):.3f} in the next months")

# %%
# Promises and periods
# --------------------
# The bands are the 95 % intervals of the two promises. Held-out periods come closer, but are still
# too sure: neither knows of the drift that begins after the training rows, when the bank calls
# other customers. Watch the model with later labels, or its inputs with counts.

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
looks = zip(cards, (style.ORANGE, style.BLUE), ("s", "o"), strict=True)
for name, color, marker in looks:
    expected = cards[name].report_.expected
    ax.axhspan(expected.low, expected.high, color=color, alpha=0.25, label=f"promise of {name}")
    ax.plot(range(1, 5), truth[name], marker, color=color, markersize=8, label=f"{name}, later")
ax.set_xticks(range(1, 5))
style.finish(ax, "period after the training rows", "AUC")
figure.suptitle("AUC promised by two kinds of folds, and four later periods")
