"""Datasets: positions of rows, in files and under conditions."""

import numpy as np
import pytest

from directrix.engines.arrow import open_source
from directrix.engines.readers import open_dataset, read_ahead

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


@pytest.mark.parametrize("where", [None, (dataset.field("a") >= 50) & (dataset.field("y") == 1)])
def test_positions_are_unique_and_the_same_in_every_pass(rows, where):
    chosen = rows if where is None else rows.filter(where)
    first, again = (table_of(open_dataset(chosen).positioned(["a", "y"])) for _ in range(2))
    assert first.equals(again)
    keys = first.column(2).to_pylist()
    assert len(set(keys)) == len(keys) == (N if where is None else 125)


def test_the_filter_of_a_dataset_is_kept_and_only_columns_that_are_named_are_read(rows):
    opened = open_source(rows.filter(dataset.field("part") == 2))
    read = table_of(opened.batches(["a"]))
    assert read.schema.names == ["a"]
    assert read["a"].to_pylist() == list(range(2, N, 3))
    assert opened.n_rows is None  # Parquet would have to be read to count them


def test_a_filtered_dataset_has_the_common_types_of_its_files(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "y": [True, False]}), tmp_path / "0.parquet")
    parquet.write_table(pa.table({"a": [1.5, -3.0], "y": [2, 0]}), tmp_path / "1.parquet")
    rows = dataset.dataset(tmp_path).filter(dataset.field("a") > 0)
    read = table_of(open_source(rows).batches(["a", "y"]))
    assert read["a"].to_pylist() == [1.0, 2.0, 1.5]
    assert read["y"].to_pylist() == [1, 0, 2]
    assert table_of(open_source(rows).batches(["a", "y"])).equals(read)  # its filter is still set


def test_what_fails_in_the_thread_is_raised():
    def batches():
        yield 1
        msg = "the disk is gone"
        raise OSError(msg)

    ahead = read_ahead(batches())
    assert next(ahead) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(ahead)
