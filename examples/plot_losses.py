"""
Losses of a row
===============

A loss charges a row by its margin: the score, turned by the label. Convex losses charge rows far on
the wrong side without end; the others reach a plateau, and let go of them. These are Figures 2 to 5
of Hasan and Pal (2015).
"""

import matplotlib.pyplot as plt

from directrix.displays import LossDisplay
from directrix.losses import (
    BetaBernoulli,
    GeneralizedLogistic,
    Hinge,
    Logistic,
    Ramp,
    Sigmoid,
    ZeroOne,
)

# %%
# Loss and derivative
# -------------------
# The derivative is how hard a row pulls at the line. Beyond the plateau it is zero.

display = LossDisplay.from_losses(
    {"logistic": Logistic(), "hinge": Hinge(), "Beta-Bernoulli": BetaBernoulli(gamma=2.0)}
)
print(
    "pull at a margin of -3:", {own.name: round(float(own.slopes[0]), 3) for own in display.drawn}
)

# %%
# The figures of the paper
# ------------------------
# Beta-Bernoulli with a weak prior (2) and a strong one (5); smoothed hinge and zero-one losses (3);
# the ramp (4); plateaus that differ between the classes (5, right).

weak, strong = 0.02 / 1.02, 0.5
figure, axes = plt.subplots(3, 2, figsize=(6.0, 8.4), layout="constrained")
panels = (
    {
        "logistic": Logistic(),
        **{rf"$\gamma$ = {g}": BetaBernoulli(weak, gamma=g) for g in (2, 8, 32)},
    },
    {"hinge": Hinge(kappa=0.0), **{rf"$\gamma$ = {g}": GeneralizedLogistic(g) for g in (2, 4)}},
    {"0-1": ZeroOne(), **{rf"$\gamma$ = {g}": Sigmoid(g) for g in (1, 2, 32)}},
    {"hinge": Hinge(kappa=0.0), "ramp": Ramp(Hinge(kappa=0.0))},
    {rf"$\gamma$ = {g}": BetaBernoulli(strong, gamma=g) for g in (1, 2, 8, 32)},
)
for ax, losses in zip(axes.flat, panels, strict=False):
    LossDisplay.from_losses(losses, ax=ax)
uneven = BetaBernoulli(mixing=0.75, prior_mean=1 / 3, gamma=8.0)
LossDisplay.from_losses({"row": uneven}, side="both", ax=axes[2, 1])
