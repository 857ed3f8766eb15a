import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)

from directrix.metrics import AUC, Error, FBeta, RecallAtFPR, RecallAtPrecision
from directrix.metrics.table import TABLE

every_row = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
FOLDS = StratifiedKFold(3)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.3, "yes", "no")
    X = rng.normal(size=(300, 3)) + 0.9 * (y == "yes")[:, None]
    return X, y


def by_hand(model, X, y):
    """Return the score of every metric in every fold."""
    values = {row.name: [] for row in TABLE}
    for train, test in FOLDS.split(X, y):
        scores = clone(model).fit(X[train], y[train]).decision_function(X[test])
        for row in TABLE:
            value = row.example.score(y[test], scores)
            if row.name in ("error", "balanced_error"):  # as accuracies, which people expect
                value = 1.0 - value
            elif not row.example.greater_is_better:
                value = -value
            values[row.name].append(value)
    return values


@pytest.mark.parametrize("text", [False, True])
def test_scorers_give_the_score_of_each_fold(data, text):
    X, y = data
    y = y if text else (y == "yes").astype(int)
    model, scorers = LogisticRegression(), {row.name: row.example.scorer() for row in TABLE}
    results = cross_validate(model, X, y, scoring=scorers, cv=FOLDS, error_score="raise")
    expected = by_hand(model, X, y)
    for row in TABLE:
        assert results[f"test_{row.name}"].tolist() == expected[row.name]
    for name in ("error", "auc"):
        one = cross_val_score(model, X, y, scoring=scorers[name], cv=FOLDS, error_score="raise")
        assert one.tolist() == expected[name]


def test_grid_search_picks_the_best(data):
    X, y = data
    models = [LogisticRegression(C=1e-4), LogisticRegression(C=1.0)]
    options = {"cv": FOLDS, "error_score": "raise", "refit": "cost"}
    scorers = {row.name: row.example.scorer() for row in TABLE}
    grid = {"C": [model.C for model in models]}
    search = GridSearchCV(LogisticRegression(), grid, scoring=scorers, **options).fit(X, y)
    expected = [by_hand(model, X, y) for model in models]
    for row in TABLE:
        means = [np.mean(values[row.name]) for values in expected]
        measured = search.cv_results_[f"mean_test_{row.name}"]
        assert measured == pytest.approx(means, abs=1e-14)
        assert search.cv_results_[f"rank_test_{row.name}"].argmin() == np.argmax(means)
    assert search.best_params_["C"] == 1.0  # the cheaper, whose negated cost is the greater
    assert search.best_score_ < 0


def test_which_metrics_are_better_when_lower():
    lower = {row.name for row in TABLE if not row.example.greater_is_better}
    assert lower == {"error", "cost", "balanced_error", "fpr_at_recall"}


def test_ranking_takes_probabilities_where_there_is_no_decision_function(data):
    X, y = data
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    for metric in (AUC(), RecallAtFPR(0.1)):
        assert metric.scorer()(forest, X, y) == metric.score(y, forest.predict_proba(X)[:, 1])
    with pytest.raises(AttributeError, match="decision_function"):
        Error().scorer()(forest, X, y)


@every_row
def test_value_of_a_loss_and_back(row):
    for loss in (0.0, 0.25):
        value = row.example.of_loss(loss)
        if row.name == "from_rates":
            assert value == -loss
        else:
            assert value == (1.0 - loss if row.example.greater_is_better else loss)


@pytest.mark.parametrize("positive", [None, "no"])
def test_a_scorer_tunes_the_threshold_of_text_labels(data, positive):
    X, y = data
    scorer = FBeta().scorer(positive=positive)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, cv=FOLDS).fit(X, y)
    as_numbers = TunedThresholdClassifierCV(LogisticRegression(), scoring="f1", cv=FOLDS)
    as_numbers.fit(X, (y == (positive or "yes")).astype(int))
    assert tuned.best_score_ == pytest.approx(as_numbers.best_score_)


#: What a constant, or random scores, get where three rows in ten are positive, by hand.
CHANCE = {
    "error": 0.3,
    "cost": 0.7,  # all positive: 0.7 false positives of cost 1
    "balanced_error": 0.5,
    "auc": 0.5,
    "partial_auc": 0.05,  # the mean of a recall from 0 to 10 %
    "average_precision": 0.3,
    "recall_at_fpr": 0.01,
    "fpr_at_recall": 0.9,
    "precision_at_recall": 0.3,
    "recall_at_precision": 0.0,
    "precision_at_k": 0.3,
    "recall_at_k": 0.1,
    "prbep": 0.3,
    "f1": 2 * 0.3 / 1.3,  # all positive
    "fbeta": 5 * 0.3 / (5 * 0.3 + 0.7),  # all positive: no misses, 0.7 false positives
    "mcc": 0.0,
    "gmean": 0.5,  # half of the rows at random
    "from_rates": 0.0,
}


@every_row
def test_chance_is_what_a_constant_or_random_scores_get(row):
    assert row.example.chance(0.3, 1000) == pytest.approx(CHANCE[row.name], abs=1e-12)


def test_a_precision_that_all_rows_have_is_reached_by_chance():
    assert RecallAtPrecision(0.25).chance(0.3) == 1.0


@pytest.mark.parametrize(
    ("metric", "interval", "better"),
    [
        (AUC(), (0.51, 0.6), True),
        (AUC(), (0.5, 0.6), False),
        (AUC(), (0.4, 0.45), False),
        (Error(), (0.4, 0.49), True),
        (Error(), (0.4, 0.5), False),
        (Error(), (0.6, 0.7), False),
    ],
)
def test_better_is_a_whole_interval_on_the_better_side(metric, interval, better):
    assert metric.is_better(interval, 0.5) is better
