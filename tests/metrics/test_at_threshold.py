import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    fbeta_score,
    matthews_corrcoef,
    recall_score,
)

from directrix import MomentClassifier
from directrix.metrics import MCC, BalancedError, Cost, Error, FBeta, FromRates, GMean
from directrix.metrics.base import Curve


def cost_20(y, predicted, **options):
    (_, fp), (fn, _) = confusion_matrix(y, predicted, **options)
    weight = options["sample_weight"]
    return (3.0 * fp + 20.0 * fn) / (len(y) if weight is None else weight.sum())


def youden(y, predicted, **options):
    sensitivity = recall_score(y, predicted, **options)
    return sensitivity + recall_score(y, predicted, pos_label=0, **options) - 1.0


def geometric(y, predicted, **options):
    sensitivity = recall_score(y, predicted, **options)
    return np.sqrt(sensitivity * recall_score(y, predicted, pos_label=0, **options))


PAIRS = {
    "error": (Error(), lambda *a, **k: 1.0 - accuracy_score(*a, **k)),
    "balanced error": (BalancedError(), lambda *a, **k: 1.0 - balanced_accuracy_score(*a, **k)),
    "f1": (FBeta(), lambda *a, **k: fbeta_score(*a, beta=1.0, **k)),
    "f2": (FBeta(2.0), lambda *a, **k: fbeta_score(*a, beta=2.0, **k)),
    "f 0.1": (FBeta(0.1), lambda *a, **k: fbeta_score(*a, beta=0.1, **k)),
    "mcc": (MCC(), matthews_corrcoef),
    "cost": (Cost(fp=3.0, fn=20.0), cost_20),
    "gmean": (GMean(), geometric),
    "youden": (FromRates(lambda tpr, fpr, prior: tpr - fpr), youden),  # noqa: ARG005
}
every_pair = pytest.mark.parametrize(("metric", "reference"), PAIRS.values(), ids=PAIRS)


@every_pair
def test_score_is_that_of_scikit_learn(rows, weight, metric, reference):
    """A score of zero, of which there are some, is predicted negative."""
    assert (rows.scores == 0).any()
    expected = reference(rows.y, (rows.scores > 0).astype(int), sample_weight=weight)
    assert metric.score(rows.y, rows.scores, weight) == pytest.approx(expected, abs=1e-14)


@every_pair
@pytest.mark.parametrize("weighted", [False, True])
def test_best_is_the_best_of_all_thresholds(few_rows, metric, reference, weighted):
    y, scores, weight = few_rows.y, few_rows.scores, few_rows.weight if weighted else None

    def at(threshold):
        return reference(y, (scores > threshold).astype(int), sample_weight=weight)

    scored = [at(threshold) for threshold in (-np.inf, *np.unique(scores))]
    best = max(scored) if metric.greater_is_better else min(scored)
    choice = metric.best(Curve.of(y, scores, weight))
    assert choice.value == pytest.approx(best, abs=1e-14)
    assert at(choice.threshold) == pytest.approx(best, abs=1e-14)


@pytest.mark.parametrize("scores", [[-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]])
def test_constant_predictions_are_worth_what_scikit_learn_says(scores):
    y, predicted = [0, 1, 1], (np.array(scores) > 0).astype(int)
    assert MCC().score(y, scores) == matthews_corrcoef(y, predicted) == 0
    assert FBeta().score(y, scores) == fbeta_score(y, predicted, beta=1.0)
    assert GMean().score(y, scores) == 0


def test_your_own_loss_is_minimised():
    y, s = [0, 0, 1, 1, 1], [0.0, 2.0, 1.0, 3.0, 4.0]

    def distance(tpr, fpr, prior):
        return np.hypot(1.0 - tpr, fpr) + 0.0 * prior

    loss = FromRates(distance, maximize=False)
    assert not loss.greater_is_better
    assert loss.score(y, np.subtract(s, 2.5)) == pytest.approx(1 / 3)
    choice = loss.best(Curve.of(y, s))
    assert (choice.threshold, choice.value) == (2.5, pytest.approx(1 / 3))
    assert FromRates(distance).best(Curve.of(y, s)).value == 1.0


def test_a_function_of_the_prior_alone_is_allowed():
    metric = FromRates(lambda tpr, fpr, prior: 0.0 * (tpr + fpr) + prior)
    assert metric.score([0, 0, 0, 1], [1.0, 2.0, 3.0, 4.0]) == 0.25


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cost(-1, 1), "costs must be finite, not negative"),
        (lambda: Cost(1, -1), "costs must be finite, not negative"),
        (lambda: Cost(0, 0), "not both zero"),
        (lambda: Cost(1, np.inf), "costs must be finite"),
        (lambda: Cost(np.nan, 1), "costs must be finite"),
        (lambda: FBeta(0), "beta must be positive and finite, not 0"),
        (lambda: FBeta(-1.0), "beta must be positive"),
        (lambda: FBeta(np.inf), "beta must be positive and finite"),
        (lambda: FBeta(np.nan), "beta must be positive and finite"),
    ],
)
def test_refuses_parameters_that_mean_nothing(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def gain(tpr, fpr, prior):
    return prior * tpr - (1.0 - prior) * fpr


def test_a_metric_with_a_named_function_is_pickled_with_its_classifier():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    X = rng.normal(size=(300, 2)) + y[:, None]
    for metric in (FromRates(gain), FromRates(gain, maximize=False)):
        assert pickle.loads(pickle.dumps(metric)) == metric  # noqa: S301 - our own
        assert clone(MomentClassifier(metric)).metric == metric
    fitted = MomentClassifier(FromRates(gain)).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert (
        again.score(X, y)
        == fitted.score(X, y)
        == FromRates(gain).score(y, fitted.decision_function(X))
    )
