"""The example, the pictures and the links of README.md and of the first page of the site."""

import contextlib
import importlib.util
import io
import re
from functools import cache
from pathlib import Path

import pytest
import sklearn
from shown_output import assert_shown

from directrix.cards.card_printing import card_document

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_PAGE = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


@cache
def ran():
    """Return the names of the example, and what it prints."""
    (code,) = re.findall(r"```python\n(from directrix import Scorecard.*?)```", README, re.DOTALL)
    names, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)  # noqa: S102 - our own page
    return names, printed.getvalue()


def skip_unless_newest():
    pytest.importorskip("pandas", reason="the card has the names of columns")
    if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8):
        pytest.skip("the pages show what the newest libraries give")


@pytest.mark.parametrize("page", [README, FIRST_PAGE], ids=["README", "first page"])
@pytest.mark.every_case
def test_the_example_prints_what_the_page_shows(page):
    skip_unless_newest()
    (report,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    report = re.sub(r"\n +", " ", report)  # long lines are continued, indented
    assert_shown(report.strip(), ran()[1].split("base points")[0].strip())


def test_the_first_page_fits_the_same_card():
    settings = r"ScorecardClassifier\(\s*(.*?),?\s*\)\ncard\.fit"
    first, second = (
        re.split(r",\s+(?=\w+=)", re.search(settings, page, re.DOTALL)[1])
        for page in (README, FIRST_PAGE)
    )
    assert first == second


@pytest.mark.parametrize(("name", "columns"), [("card", 2), ("card-narrow", 1)])
@pytest.mark.every_case
def test_the_picture_is_of_the_card_of_the_example(name, columns):
    skip_unless_newest()
    path = ROOT / "docs" / "_ext" / "pictures.py"
    spec = importlib.util.spec_from_file_location("pictures", path)
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    card = ran()[0]["card"]
    assert {key: card.get_params()[key] for key in pictures.SETTINGS} == pictures.SETTINGS
    tracked = (pictures.STATIC / f"{name}.svg").read_text(encoding="utf-8")
    assert tracked == pictures.draw(card.card_, columns)
    blocks = len(card_document(card.card_).blocks)
    lines = card.card_.n_lines
    assert tracked.count("<rect") == lines + 1
    assert tracked.count("<path") == blocks


def test_readme_is_short():
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    assert len(prose.split()) < 700
    assert len(README.splitlines()) <= 130


def test_every_file_that_it_links_to_exists():
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists() and "://" not in link] == []
