"""
Compare a classifier with the ROC frontier of all linear models
===============================================================

The class moments predict the best ROC curve that linear models can reach together: at each
false-positive rate, the highest recall of any linear model. The ROC curve of a classifier on test
rows shows how close it comes to this frontier, and the marker shows its operating point.
"""

import numpy as np
from sklearn.model_selection import train_test_split

from directrix import MomentClassifier, Moments
from directrix.displays import FrontierDisplay
from directrix.metrics import RecallAtFPR

# The classes differ in mean and, in two features, in variance: no linear model is best at all
# false-positive rates.
rng = np.random.default_rng(0)
y = rng.random(20_000) < 0.2
X = rng.normal(size=(20_000, 4)) * np.where(y[:, None], [0.5, 2.0, 1.0, 1.0], 1.0)
X += y[:, None] * [1.0, 1.6, 0.5, 0.0]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# Frontier from a summary
# -----------------------
# The frontier needs only the moments, not the rows. The best model for AUC touches the frontier in
# the middle and is below it elsewhere.

moments = Moments.of(X_train, y_train)
display = FrontierDisplay.from_moments(moments, "auc")
display.figure_.suptitle("The best linear model for AUC, and the frontier of all")

# %%
# A classifier on test rows
# -------------------------
# This classifier is trained for recall at a false-positive rate of 1 %. The horizontal axis has a
# log scale, and the dashed line is the limit of 1 %. On new rows the rate can exceed the limit
# slightly; ``DirectClassifier(guarantee=...)`` prevents that with a stated confidence.

classifier = MomentClassifier(RecallAtFPR(0.01)).fit(X_train, y_train)
display = FrontierDisplay.from_estimator(classifier, X_test, y_test)
display.figure_.suptitle("A classifier for recall at FPR 1 %, on test rows")
print("operating point, FPR and recall: {:.4f}, {:.3f}".format(*display.point))
