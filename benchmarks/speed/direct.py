"""Cost of DirectClassifier over logistic regression tuned in the same folds.

Real rows, 10,000 of a set at most, as the arena has them, and generated ones of a thousand
features. CPU time against ``LogisticRegressionCV(cv=5)``, its features standardised. Two rivals
that tune for the metric too are measured beside it: the same with its threshold chosen by
``TunedThresholdClassifierCV``, where there is one to choose, and ``GridSearchCV`` over a pipeline
of a scaler and logistic regression, ten strengths in five folds, with the metric as ``scoring``.
Run ``python -m benchmarks.speed.direct``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import inf
from statistics import median
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.arena.protocol import rows_of
from benchmarks.speed.ratio import Figure, ratios, run
from directrix import DirectClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import AUC, Error, RecallAtFPR
from directrix.metrics.base import Metric

SETS = ("heart", "diabetes", "svmguide1", "spambase", "magic04", "ijcnn1", "covtype", "a9a")
METRICS: dict[str, Metric] = {
    "error": Error(),
    "recall at FPR 1 %": RecallAtFPR(0.01),
    "AUC": AUC(),
}
#: Of the median over sets, and of a single one.
MAY_COST = {"error": 2.0, "recall at FPR 1 %": 2.0, "AUC": 3.0}
MAY_COST_ONCE = 5.0
ROUNDS = 3
STRENGTHS = np.logspace(-4, 4, 10)
WIDE = 10_000, 1_000


def tuned() -> Any:
    """Return the unit of the ratios."""
    return make_pipeline(StandardScaler(), LogisticRegressionCV(cv=5, max_iter=1000))


def within_rate(y: AnyArray, predicted: AnyArray) -> float:
    """Return the recall of predictions, or how far their false-positive rate is above 1 %."""
    rate = float(predicted[~y].mean())
    return float(predicted[y].mean()) if rate <= 0.01 else 0.01 - rate


def rivals(metric: Metric) -> dict[str, Any]:
    """Return the classifiers that are tuned for a metric."""
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    grid = {"logisticregression__C": STRENGTHS}
    found = {"GridSearchCV": GridSearchCV(pipeline, grid, scoring=metric.scorer(), cv=5)}
    if metric.uses_threshold:
        scoring = "accuracy" if metric == Error() else make_scorer(within_rate)
        found["TunedThresholdClassifierCV"] = TunedThresholdClassifierCV(tuned(), scoring=scoring)
    return found


def costs_of(name: str) -> Iterator[Figure]:
    """Measure one data set."""
    X, y = rows_of(name)
    work: dict[tuple[str, str], Any] = {}
    for key, metric in METRICS.items():
        work[key, ""] = partial(DirectClassifier(metric).fit, X, y)
        work |= {(key, rival): partial(each.fit, X, y) for rival, each in rivals(metric).items()}
    named = {f"{key}{f' by {rival}' * bool(rival)}": run for (key, rival), run in work.items()}
    measured = ratios(partial(tuned().fit, X, y), named, rounds=ROUNDS)
    for (_, rival), (label, ratio) in zip(work, measured.items(), strict=True):
        limit = inf if rival else MAY_COST_ONCE
        shape = f"{name}, {X.shape[0]} x {X.shape[1]}"
        yield Figure(f"{shape}, {label} / LogisticRegressionCV(cv=5)", ratio, limit)


def medians(figures: list[Figure]) -> Iterator[Figure]:
    """Return the median over sets of each metric, of ours and of the rivals."""
    labels = dict.fromkeys(figure.what.split(", ", 2)[2] for figure in figures)
    for label in labels:
        over = [figure.ratio for figure in figures if figure.what.endswith(f", {label}")]
        limit = MAY_COST.get(label.removesuffix(" / LogisticRegressionCV(cv=5)"), inf)
        yield Figure(f"median of {len(over)} sets, {label}", median(over), limit)


def generated(n: int, d: int) -> tuple[FloatArray, AnyArray]:
    """Return normal rows, of whose features a few matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, :20].sum(axis=1) + 3.0 * rng.standard_normal(n) > 3.0


def wide() -> Iterator[Figure]:
    """Measure rows of many features."""
    X, y = generated(*WIDE)
    ours = {key: partial(DirectClassifier(each).fit, X, y) for key, each in METRICS.items()}
    for key, ratio in ratios(partial(tuned().fit, X, y), ours, rounds=1).items():
        what = f"generated, {WIDE[0]} x {WIDE[1]}, {key} / LogisticRegressionCV(cv=5)"
        yield Figure(what, ratio, MAY_COST_ONCE)


def measure(_: bool) -> Iterator[Figure]:  # noqa: FBT001 - as `run` calls it
    """Yield the costs of all sets, their medians, and those of wide rows."""
    figures = []
    for name in SETS:
        for figure in costs_of(name):
            figures.append(figure)
            yield figure
    yield from medians(figures)
    yield from wide()


if __name__ == "__main__":
    run(__file__, __doc__, measure)
