import os
import signal
import stat
import subprocess
import sys

import pytest

from directrix.files.atomic import atomic_file

on_posix = pytest.mark.skipif(os.name == "nt", reason="links and permissions of POSIX")

#: A process that writes half of a file, says so, and waits to be told to go on.
WRITER = """
import sys
from directrix.files.atomic import atomic_file
with atomic_file(sys.argv[1]) as file:
    file.write(b"of another")
    file.flush()
    print("half", flush=True)
    sys.stdin.readline()
"""


def write(path, content=b"new"):
    with atomic_file(path) as file:
        file.write(content)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def writer(path):
    """Start a process that is in the midst of writing."""
    running = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout.readline() == "half\n"
    return running


@on_posix
@pytest.mark.parametrize("target", ["real", "folder/real", "not yet"])
def test_a_symbolic_link_is_written_through(tmp_path, target):
    (tmp_path / "folder").mkdir()
    if target != "not yet":
        (tmp_path / target).write_bytes(b"old")
    link, second = tmp_path / "link", tmp_path / "second"
    link.symlink_to(target)
    second.symlink_to("link")
    write(second)
    assert link.is_symlink()
    assert second.is_symlink()
    assert not (tmp_path / target).is_symlink()
    assert (tmp_path / target).read_bytes() == b"new"


@on_posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_an_existing_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


@on_posix
def test_nobody_else_can_read_a_private_file_while_it_is_written(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with atomic_file(path):
        (partial,) = tmp_path.glob(".*.partial")
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600


@on_posix
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_leaves_no_trace(tmp_path, failure):
    (tmp_path / "a").write_bytes(b"old")

    def stop_halfway():
        with atomic_file(tmp_path / "a") as file:
            file.write(b"half of the n")
            raise failure

    with pytest.raises(failure):
        stop_halfway()
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_what_a_killed_writer_left_is_removed(tmp_path):
    path = tmp_path / "a"
    with writer(path) as killed:
        killed.kill()
    assert len(names_in(tmp_path)) == 1
    write(tmp_path / "b")
    assert len(names_in(tmp_path)) == 2  # it is none of this file
    write(path)
    assert names_in(tmp_path) == ["a", "b"]


def test_a_writer_that_is_alive_is_left_alone(tmp_path):
    path = tmp_path / "a"
    with writer(path) as alive:
        write(path)
        assert path.read_bytes() == b"new"
        assert len(names_in(tmp_path)) == 2
        alive.communicate("go on\n")
    assert alive.returncode == 0
    assert path.read_bytes() == b"of another"
    assert names_in(tmp_path) == ["a"]


def test_a_stopped_writer_is_alive(tmp_path):
    if not hasattr(signal, "SIGSTOP"):
        pytest.skip("no process can be stopped here")
    path = tmp_path / "a"
    with writer(path) as stopped:
        stopped.send_signal(signal.SIGSTOP)
        write(path)
        stopped.send_signal(signal.SIGCONT)
        stopped.communicate("go on\n")
    assert stopped.returncode == 0


def test_a_partial_file_that_is_taken_for_abandoned_is_made_again(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    really_lock, seen = fcntl.flock, []

    def lock(descriptor, how):
        if not seen:  # another process has looked between its creation and the lock
            seen.extend(tmp_path.glob(".*.partial"))
            seen[0].unlink()
        return really_lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", lock)
    write(tmp_path / "a")
    assert len(seen) == 1
    assert (tmp_path / "a").read_bytes() == b"new"
    assert names_in(tmp_path) == ["a"]


def test_files_whose_names_begin_alike_are_kept_apart(tmp_path):
    left = tmp_path / f".a.dx.{'0' * 32}.partial"
    left.write_bytes(b"")
    write(tmp_path / "a")
    assert left.exists()
    write(tmp_path / "a.dx")
    assert not left.exists()


def test_a_name_may_be_as_long_as_any(tmp_path):
    write(tmp_path / ("a" * 255))
    assert names_in(tmp_path) == ["a" * 255]


@on_posix
def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    """It stands for all that is no file: with a fault, root would replace a device."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(path)
        assert stat.S_ISFIFO(path.stat().st_mode)
        assert os.read(reader, 100) == b"new"
    finally:
        os.close(reader)


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "nowhere" / "a"
    with pytest.raises(FileNotFoundError) as caught:
        write(path)
    assert caught.value.filename == str(path)
    with pytest.raises(IsADirectoryError):
        write(tmp_path)
    assert names_in(tmp_path) == []
