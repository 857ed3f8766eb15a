"""
What another threshold would give
=================================

A metric at every threshold that the rows tell apart, exactly; against the threshold itself, the
share of rows that would be flagged, or the cost ratio that would set it.
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
# Against the threshold
# ---------------------

display = TradeoffDisplay.from_estimator(classifier, X_test, y_test)
print(f"F1 on new rows: {display.point[1]:.3f}, at the best threshold {display.values.max():.3f}")

# %%
# Against the share of rows flagged, with a limit
# -----------------------------------------------
# Recall where at most 2 % of the negatives are flagged; thin where that limit is broken.

TradeoffDisplay.from_estimator(
    classifier, X_test, y_test, metric=RecallAtFPR(0.02), against="quota"
)

# %%
# Against the cost ratio
# ----------------------
# The cost of a row, if a miss costs ten false positives but the threshold was set for another
# ratio. The operating point stands at the ratio that its threshold is the best for.

TradeoffDisplay.from_estimator(
    classifier, X_test, y_test, metric=Cost(fp=1.0, fn=10.0), against="cost"
)
