import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from directrix import DirectClassifier, MomentClassifier, OperatingPointClassifier
from directrix.exceptions import RowDecisionError
from directrix.export.model_file import facts_to_json
from directrix.export.scoring_formula import CLASSIFIERS, known_names, scoring_formula
from directrix.metrics import Budget, Cost


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


def test_other_estimators_are_refused():
    with pytest.raises(TypeError, match="ScorecardClassifier, not LogisticReg"):
        scoring_formula(LogisticRegression())
    with pytest.raises(NotFittedError):
        scoring_formula(MomentClassifier())


@pytest.mark.parametrize("name", sorted(set(CLASSIFIERS) - {"OperatingPointClassifier"}))
def test_every_classifier_hands_over_its_state(name, fitted):
    examples = {
        "DirectClassifier": "direct",
        "MomentClassifier": "odd_names",
        "ScorecardClassifier": "card",
    }
    classifier = fitted(examples[name])
    state = classifier.export_state()
    params = classifier.get_params(deep=False)
    for of_the_run in ("verbose", "n_jobs", "warn_baseline"):
        params.pop(of_the_run, None)
    assert state.params == params
    assert sorted(facts_to_json(state.facts)) == sorted(state.facts)
    assert type(CLASSIFIERS[name].from_state(state)) is type(classifier)


BUDGET = Budget({"east": 3, "west": 5}, by="team")


@pytest.mark.parametrize(
    ("asked", "of_rows"),
    [
        ({"metric": Cost(fp=5, fn="amount")}, {"amount": np.arange(600) % 7}),
        (
            {"metric": "auc", "limits": BUDGET, "guarantee": 0.5},
            {"day": np.arange(600) // 30, "team": np.where(np.arange(600) % 3, "east", "west")},
        ),
    ],
    ids=["money", "teams"],
)
def test_what_decides_beside_the_score_is_not_exported(asked, of_rows):
    X = np.random.default_rng(0).normal(size=(600, 2))
    column = [*of_rows][-1]
    for classifier in (DirectClassifier(cv=2, warn_baseline=False), OperatingPointClassifier()):
        given = X if isinstance(classifier, DirectClassifier) else X[:, 0]
        y = X[:, 0] + np.arange(600) % 2 > 1
        model = classifier.set_params(**asked).fit(given, y, **of_rows)
        with pytest.raises(RowDecisionError, match=f"decides by '{column}'.* predict in Python"):
            scoring_formula(model)
        copy = model.with_threshold(model.operating_points(["error"])[0])
        above = copy.decision_function(given) > 0
        assert copy.predict(given).tolist() == above.tolist()
    assert scoring_formula(DirectClassifier(cv=2, warn_baseline=False).fit(X, y))


def test_a_threshold_around_a_model_has_no_formula_of_its_own():
    scores = np.arange(100.0)
    classifier = OperatingPointClassifier(None, "f1").fit(scores, scores > 60)
    with pytest.raises(TypeError, match=r"those of its estimator: export that.* above 60\.5"):
        scoring_formula(classifier)


def test_names_are_listed_for_messages():
    assert known_names().split(" or ") == list(CLASSIFIERS)
    with pytest.raises(TypeError, match="this takes a fitted") as caught:
        scoring_formula(object())
    listed = str(caught.value).partition("fitted ")[2].partition(", not object")[0].split(" or ")
    assert listed == [name for name in CLASSIFIERS if name != "OperatingPointClassifier"]
