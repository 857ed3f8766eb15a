"""
Compare margin losses and their derivatives
===========================================

A margin loss is a function of the margin, the score of a row multiplied by its label. Convex losses
grow without bound for rows far on the wrong side. Losses with a plateau are bounded, so that such
rows stop influencing the fit. The example reproduces the panels of Figures 2 to 5 of Hasan and
Pal (2015), but for the smoothed hinge of their Figure 3.
"""

import matplotlib.pyplot as plt

from directrix.displays import LossDisplay
from directrix.losses import (
    BetaBernoulli,
    Hinge,
    Logistic,
    Ramp,
    Sigmoid,
    ZeroOne,
)

# %%
# Loss and derivative
# -------------------
# The derivative is the influence of a row on the fit. On a plateau it is zero.

display = LossDisplay.from_losses(
    {"logistic": Logistic(), "hinge": Hinge(), "Beta-Bernoulli": BetaBernoulli(gamma=2.0)}
)
display.figure_.suptitle("Margin losses and their derivatives")
slopes = {curve.name: round(float(curve.slopes[0]), 3) for curve in display.drawn}
print("derivative at a margin of -3:", slopes)

# %%
# Figures 2 to 5 of the paper
# ---------------------------
# Figure 2 shows the Beta-Bernoulli loss with a weak prior, Figure 3 smoothed zero-one losses,
# Figure 4 the ramp loss, and Figure 5 the Beta-Bernoulli loss with a strong prior and (last)
# with plateaus that differ between the classes.

weak, strong = 0.02 / 1.02, 0.5
figure, axes = plt.subplots(3, 2, figsize=(6.0, 8.4), layout="constrained")
panels = (
    {
        "logistic": Logistic(),
        **{rf"$\gamma$ = {g}": BetaBernoulli(weak, gamma=g) for g in (2, 8, 32)},
    },
    {"0-1": ZeroOne(), **{rf"$\gamma$ = {g}": Sigmoid(g) for g in (1, 2, 32)}},
    {"hinge": Hinge(kappa=0.0), "ramp": Ramp(Hinge(kappa=0.0))},
    {rf"$\gamma$ = {g}": BetaBernoulli(strong, gamma=g) for g in (1, 2, 8, 32)},
)
for ax, losses in zip(axes.flat, panels, strict=False):
    LossDisplay.from_losses(losses, ax=ax)
axes[2, 1].set_axis_off()
uneven = BetaBernoulli(mixing=0.75, prior_mean=1 / 3, gamma=8.0)
LossDisplay.from_losses({"row": uneven}, side="both", ax=axes[2, 0])
figure.suptitle("Figures 2 to 5 of Hasan and Pal (2015)")
