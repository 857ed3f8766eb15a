"""Cost of DirectClassifier: to logistic regression tuned in the same folds, and to its budget.

Real rows, 10,000 of a set at most, as the arena has them. CPU time against
``LogisticRegressionCV(cv=5)``, its features standardised; for the budget, the clock against what
was asked for. Run ``python -m benchmarks.speed.direct``.
"""

from __future__ import annotations

import warnings
from functools import partial
from statistics import median
from time import perf_counter

from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.arena.protocol import rows_of
from benchmarks.speed.ratio import Figure, conclude, ratios
from directrix import DirectClassifier
from directrix.metrics import RecallAtFPR

SETS = ("heart", "diabetes", "svmguide1", "spambase", "magic04", "ijcnn1", "covtype", "a9a")
METRICS = {"error": "error", "recall at FPR 1 %": RecallAtFPR(0.01), "AUC": "auc"}
ROUNDS, MAY_COST = 3, 6.0
BUDGETS, MAY_TAKE = (1.0, 3.0), 1.2


def costs_of(name: str) -> list[Figure]:
    """Measure one data set."""
    X, y = rows_of(name)
    tuned = make_pipeline(StandardScaler(), LogisticRegressionCV(cv=5, max_iter=1000))
    ours = {key: partial(DirectClassifier(metric).fit, X, y) for key, metric in METRICS.items()}
    measured = ratios(partial(tuned.fit, X, y), ours, rounds=ROUNDS)
    shape = f"{name}, {X.shape[0]} x {X.shape[1]}"
    return [
        Figure(f"{shape}, {key} / LogisticRegressionCV(cv=5)", ratio, MAY_COST)
        for key, ratio in measured.items()
    ]


def budgets_of(name: str) -> list[Figure]:
    """Measure how much of a budget is taken where all candidates would take more."""
    X, y = rows_of(name, whole=True)
    figures = []
    for budget in BUDGETS:
        taken = []
        for _ in range(ROUNDS):
            start = perf_counter()
            DirectClassifier(time_budget=budget).fit(X, y)
            taken.append(perf_counter() - start)
        what = f"{name}, {X.shape[0]} x {X.shape[1]}, time / a budget of {budget:g} s"
        figures.append(Figure(what, median(taken) / budget, MAY_TAKE))
    return figures


def main() -> None:
    """Measure, print and track."""
    warnings.simplefilter("ignore")  # where logistic regression is chosen, and where it stops early
    figures = [figure for name in SETS for figure in costs_of(name)]
    figures += budgets_of("a9a")
    conclude(figures, __file__, quick=False)


if __name__ == "__main__":
    main()
