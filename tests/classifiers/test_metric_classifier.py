import numpy as np
import pytest

from directrix import DirectClassifier, ScorecardClassifier
from directrix.classifiers.metric_classifier import MetricClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=150) > 0
MEMBERS = [
    DirectClassifier("auc", cv=3),
    ScorecardClassifier("auc", cv=3, train_on="counts", max_crosses=0),
]
members = pytest.mark.parametrize("member", MEMBERS, ids=lambda each: type(each).__name__)


def copy_of(member, **params):
    return type(member)(**{**member.get_params(), **params})


@members
@pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
def test_the_most_probable_of_several_classes_is_predicted(member):
    labels = np.array(["a", "b", "c"])[Y + 1 * (X[:, 1] > 0.8)]
    fitted = copy_of(member).fit(X, labels)
    assert isinstance(fitted, MetricClassifier)
    probability = fitted.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[probability.argmax(axis=1)])
    assert len(fitted.reports_) == 3
    with pytest.raises(AttributeError, match="reports_"):
        _ = fitted.report_


@members
@pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
def test_metrics_that_share_candidates_have_their_own_classifiers(member):
    both = copy_of(member).fit_each(["auc", "error"], X, Y)
    assert [str(each.metric) for each in both] == [str(each.report_.metric) for each in both]
    alone = copy_of(member, metric="error").fit(X, Y)
    np.testing.assert_allclose(both[1].decision_function(X), alone.decision_function(X), atol=1e-9)


@members
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"limits": {"fpr": 0.1}}, "guarantee=0.95"),
        ({"time_budget": 0.0}, "seconds above zero"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(member, params, words):
    with pytest.raises(ValueError, match=words):
        copy_of(member, **params).fit(X, Y)


@members
def test_groups_are_not_independent_rows_of_a_guarantee(member):
    guarded = copy_of(member, metric="recall@fpr=0.1", guarantee=0.9)
    with pytest.raises(ValueError, match="independent rows"):
        guarded.fit(X, Y, groups=np.arange(150) % 10)
