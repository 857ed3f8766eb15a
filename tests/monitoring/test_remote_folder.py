"""Folders at fsspec addresses: in memory, on disk, and in a store of objects without folders."""

import builtins
import os
import time
from datetime import date, timedelta
from uuid import uuid4

import pytest

from directrix.exceptions import MissingLibraryError
from directrix.exceptions.files import StoreConflictError
from directrix.monitoring import SummaryStore
from directrix.monitoring.folder import RemoteFolder

fsspec = pytest.importorskip("fsspec")

from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402

DAY = date(2026, 3, 1)


class Objects(MemoryFileSystem):
    """Files as in an object store: a folder is there as long as it has files."""

    protocol = "objects"
    store, pseudo_dirs = {}, [""]

    def makedirs(self, path, exist_ok=False):  # noqa: FBT002 - as fsspec declares it
        """Make nothing, as s3fs does inside a bucket."""

    mkdir = makedirs


fsspec.register_implementation("objects", Objects, clobber=True)


@pytest.fixture(params=["memory", "file", "objects"])
def address(request, tmp_path):
    if request.param == "file":
        return (tmp_path / "store").as_uri()
    return f"{request.param}://{uuid4().hex}/store"


@pytest.fixture
def folder(address):
    return RemoteFolder(address, {})


def test_files_are_written_listed_read_and_removed(folder):
    assert folder.names() == []
    folder.write("b", b"2")
    folder.write("a", b"1")
    assert folder.names() == ["a", "b"]
    assert folder.read("a") == b"1"
    with folder.local_copy("b") as path:
        assert path.read_bytes() == b"2"
        assert path.name == "b"
    assert not path.exists()
    folder.remove("a")
    folder.remove("a")
    assert folder.names() == ["b"]
    with pytest.raises(FileNotFoundError):
        folder.read("a")
    with pytest.raises(FileNotFoundError), folder.local_copy("a"):
        pass


def test_an_upload_that_fails_is_not_listed(folder, monkeypatch):
    folder.write("a", b"1")

    def fails(*_, **__):
        raise ConnectionError

    monkeypatch.setattr(folder._files, "mv", fails)
    with pytest.raises(ConnectionError):
        folder.write("a", b"2")
    assert folder.names() == ["a"]
    assert folder.read("a") == b"1"
    [partial] = folder.partial_names()
    folder.remove(partial)
    assert folder.partial_names() == []


def test_age_is_that_of_the_file(folder):
    folder.write("a", b"1")
    assert 0.0 <= folder.age("a") < 60.0
    assert folder.age("not there") == 0.0


def test_age_on_disk_is_that_of_the_file(tmp_path):
    folder = RemoteFolder(tmp_path.as_uri(), {})
    folder.write("a", b"1")
    os.utime(tmp_path / "a", (time.time() - 500,) * 2)
    assert 500.0 <= folder.age("a") < 560.0


def test_an_age_that_is_not_known_is_zero(folder, monkeypatch):
    def unknown(_):
        raise NotImplementedError

    folder.write("a", b"1")
    monkeypatch.setattr(folder._files, "modified", unknown)
    assert folder.age("a") == 0.0


def test_a_store_has_the_same_life_there(address, of):
    store, late = SummaryStore(address, keep_days=30), slice(40, 100)
    assert store.add(DAY, [of(slice(40)), of(slice(40, 200), None)])
    assert not SummaryStore(address).add(DAY, [of(slice(40)), of(slice(40, 200), None)])
    store.correct(DAY, subtract=of(late, None), add=of(late), key="late")
    with pytest.raises(StoreConflictError):
        store.correct(DAY, add=of(late), key="late")
    store.compact(DAY)
    other = SummaryStore(address)
    assert other.keep_days == 30
    assert of.same(other.get(DAY, of.stream), of(slice(100)))
    assert of.same(other.get(DAY, f"unlabelled-{of.stream}"), of(slice(100, 200), None))
    assert not other.correct(DAY, subtract=of(late, None), add=of(late), key="late")
    assert len(store._folder.names()) == 4
    store.remove_day(DAY)
    assert other.days() == []
    assert store._folder.names() == ["manifest.json"]
    assert other.add(DAY, [of(slice(40)), of(slice(40, 200), None)])
    other.add(DAY + timedelta(days=40), of(slice(9)))
    assert store.days() == [DAY + timedelta(days=40)]


def test_a_record_that_another_process_removes_is_no_error(address, of, monkeypatch):
    """There are no locks, so what was listed may be gone when it is read."""
    store = SummaryStore(address)
    for part in range(4):
        store.add(DAY, of(slice(20 * part, 20 * part + 20)), key=str(part))
    store.compact(DAY)
    real, gone = RemoteFolder.names, f"2026-03-01.{'0' * 16}.{'0' * 16}.json"
    listings = []

    def names(self):
        listings.append(1)
        return sorted([*real(self), *([gone] if len(listings) < 3 else [])])

    monkeypatch.setattr(RemoteFolder, "names", names)
    writer = SummaryStore(address)
    listings.clear()
    assert writer.add(DAY, of(slice(80, 100)), key="4")
    assert of.same(writer.get(DAY, of.stream), of(slice(100)))


def test_options_are_passed_to_the_file_system(tmp_path):
    folder = RemoteFolder((tmp_path / "a").as_uri(), {"auto_mkdir": True})
    assert folder._files.auto_mkdir
    store = SummaryStore((tmp_path / "b").as_uri(), storage_options={"auto_mkdir": True})
    assert store._folder._files.auto_mkdir


def test_a_missing_library_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("fsspec"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingLibraryError, match="fsspec"):
        RemoteFolder("memory://a", {})
