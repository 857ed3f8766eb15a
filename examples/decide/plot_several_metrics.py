"""
Several metrics from one fit
============================

``fit_each`` trains one classifier for each of several metrics. The candidates are fitted once, and
every metric chooses among them. The table of all classifiers by all metrics shows when it matters
which metric a classifier is trained for.
"""

# %%
# Rows
# ----
# The classes differ in mean and in spread, so that no linear model is best for all metrics.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from directrix import DirectClassifier
from directrix.metrics import AUC, Cost, Error, FBeta, RecallAtFPR

rng = np.random.default_rng(0)
n = 20_000
y = rng.random(n) < 0.2
X = rng.normal(size=(n, 4))
X[:, 0] = np.where(y, 2.5 + 0.3 * X[:, 0], 3.0 * X[:, 0])
X[:, 1] += 1.5 * y
X[:, 2] *= np.where(y, 2.0, 1.0)
X_train, y_train, X_test, y_test = X[::5], y[::5], X[1::2], y[1::2]

# %%
# One call, five classifiers
# --------------------------
# The first line of each report says what was chosen for its metric. If that is logistic regression,
# ``fit`` warns that nothing was better, unless ``warn_baseline=False``.

metrics = {
    "error": Error(),
    "AUC": AUC(),
    "F1": FBeta(1.0),
    "cost 1:20": Cost(fp=1, fn=20),
    "recall at FPR 1 %": RecallAtFPR(0.01),
}
direct = DirectClassifier(warn_baseline=False)
classifiers = direct.fit_each(list(metrics.values()), X_train, y_train)
for classifier in classifiers:
    print(classifier.report_.summary().splitlines()[0])

# %%
# Each classifier by each metric, on test rows
# --------------------------------------------
# Each row is a classifier, each column a metric. Error and cost are better if they are lower.
# Error, F1 and cost are measured at the threshold of the classifier, AUC and recall at FPR 1 %
# depend on its ranking only. The diagonal is the best of each column. Four of the five have nearly
# the same AUC; their costs, and their recalls at few false positives, differ by factors.

table = pd.DataFrame(
    {
        name: [metric.score(y_test, c.decision_function(X_test)) for c in classifiers]
        for name, metric in metrics.items()
    },
    index=[f"trained for {name}" for name in metrics],
)
print(table.round(3).to_string())

# %%
# Loss against the best of each column
# ------------------------------------
# The picture divides each metric by the best in its column, so that 1 is best.

lower = [name for name, metric in metrics.items() if not metric.greater_is_better]
relative = table / table.max()
relative[lower] = table[lower].min() / table[lower]
figure, ax = plt.subplots(figsize=(6.6, 4.0), layout="constrained")
image = ax.imshow(relative, cmap="cividis", vmin=0, vmax=1, aspect="auto")
for row, column in np.ndindex(relative.shape):
    value = relative.iloc[row, column]
    color = "white" if value < 0.5 else "black"
    ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=color)
ax.set_xticks(range(len(metrics)), [name.replace("at ", "at\n") for name in metrics], fontsize=8)
ax.set_yticks(range(len(metrics)), table.index, fontsize=8)
ax.set_xlabel("measured by")
figure.colorbar(image, label="share of the best in the column")
figure.suptitle("Five classifiers by five metrics, on test rows")
