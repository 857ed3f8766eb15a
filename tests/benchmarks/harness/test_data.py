"""Data sets are read from the folder, or downloaded and checked."""

import bz2
import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness import data
from benchmarks.harness.data import PUBLIC_SETS

SHARED = Path(os.environ.get("DIRECTRIX_DATA") or data.BESIDE)
# Three features, the last without a value in the third row; label 2 is the positive one.
TEXT = b"2 1:0.5 3:-1\n1 2:4 3:1\n2 1:1\n1 3:0.25\n"
ROWS = [[0.5, 0, -1], [0, 4, 1], [1, 0, 0], [0, 0, 0.25]]
PACKED = bz2.compress(TEXT)
TINY = {"rows": "4", "features": "3", "positive": "2", "positives": "", "checksum": ""}


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """Return a function that publishes a set; nothing of the user's is read or written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DIRECTRIX_DATA", raising=False)
    monkeypatch.setattr(data, "BESIDE", tmp_path / "nowhere")
    monkeypatch.setattr(data, "SITE", f"file://localhost{tmp_path.as_posix()}")

    def published(name="tiny", packed=PACKED, **known):
        monkeypatch.setitem(PUBLIC_SETS, name, TINY | {"file": "tiny.bz2"} | known)
        path = tmp_path / PUBLIC_SETS[name]["file"]
        path.write_bytes(packed)
        return path

    return published


def test_a_set_is_downloaded_once(publish):
    site = publish()
    for _ in range(2):
        X, y = data.load("tiny")
        assert X.tolist() == ROWS
        assert y.tolist() == [True, False, True, False]
        site.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rows": "5"}, r"has 4 rows of 3 features and should have \(5, 3\)"),
        ({"features": "4"}, r"has 4 rows of 3 features and should have \(4, 4\)"),
        ({"positives": "3"}, "2 rows have the label 2, and 3 should"),
        ({"positive": "1.5"}, "0 rows have the label 1.5, and some but not all should"),
        ({"packed": bz2.compress(b"<html>Log in to the network</html>\n")}, "could not convert"),
        ({"packed": PACKED[:-9]}, "before the end-of-stream"),
    ],
)
def test_what_is_not_the_set_is_refused_and_not_kept(publish, wrong, said):
    publish(**wrong)
    with pytest.raises(ValueError, match=rf"not 'tiny': .*{said}.*correct benchmarks/harness/"):
        data.load("tiny")
    publish()
    assert data.load("tiny")[0].tolist() == ROWS


def test_test_part_may_lack_the_last_columns(publish):
    publish("tiny.test", features="6")
    X, y = data.load("tiny", part="test")
    assert X.shape == (4, 6)
    assert np.array_equal(X[:, :3], ROWS)
    assert np.array_equal(data.load("tiny.test")[1], y)


def test_without_a_connection_says_what_to_do(publish, monkeypatch):
    publish().unlink()
    monkeypatch.setattr("time.sleep", lambda _: None)
    with (
        pytest.warns(UserWarning, match="Retry downloading"),
        pytest.raises(ConnectionError, match=r"Run this again .*put it at .*tiny\.bz2") as error,
    ):
        data.load("tiny")
    Path(str(error.value).rpartition("put it at ")[2]).write_bytes(PACKED)
    assert data.load("tiny")[0].tolist() == ROWS


def test_folder_is_read_before_any_download(publish, tmp_path, monkeypatch):
    monkeypatch.setenv("DIRECTRIX_DATA", str(tmp_path))
    publish().unlink()
    (tmp_path / "keel").mkdir()
    for name in ("tiny.train", "tiny.test", "keel/tiny-0_vs_1"):
        text = b"+1 1:1 2:1\n-1 1:2\n" + b"-1 1:7\n" * ("test" in name)
        (tmp_path / f"{name}.svm.bz2").write_bytes(bz2.compress(text))
    for name, n in (("tiny", 2), ("tiny.test", 3), ("keel/tiny-0_vs_1", 2)):
        X, y = data.load(name)
        assert X.tolist() == [[1, 1], [2, 0], [7, 0]][:n]
        assert y.tolist() == [True, False, False][:n]
    assert len(data.load("tiny", "test")[1]) == 3
    (tmp_path / "tiny.test.classes.txt.bz2").write_bytes(bz2.compress(b"a\nb\na\n"))
    assert data.classes("tiny", "test").tolist() == ["a", "b", "a"]
    with pytest.raises(FileNotFoundError, match="no classes of the train part of 'tiny'"):
        data.classes("tiny")


def test_what_is_asked_wrongly_is_refused(publish, tmp_path, monkeypatch):
    publish()
    with pytest.raises(FileNotFoundError, match=r"no data set 'nosuch\.test': .* has only"):
        data.load("nosuch", "test")
    with pytest.raises(ValueError, match="'train' or 'test', not 'both'"):
        data.load("a9a", "both")
    # A folder that is named and not there is a slip, not a wish to download.
    monkeypatch.setenv("DIRECTRIX_DATA", str(tmp_path / "misspelt"))
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*misspelt"):
        data.load("a9a")


@pytest.mark.parametrize("name", ["splice", "splice.test", "svmguide1", "mushrooms", "a9a.test"])
def test_the_folder_has_the_same_set(name, monkeypatch):
    monkeypatch.setenv("DIRECTRIX_DATA", str(SHARED))
    if not list(SHARED.glob(f"{name}.*svm.bz2")):
        pytest.skip(f"the folder DIRECTRIX_DATA has no {name}")
    X, y = data.load(name)
    sizes = (PUBLIC_SETS[name][size] for size in ("rows", "features", "positives"))
    assert (*X.shape, y.sum()) == tuple(map(int, sizes))
