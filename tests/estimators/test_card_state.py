import numpy as np
import pytest

from directrix import ScorecardClassifier
from directrix.estimators.state import ModelState
from directrix.exceptions import StateError
from directrix.export import load, save


def table(n=240, seed=0):
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n)
    other = rng.normal(size=n)
    text = rng.choice(["a", "b", "c"], n)
    y = number * other + (text == "a") + 0.3 * rng.normal(size=n) > 0.3
    number[::9] = np.nan
    return np.column_stack([number.astype(object), other.astype(object), text.astype(object)]), y


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return ScorecardClassifier("auc", cv=3, max_lines=None).fit(X, y), X


def test_a_saved_card_scores_to_the_last_bit(fitted, tmp_path):
    card, X = fitted
    save(card, tmp_path / "card.model")
    again = load(tmp_path / "card.model")
    np.testing.assert_array_equal(again.decision_function(X), card.decision_function(X))
    np.testing.assert_array_equal(again.predict_proba(X), card.predict_proba(X))
    assert str(again.card_) == str(card.card_)


def test_equal_cards_give_equal_files(fitted, tmp_path):
    card, _ = fitted
    save(card, tmp_path / "one.model")
    save(load(tmp_path / "one.model"), tmp_path / "two.model")
    assert (tmp_path / "one.model").read_bytes() == (tmp_path / "two.model").read_bytes()


def crossed_state():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    card = ScorecardClassifier("auc", cv=3, max_lines=None).fit(X, X[:, 0] * X[:, 1] > 0)
    assert card.card_.crosses
    return card.export_state()


@pytest.fixture(scope="module")
def state():
    return crossed_state()


def changed(state, **parts):
    return ModelState(**{**state.__dict__, **parts})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: {"arrays": {**s.arrays, "points": s.arrays["points"][:-1]}}, "too few points"),
        (lambda s: {"arrays": {**s.arrays, "points": np.append(s.arrays["points"], 0.0)}}, "many"),
        (lambda s: {"arrays": {**s.arrays, "merged": s.arrays["merged"] - 5}}, "merges cells"),
        (lambda s: {"arrays": {**s.arrays, "merged": s.arrays["merged"][:-1]}}, "too few merged"),
        (lambda s: {"arrays": {**s.arrays, "intercept": np.array([np.nan])}}, "finite"),
        (lambda s: {"arrays": {k: v for k, v in s.arrays.items() if k != "points"}}, "lacks"),
        (lambda s: {"facts": type(s.facts)(s.facts, binner="{}")}, "bins cannot be read"),
        (lambda s: {"facts": type(s.facts)(s.facts, binner=3)}, "not a text"),
        (lambda s: {"facts": type(s.facts)(s.facts, crosses=None)}, "crosses of its card"),
        (lambda s: {"facts": type(s.facts)(s.facts, crosses=[[0, 7, 2, 2]])}, "two columns"),
        (lambda s: {"facts": type(s.facts)(s.facts, crosses=[[0, 1, 0, 2]])}, "no cells"),
        (lambda _: {"n_features": 3}, "bins for each column"),
    ],
)
def test_a_state_that_no_card_has_is_refused_in_words(state, change, words):
    with pytest.raises(StateError, match=words):
        ScorecardClassifier.from_state(changed(state, **change(state)))
