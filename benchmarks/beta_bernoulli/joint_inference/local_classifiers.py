"""The local classifiers p(Y | X) that are compared."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import BetaBernoulliClassifier
from directrix._typing import AnyArray, FloatArray

_PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
_ROBUST = (0.15, 0.7)


def _logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression())


def _tuned_logistic() -> GridSearchCV:
    """Let held-out log-loss choose, as ``alpha="auto"`` does: probabilities are what is used."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    grid = {"logisticregression__C": _PENALTIES}
    return GridSearchCV(_logistic(), grid, cv=folds, scoring="neg_log_loss")


UNTUNED, LOGISTIC, SQUEEZED = "logistic, C=1", "logistic, tuned", "logistic, tuned, squeezed"
LOCAL_CLASSIFIERS: dict[str, Any] = {
    "share of faces": DummyClassifier(),
    UNTUNED: _logistic(),
    LOGISTIC: _tuned_logistic(),
    "weak": BetaBernoulliClassifier(plateaus="weak"),
    "learned": BetaBernoulliClassifier(plateaus="learned"),
    "robust": BetaBernoulliClassifier(),
    "learned, tuned": BetaBernoulliClassifier(plateaus="learned", alpha="auto"),
    "robust, tuned": BetaBernoulliClassifier(alpha="auto"),
}
#: In the order of tables. Squeezed is tuned logistic regression with the plateaus of "robust" put
#: on afterwards: it tells what they do in the network from what they do to the fit.
METHODS = (*list(LOCAL_CLASSIFIERS)[:3], SQUEEZED, *list(LOCAL_CLASSIFIERS)[3:])


def local_probabilities(X: FloatArray, y: AnyArray, X_test: FloatArray) -> dict[str, FloatArray]:
    """Train all on the same faces; return p(Y = 1 | X) of each test face, by method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # solvers that stop early
        found = {
            method: clone(classifier).fit(X, y).predict_proba(X_test)[:, 1]
            for method, classifier in LOCAL_CLASSIFIERS.items()
        }
    least, width = _ROBUST
    return found | {SQUEEZED: least + width * found[LOGISTIC]}
