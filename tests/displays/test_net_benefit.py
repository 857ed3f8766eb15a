"""NetBenefitDisplay draws the curve of the library, with acting on all and on none."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import MomentClassifier
from directrix.displays import NetBenefitDisplay
from directrix.displays.net_benefit import probability_at_cutoff
from directrix.estimators.risk_validation import RiskCounts, net_benefit

pytest.importorskip("matplotlib").use("Agg")

X, Y = make_classification(400, 4, n_informative=3, n_redundant=0, class_sep=0.8, random_state=0)


@pytest.fixture(autouse=True)
def _close():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def test_the_curve_is_that_of_the_probabilities():
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    display = NetBenefitDisplay.from_estimator(line, X, Y)
    p = line.predict_proba(X)[:, 1]
    expected = net_benefit(RiskCounts.of_rows(Y == 1, p))
    np.testing.assert_array_equal(display.line_.get_ydata(), expected.values)
    np.testing.assert_array_equal(display.all_.get_ydata(), expected.treat_all)
    assert display.name == "LogisticRegression"
    assert display.cutoff is None
    again = NetBenefitDisplay.from_predictions(Y, p)
    np.testing.assert_array_equal(again.curve.values, expected.values)
    low, high = display.ax_.get_ylim()
    assert low < 0 < expected.high.max() < high


def test_a_positive_label_that_is_first():
    labels = np.where(Y == 1, "a bad one", "good")
    model = MomentClassifier("error", positive="a bad one").fit(X, labels)
    display = NetBenefitDisplay.from_estimator(model, X, labels)
    p = model.predict_proba(X)[:, 0]
    expected = net_benefit(RiskCounts.of_rows(labels == "a bad one", p))
    np.testing.assert_allclose(display.curve.values, expected.values, atol=1e-12)
    flagged = model.predict(X) == "a bad one"
    cutoff = probability_at_cutoff(model)
    assert p[flagged].min() >= cutoff - 1e-9 >= p[~flagged].max() - 2e-9


def test_a_second_curve_is_drawn_into_the_first():
    p = LogisticRegression().fit(X, Y).predict_proba(X)[:, 1]
    first = NetBenefitDisplay.from_predictions(Y, p, name="one")
    second = NetBenefitDisplay.from_predictions(Y, p[::-1], name="other", ax=first.ax_)
    assert second.all_ is None
    labels = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert {"one", "other", "act on all rows", "act on none"} <= set(labels)
    assert first.line_.get_color() != second.line_.get_color()


def test_what_is_refused():
    iris = load_iris()
    several = LogisticRegression(max_iter=1000).fit(iris.data, iris.target)
    with pytest.raises(ValueError, match="net benefit is of two classes"):
        NetBenefitDisplay.from_estimator(several, iris.data, iris.target)
    with pytest.raises(NotFittedError):
        NetBenefitDisplay.from_estimator(LogisticRegression(), X, Y)
    with pytest.raises(ValueError, match="probabilities must be between 0 and 1"):
        NetBenefitDisplay.from_predictions(Y, X[:, 0])


def test_rows_that_do_not_fit_each_other_are_refused():
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match="one score for each label"):
        NetBenefitDisplay.from_estimator(model, X, Y[:-1])
    with pytest.raises(ValueError, match=r"of one class only .* give rows of both"):
        NetBenefitDisplay.from_estimator(model, X[Y == 1], Y[Y == 1])
