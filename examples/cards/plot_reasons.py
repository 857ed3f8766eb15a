"""
Reasons for the decisions of a scorecard
========================================

Why was this row flagged? A scorecard answers in points: each column adds some, and ``reasons``
names the columns that cost a row most against a reference. The example trains a card on
scikit-learn's breast cancer data, and explains single tumours against the best bins, against the
average, and against a reference of your choice.
"""

# %%
# A card of five measurements
# ---------------------------
# ``True`` is malignant, the positive class. Rows with more points than the cutoff are flagged.
# Logistic regression is about as good on these columns; the card is wanted for its reasons, so
# ``warn_baseline=False``.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from directrix import Binner, ScorecardClassifier
from directrix.displays import style

data = load_breast_cancer(as_frame=True)
columns = ["area", "texture", "concave points", "smoothness", "symmetry"]
table = data.data[[f"worst {name}" for name in columns]].set_axis(columns, axis=1)
malignant = (data.target == 0).to_numpy()
X_train, X_test, y_train, y_test = train_test_split(
    table, malignant, stratify=malignant, random_state=0
)
card = ScorecardClassifier(
    "balanced_error",
    binner=Binner(max_bins=6),
    max_crosses=0,
    warn_baseline=False,
)
card.fit(X_train, y_train)
print(card.operating_point_)
frame = card.card_.to_frame()
print(frame[frame.column.isin(["area", "concave points"])].round(3).to_string(index=False))

# %%
# Reasons against the best bin
# ----------------------------
# The loss of a column is how many points fewer the row would have if this column alone were in its
# best bin, here the most benign one. ``texts`` replaces names of columns or of single bins.

points = card.predict_points(X_test)
order = np.argsort(points)
flagged = order[points[order] > card.card_.cutoff]
chosen = [
    flagged[-1],
    flagged[len(flagged) // 2],
    flagged[0],
]  # clear, usual, just above the cutoff
tumours = X_test.iloc[chosen]
print("points:", points[chosen].astype(int), "cutoff:", card.card_.cutoff)
texts = {"area": "Large nuclei", "concave points": "Irregular outline"}
print(card.reasons(tumours, k=3, texts=texts))

# %%
# Other references
# ----------------
# Against the average of the training rows, only what is worse than usual is a reason. A dict
# compares with values or bins that it names, and only these columns can be reasons.

print(card.reasons(tumours, k=3, reference="average", texts=texts))
typical = X_train[~y_train].median().to_dict()
print(card.reasons(tumours, k=3, reference=typical, texts=texts))

# %%
# All losses of three tumours
# ---------------------------
# ``to_frame`` has a line for each reason.

losses = card.reasons(tumours, k=len(columns)).to_frame()
wide = losses.pivot(index="column", columns="row", values="points_lost").reindex(columns).fillna(0)
figure, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
names = ["most points", "median", "just above the cutoff"]
for row, (name, color) in enumerate(
    zip(names, (style.VERMILION, style.BLUE, style.GREEN), strict=True)
):
    ax.barh(
        np.arange(len(columns)) + 0.27 * (row - 1), wide[row], height=0.25, color=color, label=name
    )
ax.set_yticks(range(len(columns)), columns)
ax.invert_yaxis()
style.finish(ax, "points lost against the best bin", "", columns=3)
figure.suptitle("Why three tumours are flagged as malignant")
