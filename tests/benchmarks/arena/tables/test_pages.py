"""README says of scorecards what was measured."""

import pytest

from benchmarks.arena.tables import pages
from benchmarks.arena.tables.results import TableArena


def test_the_table_of_readme_says_what_was_measured():
    assert pages.README.read_text(encoding="utf-8") == pages.embedded(TableArena())


def test_the_picture_has_all_tables_and_three_models():
    pytest.importorskip("matplotlib")
    (ax,) = pages.picture(TableArena()).axes
    assert len(ax.get_yticklabels()) == 12
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "logistic regression, one-hot",
        "gradient boosting (LightGBM, tuned)",
        "ScorecardClassifier",
    ]
    assert ax.get_title(loc="left")
