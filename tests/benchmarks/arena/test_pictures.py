import pytest

from benchmarks.arena.pictures import draw_ranks, groups_within


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
