"""No command overwrites a file that it reads, nor any other file without ``--force``."""

import json
import os
import shutil

import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from typer.main import get_command

from directrix.cli.app import app

USAGE = 2

#: Commands, without the output, that read {f}: a copy of the files of the fixtures.
COMMANDS = {
    "summarize": "summarize {f}/monday.parquet -t fraud",
    "fit": "fit {f}/monday.moments",
    "threshold": "threshold {f}/monday.parquet -s amount -t fraud",
    "predict": "predict {f}/model.dx {f}/monday.parquet",
    "export": "export {f}/model.dx --to json",
    "report": "report {f}/card.dx {f}/monday.parquet -t fraud",
}

#: Commands, and an input that they are asked to write.
INPUTS = [
    ("summarize {f}/monday.parquet -t fraud", "monday.parquet"),
    ("summarize {f}/monday.parquet {f}/tuesday.parquet -t fraud", "tuesday.parquet"),
    ("summarize {f}/days -t fraud", "days/monday.parquet"),
    ("summarize {f}/mon*.parquet -t fraud", "monday.parquet"),
    ("summarize {f}/*/mon*.parquet -t fraud", "days/monday.parquet"),
    ("summarize --add {f}/monday.moments --subtract {f}/tuesday.moments", "monday.moments"),
    ("summarize --add {f}/monday.moments --subtract {f}/tuesday.moments", "tuesday.moments"),
    ("fit {f}/monday.parquet -t fraud", "monday.parquet"),
    ("fit {f}/monday.moments", "monday.moments"),
    ("fit {f}/days -t fraud --two-passes -c moment", "days/monday.parquet"),
    ("threshold {f}/monday.parquet -s amount -t fraud", "monday.parquet"),
    ("predict {f}/model.dx {f}/monday.parquet", "monday.parquet"),
    ("predict {f}/model.dx {f}/days", "days/monday.parquet"),
    ("predict {f}/model.dx {f}/days/../days", "days/monday.parquet"),
    ("export {f}/model.dx --to json", "model.dx"),
    ("report {f}/card.dx {f}/monday.parquet -t fraud", "card.dx"),
    ("report {f}/card.dx {f}/monday.parquet -t fraud", "monday.parquet"),
]


@pytest.fixture
def copies(files, tmp_path):
    """Return a folder with copies of the files, which a command may destroy."""
    folder = tmp_path / "copies"
    (folder / "days").mkdir(parents=True)
    for name in ("monday.parquet", "tuesday.parquet", "monday.moments", "tuesday.moments"):
        shutil.copy(files / name, folder)
    shutil.copy(files / "monday.parquet", folder / "days")
    shutil.copy(files / "model.dx", folder)
    shutil.copy(files / "card.dx", folder)
    return folder


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_command_that_writes_a_file_is_tested():
    commands = get_command(app).commands
    writing = {
        name
        for name, command in commands.items()
        if any("--output" in option.opts for option in command.params)
    }
    assert writing == set(COMMANDS)
    assert writing == {command.split()[0] for command, _ in INPUTS}
    for name in writing:
        assert any("--force" in option.opts for option in commands[name].params)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(("command", "name"), INPUTS)
def test_an_input_is_never_overwritten(call, copies, command, name, force):
    before = contents(copies)
    more = ["--force"] if force else []
    result = call(*command.format(f=copies).split(), "-o", copies / name, *more)
    assert result.code == USAGE, result.err
    assert "--output" in result.err
    assert "give another name" in " ".join(result.err.split())
    assert contents(copies) == before


@pytest.mark.every_case
@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
@pytest.mark.parametrize("link", ["symbolic link", "hard link", "link is read"])
def test_a_link_to_an_input_is_the_same_file(call, copies, tmp_path, link):
    rows = copies / "days" / "monday.parquet"
    read, output = copies / "days", tmp_path / "out.parquet"
    if link == "symbolic link":
        output.symlink_to(rows)
    elif link == "hard link":
        output.hardlink_to(rows)
    else:
        output = rows
        read = tmp_path / "link.parquet"
        read.symlink_to(rows)
    before = contents(copies)
    result = call("predict", copies / "model.dx", read, "-o", output, "--force")
    assert result.code == USAGE, result.err
    assert "is read by this command" in " ".join(result.err.split())
    assert contents(copies) == before


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_an_existing_file_is_overwritten_only_with_force(call, copies, tmp_path, name):
    if name == "report":
        pytest.importorskip("matplotlib")
    command = COMMANDS[name].format(f=copies).split()
    output = tmp_path / "out.parquet"
    output.write_bytes(b"precious")
    refused = call(*command, "-o", output)
    assert refused.code == USAGE
    assert "--force" in refused.err
    assert output.read_bytes() == b"precious"
    result = call(*command, "-o", output, "--force")
    assert result.code == 0, result.err
    assert output.read_bytes() != b"precious"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_failed_write_leaves_the_old_file(call, copies, tmp_path, name, monkeypatch):
    if name == "report":
        pytest.importorskip("matplotlib")
    command = COMMANDS[name].format(f=copies).split()
    output = tmp_path / "out.parquet"
    output.write_bytes(b"precious")

    def full(*_):
        msg = "disk full"
        raise OSError(msg)

    monkeypatch.setattr("pathlib.Path.replace", full)
    result = call(*command, "-o", output, "--force")
    assert result.code == 1
    assert "disk full" in result.err
    assert output.read_bytes() == b"precious"
    assert not list(tmp_path.glob(".*"))


def test_a_folder_is_no_file(call, copies, tmp_path):
    result = call("fit", copies / "monday.moments", "-o", tmp_path, "--force")
    assert result.code == USAGE
    assert "is a folder" in " ".join(result.err.split())


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_pipe_is_written_without_force(call, copies, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert call("export", copies / "model.dx", "--to", "json", "-o", path).code == 0
        assert path.is_fifo()
        assert json.loads(os.read(reader, 1 << 16))
    finally:
        os.close(reader)
