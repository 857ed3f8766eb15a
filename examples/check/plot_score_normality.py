"""
Check whether scores are normal
===============================

Training from moments assumes that the scores of each class are close to normal. The features need
not be normal. Histograms and quantile plots of the scores of test rows show whether the assumption
holds for a fitted classifier.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer

from directrix import MomentClassifier, diagnose
from directrix.displays import MarginDisplay

data = load_breast_cancer()
X, y = data.data, data.target_names[data.target]  # "benign" and "malignant"
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# Skewed features
# ---------------
# D is the Kolmogorov distance to the normal distribution: 0 is normal, 0.08 and more is far from
# it.

plain = MomentClassifier("error").fit(X_train, y_train)
display = MarginDisplay.from_estimator(plain, X_test, y_test)
display.figure_.suptitle("Scores of test rows, features as they are")

# %%
# Transformed features
# --------------------
# A power transformation of each feature is the usual remedy if scores are far from normal. Here the
# scores are roughly normal without it, and the distance of the malignant class hardly changes.

transformed = make_pipeline(PowerTransformer(), MomentClassifier("error")).fit(X_train, y_train)
display = MarginDisplay.from_estimator(transformed, X_test, y_test)
display.figure_.suptitle("Scores of test rows, features transformed")
print(diagnose(plain, X_test, y_test))
print(f"distance of the malignant class after the transformation: {display.positive.distance:.3f}")
