"""Datasets: positions of rows, in files and under conditions."""

import numpy as np
import pytest

from directrix.engines.doors.datasets import open_dataset, read_ahead
from directrix.engines.doors.select import open_source
from directrix.engines.filters.row_filter import RowFilter

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
dataset = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")

N = 300
TABLE = pa.table({"a": np.arange(N, dtype=float), "y": np.arange(N) % 2, "part": np.arange(N) % 3})


@pytest.fixture
def rows(tmp_path):
    for part in range(3):
        table = TABLE.filter(pa.array(np.arange(N) % 3 == part))
        parquet.write_table(table, tmp_path / f"{part}.parquet", row_group_size=17)
    return dataset.dataset(tmp_path)


def table_of(batches):
    return pa.Table.from_batches(list(batches))


@pytest.mark.parametrize("where", [None, [("a", ">=", 50), ("y", "==", 1)]])
def test_positions_are_unique_and_the_same_in_every_pass(rows, where):
    where = RowFilter.of(where)
    first, again = (table_of(open_dataset(rows).positioned(["a", "y"], where)) for _ in range(2))
    assert first.equals(again)
    keys = first.column(2).to_pylist()
    assert len(set(keys)) == len(keys) == (N if where is None else 125)


def test_conditions_are_pushed_down_and_only_columns_that_are_named_are_read(rows):
    opened = open_source(rows)
    read = table_of(opened.batches(["a", "part"], RowFilter.of([("part", "==", 2)])))
    assert read.schema.names == ["a", "part"]
    assert set(read["part"].to_pylist()) == {2}
    assert read.num_rows == N // 3


def test_what_fails_in_the_thread_is_raised():
    def batches():
        yield 1
        msg = "the disk is gone"
        raise OSError(msg)

    ahead = read_ahead(batches())
    assert next(ahead) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(ahead)
