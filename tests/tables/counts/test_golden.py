"""Files of every version are read, and hold the counts of the rows that they were made of."""

from pathlib import Path

import numpy as np
import pytest
from summary_files import take_apart

from directrix.tables import BinCounts
from directrix.tables.counts.storage import VERSION

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*.counts"))


def rows():
    namespace = {"__name__": "golden", "__file__": str(GOLDEN / "make.py")}
    exec((GOLDEN / "make.py").read_text(encoding="utf-8"), namespace)  # noqa: S102 - our own file
    return [namespace[name] for name in ("ROWS", "LABELS", "WEIGHT", "FOLD")]


def test_every_version_has_a_file():
    assert [path.stem for path in FILES] == [f"v{k + 1}" for k in range(VERSION)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_holds_the_counts_of_its_rows(path):
    X, y, weight, fold = rows()
    counts = BinCounts.load(path)
    assert counts == BinCounts.of(counts.binner, X, y, weight, fold=fold)
    assert counts.weight == sum(weight)
    assert counts.n_folds == 3
    assert counts.bins[2].labels == ("missing", "other", '""', "Graz, Wels", "Linz", "Wien")


def test_the_current_version_is_written_as_before(tmp_path):
    BinCounts.load(FILES[-1]).save(tmp_path / "again")
    (_, old), (_, new) = (take_apart(path.read_bytes()) for path in (FILES[-1], tmp_path / "again"))
    assert list(old) == list(new)
    for name in set(old) - {"binner"}:  # which names the version of the library
        np.testing.assert_array_equal(old[name], new[name], strict=True)
