"""The local classifiers p(Y | X) that are compared, and the measures of their labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.record import Record, parse
from benchmarks.harness.runner import quiet
from benchmarks.papers.hasan_pal_2015.models import plateau, tuned_plateau
from directrix._typing import AnyArray, FloatArray

_PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
_ROBUST = (0.15, 0.7)
STAGES = ("local", "joint")
_SURE = 0.01
_LEAST = 1e-12


def _logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression())


def _tuned_logistic() -> GridSearchCV:
    """Let held-out log-loss choose, as of ours: probabilities are what is used."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    grid = {"logisticregression__C": _PENALTIES}
    return GridSearchCV(_logistic(), grid, cv=folds, scoring="neg_log_loss")


UNTUNED, LOGISTIC, SQUEEZED = "logistic, C=1", "logistic, tuned", "logistic, tuned, squeezed"
LOCAL_CLASSIFIERS: dict[str, Any] = {
    "share of faces": DummyClassifier(),
    UNTUNED: _logistic(),
    LOGISTIC: _tuned_logistic(),
    "weak": plateau("weak"),
    "learned": plateau("learned"),
    "robust": plateau(),
    "learned, tuned": tuned_plateau("learned"),
    "robust, tuned": tuned_plateau(),
}
#: In the order of tables. Squeezed is tuned logistic regression with the plateaus of "robust" put
#: on afterwards: it separates what they do in the network from what they do to the fit.
METHODS = (*list(LOCAL_CLASSIFIERS)[:3], SQUEEZED, *list(LOCAL_CLASSIFIERS)[3:])


def local_probabilities(X: FloatArray, y: AnyArray, X_test: FloatArray) -> dict[str, FloatArray]:
    """Train all on the same faces; return p(Y = 1 | X) of each test face, by method."""
    with quiet():
        probabilities = {
            method: clone(classifier).fit(X, y).predict_proba(X_test)[:, 1]
            for method, classifier in LOCAL_CLASSIFIERS.items()
        }
    least, width = _ROBUST
    return probabilities | {SQUEEZED: least + width * probabilities[LOGISTIC]}


class Outcome(NamedTuple):
    """A row of the file: a seed, a condition, a method and a stage, and what was measured.

    ``error`` is the share of faces whose more probable label is wrong, ``log_loss`` the mean of
    minus the log of the probability of the true label, ``surely_wrong`` the share of faces whose
    true label has less than a hundredth.
    """

    seed: int
    condition: str
    method: str
    stage: str
    faces: int
    error: float
    log_loss: float
    surely_wrong: float

    def cells(self) -> tuple[object, ...]:
        """Return a row of the file."""
        return *self[:5], *(f"{value:.6f}" for value in self[5:])


RECORD = Record(Path(__file__).with_name("measured.csv"), Outcome._fields, ("seed", "condition"))


def read() -> list[Outcome]:
    """Return all that was measured."""
    return [parse(row, Outcome) for row in RECORD.rows()]


def scores(truth: AnyArray, probability: FloatArray) -> tuple[float, float, float]:
    """Return the error, the log-loss and the share of those surely wrong."""
    of_truth = np.where(truth, probability, 1.0 - probability)
    return (
        float(((probability > 0.5) != truth).mean()),
        float(-np.log(np.maximum(of_truth, _LEAST)).mean()),
        float((of_truth < _SURE).mean()),
    )
