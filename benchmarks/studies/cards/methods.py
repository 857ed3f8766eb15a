"""What the studies of the card fit, and by which metrics it is judged."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.harness.runner import timed
from benchmarks.rivals.base import LogLoss, TableRival
from benchmarks.rivals.tables import TABLE_RIVALS
from benchmarks.studies.cards import faster_risk
from directrix import Binner, ScorecardClassifier
from directrix._typing import FloatArray
from directrix.metrics import AUC, RecallAtFPR
from directrix.moments import BinCounts

GROWN, SMALL, COUNTS = "one likelihood", "one likelihood, 20 lines", "counts alone"
SEVEN, RISK = "LightGBM, 7 leaves", "FasterRisk, 10 conditions"
TREES = {SEVEN: {"n_estimators": 150, "num_leaves": 7}, "LightGBM": {}}
FOLDS_OF_COUNTS = 5
METRICS: dict[str, Any] = {
    "AUC": AUC(),
    "recall at FPR 1 %": RecallAtFPR(0.01),
    "recall at FPR 5 %": RecallAtFPR(0.05),
    "log loss": LogLoss(),
}


def measured(method: str, train: Rows, test: Rows) -> tuple[object, ...]:
    """Return the `METRICS` of a method, its lines and its CPU seconds."""
    printed: object = ""
    if method in TREES:
        odds, cpu = timed(boosted, train, test, **TREES[method])
    elif method == RISK:
        scored = faster_risk.fit(train, test)
        if scored is None:
            return (*("" for _ in METRICS), "", "")
        values = [f"{metric.score(test.y, scored.scores):.6g}" for metric in METRICS.values()]
        return (*values[:-1], "", scored.n_lines, f"{scored.cpu:.3g}")
    elif method in TABLE_RIVALS:
        rival = TABLE_RIVALS[method]
        assert isinstance(rival, TableRival)
        said, cpu = timed(rival.log_odds, train, test)
        odds = said.test
    else:
        lines = 20 if method == SMALL else "auto"
        classifier = ScorecardClassifier("auc", max_lines=lines, points="log-odds")
        fit = partial(fit_counts, classifier) if method == COUNTS else classifier.fit
        _, cpu = timed(fit, train.X, train.y)
        odds, printed = _log_odds(classifier, test.X), classifier.card_.n_lines
    values = [f"{metric.score(test.y, odds):.6g}" for metric in METRICS.values()]
    return (*values, printed, f"{cpu:.3g}")


def boosted(train: Rows, test: Rows, **options: Any) -> FloatArray:
    """Return the log-odds of test rows by LightGBM, with texts as categories."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415 - optional

    texts = train.X.select_dtypes(exclude="number").columns
    kinds = {text: train.X[text].astype("category").dtype for text in texts}
    model = LGBMClassifier(**options, n_jobs=1, verbose=-1).fit(train.X.astype(kinds), train.y)
    return _log_odds(model, test.X.astype(kinds))


def fit_counts(classifier: ScorecardClassifier, X: Any, y: Any) -> None:
    """Fit a card to counts of bins in folds, without the rows."""
    fold = np.arange(len(y)) % FOLDS_OF_COUNTS
    classifier.fit_summary(BinCounts.of(Binner().fit(X), X, y, fold=fold))


def _log_odds(model: Any, X: Any) -> FloatArray:
    chance = np.clip(model.predict_proba(X)[:, 1], 1e-15, 1.0 - 1e-15)
    odds: FloatArray = np.log(chance / (1.0 - chance))
    return odds
