"""Pages of the documentation say what was measured."""

import pytest

from benchmarks.arena import pages
from benchmarks.arena.results import Arena


def test_the_page_says_what_was_measured():
    assert pages.PAGE.read_text(encoding="utf-8") == pages.text(Arena())


def test_every_report_that_the_page_links_to_exists():
    assert all((pages.ROOT / path).is_file() for path in pages.REPORTS)


@pytest.mark.parametrize("page", sorted({page for page, _ in pages.BLOCKS}))
def test_tables_inside_other_pages_say_it_too(page):
    text = (pages.ROOT / page).read_text(encoding="utf-8")
    assert text == pages.embedded(page, Arena())
