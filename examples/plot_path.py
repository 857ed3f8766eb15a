"""
Sharper and sharper
===================

A smooth loss is easy to descend and far from the error; a sharp one is near it and hard. So it is
sharpened step by step, each step from the last. The display shows what that does to the loss, and
to the exact metric on the rows of the fit and on rows held out.
"""

import numpy as np
from sklearn.datasets import make_classification

from directrix import SmoothClassifier
from directrix.displays import PathDisplay

X, y = make_classification(1_500, 10, n_informative=5, class_sep=1.2, flip_y=0.05, random_state=3)
rng = np.random.default_rng(0)
far = rng.choice(len(X), 60, replace=False)  # some rows far away, on the wrong side
X[far] -= 4.0 * (2 * y[far, None] - 1) * (X[y == 1].mean(0) - X[y == 0].mean(0))

# %%
# Level by level
# --------------
# The rows of the fit like it ever sharper; held-out rows do not, and choose.

levels = (0.25, 0.5, 1, 2, 4, 8)
smooth = SmoothClassifier("error", loss="sigmoid", alpha=1e-3, levels=levels, start="zero")
smooth.fit(X, y)
display = PathDisplay.from_estimator(smooth, X, y)
for step, error in zip(display.steps, display.held_out, strict=True):
    print(f"{step:>16}: {error:.4f} of the held-out rows are wrong")

# %%
# Iteration by iteration
# ----------------------
# The last fit keeps its steps, so no rows are needed.

PathDisplay.from_estimator(smooth, against="iteration")
