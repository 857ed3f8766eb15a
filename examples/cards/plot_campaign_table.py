"""
A sales campaign from a table with texts and missing values
===========================================================

Whom to call is learned from a table as it is: texts, numbers with long tails and missing values,
without an encoder or an imputer. The example trains a scorecard for F1, compares it with a pipeline
of scikit-learn on the same rows, and also trains for the cost of the campaign.
"""

# %%
# Customers
# ---------
# A bank called its customers to sell a deposit, and one call in nine did. Half of the calls train
# the models, the other half tests them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from directrix import ScorecardClassifier
from directrix.datasets import load_bank
from directrix.displays import style
from directrix.metrics import Cost, FBeta

table, deposit = load_bank()
buys = deposit == "yes"
train, test, buys_train, buys_test = train_test_split(table, buys, test_size=0.5, random_state=0)
print(table.head(3).T.to_string())
print(f"{buys.mean():.1%} of the calls sold a deposit")

# %%
# Train for F1 and for a cost
# ---------------------------
# A call in vain costs 1, a buyer who is not called costs 8. ``fit_each`` trains a card for each
# metric. The report compares the card with logistic regression without bins, where texts are
# indicators and missing values have one as well.

cost = Cost(fp=1, fn=8)
cards = ScorecardClassifier().fit_each(["f1", cost], train, buys_train)
for card in cards:
    print(card.report_.summary(), end="\n\n")
print(cards[0].operating_point_)

# %%
# The same by a pipeline of scikit-learn
# --------------------------------------
# Logistic regression needs an imputer, a scaler and an encoder. Its threshold is tuned for each of
# the two metrics, as it should be.

prepared = make_column_transformer(
    (
        make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
        make_column_selector(dtype_include="number"),
    ),
    (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
)
logistic = make_pipeline(prepared, LogisticRegression())
for metric, card in zip((FBeta(1.0), cost), cards, strict=True):
    tuned = TunedThresholdClassifierCV(logistic, scoring=metric.scorer(), thresholds=50, cv=3)
    tuned.fit(train, buys_train)
    for name, model in {"pipeline, tuned threshold": tuned, "scorecard": card}.items():
        flagged = model.predict(test)
        value = metric.score(buys_test, flagged - 0.5)  # a score above zero is flagged
        print(f"{name:26} {metric.label}: {value:.3f}, {flagged.mean():.1%} flagged")

# %%
# Cost by the number of calls
# ---------------------------
# The mean cost of a customer if those with the highest scores are called. The markers are the
# thresholds that were set on training rows.

figure, ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
for name, model, color in (
    ("pipeline", tuned, style.BLUE),
    ("scorecard", cards[1], style.VERMILION),
):
    scores = model.predict_proba(test)[:, 1]
    buying = buys_test[np.argsort(-scores)]
    costs = cost.fp * np.cumsum(~buying) + cost.fn * (buying.sum() - np.cumsum(buying))
    ax.plot(
        np.arange(1, len(buying) + 1) / len(buying), costs / len(buying), color=color, label=name
    )
    calls = model.predict(test).sum()
    style.mark(ax, calls / len(buying), costs[calls - 1] / len(buying), color=color, label=None)
ax.axhline(cost.fn * buys_test.mean(), color=style.GREY, linestyle="--", label="no calls")
ax.set(xlim=(0, 1), ylim=(0, 1.1))
style.finish(ax, "share of the customers who are called", "mean cost of a customer", columns=3)
figure.suptitle("Cost of a sales campaign, on test rows")
