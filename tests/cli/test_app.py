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
    assert command.help.strip().partition("\n")[0].endswith(".")
    for parameter in command.params:
        if parameter.name != "help":
            assert parameter.help.endswith((".", "...")), parameter.name


def test_help_loads_no_optional_library():
    # scikit-learn itself loads pandas if that is installed.
    code = (
        "import sys, sklearn.metrics, sklearn.utils.validation; before = set(sys.modules)\n"
        "from directrix.cli import main\n"
        "try:\n    sys.argv = ['directrix', '--help']; main()\n"
        "finally:\n    print('LOADED', *(set(sys.modules) - before))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    names = set(result.stdout.partition("LOADED")[2].split())
    assert "summarize" in result.stdout
    assert not names & {"pandas", "pyspark", "matplotlib", "pyarrow", "polars", "dask", "onnx"}
