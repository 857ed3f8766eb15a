"""A PostgreSQL server of one's own: on a socket in a new folder, gone when it is left."""

import glob
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


def programs():
    """Return the folder of initdb and pg_ctl, or None where there is no server to start."""
    pg_config = shutil.which("pg_config")
    folders = [Path(initdb).parent for initdb in [shutil.which("initdb")] if initdb]
    if pg_config:
        done = subprocess.run([pg_config, "--bindir"], capture_output=True, check=True, text=True)
        folders.append(Path(done.stdout.strip()))
    folders += map(Path, sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True))  # noqa: PTH207
    return next((folder for folder in folders if (folder / "initdb").is_file()), None)


def require_programs():
    """Return the folder of initdb and pg_ctl; skip the test if PostgreSQL is not installed."""
    folder = programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed: there is no initdb to start a server with")
    return folder


@contextmanager
def server(folder):
    """Start a server with the programs in this folder and give the keywords to connect with."""
    as_user = {} if os.getuid() else _somebody()  # PostgreSQL refuses to run as root
    home = Path(tempfile.mkdtemp(prefix="directrix-"))
    if as_user:
        os.chown(home, as_user["user"], as_user["group"])
    data = home / "data"

    def run(program, *arguments):
        subprocess.run(
            [folder / program, "-D", data, *arguments],
            cwd=home,
            check=True,
            stdout=subprocess.DEVNULL,
            **as_user,
        )

    try:
        run("initdb", "-A", "trust", "-U", "tester", "-E", "UTF8", "--no-locale", "--no-sync")
        settings = f"-k {home} -c listen_addresses= -c fsync=off"
        run("pg_ctl", "start", "--wait", "-o", settings, "-l", home / "log")
        try:
            yield {"host": str(home), "user": "tester", "dbname": "postgres"}
        finally:
            run("pg_ctl", "stop", "--wait", "-m", "immediate")
    finally:
        shutil.rmtree(home)


def _somebody():
    """Return how to run a program as a user without rights."""
    import pwd  # which Windows lacks

    known = {user.pw_name: user for user in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
