import bz2
import hashlib
import lzma
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness import data
from benchmarks.harness.data import PUBLIC_SETS, PublicSet

SHARED = Path(os.environ.get("DIRECTRIX_DATA") or data.BESIDE)
MANIFEST = Path(data.__file__).with_name("MANIFEST.md")

# Three features, the last without a value in the third row; label 2 is the positive one.
TEXT = b"2 1:0.5 3:-1\n1 2:4 3:1\n2 1:1\n1 3:0.25\n"
ROWS = [[0.5, 0, -1], [0, 4, 1], [1, 0, 0], [0, 0, 0.25]]
POSITIVE = [True, False, True, False]


class Site:
    """What a server on this machine answers, and what it was asked."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.broken_transfers = 0
        self.errors: list[int] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked.append(self.path)
                body = site.files.get(self.path[1:])
                code = site.errors.pop() if site.errors else 404 if body is None else 200
                if code != 200:
                    self.send_error(code)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                breaks = site.broken_transfers > 0
                site.broken_transfers -= breaks
                self.wfile.write(body[: len(body) // 2] if breaks else body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def publish(self, file_name="tiny.bz2", text=TEXT, **known):
        """Put a file there and return what is known of it."""
        pack = {".bz2": bz2.compress, ".xz": lzma.compress}.get(Path(file_name).suffix, bytes)
        self.files[file_name] = pack(text)
        address = f"http://127.0.0.1:{self.server.server_port}/{file_name}"
        return PublicSet(
            address, **{"rows": 4, "features": 3, "meaning": "", "positive": 2} | known
        )

    def close(self):
        if self.thread.is_alive():
            self.server.shutdown()
            self.thread.join()
            self.server.server_close()


@pytest.fixture
def site():
    one = Site()
    yield one
    one.close()


@pytest.fixture(autouse=True)
def downloads(tmp_path, monkeypatch):
    """Return where downloads stand: nothing of the user's is read or written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("DIRECTRIX_DATA", raising=False)
    monkeypatch.setattr(data, "BESIDE", tmp_path / "nowhere")
    monkeypatch.setattr(data, "_WAITS", (0.0, 0.0))
    return tmp_path / "cache" / "directrix" / "downloads"


@pytest.fixture
def known(monkeypatch):
    """Return a function that gives a set a name."""
    return lambda one, name="tiny": monkeypatch.setitem(PUBLIC_SETS, name, one)


def is_tiny(loaded):
    X, y = loaded
    return np.array_equal(X, ROWS) and np.array_equal(y, POSITIVE)


def standing(downloads):
    return sorted(path.name for path in downloads.iterdir())


@pytest.mark.parametrize("file_name", ["tiny", "tiny.t", "tiny.bz2", "tiny.svm.xz"])
def test_first_load_downloads_and_later_ones_need_no_server(site, known, downloads, file_name):
    known(site.publish(file_name))
    assert is_tiny(data.load("tiny"))
    assert standing(downloads) == [file_name, f"{file_name}.sha256"]
    # The line that the tool sha256sum reads.
    digest = hashlib.sha256(site.files[file_name]).hexdigest()
    assert (downloads / f"{file_name}.sha256").read_text() == f"{digest}  {file_name}\n"
    site.close()
    assert is_tiny(data.load("tiny"))
    assert site.asked == [f"/{file_name}"]


def test_corrupt_file_is_refused_until_it_is_deleted(site, known, downloads):
    known(site.publish())
    data.load("tiny")
    (downloads / "tiny.bz2").write_bytes(bz2.compress(TEXT.replace(b"4", b"5")))
    with pytest.raises(ValueError, match=r"tiny\.bz2 has the SHA-256 .*delete it"):
        data.load("tiny")
    (downloads / "tiny.bz2").unlink()
    assert is_tiny(data.load("tiny"))


def test_second_download_must_equal_the_first(site, known, downloads):
    known(site.publish())
    data.load("tiny")
    (downloads / "tiny.bz2").unlink()
    known(site.publish(text=TEXT.replace(b"4", b"5")))
    with pytest.raises(ValueError, match=r"published anew .* delete .*tiny\.bz2\.sha256"):
        data.load("tiny")
    assert standing(downloads) == ["tiny.bz2.sha256"]
    (downloads / "tiny.bz2.sha256").unlink()
    assert data.load("tiny")[0][1, 1] == 5


def test_published_checksum_is_asked_of_the_first_download(site, known, downloads):
    digest = hashlib.sha256(bz2.compress(TEXT)).hexdigest()
    known(site.publish(checksum=digest))
    assert is_tiny(data.load("tiny"))
    known(site.publish("other.bz2", checksum=digest[::-1]))
    with pytest.raises(ValueError, match=r"but benchmarks/harness/data\.py says"):
        data.load("tiny")
    assert standing(downloads) == ["tiny.bz2", "tiny.bz2.sha256"]


@pytest.mark.parametrize("trouble", [{"broken_transfers": 2}, {"errors": [503, 500]}])
def test_passing_trouble_is_tried_again(site, known, trouble):
    vars(site).update(trouble)
    known(site.publish())
    assert is_tiny(data.load("tiny"))
    assert len(site.asked) == 3


def test_transfer_that_always_breaks_leaves_nothing(site, known, downloads):
    site.broken_transfers = 3
    known(site.publish())
    half, whole = len(site.files["tiny.bz2"]) // 2, len(site.files["tiny.bz2"])
    said = rf"3 attempts.*after {half} of {whole} bytes.*put it at .*tiny\.bz2"
    with pytest.raises(ConnectionError, match=said):
        data.load("tiny")
    assert standing(downloads) == []
    assert is_tiny(data.load("tiny"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rows": 5}, "should have 5 rows of 3 features.* has 4 of 3"),
        ({"features": 4}, "should have 4 rows of 4 features.* has 4 of 3"),
        ({"features": 2}, "should have 4 rows of 2 features.* has 4 of 3"),
        ({"positives": 3}, "3 rows .* label 2, .* 2 have"),
        ({"positive": 1.5}, "some but not all rows .* label 1.5, .* 0 have"),
        ({"text": b"<html>Log in to the network</html>\n"}, "no LIBSVM text"),
        ({"text": b"1 0:3 1:1\n"}, "no LIBSVM text"),
    ],
)
def test_what_is_not_the_set_is_refused_and_not_kept(site, known, downloads, wrong, said):
    known(site.publish(**wrong))
    for _ in range(2):  # what was parsed the first time is no excuse
        with pytest.raises(ValueError, match=f"{said}.*correct benchmarks/harness/data.py"):
            data.load("tiny")
        assert standing(downloads) == []


@pytest.mark.parametrize("damage", [lambda body: body[:-9], lambda body: body[9:]])
def test_damaged_package_is_refused(site, known, downloads, damage):
    known(site.publish())
    site.files["tiny.bz2"] = damage(site.files["tiny.bz2"])
    with pytest.raises(ValueError, match="no LIBSVM text"):
        data.load("tiny")
    assert standing(downloads) == []


def test_test_part_may_lack_the_last_columns(site, known):
    known(site.publish("tiny.t", features=6), "tiny.test")
    X, y = data.load("tiny", part="test")
    assert X.shape == (4, 6)
    assert np.array_equal(X[:, :3], ROWS)
    assert np.array_equal(data.load("tiny.test")[1], y)


def test_missing_file_says_what_to_do_at_once(site, known, downloads):
    known(site.publish())
    site.files.clear()
    with pytest.raises(FileNotFoundError, match=r"answered 404 .*put it at .*correct its address"):
        data.load("tiny")
    assert len(site.asked) == 1
    assert standing(downloads) == []


def test_without_a_connection_says_what_to_do(site, known, downloads):
    known(site.publish())
    site.close()
    with pytest.raises(ConnectionError, match=r"Run this again .*put it at .*tiny\.bz2") as error:
        data.load("tiny")
    # And that is what then helps, with the same guard afterwards.
    put_at = Path(str(error.value).rpartition("put it at ")[2])
    put_at.write_bytes(site.files["tiny.bz2"])
    assert is_tiny(data.load("tiny"))
    assert standing(downloads) == ["tiny.bz2", "tiny.bz2.sha256"]


def test_folder_is_read_before_any_download(site, known, tmp_path, monkeypatch):
    monkeypatch.setenv("DIRECTRIX_DATA", str(tmp_path))
    known(site.publish())
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
    assert site.asked == []


def test_what_is_asked_wrongly_is_refused(tmp_path, monkeypatch):
    with pytest.raises(
        FileNotFoundError, match=r"no data set 'nosuch\.test': .*an address only for"
    ):
        data.load("nosuch", "test")
    with pytest.raises(ValueError, match="'train' or 'test', not 'both'"):
        data.load("a9a", "both")
    # A folder that is named and not there is a slip, not a wish to download.
    monkeypatch.setenv("DIRECTRIX_DATA", str(tmp_path / "misspelt"))
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*misspelt"):
        data.load("a9a")


# ── the table ─────────────────────────────────────────────────────────────────────────────────────


def test_files_of_the_table_do_not_collide():
    names = [one.file_name for one in PUBLIC_SETS.values()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", PUBLIC_SETS)
def test_manifest_lists_what_the_table_has(name):
    one = PUBLIC_SETS[name]
    line = f"| {name} | {one.file_name} | {one.rows} x {one.features} | {one.meaning} |"
    assert line in MANIFEST.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["splice", "splice.test", "svmguide1", "mushrooms", "a9a.test"])
def test_the_folder_has_the_same_set(name, monkeypatch):
    monkeypatch.setenv("DIRECTRIX_DATA", str(SHARED))
    if not list(SHARED.glob(f"{name}.*svm.bz2")):
        pytest.skip(f"the folder DIRECTRIX_DATA has no {name}")
    X, y = data.load(name)
    one = PUBLIC_SETS[name]
    assert (*X.shape, y.sum()) == (one.rows, one.features, one.positives)
