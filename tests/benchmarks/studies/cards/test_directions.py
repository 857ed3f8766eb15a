import pytest

pytest.importorskip("pandas")

import numpy as np
import pandas as pd

from benchmarks.studies.cards.folds import table_of
from benchmarks.studies.cards.monotone_cards import (
    DEMANDS,
    DOWN,
    UP,
    frequent,
    monotone,
    signs,
    with_ranks,
)


@pytest.mark.parametrize("name", DEMANDS)
def test_columns_and_levels_are_those_of_the_table(name):
    pytest.importorskip("pyarrow", reason="tables are Parquet files")
    try:
        frame = table_of(name, 10_000).X
    except FileNotFoundError as reason:
        pytest.skip(str(reason))
    for column, (direction, _) in DEMANDS[name].items():
        numbers = frame[column].dtype.kind in "iuf"
        assert numbers == (direction in {UP, DOWN}), column
        if not numbers:
            free = set(frame[column].dropna()) - set(direction)
            assert len(free) <= 1, f"{column}: ranks would make {free} one level"


def test_ranks_rise_with_the_risk_and_free_levels_are_missing():
    frame = pd.DataFrame({"grade": ["B", "A", "free", None], "age": [1, 2, 3, 4]})
    directions = {"grade": ["A", "B"], "age": DOWN}
    ranked = with_ranks(frame, directions)
    assert np.array_equal(ranked["grade"], [1.0, 0.0, np.nan, np.nan], equal_nan=True)
    assert ranked["age"].equals(frame["age"])
    assert signs(directions) == {"grade": 1, "age": -1}


@pytest.mark.parametrize("name", DEMANDS)
def test_directions_are_words_or_lists_of_distinct_levels(name):
    for direction in monotone(name).values():
        assert direction in (UP, DOWN) or len(set(direction)) == len(direction) > 1


def test_rare_levels_are_free_and_the_others_keep_their_order():
    frame = pd.DataFrame({"grade": ["C"] * 3 + ["B"] * 1 + ["A"] * 2, "age": range(6)})
    directions = {"grade": ["A", "B", "C", "D"], "age": UP}
    assert frequent(directions, frame, least=2) == {"grade": ["A", "C"], "age": UP}
