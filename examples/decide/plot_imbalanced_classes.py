"""
Imbalanced classes: resampling, class weights or the threshold
==============================================================

One row in fifty is positive, and the metric is F1. The example compares logistic regression (with
its default threshold, after oversampling, with class weights and with a tuned threshold) and a
classifier that is trained for F1. Nearly all of the difference comes from the threshold: the two
methods that choose it by the metric tie. Oversampling and class weights distort the probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import TunedThresholdClassifierCV

from directrix import DirectClassifier
from directrix.displays import style

rng = np.random.default_rng(0)


def sample(n):
    """Return rows of two classes, 2 % of them positive."""
    y = rng.random(n) < 0.02
    return rng.normal(size=(n, 6)) + y[:, None] * [1.2, 0.9, 0.6, 0.3, 0.0, 0.0], y


X_train, y_train = sample(8_000)
X_test, y_test = sample(80_000)

# %%
# Five ways
# ---------
# Oversampling repeats the positives until both classes are equally frequent; class weights do the
# same without repeating rows. ``DirectClassifier`` finds nothing better here than logistic
# regression with a threshold chosen on held-out rows, and returns that.

positives = np.flatnonzero(y_train)
repeated = rng.choice(positives, np.count_nonzero(~y_train) - len(positives))
oversampled = np.concatenate([np.arange(len(y_train)), repeated])
models = {
    "logistic regression": LogisticRegression().fit(X_train, y_train),
    "oversampling": LogisticRegression().fit(X_train[oversampled], y_train[oversampled]),
    "class weights": LogisticRegression(class_weight="balanced").fit(X_train, y_train),
    "tuned threshold": TunedThresholdClassifierCV(
        LogisticRegression(), scoring="f1", thresholds=50, cv=3
    ).fit(X_train, y_train),
}
models["trained for F1"] = DirectClassifier("f1").fit(X_train, y_train)
print(models["trained for F1"].report_.summary())

# %%
# The same ranking, other thresholds and probabilities
# ----------------------------------------------------
# By the AUC, all five rank the rows alike. At a probability of one half, plain logistic regression
# flags too few rows; after oversampling, or with class weights, it flags too many. Both also raise
# the probabilities: their mean is far from the true share of 2 %.

lines = {}
for name, model in models.items():
    probability = model.predict_proba(X_test)[:, 1]
    flagged = model.predict(X_test)
    lines[name] = {
        "AUC": roc_auc_score(y_test, probability),
        "F1": f1_score(y_test, flagged),
        "flagged": flagged.mean(),
        "mean probability": probability.mean(),
    }
results = pd.DataFrame(lines).T
print(results.round(3).to_string())

# %%
# F1 and probabilities
# --------------------
# What remains between the last two is chance. Differences appear if the classes differ in more than
# their means: see the example on costs.

figure, axes = plt.subplots(1, 2, figsize=(6.6, 3.2), layout="constrained", sharey=True)
colors = [style.BLUE] * 3 + [style.GREEN, style.VERMILION]
for ax, column, label in zip(
    axes, ("F1", "mean probability"), ("F1", "mean probability"), strict=True
):
    ax.barh(results.index, results[column], color=colors)
    style.finish(ax, f"{label}, test rows", "")
axes[1].axvline(y_test.mean(), color=style.BLACK, linestyle="--", label="share of positives")
axes[1].legend(loc="lower right", fontsize=8)
axes[0].invert_yaxis()
figure.suptitle("Five ways to handle 2 % positives")
