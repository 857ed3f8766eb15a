"""Cost of SmoothClassifier: six metrics from one sweep, and one metric beside its rivals.

Real rows. Run ``python -m benchmarks.speed.smooth_classifier``.
"""

from __future__ import annotations

from functools import partial

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.data import load
from benchmarks.speed.ratio import Figure, ratios, run
from directrix import SmoothClassifier
from directrix.metrics import FBeta, PrecisionAtK, RecallAtFPR

SETS, ROUNDS = ("mammography", "spambase", "magic04"), 5
ONE = RecallAtFPR(0.01)
SIX = (ONE, RecallAtFPR(0.05), PrecisionAtK(0.01), FBeta(), "error", "mcc")
SIX_MAY_COST = 1.2


def figures_of(name: str) -> list[Figure]:
    """Measure one data set."""
    X, y = load(name)
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    tuned = GridSearchCV(
        logistic, {"logisticregression__C": [0.01, 0.1, 1.0, 10.0, 100.0]}, scoring=ONE.scorer()
    )
    measured = ratios(
        partial(SmoothClassifier(ONE).fit, X, y),
        {
            "six metrics": partial(SmoothClassifier().fit_each, SIX, X, y),
            "tuned logistic": partial(tuned.fit, X, y),
        },
        rounds=ROUNDS,
    )
    shape = f"{name}, {X.shape[0]} x {X.shape[1]}"
    return [
        Figure(f"{shape}: six metrics / one", measured["six metrics"], SIX_MAY_COST),
        Figure(
            f"{shape}: one metric / logistic regression, C by 5 folds",
            1.0 / measured["tuned logistic"],
        ),
    ]


if __name__ == "__main__":
    run(__file__, __doc__, lambda _: (figure for name in SETS for figure in figures_of(name)))
