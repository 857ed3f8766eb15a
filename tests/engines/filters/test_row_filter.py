"""Row filters: which rows pass in memory, whatever holds them, and what is refused."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directrix import summarize
from directrix.engines.filters.row_filter import RowFilter
from directrix.engines.tables import as_table

UTC = dt.UTC
NOON = dt.datetime(2024, 3, 1, 12)  # noqa: DTZ001
#: One column of each kind, with values that are missing; the last row is missing everywhere.
COLUMNS = {
    "flag": [True, False, None, True, False, None],
    "small": [-3, 0, 7, None, 2**53 + 1, None],
    "real": [-1.5, 0.0, None, 0.1, math.inf, None],
    "text": ["a", "it's", "", "größe", 'say "no"\n', None],
    "day": [dt.date(2024, 2, 29), dt.date(2024, 3, 1), None, dt.date(1900, 1, 1), None, None],
    "time": [NOON, None, NOON + dt.timedelta(microseconds=1), dt.datetime(1969, 1, 1), NOON, None],  # noqa: DTZ001
}
COLUMNS["zoned"] = [value and value.replace(tzinfo=UTC) for value in COLUMNS["time"]]
VALUES = {
    "flag": [True, False],
    "small": [-3, 0, 7, 6.5, 2**53 + 1, 2**53, -1e18],
    "real": [0, -1.5, 0.1, math.inf, -math.inf],
    "text": ["", "a", "it's", "größe", 'say "no"\n', "z"],
    "day": [dt.date(2024, 3, 1), NOON, dt.datetime(2024, 3, 1)],  # noqa: DTZ001
    "time": [dt.date(2024, 3, 1), NOON, dt.datetime(2024, 3, 1)],  # noqa: DTZ001
    "zoned": [NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=5)))],
}
ORDERS = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def by_hand(name, comparison, value):
    """Return which rows pass, one at a time, in the arithmetic of Python."""
    values = value if comparison in ("in", "not in") else [value]
    values = [as_moment(entry, name) for entry in values]
    passes = []
    for entry in COLUMNS[name]:
        if entry is None:
            passes.append(False)
        elif comparison in ("in", "not in"):
            passes.append((as_moment(entry, name) in values) == (comparison == "in"))
        else:
            passes.append(ORDERS[comparison](as_moment(entry, name), values[0]))
    return passes


def as_moment(value, name):
    if name in ("day", "time") and not isinstance(value, dt.datetime):
        return dt.datetime.combine(value, dt.time())
    return value


def frame_of_pandas(columns):
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def typed_pandas(columns):
    kinds = {
        "flag": "boolean",
        "small": "Int64",
        "real": "float64",
        "text": "string",
        "time": "datetime64[us]",
        "zoned": "datetime64[us, UTC]",
    }
    return frame_of_pandas(columns).astype({k: v for k, v in kinds.items() if k in columns})


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def coded(columns):
    """Return an Arrow table whose texts are dictionaries, in chunks of two rows."""
    pa = pytest.importorskip("pyarrow")
    table = arrow(columns)
    if "text" in columns:
        codes = table["text"].dictionary_encode()
        table = table.set_column(table.schema.names.index("text"), "text", codes)
    return pa.concat_tables([table[start : start + 2] for start in (0, 2, 4)])


TABLES = {
    "objects": frame_of_pandas,
    "pandas": typed_pandas,
    "polars": pl.DataFrame,
    "arrow": arrow,
    "arrow dictionaries": coded,
}


@st.composite
def conditions(draw):
    name = draw(st.sampled_from(list(COLUMNS)))
    among = st.sampled_from(VALUES[name])
    if draw(st.booleans()):
        values = draw(st.lists(among, min_size=1, max_size=3))
        return name, draw(st.sampled_from(["in", "not in"])), values
    comparisons = ["==", "!="] if name == "flag" else list(ORDERS)
    return name, draw(st.sampled_from(comparisons)), draw(among)


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@given(where=st.lists(conditions(), min_size=1, max_size=3))
def test_rows_pass_as_values_of_python_do(make, where):
    passes = np.logical_and.reduce([by_hand(*condition) for condition in where])
    rows = {"row": list(range(6))} | COLUMNS
    passing = as_table(make(rows)).where(RowFilter.of(where))
    numbers = [] if passing is None else passing.values("row").tolist()
    assert numbers == np.flatnonzero(passes).tolist()


def test_single_precision_is_compared_as_it_is():
    values = np.array([0.1, 0.2], dtype=np.float32)  # 0.1 rounds up
    for rows in (
        pd.DataFrame({"x": values}),
        pl.DataFrame({"x": values}),
        arrow({"x": values}),
        values[:, None],
    ):
        column = 0 if isinstance(rows, np.ndarray) else "x"
        assert as_table(rows).where(RowFilter.of([(column, "<=", 0.1)])) is None
        assert as_table(rows).where(RowFilter.of([(column, "==", 0.1)])) is None


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, arrow])
def test_a_column_without_values_passes_nothing(make):
    table = as_table(make({"x": [None, None], "y": [0, 1]}))
    for condition in (("x", "==", "a"), ("x", "not in", [3])):
        assert table.where(RowFilter.of([condition])) is None


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize(
    ("name", "comparison", "value"),
    [
        ("text", ">", 3),
        ("small", "==", "3"),
        ("real", "in", ["a"]),
        ("flag", "==", 2),
        ("flag", ">", False),
        ("day", "==", "2024-03-01"),
        ("time", "<", NOON.replace(tzinfo=UTC)),
        ("zoned", "<", NOON),
        ("small", "<", 2**70),
        ("small", "<", math.inf),
    ],
)
def test_a_value_of_another_kind_is_refused(make, name, comparison, value):
    with pytest.raises(TypeError, match=rf"where= cannot compare column '{name}' \(.*\) with .*"):
        as_table(make(COLUMNS)).where(RowFilter.of([(name, comparison, value)]))


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("year > 3", "takes a list of conditions"),
        ([("year", 3)], r"takes conditions \(column, comparison, value\)"),
        ([("year", "~", 3)], "has no comparison '~': give one of"),
        ([("year", "in", "abc")], "needs a list of values"),
        ([("year", "in", [])], "with a missing value or with none"),
        ([("year", "==", None)], "missing values pass no comparison"),
        ([("year", "!=", float("nan"))], "missing values pass no comparison"),
        ([("year", "in", [1, pd.NaT])], "missing values pass no comparison"),
    ],
)
def test_conditions_are_checked(where, message):
    with pytest.raises((TypeError, ValueError), match=message):
        RowFilter.of(where)


def test_values_of_numpy_and_pandas_are_those_of_python():
    plain = RowFilter.of([("a", "in", [1, 2.5]), ("b", ">", NOON), ("c", "=", "x")])
    others = RowFilter.of(
        [
            ("a", "in", np.array([1, 2.5])),
            ("b", ">", np.datetime64("2024-03-01T12:00:00.000000000")),
            ("c", "==", np.str_("x")),
        ]
    )
    assert plain == others
    assert RowFilter.of([("b", ">", pd.Timestamp(NOON))]).conditions == plain.conditions[1:2]
    assert RowFilter.of(("c", "==", "x")).conditions == plain.conditions[2:]
    assert RowFilter.of([]) is RowFilter.of(None) is None


def test_labels_and_weights_given_beside_the_rows_are_filtered():
    X = np.arange(12.0).reshape(6, 2)
    y, weight = np.array([0, 1] * 3), np.arange(1.0, 7.0)
    kept = X[:, 0] > 2
    moments = summarize(X, target=y, weight=weight, features=[1], where=[(0, ">", 2)])
    expected = summarize(X[kept][:, 1:], target=y[kept], weight=weight[kept])
    assert moments == expected
    assert summarize([(X, y)], target=None, where=[(0, ">", 2)]).count == kept.sum()
    with pytest.raises(ValueError, match=r"target= has 5 values, but there are 6 rows"):
        summarize(X, target=y[:5], where=[(0, ">", 2)])


def test_columns_that_are_compared_are_no_features():
    rows = pd.DataFrame({"a": [1.0, 2.0, 4.0], "year": [1, 2, 3], "y": [0, 1, 0]})
    where = [("year", ">", 1)]
    assert summarize(rows, target="y", where=where).feature_names == ("a",)
    named = summarize(rows, target="y", where=where, features=["a", "year"])
    assert named.feature_names == ("a", "year")
    with pytest.raises(KeyError, match="nowhere"):
        summarize(rows, target="y", where=[("nowhere", ">", 1)])
    with pytest.raises(ValueError, match="there are no rows"):
        summarize(rows, target="y", where=[("year", ">", 9)])
