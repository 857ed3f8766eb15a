"""
Wrong labels and outliers
=========================

Some labels are wrong, and some rows are far from all others. ``PlateauClassifier`` bounds the
loss of such rows, so that they have little influence on the fit. The example compares it with
logistic regression: they tie on clean rows and hardly differ with flipped labels, but a few
outliers far on the wrong side ruin logistic regression only.
"""

# %%
# Three versions of the same rows
# -------------------------------
# The test rows are clean, and the same for all.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from directrix.displays import style
from directrix.papers import PlateauClassifier

rng = np.random.default_rng(0)


def sample(n):
    """Return rows of two classes that a line separates well."""
    y = rng.random(n) < 0.5
    return rng.normal(size=(n, 2)) + np.where(y[:, None], [1.2, 0.6], [-1.2, -0.6]), y


X, y = sample(600)
X_test, y_test = sample(20_000)
wrong = rng.random(len(y)) < 0.1
far = X.copy()
far[wrong] = np.where(y[wrong, None], [-6.0, 0.0], [6.0, 0.0]) + rng.normal(size=(wrong.sum(), 2))
versions = {
    "clean rows": (X, y),
    "10 % of the labels flipped": (X, y ^ wrong),
    "10 % outliers": (far, y),
}

# %%
# Fits and test rows
# ------------------
# With ``"robust"`` plateaus, no probability is below 0.15 or above 0.85, which makes the log-loss
# of clear cases high; ``"learned"`` plateaus follow the rows. Choose ``"robust"`` for decisions,
# and ``"learned"`` for probabilities.

models = {
    "logistic regression": LogisticRegression(),
    "Beta-Bernoulli, robust": PlateauClassifier("robust"),
    "Beta-Bernoulli, learned": PlateauClassifier("learned"),
}
lines, rows = {}, {}
for version, (X_train, y_train) in versions.items():
    for name, model in models.items():
        model.fit(X_train, y_train)
        lines[version, name] = model.coef_[0], model.intercept_[0]
        rows[version, name] = {
            "test error": np.mean(model.predict(X_test) != y_test),
            "log-loss": log_loss(y_test, model.predict_proba(X_test)),
        }
print(pd.DataFrame(rows).T.round(3).to_string())
a, b = models["Beta-Bernoulli, learned"].plateaus_
print(f"learned with outliers: probabilities from {a:.2f} to {a + b:.2f}")

# %%
# Decision boundaries
# -------------------
# The outliers turn the boundary of logistic regression, and hardly move the others. This is no
# guarantee: outliers that some line can separate, such as two clusters above and below, turn all
# three boundaries.

figure, axes = plt.subplots(
    1, 2, figsize=(8.0, 4.4), layout="constrained", sharex=True, sharey=True
)
for ax, version in zip(axes, ("clean rows", "10 % outliers"), strict=True):
    X_train, y_train = versions[version]
    for label, color, marker in ((False, style.NEGATIVE, "o"), (True, style.POSITIVE, "^")):
        points = X_train[y_train == label]
        ax.scatter(*points.T, s=9, color=color, marker=marker, alpha=0.35)
    across = np.array([-12.0, 12.0])
    for name, dashes in zip(models, ("-", "--", ":"), strict=True):
        coef, intercept = lines[version, name]
        label = name if ax is axes[0] else None
        up = -(intercept + coef[0] * across) / coef[1]
        ax.plot(across, up, color=style.BLACK, linestyle=dashes, linewidth=1.8, label=label)
    ax.set(xlim=(-9, 9), ylim=(-6, 6))
    ax.set_title(version, fontsize=10)
    style.finish(ax, "first feature", "second feature", columns=0)
figure.legend(loc="outside lower center", ncols=3, fontsize=9, frameon=False)
figure.suptitle("Decision boundaries with and without outliers")
