"""A plan of raw tables: its blocks are tables, identified by what they hold."""

import numpy as np
import pytest
from card_sources import FEATURES, frame, parts

from directrix.engines import HashFolds
from directrix.engines.column_roles import ColumnRoles
from directrix.tables import Column


def plan(**roles):
    roles = {"features": FEATURES, "fold": HashFolds(3), "identified": True} | roles
    return ColumnRoles.of(raw=True, target="y", **roles)


def test_blocks_hold_raw_values():
    block = plan().block(frame())
    assert [column.kind for column in block.X.columns] == ["number", "text", "boolean", "date"]
    assert len(block.X) == 1500
    assert np.isnan(block.X.values).any()
    assert plan().takes_texts


def test_hashes_do_not_depend_on_the_library_or_the_other_rows():
    hashes = plan().block(frame()).hashes
    assert len(set(hashes.tolist())) > 1490
    pieces = [plan().block(part).hashes for part in parts(frame(), 7)]
    np.testing.assert_array_equal(np.concatenate(pieces), hashes)
    for library in ("pyarrow", "polars"):
        module = pytest.importorskip(library)
        read = module.Table.from_pandas if library == "pyarrow" else module.from_pandas
        np.testing.assert_array_equal(plan().block(read(frame())).hashes, hashes)


def test_columns_are_read_as_the_kinds_of_an_earlier_pass():
    kinds = ["text", "text", "number", "date"]
    columns = tuple(map(Column, FEATURES, kinds))
    block = plan(columns=columns).block(frame())
    assert [column.kind for column in block.X.columns] == kinds
