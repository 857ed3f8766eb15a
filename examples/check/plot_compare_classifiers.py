"""
Compare classifiers on one ROC plot
===================================

Which kind of model do these rows need? The example draws the ROC curves of logistic regression, of
a linear model that is trained for a recall, of a scorecard and of gradient boosting, on test rows
of two tables. On the first, effects bend, and a scorecard is enough. On the second, three columns
act together, and gradient boosting is far better than anything that adds up columns: use it there.
"""

# %%
# Two tables
# ----------
# Both have the same five columns. The outcome of the second depends on the sign of a product of
# three of them, which no sum of functions of one or two columns can express.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve

from directrix import DirectClassifier, ScorecardClassifier
from directrix.displays import style
from directrix.metrics import AUC, RecallAtFPR

rng = np.random.default_rng(0)
X = rng.normal(size=(10_000, 5))
bends = 0.7 * X[:, 0] + 1.5 * np.abs(X[:, 1]) + 0.5 * X[:, 2] - 2.4
three = 1.2 * X[:, 0] + 2.0 * np.sign(X[:, 1] * X[:, 2] * X[:, 3]) - 1.5
tables = {
    "effects that bend": rng.random(len(X)) < 1 / (1 + np.exp(-1.5 * bends)),
    "three columns together": rng.random(len(X)) < 1 / (1 + np.exp(-three)),
}
train, test = slice(0, 3_000), slice(3_000, None)

# %%
# Four classifiers
# ----------------
# The metric is the recall at 5 % false positives. ``fit`` warns where nothing is better than
# logistic regression; here that is one of the outcomes, so ``warn_baseline=False``.

metric = RecallAtFPR(0.05)
classifiers = {
    "logistic regression": LogisticRegression(),
    "DirectClassifier": DirectClassifier(metric, warn_baseline=False),
    "ScorecardClassifier": ScorecardClassifier(metric, warn_baseline=False),
    "HistGradientBoosting": HistGradientBoostingClassifier(early_stopping=True, random_state=0),
}
looks = dict(
    zip(
        classifiers,
        ((style.BLUE, "-"), (style.GREEN, "--"), (style.VERMILION, "-"), (style.BLACK, "-.")),
        strict=True,
    )
)
figure, axes = plt.subplots(1, 2, figsize=(8.0, 4.4), layout="constrained", sharey=True)
results = {}
for ax, (name, y) in zip(axes, tables.items(), strict=True):
    for kind, classifier in classifiers.items():
        classifier.fit(X[train], y[train])
        scores = classifier.decision_function(X[test])
        results[name, kind] = {
            "AUC": AUC().score(y[test], scores),
            metric.label: metric.score(y[test], scores),
        }
        color, dashes = looks[kind]
        fpr, tpr, _ = roc_curve(y[test], scores)
        ax.plot(fpr, tpr, color=color, linestyle=dashes, label=kind if ax is axes[0] else None)
    ax.axvline(0.05, color=style.GREY, linestyle=":", linewidth=1.0)
    ax.set_title(name, fontsize=10)
    style.finish(ax, "false-positive rate", "recall", columns=0)
figure.legend(loc="outside lower center", ncols=4, fontsize=9, frameon=False)
figure.suptitle("ROC curves of four classifiers on test rows")

# %%
# The outcome
# -----------
# On the first table, the bins of the scorecard follow the bends, and gradient boosting is close.
# The linear model that is trained for the recall gives up AUC, and gains recall at the dotted line.
# On the second table, only gradient boosting finds the three columns, and no metric helps the
# others.

print(pd.DataFrame(results).T.round(3).to_string())
