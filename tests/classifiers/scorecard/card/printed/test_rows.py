"""The table of a card: every cell once, all training rows, equal points together."""

import numpy as np
import pytest
from random_cards import AGE, BINS, JOB, MEMBER, SINCE, TOWN, random_card

from directrix._printing import printable
from directrix.models.card_printing import CardRow, cells_label, column_rows, row_texts
from directrix.tables import LevelBins

CARDS = [
    random_card(seed, **how)
    for seed, how in enumerate([{}, {"whole": True}, {"few": True}, {"few": True, "falling": True}])
]
every_card = pytest.mark.parametrize("card", CARDS, ids=["real", "whole", "few", "falling"])


@every_card
@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_every_cell_is_in_one_row_and_has_its_points(card, decimals):
    for index, bins in enumerate(BINS):
        rows = [row for row in card.table(decimals) if row.column == bins.name]
        assert sorted(cell for row in rows for cell in row.cells) == list(range(bins.n_cells))
        for row in rows:
            exact = card.columns[index][list(row.cells)]
            expected = exact if decimals is None else np.round(exact, decimals)
            assert (expected == row.points).all()


@every_card
def test_counts_are_those_of_the_training_rows(card):
    for index, bins in enumerate(BINS):
        rows = [row for row in card.table() if row.column == bins.name]
        negative, positive = card.counts[index]
        assert sum(row.rows for row in rows) == 1000
        assert sum(row.share for row in rows) == pytest.approx(1)
        smoothed = len([row for row in rows if row.rows]) / 2
        for row in rows:
            n, p = (counts[list(row.cells)].sum() for counts in (negative, positive))
            assert row.rows == n + p
            if row.rows:
                assert row.positive_rate == p / (n + p)
                shares = (p + 0.5) / (300 + smoothed), (n + 0.5) / (700 + smoothed)
                assert row.evidence == pytest.approx(np.log(shares[0] / shares[1]))
            else:
                assert np.isnan(row.positive_rate)
                assert row.evidence == 0


def test_equal_neighbours_are_one_row():
    rows = column_rows(AGE, np.array([1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]), None)
    assert [(row.bin, row.cells) for row in rows] == [
        ("<= 30; -999; missing", (1, 2, 0, 6)),
        ("30 to 40", (3,)),
        ("> 40", (4, 5)),
    ]
    assert all(np.isnan(row.rows) for row in rows)


def test_missing_and_special_values_are_in_a_row_only_with_exactly_equal_points():
    exact = np.array([1.02, 1.0, 1.0, 2.0, 1.0, 1.0, 3.0])
    rows = column_rows(AGE, np.round(exact, 1), None, exact)
    assert [(row.bin, row.cells) for row in rows] == [
        ("missing", (0,)),
        ("<= 30", (1, 2)),
        ("30 to 40", (3,)),
        ("> 40", (4, 5)),
        ("-999", (6,)),
    ]


def test_equal_levels_are_one_row_wherever_they_are():
    rows = column_rows(JOB, np.array([0.0, 0.0, 0.0, 5.0, 0.0]), None)
    assert [row.bin for row in rows] == ["clerk, nurse, smith; other; missing", "cook"]


@every_card
def test_different_points_are_never_together_and_equal_ones_always(card):
    for index, bins in enumerate(BINS):
        rows = [row for row in card.table() if row.column == bins.name]
        points = card.columns[index]
        if isinstance(bins, LevelBins):
            of_levels = [row.points for row in rows if row.cells[0] > 1]
            assert len(of_levels) == len(set(points[2:].tolist()))
        else:
            ordered = [row.points for row in rows if 1 <= row.cells[0] <= bins.n_ordered]
            steps = np.count_nonzero(np.diff(points[1 : 1 + bins.n_ordered]))
            assert len(ordered) == 1 + steps


@every_card
def test_the_widest_column_is_first(card):
    order = list(dict.fromkeys(row.column for row in card.table()))
    width = {bins.name: np.ptp(points) for bins, points in zip(BINS, card.columns, strict=True)}
    assert [width[name] for name in order] == sorted(width.values(), reverse=True)


def test_labels_of_several_cells():
    assert cells_label(AGE, [1, 2, 4, 6]) == "<= 30; 40 to 65; -999"
    assert cells_label(AGE, [0, 1, 2, 3, 4, 5]) == "any value; missing"
    assert cells_label(MEMBER, [1]) == "False"
    assert cells_label(SINCE, [2, 3]) == "> 2019-04-14"
    assert cells_label(TOWN, [1, 4]) == "a, b; other"
    # Two levels of which one has a comma inside cannot be taken for three.
    assert cells_label(TOWN, [4, 5]) == '"a, b", a|b'
    assert printable("two\nlines\u202e ü") == "two\\nlines\\u202e ü"


def test_labels_of_disjoint_cells_differ():
    for bins in BINS:
        labels = {cells_label(bins, [a, b]) for b in range(bins.n_cells) for a in range(b)}
        assert len(labels) == bins.n_cells * (bins.n_cells - 1) // 2


def test_a_bin_without_rows_says_so():
    row = CardRow("age", "missing", 0.0, 0.0, float("nan"), 0.0, 9.0, (0,))
    assert row_texts(row, 0) == ("missing (no rows)", "9", "0", "-", "-", "-")
    unknown = row._replace(rows=float("nan"), share=float("nan"), evidence=float("nan"))
    assert row_texts(unknown, 0) == ("missing", "9", "-", "-", "-", "-")
