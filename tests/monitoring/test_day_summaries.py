import numpy as np
import pytest
from monitored_days import Days
from sklearn.linear_model import LogisticRegression

from directrix import MomentClassifier
from directrix.export import load, save
from directrix.monitoring import summarize_day
from directrix.monitoring.day_summaries import model_identity, positive_scores, score_scale


@pytest.fixture(scope="module", params=["bad", "good"])
def model(request):
    day = Days(0, positive=request.param)
    return MomentClassifier("error", positive=request.param).fit(*day(2000, 0.3)), day


def test_scores_favour_the_positive_label(model):
    classifier, day = model
    X, y = day(500, 0.3)
    scores = positive_scores(classifier, X)
    assert ((scores > 0) == (classifier.predict(X) == day.positive)).all()
    summaries = summarize_day(classifier, X, y)
    assert summaries.scores.classes.tolist() == [False, True]
    assert summaries.scores.weight[1] == (y == day.positive).sum()
    alerts = (classifier.predict(X) == day.positive).sum()
    assert summaries.scores.weight_above(0.0).sum() == alerts


def test_days_add_up(model):
    classifier, day = model
    X, y = day(500, 0.3)
    parts = [summarize_day(classifier, X[k::2], y[k::2]) for k in range(2)]
    total, whole = parts[0] + parts[1], summarize_day(classifier, X, y)
    assert total.scores == whole.scores
    assert total.columns.count == whole.columns.count


def test_a_loaded_model_is_the_same_model(model, tmp_path):
    classifier, day = model
    save(classifier, tmp_path / "model")
    assert model_identity(load(tmp_path / "model")) == model_identity(classifier)
    other = MomentClassifier("error", positive=day.positive).fit(*day(2000, 0.3))
    assert model_identity(other) != model_identity(classifier)


def test_the_unit_of_scores_is_that_of_the_model(model):
    classifier, day = model
    X, _ = day(5000, 0.3)
    deviation = positive_scores(classifier, X).std()
    assert 0.25 < score_scale(classifier) / deviation < 4.0


def test_several_classes_are_refused():
    class Several:
        classes_ = np.array([0, 1, 2])

        def decision_function(self, X):
            return np.zeros((len(X), 3))

    with pytest.raises(ValueError, match="two classes"):
        summarize_day(Several(), np.zeros((2, 1)))


@pytest.mark.parametrize("labels", [["1", "0"], ["yes", "no"], [1, 2]])
def test_labels_that_are_no_classes_of_the_model_are_refused(labels):
    X = np.array([[0.0], [1.0]])
    model = LogisticRegression().fit(X, [0, 1])
    with pytest.raises(ValueError, match=r"is not among the classes \[0, 1\] of the model"):
        summarize_day(model, X, labels)
