import subprocess
import sys
from importlib.metadata import version

import pytest

pytest.importorskip("typer")

from typer.main import get_command

from directrix.cli.app import app

COMMANDS = get_command(app).commands


def test_version(call):
    result = call("--version")
    assert (result.code, result.out) == (0, f"directrix {version('directrix')}\n")
    assert "Show the version and exit." in call("--help").out


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_and_every_option_has_a_help_text(name):
    command = COMMANDS[name]
    first = command.help.strip().partition("\n")[0]
    assert first.endswith(".")
    assert len(first) <= 62, "the list of commands cuts it off"
    for parameter in command.params:
        if parameter.name != "help":
            assert parameter.help.endswith((".", "...")), parameter.name


def modules_after(*words):
    """Return the modules that a process has loaded when a command has ended, and its output."""
    code = (
        "import sys; from directrix.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print('LOADED', *sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    output, _, names = result.stdout.partition("LOADED")
    return output, {name.partition(".")[0] for name in names.split()}


@pytest.mark.parametrize("command", [None, *sorted(COMMANDS)])
def test_help_does_not_load_the_libraries_that_fits_need(command):
    output, names = modules_after(*([] if command is None else [command]), "--help")
    assert f"Usage: directrix {command or '[OPTIONS]'}" in output
    assert "typer" in names
    assert not names & {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "pyspark"}


def test_a_wrong_option_is_refused_before_libraries_are_loaded():
    assert "numpy" not in modules_after("fit", "--no-such-option")[1]
