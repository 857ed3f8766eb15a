import numpy as np
import pytest

from directrix.engines.tables import vector_rows

pa = pytest.importorskip("pyarrow")


def ml_vectors(*rows):
    """Return Spark ML vectors as they come through Arrow: a tuple is sparse, a list dense."""
    made = [
        {"type": 0, "size": row[0], "indices": row[1], "values": row[2]}
        if isinstance(row, tuple)
        else {"type": 1, "size": None, "indices": None, "values": row}
        for row in rows
    ]
    vector_type = pa.struct(
        [
            ("type", pa.int8()),
            ("size", pa.int32()),
            ("indices", pa.list_(pa.int32())),
            ("values", pa.list_(pa.float64())),
        ]
    )
    return pa.array(made, vector_type)


def test_sparse_and_dense_vectors_may_be_mixed():
    rows = vector_rows(ml_vectors((3, [0, 2], [1.0, 2.0]), [3.0, 4.0, 5.0], (3, [], [])))
    wanted = [[1.0, 0.0, 2.0], [3.0, 4.0, 5.0], [0.0, 0.0, 0.0]]
    assert np.array_equal(rows.block(0, 3), wanted)


@pytest.mark.parametrize("other", [(5, [4], [1.0]), [1.0, 2.0]], ids=["sparse", "dense"])
def test_vectors_are_of_one_length(other):
    with pytest.raises(ValueError, match="not all of one length"):
        vector_rows(ml_vectors((3, [0], [1.0]), other))
