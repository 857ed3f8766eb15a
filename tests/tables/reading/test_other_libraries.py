"""Tables of any library: narwhals frames, and objects that only export Arrow data."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from directrix import MomentClassifier, ScorecardClassifier
from directrix.exceptions.columns import LazyTableError
from directrix.tables import Table

RNG = np.random.default_rng(8)
N = 120
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
        "town": RNG.choice(["at", "be"], N),
    }
)
Y = (FRAME.a + RNG.normal(size=N) > 0).to_numpy()


class Stream:
    """Nothing but the stream of the Arrow PyCapsule interface."""

    def __init__(self, frame):
        self.__arrow_c_stream__ = pa.Table.from_pandas(frame).__arrow_c_stream__


class Array:
    """Nothing but the array of the Arrow PyCapsule interface."""

    def __init__(self, frame):
        self.__arrow_c_array__ = pa.RecordBatch.from_pandas(frame).__arrow_c_array__


def narwhals_of(frame):
    return pytest.importorskip("narwhals").from_native(frame)


TABLES = {
    "narwhals of pandas": narwhals_of,
    "narwhals of polars": lambda frame: narwhals_of(pl.from_pandas(frame)),
    "Arrow stream": Stream,
    "Arrow array": Array,
}
each_library = pytest.mark.parametrize("library", list(TABLES))


@each_library
def test_columns_are_those_of_the_frame(library):
    table, expected = Table.of(TABLES[library](FRAME)), Table.of(FRAME)
    assert table.columns == expected.columns
    np.testing.assert_array_equal(table.values, expected.values)


@each_library
@pytest.mark.every_case
def test_a_card_is_fitted_and_scores(library):
    card = ScorecardClassifier("auc", cv=2, max_crosses=0, max_lines=None)
    expected = card.fit(FRAME, Y).decision_function(FRAME)
    given = TABLES[library]
    assert np.array_equal(card.decision_function(given(FRAME)), expected)
    again = card.fit(given(FRAME), Y)
    assert again.feature_names_in_.tolist() == ["a", "b", "town"]
    assert np.array_equal(again.decision_function(FRAME), expected)


@each_library
def test_a_line_scores_numbers(library):
    numbers = FRAME[["a"]]
    line = MomentClassifier("auc", sample=0).fit(numbers, Y)
    given = TABLES[library](numbers)
    assert np.array_equal(line.decision_function(given), line.decision_function(numbers))


def test_a_lazy_narwhals_frame_is_refused():
    with pytest.raises(LazyTableError, match="narwhals LazyFrame"):
        Table.of(narwhals_of(pl.from_pandas(FRAME).lazy()))
