"""A document has what its card, its rows and its author say, and says what it cannot know."""

import re
import sys
from hashlib import sha256

import numpy as np
import pytest

from directrix import MomentClassifier, ScorecardClassifier
from directrix.documents import to_document
from directrix.documents.tripod import ITEMS, KEYS
from directrix.exceptions import MissingLibraryError
from directrix.export import to_sql

pytest.importorskip("matplotlib").use("Agg")
pd = pytest.importorskip("pandas")

COMMITTEE = [
    *("In short", "Table of points", "Total points and risk", "Operating point", "Directions"),
    *("Reasons", "Calibration", "Net benefit", "Stability", "Sample size", "Scoring code"),
    *("What this document cannot know", "Sign-off"),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 900
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "home <b>": rng.choice(["own", "rent"], n),
            "noise": rng.normal(size=n),
        }
    )
    table.loc[::9, "age"] = np.nan
    risk = (table["age"].fillna(30) < 35) + (table["home <b>"] == "rent")
    return table, np.where(risk + rng.normal(size=n) > 1.3, "bad", "good")


@pytest.fixture(scope="module")
def card(rows):
    X, y = rows
    return ScorecardClassifier(
        "recall@fpr=0.2",
        positive="bad",
        points="integer",
        monotone={"age": "decreasing"},
        max_crosses=0,
        cv=3,
        guarantee=0.9,
        warn_baseline=False,
    ).fit(X[::2], y[::2])


def test_without_matplotlib_the_error_names_the_extra_before_any_work(card, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingLibraryError, match=r"pictures of a document .*directrix\[plot\]"):
        to_document(card)


def headings(html):
    return re.findall(r"<h2>(.*?)</h2>", html)


def text_of(html):
    html = re.sub(r"base64,[^\"]*", "", html)
    return re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)


def test_the_committee_reads_all_sections(card, rows):
    X, y = rows
    about = {"title": "Loans <1>", "author": "Ada", "roles": ["Author", "Head of Risk"]}
    html = to_document(card, X[1::2], y[1::2], about=about)
    assert headings(html) == COMMITTEE
    text = text_of(html)
    assert "<h1>Loans &lt;1&gt;</h1>" in text
    assert "home <b>" not in text
    assert "nan" not in text.lower().replace("finance", "")
    assert card.card_.to_html() in html
    assert card.card_.bands().to_html() in html
    assert "Guarantee: " in text
    for line in ("calibration slope", "calibration intercept", "events a line", "Head of Risk"):
        assert line in text
    (effect,) = card.report_.directions
    assert effect.effect.numbers in text
    assert html.count("data:image/png;base64") == 2


def test_the_checksum_is_that_of_the_sql(card):
    content = f"{to_sql(card, dialect='postgres')}\n".encode()
    assert sha256(content).hexdigest() in to_document(card, dialect="postgres")
    assert sha256(content).hexdigest() not in to_document(card)


def test_without_rows_the_held_out_ones_speak(card):
    html = text_of(to_document(card))
    assert headings(html) == COMMITTEE
    assert "near 1 and 0 by construction" in html
    assert "No later rows were given" in html
    assert "how the card does on rows of a later time: none were given" in html


def test_the_clinical_report_lists_the_items(card, rows):
    X, y = rows
    about = {"title": "Score", "ethics": "Approved by E <1>.", "outcome": "Default in a year"}
    html = text_of(to_document(card, X[1::2], y[1::2], template="clinical", about=about))
    assert set(headings(html)) >= {"Predictors", "Items of TRIPOD+AI", "How the model was made"}
    assert "Approved by E &lt;1&gt;." in html
    left = html.count("cannot be known from the model")
    answered = [item for item in ITEMS if item.section or item.key in about]
    assert left == len(ITEMS) - len(answered)
    assert f"{left} of {len(ITEMS)} items are left to the author" in html
    for item in ITEMS:
        assert f"<td>{item.number}</td>" in html
        assert not item.section or item.section in headings(html)
    assert len(set(KEYS)) == len(KEYS)


def test_weights_count_as_rows(card, rows):
    X, y = rows
    weight = np.ones(len(X[1::2]))
    plain = to_document(card, X[1::2], y[1::2])
    assert plain == to_document(card, X[1::2], y[1::2], sample_weight=weight)


def test_a_card_of_counts_says_what_it_lacks(card, rows):
    from directrix.moments import BinCounts

    X, y = rows
    counts = BinCounts.of(card.binner_, X, y)
    made = ScorecardClassifier("auc", positive="bad", max_lines=None).fit_summary(counts)
    html = text_of(to_document(made))
    assert "it has scored no row that was held out" in html
    assert "No held-out rows are known" in html
    assert "rates are those of normal scores, and no row has tested them" in html
    report = text_of(to_document(made, template="clinical"))
    assert "It was made from counts of rows in bins" in report
    assert "on rows that they were not fitted to" not in report


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", ["list", "array", "arrow"])
def test_rows_of_any_library(card, rows, kind):
    X, y = rows
    X, y = X[1:200:2], y[1:200:2]
    if kind == "arrow":
        pa = pytest.importorskip("pyarrow")
        X = pa.Table.from_pandas(X, preserve_index=False)
    elif kind == "array":
        X = X.to_numpy(dtype=object)
    else:
        X = X.to_numpy(dtype=object).tolist()
    assert headings(to_document(card, X, y)) == COMMITTEE


def test_what_is_refused(card, rows):
    X, y = rows
    with pytest.raises(TypeError, match="about scorecards, not about MomentClassifier"):
        to_document(MomentClassifier())
    with pytest.raises(ValueError, match="template must be 'committee' or 'clinical'"):
        to_document(card, template="comittee")
    with pytest.raises(ValueError, match="about has no 'tittle'; did you mean 'title'"):
        to_document(card, about={"tittle": "x"})
    with pytest.raises(TypeError, match="roles must be a list"):
        to_document(card, about={"roles": "me"})
    with pytest.raises(ValueError, match="both X and y"):
        to_document(card, X)
    with pytest.raises(ValueError, match="labels that the card does not know"):
        to_document(card, X, np.where(y == "bad", "BAD", y))


@pytest.mark.parametrize("template", ["committee", "clinical"])
def test_rates_by_segment_are_a_section(card, rows, template):
    X, y = rows
    segment = np.where(np.arange(len(y)) % 3 > 0, "north <b>", "south")[1::2]
    html = to_document(card, X[1::2], y[1::2], template=template, segment=segment)
    assert headings(html)[headings(html).index("Operating point") + 1] == "Rates by segment"
    assert "north &lt;b&gt;" in html
    assert "Adverse impact ratio" in html
    with pytest.raises(ValueError, match="give X and y too"):
        to_document(card, template=template, segment=segment)
