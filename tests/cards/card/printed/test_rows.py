"""The table of a card: every cell once, all training rows, equal points together."""

from dataclasses import replace

import numpy as np
import pytest
from random_cards import AGE, BINS, JOB, MEMBER, SINCE, TOWN, random_card

from directrix._printing import printable
from directrix.cards.card import Card
from directrix.cards.card_printing import (
    CardRow,
    card_document,
    cells_label,
    column_rows,
    row_texts,
)
from directrix.cards.prior import CellKinds
from directrix.tables import LevelBins

CARDS = [
    random_card(seed, **how)
    for seed, how in enumerate([{}, {"whole": True}, {"few": True}, {"few": True, "falling": True}])
]
every_card = pytest.mark.parametrize("card", CARDS, ids=["real", "whole", "few", "falling"])


@every_card
@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_every_cell_is_in_one_row_or_unlisted_and_has_its_points(card, decimals):
    for index, bins in enumerate(BINS):
        rows = [row for row in card.table(decimals) if row.column == bins.name]
        unlisted = card.unlisted(index)
        listed = sorted(cell for row in rows for cell in row.cells)
        assert sorted([*listed, *unlisted]) == list(range(bins.n_cells))
        assert not card.counts[index][:, unlisted].any()
        assert set(unlisted) <= ({0} if bins.n_ordered else {0, 1})
        for row in rows:
            exact = card.columns[index][list(row.cells)]
            expected = exact if decimals is None else np.round(exact, decimals)
            assert (expected == row.points).all()


@every_card
def test_lines_are_counted_as_they_are_printed(card):
    blocks = card_document(card).blocks
    of_columns = sum(len(block.texts) for block in blocks if block.cross is None)
    of_crosses = sum(block.cross.points.size for block in blocks if block.cross)
    assert card.n_lines == of_columns + of_crosses
    kinds = [
        CellKinds.of(replace(b, weights=tuple(c.sum(0))))
        for b, c in zip(BINS, card.counts, strict=True)
    ]
    assert replace(card, counts=()).count_lines(kinds) == card.n_lines


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


def rows_of(bins, points, rows):
    counts = np.array([rows, np.zeros(len(rows))], dtype=float)
    return [(row.bin, row.cells) for row in column_rows(bins, np.array(points), counts)]


def test_equal_neighbours_are_one_row_but_missing_and_special_values_have_their_own():
    points = [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]
    numbers = [("<= 30", (1, 2)), ("30 to 40", (3,)), ("> 40", (4, 5)), ("-999", (6,))]
    assert rows_of(AGE, points, [0, 1, 1, 1, 1, 1, 0]) == numbers
    assert rows_of(AGE, points, [1, 1, 1, 1, 1, 1, 0]) == [*numbers, ("missing", (0,))]


def test_what_is_stated_has_a_row_of_its_own():
    stated = replace(AGE, is_stated=True)
    assert [cells for _, cells in rows_of(stated, [1.0] * 7, [0, 1, 0, 1, 1, 1, 0])] == [
        (cell,) for cell in range(1, 7)
    ]
    # "clerk, nurse" is a group, and the other levels are not.
    names = [name for name, _ in rows_of(JOB, [0.0, 1.0, 1.0, 1.0, 1.0], [0, 3, 1, 1, 1])]
    assert sorted(names) == ["clerk, nurse", "cook, smith; other"]


def test_levels_ascend_by_points_and_missing_values_are_last():
    assert rows_of(JOB, [0.0, 9.0, 5.0, 2.0, 5.5], [1, 0, 1, 1, 1]) == [
        ("cook", (3,)),
        ("clerk, nurse", (2,)),
        ("smith", (4,)),
        ("missing", (0,)),
    ]


def test_what_never_occurred_has_the_mean_points_of_its_column_and_one_note():
    counts = np.array([[0, 5, 5, 5, 0, 5, 5], [0] * 7]), np.array([[0, 0, 5, 5, 9], [0] * 5])
    counts = tuple(each.astype(float) for each in counts)
    columns = np.array([9.0, *range(6)]), np.array([7.0, 3.0, 1.0, 0.0, 2.0])
    card = Card(0.0, columns).with_rows((AGE, JOB), counts)
    # Of 0, 1, 2, 4 and 5 points with 5 rows each; and of 1, 0 and 2 points with 5, 5 and 9 rows.
    assert card.columns[0].tolist() == [2.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert card.columns[1].tolist() == [1.0, 1.0, 1.0, 0.0, 2.0]
    document = card_document(card)
    what = "Never seen in training, or missing where none was"
    assert document.notes[-1] == f"{what}: the mean points of the column."
    assert [block.title for block in document.blocks] == [
        "age: points from 0 to 5, mean 2",
        "job: points from 0 to 2, mean 1",
    ]
    same = card_document(Card(0.0, columns[:1]).with_rows((AGE,), counts[:1]))
    assert same.notes[-1] == f"{what}: 2 points."
    assert same.blocks[0].title == "age: points from 0 to 5"
    one = card_document(Card(0.0, columns[1:]).with_rows((JOB,), counts[1:]))
    assert one.notes[-1] == f"{what}: 1 point."


@every_card
def test_different_points_are_never_together_and_equal_ones_always(card):
    for index, bins in enumerate(BINS):
        rows = [row for row in card.table() if row.column == bins.name]
        points = card.columns[index]
        if isinstance(bins, LevelBins):
            alone = bins.stated_cells
            free = [row.points for row in rows if not {0, *alone} & {*row.cells}]
            assert len(free) == len(set(free))
        else:
            ordered = [row.points for row in rows if 1 <= row.cells[0] <= bins.n_ordered]
            steps = np.count_nonzero(np.diff(points[1 : 1 + bins.n_ordered]))
            assert len(ordered) == 1 + steps


@every_card
def test_the_column_that_moves_rows_most_is_first(card):
    order = list(dict.fromkeys(row.column for row in card.table()))
    moved = {}
    for bins, points, counts in zip(BINS, card.columns, card.counts, strict=True):
        moved[bins.name] = np.std(np.repeat(points, counts.sum(axis=0).astype(int)))
    found = [moved[name] for name in order]
    np.testing.assert_allclose(found, sorted(found, reverse=True), rtol=1e-12)  # ties by rounding


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
    some = row._replace(rows=200.0, share=0.5, positive_rate=0.25)
    # Wilson's interval as R prints it: prop.test(50, 200, correct = FALSE).
    assert row_texts(some, 0)[2:] == ("200", "50.0 %", "25.0 %", "19.5 % to 31.4 %")
    assert row_texts(some, 0, 0.5)[-1] == "17.5 % to 34.3 %"
    unknown = row._replace(rows=float("nan"), share=float("nan"), evidence=float("nan"))
    assert row_texts(unknown, 0) == ("missing", "9", "-", "-", "-", "-")
