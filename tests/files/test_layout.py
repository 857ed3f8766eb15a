"""A layout reads what it writes, and refuses what it does not declare."""

import json

import numpy as np
import pytest
from summary_files import resign

from directrix.exceptions.files import MomentsFileError
from directrix.files.layout import Array, Layout, require


def sizes(header, _arrays):
    return {"features": header["d"], "number": "int64" if header["whole"] else "float64"}


def laws(_header, arrays):
    require(arrays["first"].sum() == arrays["second"].sum(), "its sums differ")
    return "built"


LAYOUT = Layout(
    format="a.test",
    noun="test",
    entries=("d", "whole"),
    arrays={
        "first": Array("number", ("rows", "features")),
        "second": Array("number", ("rows",)),
    },
    sizes=sizes,
    laws=laws,
)
CLASSES = np.array(["no", "yes"])


def arrays(dtype=np.float64):
    first = np.arange(6, dtype=dtype).reshape(3, 2)
    return {"first": first, "second": first.sum(axis=1)}


@pytest.fixture
def path(tmp_path):
    LAYOUT.write(tmp_path / "a.test", CLASSES, {"d": 2, "whole": False}, arrays())
    return tmp_path / "a.test"


@pytest.mark.parametrize(("whole", "dtype"), [(True, np.int64), (False, np.float64)])
def test_what_is_written_is_read_back(whole, dtype, tmp_path):
    LAYOUT.write(tmp_path / "a", CLASSES, {"d": 2, "whole": whole}, arrays(dtype))
    header, read, built = LAYOUT.read(tmp_path / "a")
    assert header["classes"] == {"dtype": "str", "values": ["no", "yes"]}
    assert built == "built"
    for name, array in arrays(dtype).items():
        np.testing.assert_array_equal(read[name], array, strict=True)


def forged(**changes):
    return lambda stored: stored.update(changes)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (forged(first=np.zeros((3, 3))), r"first has type float64 and shape \(3, 3\)"),
        # A length that nobody names is that of the first array.
        (forged(second=np.zeros(4)), r"second has type float64 and shape \(4,\)"),
        (forged(second=np.zeros((3, 1))), r"second has type float64 and shape \(3, 1\)"),
        (forged(first=np.zeros((3, 2), int)), "first has type int64"),
        (forged(first=np.full((3, 2), np.nan)), "first is not finite"),
        (forged(second=np.array([1.0, 1.0, 1.0])), "its sums differ"),
        (forged(third=np.zeros(1)), "its arrays are not those of a test"),
        (lambda stored: stored.pop("first"), "its arrays are not those of a test"),
    ],
)
def test_arrays_that_are_not_declared_are_refused(edit, reason, path):
    resign(path, None, edit)
    with pytest.raises(MomentsFileError, match=reason) as caught:
        LAYOUT.read(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"more": 1}, "one too many"),
        ({"format": "another"}, "something else than a test"),
        ({"version": 2}, "file of another version: 2, and this program reads 1"),
        ({"classes": {"dtype": "S5", "values": ["b", "a"]}}, "of the wrong type"),
    ],
)
def test_entries_that_are_not_declared_are_refused(entry, reason, path):
    resign(path, lambda header: header.update(entry))
    with pytest.raises(MomentsFileError, match=reason):
        LAYOUT.read(path)


def test_what_could_not_be_read_is_not_written(tmp_path):
    broken = {**arrays(), "second": np.zeros(3)}
    with pytest.raises(ValueError, match="this test cannot be saved: its sums differ"):
        LAYOUT.write(tmp_path / "a", CLASSES, {"d": 2, "whole": False}, broken)
    assert not (tmp_path / "a").exists()


def test_a_checksum_tells_damage_that_keeps_every_law(path):
    content = path.read_bytes()
    header = content[8 : 8 + int.from_bytes(content[:8], "little")]
    digest = json.loads(header)["__metadata__"]["sha256"]
    path.write_bytes(content.replace(digest.encode(), b"0" * 64))
    with pytest.raises(MomentsFileError, match="checksum does not match: it is damaged"):
        LAYOUT.read(path)
