import pytest

from directrix.export.model_file import arrays_to_file, facts_to_json
from directrix.export.registry import CLASSIFIERS, known_names


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_hands_over_its_state(name, fitted):
    examples = {
        "BetaBernoulliClassifier": "plateaus",
        "DirectClassifier": "direct",
        "MomentClassifier": "odd_names",
        "ScorecardClassifier": "card",
        "SmoothClassifier": "text_labels",
    }
    classifier = fitted(examples[name])
    state = classifier.export_state()
    params = classifier.get_params(deep=False)
    for of_the_run in ("verbose", "n_jobs", "warn_baseline"):
        params.pop(of_the_run, None)
    assert state.params == params
    assert sorted(arrays_to_file(state.arrays)[0]) == sorted(state.arrays)
    assert sorted(facts_to_json(state.facts)) == sorted(state.facts)
    assert type(CLASSIFIERS[name].from_state(state)) is type(classifier)


def test_names_are_listed_for_messages():
    assert known_names().split(" or ") == list(CLASSIFIERS)
