import pydoc
from email.message import Message
from xml.etree import ElementTree as ET

import pytest
import sklearn
from sklearn.base import clone

from directrix import Binner, DirectClassifier, ScorecardClassifier, _printing
from directrix._printing import html_table, printable, text_table, wrapped
from directrix.datasets import load_heart

#: scikit-learn's own classifiers have some 640.
HELP_LINES = 620
ROWS = [["", "rate", "bin"], ["recall", "0.9", "one two three"], ["x", "10", ""]]


def test_columns_are_aligned_right_unless_they_are_to_be_left():
    assert text_table(ROWS, left=(0, 2)) == [
        "        rate  bin",
        "recall   0.9  one two three",
        "x         10",
    ]
    assert text_table(ROWS[1:], left=()) == ["recall  0.9  one two three", "     x   10"]


def test_the_last_column_is_wrapped_below_itself():
    lines = text_table(ROWS, left=(2,), indent="> ", wrap_at=7)
    assert lines[1:] == ["> recall   0.9  one two", ">               three", ">      x    10"]


def test_words_stay_whole_and_unprintable_characters_are_escaped():
    assert printable("a\tb\u200b\n") == "a\\tb\\u200b\\n"
    assert wrapped("a\nb long-winded", 3) == ["a\\nb", "long-winded"]


@pytest.mark.parametrize("caption", ["", "<a> & b"])
def test_html_is_well_formed_and_shows_every_text(caption):
    made = html_table(["<", "n"], [["a&b", "1"], ["<i>", "2"]], caption, highlighted=1)
    table = ET.fromstring(made)  # noqa: S314 - our own text
    assert [[cell.text for cell in row] for row in table.iter("tr")] == [
        ["<", "n"],
        ["a&b", "1"],
        ["<i>", "2"],
    ]
    assert [row.get("class") for row in table.iter("tr")] == [None, None, "highlighted"]
    assert ["".join(part.itertext()) for part in table.iter("caption")] == [caption] * bool(caption)
    for tag in ("td", "th"):
        first, second = (cell.get("style") for cell in list(table.iter(tag))[:2])
        assert "text-align: left" in first
        assert "text-align: right" in second


def test_notebooks_link_to_the_page_of_an_estimator(monkeypatch):
    monkeypatch.setattr(_printing, "_documentation_url", lambda: "https://docs.example")
    for estimator in (ScorecardClassifier(), DirectClassifier(), Binner()):
        page = f"https://docs.example/api/directrix.{type(estimator).__name__}.html"
        assert estimator._get_doc_link() == page
        assert page in estimator._repr_html_()
    monkeypatch.setattr(_printing, "_documentation_url", lambda: "")
    assert Binner()._get_doc_link() == ""


def test_the_address_of_the_documentation_is_that_of_the_installed_package(monkeypatch):
    found = Message()
    found["Project-URL"] = "Source, https://code.example"
    found["Project-URL"] = "Documentation, https://docs.example/"
    monkeypatch.setattr(_printing, "metadata", {"directrix": found}.__getitem__)
    address = _printing._documentation_url.__wrapped__
    assert address() == "https://docs.example"
    del found["Project-URL"]
    assert address() == ""


@pytest.mark.parametrize("estimator", [ScorecardClassifier, DirectClassifier])
def test_help_says_in_a_few_lines_what_scikit_learn_says_on_a_page(estimator):
    text = pydoc.plain(pydoc.render_doc(estimator))
    documented = pydoc.plain(pydoc.render_doc(estimator.set_fit_request))
    assert "Set which metadata `fit` gets" in documented
    assert "groups, sample_weight : bool, str or None" in documented
    assert len(documented.splitlines()) < 15
    assert len(text.splitlines()) < HELP_LINES
    shown = text.index("Method resolution order")  # what the first three screens say
    assert text.index("Examples") < shown
    assert len(text[:shown].splitlines()) < 105


def test_brief_requests_are_those_of_scikit_learn():
    with sklearn.config_context(enable_metadata_routing=True):
        model = DirectClassifier().set_fit_request(sample_weight=True, groups="patient")
        asked = model.get_metadata_routing().fit.requests
        assert asked["sample_weight"] is True
        assert asked["groups"] == "patient"
        with pytest.raises(TypeError, match="Unexpected args"):
            model.set_fit_request(other=True)
        assert clone(model).get_metadata_routing().fit.requests == asked


def test_results_read_at_a_prompt_as_they_print():
    X, y = load_heart()
    card = ScorecardClassifier("auc", positive="present", max_lines=15).fit(X, y)
    results = (card.card_, card.report_, card.operating_point_, card.sizes())
    for result in (*results, card.operating_points(["f1", "error"])):
        assert repr(result) == str(result)
