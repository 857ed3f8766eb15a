import pytest

from benchmarks.arena.pictures import picture
from benchmarks.arena.tables.protocol import TableArena


def test_the_picture_has_all_tables_and_three_models():
    pytest.importorskip("matplotlib")
    (ax,) = picture(TableArena()).axes
    assert len(ax.get_yticklabels()) == 12
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "logistic regression, one-hot",
        "gradient boosting (LightGBM, tuned)",
        "ScorecardClassifier",
    ]
    assert ax.get_title(loc="left")
