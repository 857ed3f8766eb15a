"""
Churn from a table with texts and missing values
================================================

Customers who leave are found from a table as it is: texts, numbers with long tails, dates and
missing values, without an encoder or an imputer. The example trains a scorecard for F1, compares it
with a pipeline of scikit-learn on the same rows, and also trains for the cost of a campaign.
"""

# %%
# Customers
# ---------
# One customer in eight leaves. New customers leave most, and so do those who have called support
# often or whose last invoice is unknown.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from directrix import ScorecardClassifier
from directrix.displays import style
from directrix.metrics import Cost, FBeta

rng = np.random.default_rng(0)
n = 9_000
table = pd.DataFrame(
    {
        "months": rng.gamma(1.2, 20.0, n).round(),
        "invoice": np.exp(rng.normal(3.5, 0.7, n)).round(2),
        "calls": rng.poisson(1.0, n),
        "contract": rng.choice(["month", "one year", "two years"], n, p=[0.5, 0.3, 0.2]),
        "channel": rng.choice(["shop", "web", "partner", None], n, p=[0.3, 0.5, 0.15, 0.05]),
        "last_offer": pd.Timestamp("2024-06-01") + pd.to_timedelta(rng.integers(0, 365, n), "D"),
    }
)
table["invoice"] = table["invoice"].mask(rng.random(n) < 0.1)
log_odds = (
    3.5 * np.exp(-table.months / 8)
    + 1.5 * (table.calls >= 3)
    + 1.8 * table.invoice.isna()
    + 1.5 * (np.abs(np.log(table.invoice.fillna(33) / 33)) > 0.9)
    + table.contract.map({"month": 1.6, "one year": 0.0, "two years": -1.5})
    + 1.0 * (table.channel == "partner")
    - 5.0
)
leaves = (log_odds + rng.logistic(size=n) > 0).to_numpy()
train, test = slice(0, 4_500), slice(4_500, None)
print(table.head(3).to_string())
print(f"{leaves.mean():.1%} of the customers leave")

# %%
# Train for F1 and for a cost
# ---------------------------
# An offer to a customer who would have stayed anyway costs 1, a customer who leaves costs 8.
# ``fit_each`` trains a card for each metric. The report compares the card with logistic regression
# without bins, where texts are indicators and missing values have one as well.

cost = Cost(fp=1, fn=8)
cards = ScorecardClassifier(learn_from="counts").fit_each(["f1", cost], table[train], leaves[train])
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
        ["months", "invoice", "calls"],
    ),
    (OneHotEncoder(handle_unknown="ignore"), ["contract", "channel"]),
)
logistic = make_pipeline(prepared, LogisticRegression())
for metric, card in zip((FBeta(1.0), cost), cards, strict=True):
    tuned = TunedThresholdClassifierCV(logistic, scoring=metric.scorer(), thresholds=50, cv=3)
    tuned.fit(table[train], leaves[train])
    for name, model in {"pipeline, tuned threshold": tuned, "scorecard": card}.items():
        flagged = model.predict(table[test])
        value = metric.score(leaves[test], flagged - 0.5)  # a score above zero is flagged
        print(f"{name:26} {metric.label}: {value:.3f}, {flagged.mean():.1%} flagged")

# %%
# Cost by the number of offers
# ----------------------------
# The mean cost of a customer if those with the highest scores get an offer. The markers are the
# thresholds that were set on training rows.

figure, ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
for name, model, color in (
    ("pipeline", tuned, style.BLUE),
    ("scorecard", cards[1], style.VERMILION),
):
    scores = model.predict_proba(table[test])[:, 1]
    leaving = leaves[test][np.argsort(-scores)]
    costs = cost.fp * np.cumsum(~leaving) + cost.fn * (leaving.sum() - np.cumsum(leaving))
    ax.plot(
        np.arange(1, len(leaving) + 1) / len(leaving), costs / len(leaving), color=color, label=name
    )
    offers = model.predict(table[test]).sum()
    style.mark(ax, offers / len(leaving), costs[offers - 1] / len(leaving), color=color, label=None)
ax.axhline(cost.fn * leaves[test].mean(), color=style.GREY, linestyle="--", label="no offers")
ax.set(xlim=(0, 0.6), ylim=(0, 1))
style.finish(ax, "share of the customers who get an offer", "mean cost of a customer", columns=3)
figure.suptitle("Cost of a campaign against churn, on test rows")
