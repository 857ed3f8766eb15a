"""
Credit approval with a scorecard
================================

A scorecard for loan applications that a committee can sign: the risk may only rise with the
duration of the loan and only fall with age, every bin has a small whole number of points, and the
model is printed on one page. The example fits a card for the recall at 10 % false positives, shows
what directions cost, and scales it to points that double the odds.
"""

# %%
# Applications
# ------------
# 1,000 loans of a bank, of which six columns are used here. ``bad`` loans were not paid back as
# agreed. Half of the loans fit the card, the other half stands for new applicants.

import matplotlib.pyplot as plt
import numpy as np

from directrix import Binner, ScorecardClassifier
from directrix.datasets import load_credit
from directrix.displays import ScorecardDisplay, style

table, credit = load_credit()
table = table[["account", "duration", "history", "savings", "age", "housing"]]
bad = credit == "bad"
train, test = slice(0, None, 2), slice(1, None, 2)
print(f"{bad.mean():.1%} of the loans are bad")

# %%
# A card with directions and whole points
# ---------------------------------------
# ``monotone`` names the direction of each column towards the positive class, the bad loans. A text
# has an order of its levels.

directions = {
    "duration": "increasing",
    "account": ["200 DM or more", "0 to 200 DM", "overdrawn", "no account"],
    "age": "decreasing",
}
options = {
    "metric": "recall@fpr=0.1",
    "binner": Binner(max_bins=6),
    "max_crosses": 0,
    "max_lines": None,  # six columns make a short card
    "monotone": directions,
    "warn_baseline": False,  # wanted for its points, not because it beats a line
}
card = ScorecardClassifier(**options).fit(table[train], bad[train])
print(card.card_)

# %%
# What directions change
# ----------------------
# The report has the effect of each direction, in recall on held-out rows. Above zero is better.

for direction in card.report_.directions:
    print(f"{direction.column:15} {direction.effect.mean:+.3f}  {direction.wish}")
print(card.operating_point_)

# %%
# The card as a picture
# ---------------------
# Steps and bars are points of bins, with the intervals that the rows of a bin alone would give;
# grey bars are the training rows.

display = ScorecardDisplay.from_estimator(card)
display.figure_.suptitle("A scorecard of six columns")

# %%
# Choose another cutoff
# ---------------------
# The cutoff of the fit turns down 10 % of the good applicants. How many are approved at
# another cutoff, and how many of those are bad, is read from the points of the test rows.

points = card.predict_points(table[test])
cutoffs = np.arange(10, points.max()) + 0.5
approved = np.array([np.mean(points < cutoff) for cutoff in cutoffs])
among = np.array([bad[test][points < cutoff].mean() for cutoff in cutoffs])
figure, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
ax.plot(cutoffs, approved, color=style.BLUE, label="applicants who are approved")
ax.plot(cutoffs, among, color=style.VERMILION, linestyle="--", label="bad among them")
ax.axvline(card.card_.cutoff, color=style.GREY, linestyle=":", label="cutoff of the fit")
ax.set(ylim=(0, 1.02))
style.finish(ax, "cutoff: applicants below it are approved", "share of test rows")
figure.suptitle("Approvals and bad loans by the cutoff")

# %%
# Points to double the odds
# -------------------------
# Banks often prefer points that are higher for safer applicants: 600 points are odds of 50 good
# loans to a bad one, and 20 points more double them. The predictions follow the same metric.

scaled = ScorecardClassifier(points="pdo", **options).fit(table[train], bad[train])
frame = scaled.card_.to_frame().query("column == 'duration'")
print(frame.round(3).to_string(index=False))
print(f"cutoff: {scaled.card_.cutoff:.0f} points; applicants below it are turned down")
for name, model in {"whole points": card, "points to double the odds": scaled}.items():
    declined = model.predict(table[test])
    recall, fpr = declined[bad[test]].mean(), declined[~bad[test]].mean()
    print(f"{name}: {recall:.1%} of the bad and {fpr:.1%} of the good loans are turned down")
