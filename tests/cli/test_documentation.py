"""The commands of docs/command-line.md print what the page shows."""

import re
import shlex
from pathlib import Path

import pytest
from shown_output import assert_shown

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def console_commands(block):
    """Return the commands of a console block, each with the output that follows it."""
    for part in re.split(r"^\$ directrix ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def test_the_page_shows_what_commands_print(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n_commands = 0
    for language, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "python":
            exec(block, {})  # noqa: S102 - our own page
            continue
        for command, shown in console_commands(block):
            result = call(*shlex.split(command))
            failed = shown.startswith("Error: ")
            alarm = "\ndrift: " in shown
            assert result.code == (1 if failed else 3 if alarm else 0), result.err
            assert_shown(shown, result.err if failed else result.out)
            n_commands += 1
    assert n_commands == 22
