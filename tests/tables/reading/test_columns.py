"""Columns of every library and dtype are read as the same kind and numbers."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pytest

from directrix.exceptions.columns import ColumnKindError
from directrix.tables.table import read_array, read_arrow, read_pandas, read_polars

NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)
NAN = float("nan")
TEXTS = ["b", None, "a", ""]


def values_of(reading):
    return [None if np.isnan(value) else value for value in reading.values.tolist()]


PANDAS = [
    ([3, 1], "int8", "number", [3, 1]),
    ([2**53 + 1, 1], "uint64", "number", [2.0**53, 1]),
    ([0.5, NAN], "float32", "number", [0.5, None]),
    ([True, False], "bool", "boolean", [1, 0]),
    ([3, None], "Int64", "number", [3, None]),
    ([0.5, None], "Float32", "number", [0.5, None]),
    ([True, None], "boolean", "boolean", [1, None]),
    (TEXTS, "object", "text", [2, None, 1, 0]),
    (TEXTS, "str", "text", [2, None, 1, 0]),
    (TEXTS, "string", "text", [2, None, 1, 0]),
    (TEXTS, "category", "text", [2, None, 1, 0]),
    ([2, None, 10], "category", "text", [1, None, 0]),  # "10" is before "2"
    ([NOON, None], "datetime64[ns, UTC]", "date", [18262.5, None]),
    ([NOON, None], "datetime64[s, Asia/Tokyo]", "date", [18262.5, None]),
    (["2020-01-01T12", None], "datetime64[ms]", "date", [18262.5, None]),
    ([timedelta(hours=6), None], "timedelta64[s]", "number", [0.25, None]),
    ([0.0, 2.0], "Sparse[float64]", "number", [0, 2]),
    ([3, None], "int32[pyarrow]", "number", [3, None]),
    ([0.5, None], "double[pyarrow]", "number", [0.5, None]),
    ([True, None], "bool[pyarrow]", "boolean", [1, None]),
    (TEXTS, "string[pyarrow]", "text", [2, None, 1, 0]),
    ([date(2020, 1, 1), None], "date32[pyarrow]", "date", [18262, None]),
    ([NOON, None], "timestamp[us, tz=UTC][pyarrow]", "date", [18262.5, None]),
    ([timedelta(1), None], "duration[ms][pyarrow]", "number", [1, None]),
]


@pytest.mark.parametrize(("given", "dtype", "kind", "numbers"), PANDAS, ids=str)
def test_every_dtype_of_pandas(given, dtype, kind, numbers):
    pandas = pytest.importorskip("pandas")
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    reading = read_pandas(pandas.Series(given, dtype=dtype), "x")
    assert reading.kind == kind
    assert values_of(reading) == numbers


def test_objects_of_pandas_are_read_by_what_they_hold():
    pandas = pytest.importorskip("pandas")
    for given, kind in [
        ([True, None], "boolean"),
        ([1, 2.5], "number"),
        ([date(2020, 1, 1), pandas.NaT], "date"),
        ([True, 1, "a"], "text"),
    ]:
        assert read_pandas(pandas.Series(given, dtype=object), "x").kind == kind


ARROW = [
    ([3, None], "int8", "number", [3, None]),
    ([2**64 - 1, None], "uint64", "number", [2.0**64, None]),
    ([0.5, None], "float32", "number", [0.5, None]),
    ([0.5, None], "float16", "number", [0.5, None]),
    ([True, None, False], "bool", "boolean", [1, None, 0]),
    ([Decimal("0.10"), None], "decimal", "number", [0.1, None]),
    (TEXTS, "string", "text", [2, None, 1, 0]),
    (TEXTS, "large_string", "text", [2, None, 1, 0]),
    (TEXTS, "dictionary", "text", [2, None, 1, 0]),
    ([None, None], "null", "text", [None, None]),
    ([b"b", None, b"a"], "binary", "text", [1, None, 0]),
    ([date(2020, 1, 1), None], "date32", "date", [18262, None]),
    ([date(2020, 1, 1), None], "date64", "date", [18262, None]),
    ([NOON, None], "timestamp", "date", [18262.5, None]),
    ([timedelta(hours=6), None], "duration", "number", [0.25, None]),
    ([time(6), None], "time64", "number", [0.25, None]),
]


@pytest.mark.parametrize(("given", "dtype", "kind", "numbers"), ARROW, ids=str)
@pytest.mark.parametrize("n_chunks", [0, 1, 2])
def test_every_type_of_arrow(given, dtype, kind, numbers, n_chunks):
    pyarrow = pytest.importorskip("pyarrow")
    types = {
        "float16": pyarrow.float16(),
        "decimal": pyarrow.decimal128(10, 2),
        "dictionary": pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
        "timestamp": pyarrow.timestamp("ns", "America/Lima"),
        "duration": pyarrow.duration("us"),
        "time64": pyarrow.time64("us"),
    }
    arrow_type = types.get(dtype, dtype)
    array = pyarrow.array(given, arrow_type)
    if n_chunks:
        parts = [given] if n_chunks == 1 else [given[:1], [], given[1:]]
        array = pyarrow.chunked_array([pyarrow.array(part, arrow_type) for part in parts])
    reading = read_arrow(array, "x")
    assert reading.kind == kind
    assert values_of(reading) == numbers


@pytest.mark.parametrize("indices", ["int8", "uint8", "uint32"])
def test_dictionaries_of_many_chunks_have_more_texts_than_their_indices_count(indices):
    pyarrow = pytest.importorskip("pyarrow")
    chunks = [[*(f"{letter}{k:02d}" for k in range(90)), None] for letter in "abcd"]
    arrow_type = pyarrow.dictionary(getattr(pyarrow, indices)(), pyarrow.string())
    reading = read_arrow(pyarrow.chunked_array([pyarrow.array(c, arrow_type) for c in chunks]), "x")
    codes = values_of(reading)
    read = [None if code is None else reading.levels[int(code)] for code in codes]
    assert read == [text for chunk in chunks for text in chunk]


POLARS = [
    ([3, None], "Int16", "number", [3, None]),
    ([0.5, None, NAN], "Float32", "number", [0.5, None, None]),
    ([True, None, False], "Boolean", "boolean", [1, None, 0]),
    ([Decimal("0.1"), None], "Decimal", "number", [0.1, None]),
    (TEXTS, "String", "text", [2, None, 1, 0]),
    (TEXTS, "Categorical", "text", [2, None, 1, 0]),
    ([None, None], "Null", "text", [None, None]),
    ([date(2020, 1, 1), None], "Date", "date", [18262, None]),
    ([NOON, None], "Datetime", "date", [18262.5, None]),
    ([timedelta(hours=6), None], "Duration", "number", [0.25, None]),
    ([time(6), None], "Time", "number", [0.25, None]),
]


@pytest.mark.parametrize(("given", "dtype", "kind", "numbers"), POLARS, ids=str)
def test_every_type_of_polars(given, dtype, kind, numbers):
    polars = pytest.importorskip("polars")
    types = {
        "Decimal": polars.Decimal(10, 1),
        "Datetime": polars.Datetime("ms", "Europe/Berlin"),
    }
    dtype = types.get(dtype, getattr(polars, dtype))
    if dtype == polars.Datetime("ms", "Europe/Berlin"):
        series = polars.Series(given, dtype=polars.Datetime("ms", "UTC"))
        series = series.dt.convert_time_zone("Europe/Berlin")
    else:
        series = polars.Series(given, dtype=dtype)
    reading = read_polars(series, "x")
    assert reading.kind == kind
    assert values_of(reading) == numbers


def test_enumerations_of_polars_have_only_the_levels_that_occur():
    polars = pytest.importorskip("polars")
    series = polars.Series(["x", None, "y"], dtype=polars.Enum(["y", "x", "z"]))
    assert read_polars(series, "x").levels == ("x", "y")


@pytest.mark.parametrize(
    ("array", "kind", "numbers"),
    [
        (np.array([1, 2], dtype=np.uint8), "number", [1, 2]),
        (np.array([True, False]), "boolean", [1, 0]),
        (np.array(["b", "a"]), "text", [1, 0]),
        (np.array([b"b", b"a"]), "text", [1, 0]),
        (np.array(["b", "a"], dtype=np.dtypes.StringDType()), "text", [1, 0]),
        (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "date", [18262, None]),
        (np.array([6, 12], dtype="m8[h]"), "number", [0.25, 0.5]),
        (np.array([None, 2.5], dtype=object), "number", [None, 2.5]),
    ],
)
def test_every_dtype_of_numpy(array, kind, numbers):
    reading = read_array(array, "x")
    assert reading.kind == kind
    assert values_of(reading) == numbers


def test_what_cannot_be_read_is_named():
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    months = pandas.Series(pandas.period_range("2020-01", periods=2, freq="M"))
    parts = pandas.Series(pandas.IntervalIndex.from_breaks([0, 1, 2]))
    alone = [each.astype(t) for each in (months, parts) for t in (each.dtype, "category", object)]
    for read, column in [
        *((read_pandas, column) for column in alone),
        *((read_pandas, pandas.Series([each, None])) for each in ([1], {"a": 1}, (1,), {1})),
        (read_pandas, pandas.Series([[1], "a"])),
        (read_array, np.array([bytearray(b"a"), np.zeros(1), "a"], dtype=object)),
        (read_arrow, pyarrow.array(months)),
        (read_arrow, pyarrow.array([[1], [2]])),
        (read_arrow, pyarrow.array([{"a": 1}])),
        (read_polars, polars.Series([[1], [2]])),
        (read_array, np.zeros(2, dtype=[("a", float)])),
    ]:
        with pytest.raises(ColumnKindError, match=r"column 'town' holds .*, but numbers, booleans"):
            read(column, "town")
    with pytest.raises(ValueError, match="Complex data not supported: column 'town'"):
        read_array(np.array([1j]), "town")
