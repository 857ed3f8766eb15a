import gzip

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

import typer
from scipy import sparse

from directrix.cli.reply import UsageError
from directrix.cli.rows import (
    RowFiles,
    concatenate_weights,
    equals_label,
    read_rows,
    require_finite,
)
from directrix.exceptions.columns import (
    ColumnNotFoundError,
    InfiniteValuesError,
    MissingValuesError,
)


def test_all_columns_without_another_use_are_features(files):
    path = str(files / "rich.parquet")
    dropped = RowFiles.of([path], "fraud", drop=["country,kind", "id"], weight="weight")
    assert dropped.features == ("amount", "age", "clock", "three")
    chosen = RowFiles.of([path], "fraud", features=["age,id"], drop=["id"])
    assert chosen.features == ("age",)
    assert RowFiles.of([path], "fraud").features is None


def test_a_dropped_column_must_exist(files):
    with pytest.raises(ColumnNotFoundError) as caught:
        RowFiles.of([str(files / "monday.parquet")], "fraud", drop=["klock"])
    assert caught.value.name == "klock"
    assert caught.value.available == ("amount", "age", "clock", "fraud")


def test_libsvm_is_known_by_the_names_of_the_files(files, tmp_path):
    content = (files / "tuesday.svm").read_bytes()
    compressed = tmp_path / "a.svm.gz"
    compressed.write_bytes(gzip.compress(content))
    assert RowFiles.of([str(compressed)], None).libsvm
    other = tmp_path / "a.txt"
    other.write_bytes(content)
    rows = RowFiles.of([str(other)], None, file_format="libsvm")
    assert rows.libsvm
    with pytest.raises(typer.BadParameter, match="column that has the labels"):
        RowFiles.of([str(other)], None)
    with pytest.raises(typer.BadParameter, match="'csv' is not one of libsvm"):
        RowFiles.of([str(other)], None, file_format="csv")
    in_memory = read_rows(rows)
    assert in_memory.X.shape == (600, 3)
    assert np.unique(in_memory.y).tolist() == [-1, 1]
    positive = read_rows(RowFiles.of([str(compressed)], None, positive="-1"))
    assert positive.y.tolist() == (in_memory.y == -1).tolist()


def test_rows_in_memory(files):
    days = [str(files / "monday.parquet"), str(files / "tuesday.parquet")]
    rows = read_rows(RowFiles.of(days, "fraud", features=["age", "amount"]))
    assert rows.X.shape == (1200, 2)
    assert rows.names == ("age", "amount")
    assert rows.weight is None
    assert rows.y.dtype == bool


def test_labels_are_compared_as_text():
    assert equals_label(np.array([0, 1, 2]), "2").tolist() == [False, False, True]
    assert equals_label(np.array([0.0, 1.0]), "1").tolist() == [False, True]
    assert equals_label(np.array([0.0, 1.0]), "1.0").tolist() == [False, True]
    with pytest.raises(UsageError, match=r"no label '7' .* \(0, 1, 2, 3, 4 and more\)"):
        equals_label(np.arange(7), "7")


def test_values_must_be_finite():
    require_finite(np.array([[1, 2]]), None)
    require_finite(np.array([[1.0, 2.0]]), None)
    with pytest.raises(MissingValuesError, match=r"column 'b' holds missing .* at least 1 row;"):
        require_finite(np.array([[1.0, np.nan]]), ["a", "b"])
    with pytest.raises(InfiniteValuesError, match="column 0 holds infinity"):
        require_finite(np.array([[np.inf, 1.0]]), None)
    with pytest.raises(MissingValuesError, match="column 1 holds missing values"):
        require_finite(sparse.csr_array(np.array([[0.0, np.nan]])), None)


def test_weights_are_concatenated():
    assert concatenate_weights([None, None]) is None
    assert concatenate_weights([[1, 2], np.array([0.5])]).tolist() == [1.0, 2.0, 0.5]
