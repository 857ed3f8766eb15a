"""Conditions in the languages of other engines: no row that passes in memory is skipped."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from directrix.engines.filters.condition import NOTHING
from directrix.engines.filters.in_arrow import arrow_kind
from directrix.engines.filters.in_iceberg import iceberg_expression
from directrix.engines.filters.in_numpy import numpy_mask
from directrix.engines.filters.in_polars import polars_kind
from directrix.engines.filters.in_spark import _SPARK_KINDS
from directrix.engines.filters.in_sql import sql_condition
from directrix.engines.filters.row_filter import RowFilter
from directrix.engines.tables import as_table

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

NOON = dt.datetime(2024, 3, 1, 12)  # noqa: DTZ001
TABLE = pa.table(
    {
        "row": list(range(5)),
        'select "x"': pa.array([1, None, 3, -4, 2**40], pa.int64()),
        "single": pa.array([0.1, float("nan"), None, 0.5, float("inf")], pa.float32()),
        "it's": ["a'b", None, 'c"d', "back\\slash", "two\nlines"],
        "day": [dt.date(2024, 3, k) for k in (1, 2, 3, 4)] + [None],
        "time": [NOON, None, NOON + dt.timedelta(microseconds=1), NOON, NOON],
        "flag": [True, False, None, True, False],
    }
)
CONDITIONS = [
    ('select "x"', ">=", 2.5),
    ('select "x"', "not in", [3, 7]),
    ("single", "<=", 0.1),
    ("single", ">", 0.1),
    ("single", "==", float("inf")),
    ("it's", "in", ["a'b", "back\\slash", "two\nlines"]),
    ("it's", "!=", 'c"d'),
    ("day", "<", NOON),
    ("day", "==", dt.date(2024, 3, 2)),
    ("time", ">", NOON),
    ("time", "in", [NOON]),
    ("flag", "!=", True),
    ("flag", "==", 0),
]


def passing(where):
    table = as_table(TABLE).where(RowFilter.of(where))
    return set() if table is None else set(table.values("row").tolist())


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_sql_skips_only_rows_that_fail(condition):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    written = RowFilter.of([condition]).sql(TABLE.schema)
    rows = duckdb.connect().from_arrow(TABLE).filter(written).fetchall()
    read = {row[0] for row in rows}
    assert passing([condition]) <= read
    # Only a NaN, which is the greatest number in SQL, may pass there and not here.
    assert read - passing([condition]) <= {1}


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_a_scan_of_arrow_and_polars_reads_exactly_the_rows_that_pass(condition):
    from pyarrow import dataset

    where = RowFilter.of([condition])
    rows = dataset.dataset(TABLE).to_table(filter=where.arrow(TABLE.schema, dataset.field))
    assert set(rows["row"].to_pylist()) == passing([condition])
    frame = pl.from_arrow(TABLE)
    assert set(frame.lazy().filter(where.polars(frame.schema)).collect()["row"]) == passing(
        [condition]
    )


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_numpy_passes_the_same_rows(condition):
    column = TABLE[condition[0]]
    single = column.type == pa.float32()
    values = column.to_numpy() if single else np.array(column.to_pylist(), dtype=object)
    (only,) = RowFilter.of([condition]).conditions
    assert set(np.flatnonzero(numpy_mask(only, values)).tolist()) == passing([condition])


def test_conditions_that_sql_would_read_otherwise_are_left_out():
    zoned = pa.schema({"t": pa.timestamp("us", "UTC"), "n": pa.null(), "k": pa.int64()})
    where = RowFilter.of([("t", ">", NOON.replace(tzinfo=dt.UTC)), ("n", "==", 3)])
    assert where.sql(zoned) is None
    assert RowFilter.of([("k", "==", 2.5)]).sql(zoned) is None  # which no whole number is
    (only,) = RowFilter.of([("k", ">", 2)]).conditions
    assert sql_condition(only, "integer") == '"k" > 2'


def test_iceberg_is_not_asked_to_round():
    expressions = pytest.importorskip("pyiceberg.expressions", reason="pyiceberg is missing")
    (only,) = RowFilter.of([("x", ">", 0.1)]).conditions
    assert iceberg_expression(only, "float", "float") == expressions.AlwaysTrue()
    assert iceberg_expression(only, "float", "double") == expressions.GreaterThan("x", 0.1)


@pytest.mark.parametrize(
    ("arrow_type", "polars_type", "spark_type", "kind"),
    [
        (pa.uint8(), pl.UInt8(), "smallint", "integer"),
        (pa.decimal128(9, 2), pl.Decimal(9, 2), "decimal", "float"),
        (pa.dictionary(pa.int8(), pa.string()), pl.Categorical(), "string", "text"),
        (pa.timestamp("ns"), pl.Datetime("ns"), "timestamp_ntz", "time"),
        (pa.timestamp("s", "UTC"), pl.Datetime("ms", "UTC"), "timestamp", "zoned time"),
        (pa.null(), pl.Null(), "void", NOTHING),
        (pa.list_(pa.int8()), pl.List(pl.Int8), "array", None),
    ],
)
def test_types_of_columns_are_of_one_kind(arrow_type, polars_type, spark_type, kind):
    assert arrow_kind(arrow_type) == kind
    assert polars_kind(polars_type) == kind
    assert _SPARK_KINDS.get(spark_type) == kind
