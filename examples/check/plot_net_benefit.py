"""
Is a model worth acting on? Net benefit
=======================================

A test that finds more of the sick also alarms more of the healthy. Whether it is worth using
depends on the risk above which one would act: somebody who acts at a risk of 10 % holds nine
false alarms for worth one true one. The net benefit of a model counts both at this rate of
exchange, and compares it with acting on everybody and on nobody. The example draws decision curves
of a scorecard and of one measurement alone, on simulated patients.
"""

# %%
# Patients
# --------
# Four items, of which two matter much. The rows are simulated: 3,000 patients to fit, as many to
# evaluate.

import numpy as np
import pandas as pd

from directrix import ScorecardClassifier
from directrix.displays import NetBenefitDisplay
from directrix.estimators import IntegerPoints
from directrix.estimators.risk_validation import RiskCounts, calibration_line

rng = np.random.default_rng(0)
n = 6000
patients = pd.DataFrame(
    {
        "age": rng.integers(30, 90, n),
        "pressure": rng.normal(130, 18, n).round(),
        "smoker": rng.random(n) < 0.3,
        "marker": np.exp(rng.normal(0, 0.6, n)).round(2),
    }
)
log_odds = (
    -4.5 + 0.045 * (patients.age - 30) + 0.9 * patients.smoker + 1.1 * np.log(patients.marker)
)
ill = (rng.random(n) < 1 / (1 + np.exp(-log_odds))).to_numpy()
fit, test = slice(None, None, 2), slice(1, None, 2)

# %%
# A bedside score
# ---------------
# Points from 0 to 5 for each item, fitted for the ranking of patients.

score = ScorecardClassifier("auc", points=IntegerPoints(5), max_crosses=0, warn_baseline=False)
score.fit(patients[fit], ill[fit])
print(score.card_)

# %%
# Calibration on other patients
# -----------------------------
# A slope below one would say that risks are too extreme, an intercept above zero that they are too
# low on the whole.

probability = score.predict_proba(patients[test])[:, 1]
line = calibration_line(RiskCounts.of_rows(ill[test], probability))
print(f"slope {line.slope.value:.2f} ({line.slope.low:.2f} to {line.slope.high:.2f})")
print(
    f"intercept {line.intercept.value:.2f} ({line.intercept.low:.2f} to {line.intercept.high:.2f})"
)
print(line.verdict)

# %%
# Decision curves
# ---------------
# Between risks of some 5 and 20 % the whole interval of the score is above acting on all patients
# and on none; beyond, these patients cannot tell whether it helps. Age alone is worth less
# everywhere, and nothing from a risk of about 15 % on. The marks are the risks at the cutoffs that
# the fits chose.

display = NetBenefitDisplay.from_estimator(score, patients[test], ill[test], name="score")
age = ScorecardClassifier("auc", warn_baseline=False)
age.fit(patients[["age"]][fit], ill[fit])
NetBenefitDisplay.from_estimator(
    age, patients[["age"]][test], ill[test], name="age alone", ax=display.ax_
)
display.figure_.suptitle("Net benefit of a score and of age alone")
for words, ends in (
    ("the curve is above both", display.curve.useful),
    ("its whole interval is", display.curve.surely_useful),
):
    print(f"{words} from a risk of {ends[0]:.1%} to {ends[1]:.1%}")
