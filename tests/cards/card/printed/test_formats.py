"""Text, Markdown, HTML and data frames of a card show the same numbers, and all of them."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from random_cards import BINS, random_card
from scipy.stats import binomtest

from directrix._printing import printable
from directrix.cards.card_printing import (
    HEADINGS,
    card_document,
    card_html,
    card_markdown,
    card_text,
    count_text,
    escaped,
)

CARDS = {
    "real": random_card(0),
    "whole": random_card(1, whole=True),
    "few": random_card(2, few=True, crosses=0),
    "falling": random_card(3, whole=True, falling=True),
    "no counts": replace(random_card(4), counts=()),
}
every_card = pytest.mark.parametrize("card", CARDS.values(), ids=CARDS.keys())


class Tables(HTMLParser):
    """Reads the tables of a page, and notes every tag."""

    def __init__(self):
        super().__init__()
        self.tables, self.tags, self.open = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_startendtag(self, tag, attrs):  # noqa: ARG002
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data


def html_rows(card):
    page = Tables()
    page.feed(card.to_html())
    assert page.open == []
    return page


def markdown_tables(card):
    tables = []
    for part in card.to_markdown().split("\n\n"):
        if part.startswith("|"):
            lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in part.strip().splitlines()]
            cells = [[cell.strip() for cell in line] for line in lines]
            tables.append([cells[0], *cells[2:]])
    return tables


def expected_rows(card):
    """Return the texts of all rows that are printed, made from the table alone."""
    whole = all(float(p).is_integer() for block in card.blocks for p in block.ravel())

    def points(value):
        return f"{value + 0.0:.0f}" if whole else f"{value + 0.0:.1f}"

    rows, table = [], card.table(1)
    for row in table:
        if any(other.points for other in table if other.column == row.column):
            known, empty = row.rows > 0, row.rows == 0
            low, high = proportion_confint(row) if known else (0.0, 0.0)
            rows.append(
                [
                    f"{row.bin} (no rows)" if empty else row.bin,
                    points(row.points),
                    "0" if empty else f"{row.rows:,.0f}" if known else "-",
                    f"{100 * row.share:.1f} %" if known else "-",
                    f"{100 * row.positive_rate:.1f} %" if known else "-",
                    f"{100 * low:.1f} % to {100 * high:.1f} %" if known else "-",
                ]
            )
    return rows


def proportion_confint(row):
    """Return Wilson's interval of the rate of a row as SciPy has it."""
    count = round(row.positive_rate * row.rows)
    return binomtest(count, int(row.rows)).proportion_ci(method="wilson")


@every_card
def test_html_shows_every_number_and_no_name_becomes_a_tag(card):
    page = html_rows(card)
    safe = {"div", "p", "table", "caption", "b", "thead", "tbody", "tr", "th", "td"}
    assert page.tags <= safe | {"svg", "rect", "path", "title"}
    columns = [row for table in page.tables for row in table[1:] if table[0][0] == HEADINGS[0]]
    assert columns == expected_rows(card)
    assert card._repr_html_() == card_html(card_document(card))


@every_card
def test_markdown_shows_every_number(card):
    tables = markdown_tables(card)
    rows = [row for table in tables for row in table[1:] if table[0][0] == HEADINGS[0]]
    expected = [[escaped(text) for text in row] for row in expected_rows(card)]
    assert rows == expected
    assert card.to_markdown() == card_markdown(card_document(card))
    # The crosses have the same points as in HTML.
    of_html = [t[1:] for t in html_rows(card).tables if t[0][0] != HEADINGS[0]]
    of_markdown = [t[1:] for t in tables if t[0][0] != HEADINGS[0]]
    points = [[row[1:] for row in table] for table in of_html]
    assert points == [[row[1:] for row in table] for table in of_markdown]
    assert len(points) == len(card.crosses)


@every_card
def test_text_shows_every_number_and_every_bin(card):
    text = str(card)
    assert text == card_text(card_document(card))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for name, *numbers in expected_rows(card):
        shown = " ".join([*numbers, *printable(name).split()])
        assert any(shown.startswith(line) for line in lines if line.startswith(numbers[0])), shown
    joined = " ".join(lines)
    for bins in BINS:
        assert " ".join(printable(bins.name).split()) in joined


@every_card
def test_frames_have_the_exact_numbers(card):
    frame = card.to_frame()
    table = card.table()
    of_columns = frame[: len(table)]
    assert of_columns["points"].tolist() == [row.points for row in table]
    assert of_columns["bin"].tolist() == [row.bin for row in table]
    np.testing.assert_array_equal(of_columns["rows"], [row.rows for row in table])
    of_crosses = frame[len(table) :]["points"].tolist()
    assert of_crosses == [p for cross in card.cross_tables() for p in cross.points.ravel()]
    assert frame[len(table) :]["rows"].isna().all()
    rounded = card.to_frame(decimals=1)
    assert rounded["points"].tolist() == np.round(rounded["points"], 1).tolist()


def test_the_first_line_says_base_cutoff_and_side():
    first = str(CARDS["real"]).splitlines()[0]
    assert first == "base points 0.2; a total above 0 points is predicted positive"
    card = replace(CARDS["falling"], intercept=600.0)
    first = str(card).splitlines()[0]
    assert first == "base points 600; a total below 12.5 points is predicted positive"


def test_whole_points_have_no_decimals():
    card = replace(CARDS["whole"], counts=())
    assert not re.search(r"\d\.\d", "".join(re.sub(r"[^\n]*2019[^\n]*", "", str(card))))
    real = replace(card, intercept=0.5)
    assert str(real).splitlines()[0].startswith("base points 0.5;")


def test_columns_without_points_are_named_once():
    card = CARDS["whole"]
    columns = tuple(np.zeros_like(p) if k in (0, 4) else p for k, p in enumerate(card.columns))
    text = str(replace(card, columns=columns, crosses=()))
    assert text.splitlines()[-1] == "0 points in every bin: age, job"
    assert text.count("age") == 1


def test_long_lists_of_levels_are_wrapped():
    card = random_card(5, few=True, crosses=0)
    names = tuple(f"a town with number {k:03}" for k in range(200))
    bins = replace(BINS[3], name="town", levels=names)
    points = np.concatenate([[1.0, 0.0], np.arange(200) % 2])
    changed = replace(card, columns=(points,), bins=(bins,), counts=())
    text = str(changed)
    assert max(map(len, text.splitlines())) < 120
    assert all(re.search(rf"number\s+{k:03}", text) for k in range(200))


def test_weights_that_are_not_whole_are_shown_as_such():
    assert count_text(1234.0) == "1,234"
    assert count_text(1234.56) == "1,234.6"


@pytest.mark.parametrize("text", ["a|b", "`x`", "*b*", "_i_", "<b>", "&amp;", "[l](u)", "a\\"])
def test_marks_of_markdown_are_escaped(text):
    assert escaped(text) != text
    assert re.sub(r"\\(.)", r"\1", escaped(text)) == text
    assert escaped("<= 30 to debt_ratio, A & B") == "<= 30 to debt_ratio, A & B"
