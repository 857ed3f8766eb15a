import pytest

from benchmarks.arena.pictures import OURS, SHOWN, TREES, draw_ranks, groups_within, picture
from benchmarks.arena.tables.protocol import SETS, TableArena
from benchmarks.rivals.tables import LINE


def test_bars_join_ranks_within_the_critical_difference_and_none_is_inside_another():
    assert groups_within([1.0, 1.5, 2.2, 4.0], 1.0) == [(1.0, 1.5), (1.5, 2.2)]
    assert groups_within([1.0, 1.5, 1.9, 4.0], 1.0) == [(1.0, 1.9)]
    assert groups_within([1.0, 3.0], 1.0) == []


def test_every_competitor_is_named_with_its_rank_and_ours_in_colour():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = figure.add_subplot()
    draw_ranks(ax, {"a": 1.25, "b": 1.75, "c": 3.0}, 0.8, "title", ours=["b"])
    texts = {text.get_text().strip(): text.get_color() for text in ax.texts}
    assert {"a 1.25", "b 1.75", "c 3.00", "critical difference 0.80"} <= texts.keys()
    assert texts["b 1.75"] != texts["a 1.25"] == texts["c 3.00"]


def test_the_picture_has_all_tables_that_were_measured_and_three_models():
    pytest.importorskip("matplotlib")
    arena = TableArena()
    (ax,) = picture(arena).axes
    at_hand = [*SETS["tables"], *SETS["later tables"]]
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert sorted(shown) == sorted(arena.measured(at_hand, SHOWN, [LINE, TREES, OURS]))
    assert len(shown) > 1
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "logistic regression, one-hot",
        "gradient boosting (LightGBM, tuned)",
        "ScorecardClassifier",
    ]
    assert ax.get_title(loc="left")
