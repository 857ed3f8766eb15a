"""
Compare the thresholds of a fitted classifier
=============================================

The display shows the exact metric at every threshold that separates two scores. The horizontal axis
is the threshold, the share of rows that would be flagged, or the cost ratio for which the threshold
is optimal.
"""

from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from directrix import MomentClassifier
from directrix.displays import TradeoffDisplay
from directrix.metrics import Cost, RecallAtFPR

X, y = make_classification(
    6_000, 8, n_informative=5, n_clusters_per_class=1, weights=[0.8], class_sep=0.8, random_state=4
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
classifier = MomentClassifier("f1").fit(X_train, y_train)

# %%
# Metric against the threshold
# ----------------------------

display = TradeoffDisplay.from_estimator(classifier, X_test, y_test)
display.figure_.suptitle("F1 by the threshold, on test rows")
print(f"F1 on test rows: {display.point[1]:.3f}, at the best threshold {display.values.max():.3f}")

# %%
# Recall against the share of flagged rows
# ----------------------------------------
# The metric allows a false-positive rate of 2 %. The curve is dotted where this limit is exceeded.

display = TradeoffDisplay.from_estimator(
    classifier, X_test, y_test, metric=RecallAtFPR(0.02), against="quota"
)
display.figure_.suptitle("Recall by the share of flagged rows, on test rows")

# %%
# Cost against the cost ratio
# ---------------------------
# The mean cost per row if a false negative costs ten times as much as a false positive, but the
# threshold is optimal for another ratio. The operating point is drawn at the ratio for which its
# threshold is optimal.

display = TradeoffDisplay.from_estimator(
    classifier, X_test, y_test, metric=Cost(fp=1.0, fn=10.0), against="cost"
)
display.figure_.suptitle("Mean cost by the cost ratio that sets the threshold, on test rows")
