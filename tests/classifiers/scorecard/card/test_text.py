import numpy as np

from directrix.classifiers.scorecard.card.text import card_text, point_rows
from directrix.tables import LevelBins, NumberBins

AGE = NumberBins("age", "number", (20.0, 30.0, 40.0), (15.0, 25.0, 35.0, 50.0), (), (0, 5, 5, 5, 5))
HOME = LevelBins("home", ("own", "rent"), (0, 0, 10, 10))


def test_every_cell_has_a_row():
    rows = point_rows(AGE, np.array([0.0, 1.0, 2.0, 3.0, 4.0]))
    assert [row.bin for row in rows] == ["missing", "<= 20", "20 to 30", "30 to 40", "> 40"]
    assert [row.points for row in rows] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_neighbouring_bins_with_equal_points_are_one_row():
    rows = point_rows(AGE, np.array([0.3, 1.01, 1.02, 2.0, 1.98]), merged=True)
    assert [(row.bin, row.points) for row in rows] == [
        ("missing", 0.3),
        ("<= 30", 1.0),
        ("> 30", 2.0),
    ]
    between = point_rows(AGE, np.array([0.0, 1.0, 2.0, 2.0, 3.0]), merged=True)
    assert [row.bin for row in between] == ["missing", "<= 20", "20 to 40", "> 40"]
    assert [row.bin for row in point_rows(AGE, np.zeros(5), merged=True)] == [
        "missing",
        "any value",
    ]


def test_levels_are_not_merged():
    rows = point_rows(HOME, np.array([0.0, 0.0, 0.5, 0.5]), merged=True)
    assert [row.bin for row in rows] == ["missing", "other", "own", "rent"]


def test_the_columns_with_most_influence_come_first():
    text = card_text(
        -1.0,
        [(HOME, np.array([0.0, 0.0, 0.0, 0.5])), (AGE, np.array([0.0, -2.0, 0.0, 0.0, 2.0]))],
        ["age x home"],
    )
    assert text.index("age (from -2.0 to +2.0)") < text.index("home (from +0.0 to +0.5)")
    assert text.splitlines()[0] == "intercept -1.0; predicted positive above 0 points in all"
    assert text.splitlines()[-1].strip() == "age x home"
