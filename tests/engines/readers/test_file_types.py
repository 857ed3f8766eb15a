import numpy as np
import pytest

from directrix import Moments, summarize
from directrix.engines import HashFolds
from directrix.exceptions.columns import (
    ColumnNotFoundError,
    ColumnNotInFileError,
    MissingValuesError,
)

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
dataset = pytest.importorskip("pyarrow.dataset")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

X = [1.0, 2.0]


def written(folder, *tables, suffix="parquet"):
    """Write each table to a file, and return a pattern of them all."""
    write = {"parquet": parquet.write_table, "arrow": feather.write_feather}[suffix]
    for number, columns in enumerate(tables):
        write(pa.table(columns), folder / f"part-{number}.{suffix}")
    return str(folder / f"part-*.{suffix}")


def csv(folder, *tables):
    """Write each text to a file, and return a pattern of them all."""
    for number, text in enumerate(tables):
        (folder / f"part-{number}.csv").write_text(text, encoding="utf-8")
    return str(folder / "part-*.csv")


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([True, False], [1, 2]),
        ([1, 2], [True, False]),
        ([0, 1], [0.5, 1.0]),
        ([True, False], [0.5, 1.0]),
        (pa.array([0, 1], pa.int8()), [1000, 1]),
        (["a", "b"], pa.array(["b", "c"]).dictionary_encode()),
        (pa.array(["a", "b"]).dictionary_encode(), ["b", "c"]),
    ],
)
def test_labels_of_several_types_are_those_of_memory(tmp_path, first, second, suffix):
    tables = [{"x": X, "y": labels} for labels in (first, second)]
    read = summarize(written(tmp_path, *tables, suffix=suffix), target="y")
    expected = summarize((pa.table(table) for table in tables), target="y")
    assert read == expected


@pytest.mark.parametrize("column", ["x", "y", "weight", "by", "key"])
@pytest.mark.parametrize("text_first", [True, False])
def test_text_and_numbers_are_refused_with_both_files_named(tmp_path, column, text_first):
    numbers = {"x": X, "y": [0, 1], "weight": X, "by": [1, 1], "key": [1, 2]}
    tables = [numbers | {column: ["1", "2"]}, numbers]
    tables = tables if text_first else tables[::-1]
    roles = {"target": "y", "weight": "weight", "by": "by", "fold": HashFolds(2, key="key")}
    with pytest.raises(TypeError, match=rf"column '{column}' holds .* write it with one type") as e:
        summarize(written(tmp_path, *tables), **roles)
    assert all(name in str(e.value) for name in ("part-0.parquet", "part-1.parquet", "string"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 2], [1.5, 2.5]),
        ([1.5, 2.5], [1, 2]),
        ([True, False], [1.5, 2.0]),
        ([1, 2], [10**9] * 2),
    ],
)
@pytest.mark.parametrize("role", ["x", "weight"])
def test_numbers_of_several_types_keep_their_values(tmp_path, first, second, role):
    tables = [{"x": X, "weight": X, "y": [0, 1], role: values} for values in (first, second)]
    read = summarize(written(tmp_path, *tables), target="y", weight="weight")
    both = {name: [*tables[0][name], *tables[1][name]] for name in ("x", "y", "weight")}
    expected = Moments.of(
        np.array(both["x"], dtype=float)[:, None], both["y"], both["weight"], feature_names=["x"]
    )
    assert read == expected


def test_other_columns_may_differ(tmp_path):
    path = written(
        tmp_path, {"x": X, "y": [0, 1], "z": [1, 2]}, {"x": X, "y": [0, 1], "z": ["", ""]}
    )
    assert summarize(path, target="y", features="x").count == 4


@pytest.mark.parametrize("empty_first", [True, False])
def test_a_file_without_rows_has_no_say(tmp_path, empty_first):
    tables = [{"x": X, "y": [0, 1]}, {"x": pa.array([], pa.string()), "y": pa.array([], pa.null())}]
    moments = summarize(written(tmp_path, *tables[:: -1 if empty_first else 1]), target="y")
    assert moments.classes.tolist() == [0, 1]


def test_a_type_that_was_stated_is_kept(tmp_path):
    written(tmp_path, {"x": X, "y": [0, 1]}, {"x": X, "y": ["0", "1"]})
    stated = pa.schema({"x": pa.float64(), "y": pa.large_string()})
    moments = summarize(dataset.dataset(tmp_path, schema=stated), target="y")
    assert moments.classes.tolist() == ["0", "1"]


def test_a_dataset_is_checked_as_its_files_are(tmp_path):
    written(tmp_path, {"x": X, "y": [True, False]}, {"x": X, "y": [1, 2]})
    assert summarize(dataset.dataset(tmp_path), target="y").classes.tolist() == [0, 1, 2]


def test_partitions_keep_their_column(tmp_path):
    for label, values in enumerate(([1, 2], [1.5, 2.5])):
        (tmp_path / f"y={label}").mkdir()
        parquet.write_table(pa.table({"x": values}), tmp_path / f"y={label}" / "0.parquet")
    moments = summarize(tmp_path, target="y")
    assert [group.mean.item() for group in moments.by_class.values()] == [1.5, 2.0]


@pytest.mark.parametrize(
    ("first", "second", "classes"),
    [
        (["true", "false"], ["1", "2"], None),
        (["1", "2"], ["1.5", "2"], [1.0, 1.5, 2.0]),
        (["A1", "7"], ["7", "8"], ["7", "8", "A1"]),
        (["7", "8"], ["A1", "7"], ["7", "8", "A1"]),
    ],
)
def test_csv_has_the_types_of_all_files(tmp_path, first, second, classes):
    rows = [
        "\n".join(["x,y", *(f"{x},{y}" for x, y in zip(X, labels, strict=True))])
        for labels in (first, second)
    ]
    if classes is None:
        with pytest.raises(
            TypeError, match=r"'y' holds bool in .*part-0.csv' and int64 in .*1.csv"
        ):
            summarize(csv(tmp_path, *rows), target="y")
    else:
        assert summarize(csv(tmp_path, *rows), target="y").classes.tolist() == classes


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("first", [True, False])
def test_a_file_without_a_column_is_named(tmp_path, suffix, first):
    whole = pa.table({"a": [1.0, 2.0, 3.0], "b": [0.5, 0.25, 1.0], "y": [0, 1, 1]})
    parts = [whole.drop_columns(["b"]), whole] if first else [whole, whole.drop_columns(["b"])]
    folder = written(tmp_path, *parts, suffix=suffix)
    for options in ({}, {"features": ["a", "b"]}):
        with pytest.raises(ColumnNotInFileError, match="no column named 'b' in") as caught:
            summarize(folder, target="y", **options)
        assert (caught.value.name, caught.value.available) == ("b", ("a", "y"))
        assert caught.value.path.endswith(f"part-{0 if first else 1}.{suffix}")
    with pytest.raises(ColumnNotFoundError):
        summarize(iter(parts), target="y", features=["a", "b"])
    assert summarize(folder, target="y", features=["a"]).feature_names == ("a",)


def test_a_csv_file_without_a_column_is_named(tmp_path):
    pattern = csv(tmp_path, "a,b,y\n1,2,0\n2,3,1\n", "a,y\n1,0\n2,1\n")
    with pytest.raises(ColumnNotInFileError, match=r"'b' in '.*part-1.csv'"):
        summarize(pattern, target="y")


def test_columns_of_files_may_be_in_another_order(tmp_path):
    whole = pa.table({"a": [1.0, 2.0, 3.0], "b": [0.5, 0.25, 1.0], "y": [0, 1, 1]})
    folder = written(tmp_path, whole, whole.select(["y", "b", "a"]))
    made = summarize(folder, target="y")
    assert made == summarize([whole, whole], target="y", features=["a", "b"])


def test_a_table_whose_schema_says_so_has_missing_values(tmp_path):
    whole = pa.table({"a": [1.0, 2.0, 3.0], "b": [0.5, 0.25, 1.0], "y": [0, 1, 1]})
    written(tmp_path, whole, whole.drop_columns(["b"]))
    with pytest.raises(MissingValuesError, match="'b'"):
        summarize(dataset.dataset(tmp_path), target="y", features=["a", "b"])
