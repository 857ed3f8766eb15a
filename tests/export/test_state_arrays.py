import numpy as np
import pytest
from scipy import sparse

from directrix.exceptions import StateError
from directrix.exceptions.files import FileContentError
from directrix.export.model_file import arrays_from_file, arrays_to_file

ROWS = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, -1.0]])


def test_arrays_are_contiguous_and_in_the_order_of_their_names():
    stored, layout = arrays_to_file({"b": np.asfortranarray(ROWS), "a": np.ones(2)})
    assert layout is None
    assert list(stored) == ["a", "b"]
    assert stored["b"].flags.c_contiguous
    assert arrays_from_file(stored, None, 3)["b"].tolist() == ROWS.tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("container", "layout"),
    [(np.array, "dense"), (sparse.csr_array, "csr_array"), (sparse.csr_matrix, "csr_matrix")],
)
def test_rows_are_read_as_they_were_written(container, layout, dtype):
    rows = container(ROWS.astype(dtype))
    stored, written = arrays_to_file({"rows": rows})
    assert written == layout
    assert all(isinstance(array, np.ndarray) for array in stored.values())
    again = arrays_from_file(stored, layout, 3)["rows"]
    assert type(again) is type(rows)
    assert again.dtype == dtype
    if layout != "dense":
        assert again.indices.dtype == again.indptr.dtype == np.int32
        again, rows = again.toarray(), rows.toarray()
    np.testing.assert_array_equal(again, rows)


def test_rows_go_with_their_layout():
    dense, _ = arrays_to_file({"rows": ROWS})
    with pytest.raises(FileContentError, match="its rows do not have a layout"):
        arrays_from_file(dense, None, 3)
    with pytest.raises(StateError, match="lacks the array rows_data"):
        arrays_from_file(dense, "csr_array", 3)
    in_parts, layout = arrays_to_file({"rows": sparse.csr_array(ROWS)})
    with pytest.raises(FileContentError, match="lacks the array rows"):
        arrays_from_file(in_parts, "dense", 3)
    with pytest.raises(FileContentError, match="both dense and sparse"):
        arrays_from_file(in_parts | dense, layout, 3)
    with pytest.raises(StateError, match="do not belong there: rows_x"):
        arrays_from_file(in_parts | {"rows_x": ROWS}, layout, 3)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rows_indices", [0, 1, 3]),
        ("rows_indices", [0, -1, 2]),
        ("rows_indptr", [0, 4, 3]),
        ("rows_indptr", [1, 2, 3]),
        ("rows_indptr", []),
    ],
)
def test_sparse_rows_that_contradict_themselves_are_refused(name, values):
    stored, layout = arrays_to_file({"rows": sparse.csr_array(ROWS)})
    stored[name] = np.array(values, dtype=np.int64)
    with pytest.raises(FileContentError, match="contradict themselves"):
        arrays_from_file(stored, layout, 3)
