import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from directrix import MomentClassifier
from directrix.export.scoring_formula import linear_formula, scoring_formula


def test_names_are_those_of_the_fit_or_those_given(fitted):
    named = fitted("odd_names")
    assert scoring_formula(named).features == tuple(named.feature_names_in_)
    other = [f"x{k}" for k in range(7)]
    assert scoring_formula(named, other).features == tuple(other)
    assert scoring_formula(fitted("direct")).features is None


def test_names_that_do_not_fit_are_refused(fitted):
    with pytest.raises(TypeError, match="a list of names, not the text 'abc'"):
        scoring_formula(fitted("direct"), "abc")
    with pytest.raises(ValueError, match="3 different names"):
        scoring_formula(fitted("direct"), ["a", "b"])


def test_other_estimators_and_kernels_are_refused(fitted):
    with pytest.raises(TypeError, match="or SmoothClassifier, not LogisticReg"):
        scoring_formula(LogisticRegression())
    with pytest.raises(NotFittedError):
        scoring_formula(MomentClassifier())
    with pytest.raises(ValueError, match="is a sum over rows"):
        scoring_formula(fitted("rbf"))
    with pytest.raises(TypeError, match="points for bins"):
        linear_formula(fitted("card"))
