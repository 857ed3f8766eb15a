"""
Every line at once, and the one you have
========================================

The moments of two classes predict the ROC curve of all linear classifiers together: at each
false-positive rate, the most recall that any line has. A classifier's own curve, on rows it has not
seen, shows how much of that it reaches, and where it cuts.
"""

import numpy as np
from sklearn.model_selection import train_test_split

from directrix import MomentClassifier, Moments
from directrix.displays import FrontierDisplay
from directrix.metrics import RecallAtFPR

# The classes differ in mean and, in two features, in spread: no line is best everywhere.
rng = np.random.default_rng(0)
y = rng.random(20_000) < 0.2
X = rng.normal(size=(20_000, 4)) * np.where(y[:, None], [0.5, 2.0, 1.0, 1.0], 1.0)
X += y[:, None] * [1.0, 1.6, 0.5, 0.0]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# From a summary alone
# --------------------
# No row is needed once the moments are there. The best line for AUC touches the frontier somewhere
# in the middle, and is below it elsewhere.

moments = Moments.of(X_train, y_train)
FrontierDisplay.from_moments(moments, "auc")

# %%
# A classifier on new rows
# ------------------------
# Trained for recall at a false-positive rate of 1 %, it is best where that matters: the axis is on
# a log scale, and the dashed line is the limit. On new rows it may be passed by a little: the
# ``guarantee`` of ``DirectClassifier`` keeps it.

classifier = MomentClassifier(RecallAtFPR(0.01)).fit(X_train, y_train)
display = FrontierDisplay.from_estimator(classifier, X_test, y_test)
print("operating point, FPR and recall: {:.4f}, {:.3f}".format(*display.point))
