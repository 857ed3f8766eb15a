"""Fitted classifiers of every kind, each fitted once, and rows to score."""

import warnings
from copy import deepcopy
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from directrix import (
    DirectClassifier,
    MomentClassifier,
    ScorecardClassifier,
)
from directrix.exceptions import ChangedColumnsWarning
from directrix.metrics import Cost, RecallAtFPR

N = 240
#: What a column may be called.
ODD_NAMES = ["Up per", 'he said "no"', "größe", "a`b", "back\\slash", "it's", "年齢"]


@pytest.fixture(autouse=True)
def rows_of_any_kind():
    """Let rows be such as no fit has seen: exports must agree there too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChangedColumnsWarning)
        yield


def rows(d, n=N, seed=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def positive(X):
    noise = np.random.default_rng(8).normal(size=len(X))
    return X[:, 0] - 0.7 * X[:, -1] + noise > 0.6


def fit(classifier, X, labels=(False, True)):
    return classifier.fit(X, np.array(labels)[positive(np.asarray(X)).astype(int)])


def odd_names():
    return fit(MomentClassifier(RecallAtFPR(0.05)), pd.DataFrame(rows(7), columns=ODD_NAMES))


def text_labels():
    direct = DirectClassifier("f1", cv=3)
    return fit(direct, rows(3), ["it's \\ 'no'\n", 'the "best"'])


def direct():
    return fit(DirectClassifier(Cost(fp=1, fn=4), cv=3), rows(3), np.array([-1, 7], np.int32))


def whole_labels():
    return fit(DirectClassifier(cv=3), rows(2), [0, 2])


def one_feature():
    return fit(MomentClassifier("auc"), rows(1), [-1.0, 2.0])


def far():
    classifier = deepcopy(odd_names())
    classifier.coef_ *= 1e3
    return classifier


def wide():
    return fit(MomentClassifier(sample=0), rows(60), [0, 1])


def card():
    return fit(ScorecardClassifier("auc", cv=2, max_lines=None), rows(3, 80))


LINEAR = odd_names, text_labels, direct, whole_labels, one_feature, far, wide
MODELS = {make.__name__: make for make in (*LINEAR, card)}


@lru_cache
def model(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are bad models, and say so
        return MODELS[name]()


@pytest.fixture(scope="session")
def fitted():
    """Return a function that gives a fitted classifier by name."""
    return model


@pytest.fixture(params=[make.__name__ for make in LINEAR])
def linear(request):
    return model(request.param)


@pytest.fixture(params=list(MODELS))
def classifier(request):
    return model(request.param)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.model"


@pytest.fixture(scope="session")
def many_rows():
    """Return a function that gives 10,000 rows for a classifier, some far out."""

    def make(classifier):
        X = rows(classifier.n_features_in_, 10_000, seed=11)
        X[:50] *= 30.0
        return X

    return make


@pytest.fixture(scope="session")
def answer():
    """Return a function that gives score, probability and label of each row by the estimator."""

    def ask(classifier, X):
        names = getattr(classifier, "feature_names_in_", None)
        X = X if names is None else pd.DataFrame(X, columns=names)
        probability = classifier.predict_proba(X)
        return (
            classifier.decision_function(X),
            probability[:, 1],
            classifier.predict(X),
        )

    return ask
