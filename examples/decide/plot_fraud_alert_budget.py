"""
Recall at a fixed alert budget for fraud
========================================

A team can check one transaction in a hundred. What counts is then the share of frauds among the 1 %
of the rows with the highest scores. The example fits a card for this metric, compares with logistic
regression on test rows, and shows how to keep the budget on new rows with a stated confidence.
"""

# %%
# Transactions
# ------------
# Of 30,000 transactions, 1 % are fraud. Frauds have rather high amounts, but the highest amounts
# belong to business customers, so that a straight line ranks the wrong rows first.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import ScorecardClassifier
from directrix.displays import style
from directrix.metrics import PrecisionAtK, RecallAtK

rng = np.random.default_rng(1)
n = 30_000
fraud = rng.random(n) < 0.01
table = pd.DataFrame(
    {
        "log_amount": np.where(fraud, rng.normal(5.2, 0.4, n), rng.normal(3.5, 1.5, n)),
        "logins": rng.poisson(np.where(fraud, 3.0, 0.7)),
        "distance": rng.normal(np.where(fraud, 1.4, 0.0)),
        "account_age": rng.gamma(2.0, np.where(fraud, 1.5, 3.0)),
    }
)
X_train, y_train = table[::2], fraud[::2]
X_test, y_test = table[1::2], fraud[1::2]

# %%
# A card for the recall of the top 1 %
# ------------------------------------
# The report compares the card with the full card, and with logistic regression without bins, on
# held-out rows.

metric = RecallAtK(0.01)
options = {"max_crosses": 0}
card = ScorecardClassifier(metric, **options).fit(X_train, y_train)
print(card.report_.summary())

# %%
# The same on test rows
# ---------------------
# 150 of the 15,000 test rows are checked. The precision is the share of frauds among them.

line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
for name, model in {"logistic regression": line, "scorecard": card}.items():
    scores = model.decision_function(X_test)
    recall, precision = metric.score(y_test, scores), PrecisionAtK(0.01).score(y_test, scores)
    print(f"{name:20} recall {recall:.3f}, precision {precision:.3f} in the top 1 %")

# %%
# Recall against the share of rows that are checked
# -------------------------------------------------
# The dashed line is the budget.

figure, ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
for name, model, color in (
    ("logistic regression", line, style.BLUE),
    ("scorecard", card, style.VERMILION),
):
    scores = model.decision_function(X_test)
    shares = np.linspace(0.0005, 0.05, 100)
    recalls = [RecallAtK(share).score(y_test, scores) for share in shares]
    ax.plot(100 * shares, recalls, color=color, label=name)
ax.axvline(1.0, color=style.GREY, linestyle="--", linewidth=0.9, label="budget")
ax.set(xlim=(0, 5), ylim=(0, 1))
style.finish(ax, "rows that are checked, %", "share of frauds that are found", columns=3)
figure.suptitle("Frauds found within an alert budget, on test rows")

# %%
# Keep the budget on new rows
# ---------------------------
# The threshold of ``card`` flags 1 % of the rows on average; here a little more. With
# ``guarantee=0.95`` and a limit on alerts, a third of the training rows is set apart, and an exact
# binomial bound on their scores sets the threshold. The price is a lower recall.

sure = ScorecardClassifier(metric, guarantee=0.95, limits={"alerts": 0.01}, **options)
sure.fit(X_train, y_train)
print(sure.operating_point_)
for name, model in {"on average": card, "guaranteed": sure}.items():
    flagged = model.predict(X_test)
    print(f"{name}: {flagged.mean():.2%} flagged, recall {flagged[y_test].mean():.3f}")
