"""Local folders: whole files, and writers that take turns."""

import os
import subprocess
import sys
import threading
import time

import pytest

from directrix.monitoring.folder import LocalFolder, RemoteFolder, open_folder

#: A process that holds the lock of a folder until it is killed.
HOLDER = """
import sys, time
from pathlib import Path
from directrix.monitoring.folder import LocalFolder
with LocalFolder(Path(sys.argv[1])).locked():
    print("locked", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path):
    return LocalFolder(tmp_path / "a" / "b")


def test_files_are_written_listed_read_and_removed(folder):
    assert folder.names() == []
    folder.write("b", b"2")
    folder.write("a", b"1")
    assert folder.names() == ["a", "b"]
    assert folder.read("a") == b"1"
    with folder.local_copy("b") as path:
        assert path.read_bytes() == b"2"
    folder.write("a", b"3")
    assert folder.read("a") == b"3"
    folder.remove("a")
    folder.remove("a")
    assert folder.names() == ["b"]
    with pytest.raises(FileNotFoundError):
        folder.read("a")


def test_what_is_not_complete_is_not_listed(folder):
    with folder.locked():
        (folder.path / ".b.0123.partial").write_bytes(b"half")
        folder.write("a", b"1")
        assert folder.names() == ["a"]
        assert folder.partial_names() == [".b.0123.partial"]


def test_a_write_that_fails_leaves_the_old_file(folder):
    folder.write("a", b"1")
    with pytest.raises(TypeError):
        folder.write("a", "text")
    assert folder.read("a") == b"1"
    assert folder.names() == ["a"]


def test_age_is_that_of_the_file(folder):
    folder.write("a", b"1")
    assert 0.0 <= folder.age("a") < 60.0
    os.utime(folder.path / "a", (time.time() - 500,) * 2)
    assert 500.0 <= folder.age("a") < 560.0
    os.utime(folder.path / "a", (time.time() + 500,) * 2)  # the clock of another machine
    assert folder.age("a") == 0.0
    assert folder.age("not there") == 0.0


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_writers_take_turns(folder):
    inside, most = [], []

    def work():
        with LocalFolder(folder.path).locked():
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.01)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 5


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_the_lock_of_a_killed_process_is_released(folder):
    import fcntl

    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder.path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout.readline() == "locked\n"
            with (folder.path / ".lock").open("ab") as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            holder.kill()
    with folder.locked():
        folder.write("a", b"1")
    assert folder.names() == ["a"]


def test_the_lock_is_released_after_an_error(folder):
    with pytest.raises(KeyError), folder.locked():
        raise KeyError
    with folder.locked():
        assert folder.names() == []


def test_addresses_are_local_unless_they_have_a_protocol(tmp_path):
    for address in (tmp_path / "a", str(tmp_path / "b")):
        assert isinstance(open_folder(address, None), LocalFolder)
    with pytest.raises(ValueError, match="storage_options are for fsspec addresses"):
        open_folder(tmp_path / "c", {"anon": True})
    assert not (tmp_path / "c").exists()
    pytest.importorskip("fsspec")
    assert isinstance(open_folder((tmp_path / "d").as_uri(), None), RemoteFolder)
