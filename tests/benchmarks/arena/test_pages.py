"""Pages of the documentation say what was measured."""

import pytest

from benchmarks.arena import evidence, pages
from benchmarks.arena.evidence import Everything
from benchmarks.arena.pages import BLOCKS


def test_the_page_says_what_was_measured():
    assert evidence.PAGE.read_text(encoding="utf-8") == evidence.text(Everything())


def test_the_picture_is_written_over_the_one_that_the_page_shows():
    assert evidence.PICTURE.is_file()


def test_every_report_that_the_page_links_to_exists():
    assert all((pages.ROOT / path).is_file() for path, _ in evidence.LINKS)


@pytest.mark.parametrize("page", sorted({page for page, _ in BLOCKS}))
def test_blocks_inside_other_pages_say_it_too(page):
    text = (pages.ROOT / page).read_text(encoding="utf-8")
    assert text == pages.embedded(page, Everything())
