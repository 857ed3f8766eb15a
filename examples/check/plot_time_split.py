"""
Train on the past, test on the future
=====================================

In practice, a model is trained on past months and used in later ones. Random folds mix the months:
each row that is held out has others of its month in the training rows, which future rows do not
have. What such folds promise is then too good. The example holds out whole months with ``cv=``, and
compares both promises with six later months.
"""

# %%
# Eighteen months
# ---------------
# The effects of two features are the same in all months. Those of the other fourteen change from
# month to month by chance: they are real within a month, and worth nothing in the next. Twelve
# months train the model.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import PredefinedSplit

from directrix import DirectClassifier
from directrix.displays import style
from directrix.metrics import AUC

rng = np.random.default_rng(1)
months = np.repeat(np.arange(1, 19), 300)
y = rng.random(len(months)) < 0.3
effects = rng.normal(0, 0.6, (19, 16))
effects[:, :2] = [0.8, 0.5]
X = rng.normal(size=(len(y), 16)) + y[:, None] * effects[months]
past = months <= 12

# %%
# Two ways to hold out rows
# -------------------------
# ``cv=5`` draws random folds. ``PredefinedSplit`` holds out one month after the other, so that each
# row is held out once, as ``cv=`` asks for. (``TimeSeriesSplit`` never holds out the first rows,
# and is refused.) Whether logistic regression is as good does not matter here.

ways = {"random folds": 5, "months held out": PredefinedSplit(months[past])}
classifiers = {}
for name, cv in ways.items():
    classifier = DirectClassifier("auc", cv=cv, warn_baseline=False).fit(X[past], y[past])
    expected = classifier.report_.expected
    print(f"{name}: expect {expected.value:.3f} ({expected.low:.3f} to {expected.high:.3f})")
    classifiers[name] = classifier

# %%
# The next six months
# -------------------
# The two models are nearly the same; what differs is what they promise.

later = np.arange(13, 19)
truth = {}
for name, classifier in classifiers.items():
    scores = classifier.decision_function(X)
    truth[name] = [AUC().score(y[months == m], scores[months == m]) for m in later]
    print(f"{name}: AUC {AUC().score(y[~past], scores[~past]):.3f} in the next six months")

# %%
# Promises and months
# -------------------
# The bands are the 95 % intervals of the two promises. Held-out months come much closer, but are
# still too sure: the intervals count 3,600 rows, while chance is between twelve months. Neither
# knows of a drift that begins after the training rows: watch the model with later labels, or its
# inputs with counts.

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
looks = zip(classifiers, (style.ORANGE, style.BLUE), ("s", "o"), strict=True)
for name, color, marker in looks:
    expected = classifiers[name].report_.expected
    ax.axhspan(expected.low, expected.high, color=color, alpha=0.25, label=f"promise of {name}")
    ax.plot(later, truth[name], marker, color=color, markersize=8, label=f"{name}, by month")
ax.set_xticks(later)
style.finish(ax, "month after the training rows", "AUC")
figure.suptitle("AUC promised by two kinds of folds, and six later months")
