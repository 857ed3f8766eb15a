"""The commands of docs/command-line.md print what the page shows."""

import re
import shlex
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d+\.\d+")


def console_commands(block):
    """Return the commands of a console block, each with the output that follows it."""
    for part in re.split(r"^\$ directrix ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def assert_shown(shown, printed):
    """Compare texts; ``...`` stands for any text, and numbers may differ in the third digit.

    So may the number of their digits, and with it the width of columns.
    """
    shown, printed = (re.sub(" +", " ", text) for text in (shown, printed))
    assert len(shown.splitlines()) == len(printed.splitlines())
    for expected, line in zip(shown.splitlines(), printed.splitlines(), strict=True):
        pattern = NUMBER.sub("#", expected).replace("[", "[[]").replace("...", "*")
        assert fnmatchcase(NUMBER.sub("#", line), pattern), line
        if "..." not in expected:
            numbers = [float(number) for number in NUMBER.findall(line)]
            wanted = [float(number) for number in NUMBER.findall(expected)]
            assert numbers == pytest.approx(wanted, rel=5e-3, abs=5e-4), line


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
            assert result.code == (1 if failed else 0), result.err
            assert_shown(shown, result.err if failed else result.out)
            n_commands += 1
    assert n_commands == 13
