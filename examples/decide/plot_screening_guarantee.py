"""
Medical screening with a guaranteed recall
==========================================

A screening test must find 95 % of the sick, and should send as few healthy people as possible to
further examinations. ``FPRAtRecall(0.95)`` is that metric. A threshold that has a recall of 95 % on
the training rows has less on new rows about every other time; ``guarantee=0.95`` sets it so that
the recall of new rows is at least 95 %, with a confidence of 95 %.
"""

# %%
# Patients
# --------
# Five markers of 3,000 people, one in six of them sick, to train on; and 50,000 others, whose rates
# are close to the true ones.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_curve

from directrix import DirectClassifier
from directrix.displays import style
from directrix.exceptions import OutOfReachError
from directrix.metrics import FPRAtRecall

rng = np.random.default_rng(2)


def patients(n):
    """Return markers and diagnoses. The first marker varies little among the sick."""
    sick = rng.random(n) < 1 / 6
    spread = np.where(sick[:, None], [0.5, 1.0, 1.0, 1.0, 1.0], [2.0, 1.0, 1.0, 1.0, 1.0])
    return spread * rng.normal(size=(n, 5)) + sick[:, None] * [2.0, 1.3, 0.9, 0.4, 0.0], sick


X_train, y_train = patients(3_000)
X_test, y_test = patients(50_000)

# %%
# With and without a guarantee
# ----------------------------
# Without a guarantee, all rows train the model, and the threshold keeps the limit in expectation.
# With it, a third of the rows sets the threshold and does nothing else.

metric = FPRAtRecall(0.95)
plain = DirectClassifier(metric).fit(X_train, y_train)
sure = DirectClassifier(metric, guarantee=0.95).fit(X_train, y_train)
print(plain.operating_point_)
print(sure.operating_point_)

# %%
# On 50,000 new patients
# ----------------------
# The guarantee has its price: only two thirds of the rows train the model, and the threshold is
# stricter, so that more healthy people are examined.

figure, ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
for name, model, color in (
    ("in expectation", plain, style.BLUE),
    ("guaranteed", sure, style.VERMILION),
):
    flagged = model.predict(X_test)
    recall, fpr = flagged[y_test].mean(), flagged[~y_test].mean()
    print(f"{name:15} recall {recall:.3f}, {fpr:.1%} of the healthy are examined")
    rates = roc_curve(y_test, model.decision_function(X_test))
    ax.plot(rates[0], rates[1], color=color, linewidth=1.2)
    style.mark(ax, fpr, recall, color=color, label=name)
ax.axhline(0.95, color=style.GREY, linestyle="--", linewidth=0.9, label="limit")
ax.set(xlim=(0.1, 0.5), ylim=(0.85, 1.0))
style.finish(
    ax, "share of the healthy who are examined", "share of the sick who are found", columns=3
)
figure.suptitle("Operating points of two screening tests, on new patients")

# %%
# How many patients it takes
# --------------------------
# An exact bound on a recall of 95 % needs 59 sick people in the rows that are set apart, even if
# all of them are found. With too few rows the fit is refused, and the message says how many rows
# would do.

try:
    DirectClassifier(metric, guarantee=0.95).fit(X_train[:600], y_train[:600])
except OutOfReachError as error:
    print(error)
