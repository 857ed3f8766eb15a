"""The table of bins names every column, and shows what fits."""

from directrix.tables import LevelBins, NumberBins
from directrix.tables.binner import describe_bins


def lines(*columns):
    return describe_bins(columns).splitlines()


def test_a_line_for_each_column():
    table = lines(
        NumberBins("age", "number", (18.0, 65.0), (1.0, 30.0, 70.0), (-1.0,), (5, 5, 5, 5, 0)),
        LevelBins("town", ("", "Rome"), (1, 0, 1, 2)),
        NumberBins("paid", "boolean", (0.5,), (0.0, 1.0), (), (0, 1, 1)),
    )
    assert table == [
        "column  kind     missing  cells  cuts or levels",
        "age     number    25.0 %      5  18, 65; special: -1",
        'town    text      25.0 %      4  "", Rome',
        "paid    boolean    0.0 %      3  False, True",
    ]


def test_long_and_hostile_names_keep_the_table_in_shape():
    cuts = tuple(float(k) for k in range(63))
    table = lines(
        NumberBins("a\nb" * 50, "number", cuts, (*cuts, 63.0), (), (1.0,) * 65),
        LevelBins("\x1b[31m", ("x" * 500, "\t"), (0, 0, 0, 0)),
    )
    assert len(table) == 3
    assert all(line.isprintable() and len(line) < 120 for line in table)
    assert table[1].endswith("0, 1, 2, 3, 4, … (63 in all)")
