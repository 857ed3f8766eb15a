"""A table is read the same from every source, and again as the columns of an earlier one."""

import numpy as np
import pytest
from scipy import sparse

from directrix.exceptions.columns import ColumnKindError, ColumnNamesError, ColumnNotFoundError
from directrix.tables import Column, Table

ROWS = {
    "age": [30.0, None, 50.5],
    "town": ["Rome", None, ""],
    "paid": [True, False, None],
}
COLUMNS = (
    Column("age", "number"),
    Column("town", "text", ("", "Rome")),
    Column("paid", "boolean"),
)
VALUES = np.array([[30.0, 1, 1], [np.nan, np.nan, 0], [50.5, 0, np.nan]])


def frame_of(library):
    if library == "pyarrow batch":
        return pytest.importorskip("pyarrow").RecordBatch.from_pydict(ROWS)
    module = pytest.importorskip(library)
    return module.table(ROWS) if library == "pyarrow" else module.DataFrame(ROWS)


LIBRARIES = ["pandas", "polars", "pyarrow", "pyarrow batch"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_table(library):
    table = Table.of(frame_of(library))
    assert table.columns == COLUMNS
    assert table.named
    np.testing.assert_array_equal(table.values, VALUES)


@pytest.mark.parametrize("as_array", [list, lambda rows: np.array(rows, dtype=object)])
def test_rows_without_names_are_numbered(as_array):
    table = Table.of(as_array([list(row) for row in zip(*ROWS.values(), strict=True)]))
    assert table.names == ("x0", "x1", "x2")
    assert [column.kind for column in table.columns] == ["number", "text", "boolean"]
    assert not table.named
    np.testing.assert_array_equal(table.values, VALUES)


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_are_matched_by_name(library):
    frame = frame_of(library)
    schema = (COLUMNS[2], COLUMNS[0])
    table = Table.of(frame, schema)
    assert table.columns == schema
    np.testing.assert_array_equal(table.values, VALUES[:, [2, 0]])
    again = Table.of(Table.of(frame), schema)
    np.testing.assert_array_equal(again.values, table.values)
    with pytest.raises(ColumnNotFoundError, match="no column named 'income'"):
        Table.of(frame, [*schema, Column("income", "number")])


def test_kinds_of_an_earlier_table_are_kept():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"x": [1.0, 2.5, None], "flag": [True, False, True], "void": [None] * 3}
    )
    table = Table.of(frame, [Column("x", "text"), Column("flag", "number"), Column("void", "date")])
    assert table.columns == (
        Column("x", "text", ("1", "2.5")),
        Column("flag", "number"),
        Column("void", "date"),
    )
    np.testing.assert_array_equal(table.values[:, 0], [0, 1, np.nan])
    np.testing.assert_array_equal(table.values[:, 1], [1, 0, 1])


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("number", ["1"]),
        ("boolean", ["yes"]),
        ("date", ["soon"]),
        ("date", ["2020-01-01", "01/02/2020"]),
        ("date", [1.0]),
        ("number", [np.datetime64("2020")]),
        ("text", [np.datetime64("2020")]),
    ],
)
def test_a_column_of_another_kind_is_named(kind, values):
    with pytest.raises(ColumnKindError) as caught:
        Table.of(np.array(values)[:, None], [Column("town", kind)])
    assert caught.value.column == "town"


def test_texts_of_services_and_files_are_read_as_dates_and_booleans():
    rows = [["true", "2020-01-01"], ["False", "2020-01-02T12:00:00Z"], [None, None]]
    table = Table.of(rows, [Column("x0", "boolean"), Column("x1", "date")])
    np.testing.assert_array_equal(table.values, [[1, 18262], [0, 18263.5], [np.nan, np.nan]])
    assert [column.levels for column in table.columns] == [(), ()]


def test_arrays_are_matched_by_position():
    schema = Table.of(np.zeros((2, 3))).columns
    assert Table.of(np.ones((1, 3)), schema).values.tolist() == [[1, 1, 1]]
    with pytest.raises(ValueError, match="X has 2 features, but Table is expecting 3"):
        Table.of(np.ones((1, 2)), schema)
    frame = pytest.importorskip("pandas").DataFrame({"a": [1], "b": [2], "c": [3]})
    assert Table.of(frame, schema, by_name=False).values.tolist() == [[1, 2, 3]]
    frame.columns = [0, 1, 2]  # numbers are no names
    assert Table.of(frame, schema).values.tolist() == [[1, 2, 3]]


def test_sparse_matrices_are_numbers():
    dense = np.array([[0.0, 2], [3, 0]])
    for matrix in (sparse.csr_array(dense), sparse.coo_matrix(dense)):
        np.testing.assert_array_equal(Table.of(matrix).values, dense)


def test_names_must_be_different_texts():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="'a' occurs twice"):
        Table.of(pandas.DataFrame([[1, 2]], columns=["a", "a"]))
    for names in (["a", 1], [1, 0], [10, 20], [("a", 0), ("b", 1)]):
        with pytest.raises(ColumnNamesError, match=r"must be texts.*X\.columns\.astype\(str\)"):
            Table.of(pandas.DataFrame([[1, 2]], columns=names))


@pytest.mark.parametrize("X", [np.zeros(3), [1, 2], np.zeros((2, 2, 2)), 7])
def test_a_table_has_two_dimensions(X):
    with pytest.raises(ValueError, match=r"two dimensions.*Reshape your data"):
        Table.of(X)


def test_rows_can_be_taken():
    table = Table.of(frame_of("polars"))
    taken = table.take(np.array([2, 0]))
    assert taken.columns == table.columns
    assert len(taken) == 2
    np.testing.assert_array_equal(taken.values, VALUES[[2, 0]])


def test_levels_of_rows_that_do_not_count_are_left_out():
    table = Table.of([["a", 1.0], ["c", 2.0], [None, 3.0], ["b", 4.0], ["c", None]])
    some = table.with_levels_of(np.array([False, True, True, True, False]))
    assert some.columns[0].levels == ("b", "c")
    np.testing.assert_array_equal(some.values[:, 0], [np.nan, 1.0, np.nan, 0.0, 1.0])
    np.testing.assert_array_equal(some.values[:, 1], table.values[:, 1])
    assert table.columns[0].levels == ("a", "b", "c")  # it is as it was
    assert table.values[0, 0] == 0.0
    whole = table.with_levels_of(np.ones(5, dtype=bool))
    assert whole.columns == table.columns
    np.testing.assert_array_equal(whole.values, table.values)
    none = table.with_levels_of(np.array([False, False, True, False, False]))
    assert none.columns[0].levels == ()
    assert np.isnan(none.values[:, 0]).all()


# ── hashes of rows ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("library", LIBRARIES)
def test_hashes_of_rows_depend_on_their_values_only(library):
    table = Table.of(frame_of(library))
    hashes = table.row_hashes()
    assert hashes.dtype == np.uint64
    np.testing.assert_array_equal(hashes, Table(COLUMNS, np.asfortranarray(VALUES)).row_hashes())
    # Other levels, of which the rows have some: the same texts.
    more = (COLUMNS[0], Column("town", "text", ("", "Oslo", "Rome", "Zug")), COLUMNS[2])
    recoded = VALUES.copy(order="F")
    recoded[0, 1] = 2
    np.testing.assert_array_equal(hashes, Table(more, recoded).row_hashes())
    order = [2, 0, 1]
    np.testing.assert_array_equal(table.take(np.array(order)).row_hashes(), hashes[order])


def test_different_rows_have_different_hashes():
    values = [None, 0.0, 1.0, -1.0, 5e-324, np.inf, -np.inf, 1e300]
    rows = [[a, b] for a in values for b in values]
    assert len(set(Table.of(rows).row_hashes().tolist())) == len(rows)
    texts = [["", "a"], ["a", ""], [None, "a"], ["a", None], ["aa", ""], ["a", "a"], ["1", "a"]]
    assert len(set(Table.of(texts).row_hashes().tolist())) == len(texts)


def test_zeros_and_missing_values_have_one_hash_each():
    payload = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)
    missing = Table.of(np.append(payload, np.nan)[:, None]).row_hashes()
    assert len(set(missing.tolist())) == 1
    zeros = Table.of(np.array([[0.0], [-0.0]])).row_hashes()
    assert zeros[0] == zeros[1] != missing[0]
