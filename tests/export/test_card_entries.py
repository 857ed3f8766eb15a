import numpy as np

from directrix.cards.card import Card, Cross
from directrix.export.plain_json import card_entry, column_entries
from directrix.tables import LevelBins, NumberBins

NUMBER = NumberBins("x", "number", (1.0, 2.0), (0.0,) * 3, (-999.0,))  # cells: 0, 1 to 3, 4
TEXT = LevelBins("t", ("a", "b", "c"), groups=(0, 1, 0))  # cells: 0, 1, 2 of a and c, 3 of b


def test_points_are_by_bin_special_value_and_level():
    card = Card(1.0, (np.arange(5.0), np.arange(4.0)), bins=(NUMBER, TEXT), cutoff=2.0)
    entry = card_entry(card)
    number, text = entry["points"]
    assert number == {"missing": 0.0, "bins": [1.0, 2.0, 3.0], "special_values": [4.0]}
    assert text == {"missing": 0.0, "other": 1.0, "levels": [2.0, 3.0, 2.0]}
    assert (entry["intercept"], entry["cutoff"], entry["higher_is_last"]) == (1.0, 2.0, True)


def test_the_groups_of_a_cross_are_rows_and_columns_of_its_points():
    merged = np.array([0, 1, 1, 2, 0]), np.array([1, 0, 0, 1])
    cross = Cross((0, 1), merged, np.arange(6.0).reshape(3, 2))
    (entry,) = card_entry(Card(0.0, (np.zeros(5), np.zeros(4)), (cross,), (NUMBER, TEXT)))[
        "crosses"
    ]
    assert entry["columns"] == [0, 1]
    left, right = entry["groups"]
    assert left == {"missing": 0, "bins": [1, 1, 2], "special_values": [0]}
    assert right == {"missing": 1, "other": 0, "levels": [0, 1, 0]}
    assert entry["points"] == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_columns_say_what_their_bins_are():
    card = Card(0.0, (np.zeros(5), np.zeros(4)), bins=(NUMBER, TEXT))
    assert column_entries(card) == [
        {"name": "x", "kind": "number", "cuts": [1.0, 2.0], "special_values": [-999.0]},
        {"name": "t", "kind": "text", "levels": ["a", "b", "c"]},
    ]
