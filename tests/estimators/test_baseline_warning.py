"""The advice that a simpler model is as good: once, and only where somebody reads it."""

import warnings
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from directrix import DirectClassifier, ScorecardClassifier
from directrix.exceptions import NotBetterThanBaselineWarning
from directrix.fit.baseline import warn_about_baseline
from directrix.fit.gap import Gap
from directrix.fit.report import Estimate


def rows(n=150):
    """Return rows of which logistic regression is the best model there is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, rng.random(n) < 1.0 / (1.0 + np.exp(-1.5 * X[:, 0]))


X, Y = rows()
CLASSIFIERS = {
    "direct": DirectClassifier("auc", cv=2),
    "card": ScorecardClassifier("auc", cv=2, max_crosses=0, max_lines=None),
}
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)


def advice(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [each for each in caught if each.category is NotBetterThanBaselineWarning]


def test_a_fit_gives_it_once_at_the_line_of_the_user():
    (given,) = advice(lambda: CLASSIFIERS["card"].fit(X, Y))
    assert given.filename == __file__
    assert given.message.metrics == ("AUC",)
    assert given.message.baseline.startswith("logistic regression")
    assert "warn_baseline=False" in str(given.message)


def test_a_card_that_is_cut_to_a_number_of_lines_is_wanted_for_its_size():
    card = ScorecardClassifier("auc", cv=2, max_crosses=0, max_lines=4)
    assert not advice(lambda: card.fit(X, Y))
    assert "logistic regression without bins" in card.report_.summary()


def test_several_metrics_give_it_once():
    (given,) = advice(lambda: CLASSIFIERS["card"].fit_each(["auc", "error"], X, Y))
    assert set(given.message.metrics) <= {"AUC", "error rate"}


def test_the_baseline_itself_is_no_news():
    fitted = DirectClassifier("auc", cv=2)
    assert not advice(lambda: fitted.fit(X, Y))
    assert "The same as logistic regression." in fitted.report_.summary().splitlines()


def test_a_more_complex_line_that_is_no_better_is_news():
    fitted = DirectClassifier("auc", cv=2).fit(X, Y)
    worse = replace(fitted.report_, gap=Gap(-0.01, -0.02, 0.0))
    fitted._result = replace(fitted._result, report=worse)
    assert advice(lambda: warn_about_baseline([fitted]))


@every_classifier
def test_what_is_no_better_than_a_constant_says_so_first_instead(name):
    noise = np.random.default_rng(1).random(len(Y)) < 0.5
    fitted = CLASSIFIERS[name]
    assert not advice(lambda: fitted.fit(X, noise))
    assert fitted.report_.summary().startswith("No better than a constant")


@every_classifier
@pytest.mark.parametrize("max_lines", [None, 30])
def test_a_baseline_that_is_clearly_better_is_news_even_beside_a_constant(name, max_lines):
    fitted = copy(CLASSIFIERS[name]).set_params(warn_baseline=False).fit(X, Y)
    fitted.warn_baseline = True
    lost = Gap(-0.3, -0.4, -0.2)
    worse = {"expected": Estimate(0.5, 0.4, 0.6), "gap": lost, "unbinned_baseline": lost}
    report = replace(fitted.report_, **worse)
    fitted._result = replace(fitted._result, report=report)
    if name == "card":
        fitted.max_lines = max_lines
    assert advice(lambda: warn_about_baseline([fitted]))
    first = fitted.report_.summary().splitlines()[0]
    assert first.startswith("No better than a constant")
    assert "Clearly worse than " in first


@every_classifier
def test_a_parameter_turns_it_off(name):
    parameters = CLASSIFIERS[name].get_params() | {"warn_baseline": False}
    assert not advice(lambda: type(CLASSIFIERS[name])(**parameters).fit(X, Y))


@pytest.mark.parametrize(("name", "n_jobs"), [("direct", 1), ("direct", 2), ("card", 1)])
def test_a_search_gives_none(name, n_jobs):
    search = GridSearchCV(CLASSIFIERS[name], {"cv": [2]}, cv=2, n_jobs=n_jobs)
    assert not advice(lambda: search.fit(X, Y))


def test_a_cross_validation_gives_none():
    assert not advice(lambda: cross_val_score(CLASSIFIERS["card"], X, Y, cv=2))
