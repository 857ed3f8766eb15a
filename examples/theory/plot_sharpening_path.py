"""
Sharpen a smooth loss step by step
==================================

A smooth loss is easy to minimise but far from the error; a sharp loss is close to the error but
hard to minimise. Training therefore sharpens the loss step by step, each with a warm start from the
previous step. The display shows the loss and the exact metric, on training rows and on held-out
rows.
"""

import numpy as np
from sklearn.datasets import make_classification

from directrix import SmoothClassifier
from directrix.displays import PathDisplay

X, y = make_classification(1_500, 10, n_informative=5, class_sep=1.2, flip_y=0.05, random_state=3)
rng = np.random.default_rng(0)
far = rng.choice(len(X), 60, replace=False)  # some outliers on the wrong side
X[far] -= 4.0 * (2 * y[far, None] - 1) * (X[y == 1].mean(0) - X[y == 0].mean(0))

# %%
# Levels of sharpness
# -------------------
# The training error falls with every level; the error on held-out rows does not, and it chooses the
# level.

levels = (0.25, 0.5, 1, 2, 4, 8)
smooth = SmoothClassifier("error", loss="sigmoid", alpha=1e-3, levels=levels, start="zero")
smooth.fit(X, y)
display = PathDisplay.from_estimator(smooth, X, y)
display.figure_.suptitle("Loss and error by the sharpness of the loss")
for step, error in zip(display.steps, display.held_out, strict=True):
    print(f"{step:>16}: error {error:.4f} on held-out rows")

# %%
# Iterations of the final fit
# ---------------------------
# The final fit stores its iterations, so no rows are needed.

display = PathDisplay.from_estimator(smooth, against="iteration")
display.figure_.suptitle("Loss by iteration of the final fit")
