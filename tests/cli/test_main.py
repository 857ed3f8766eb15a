"""Starting the command line: ``directrix`` and ``python -m directrix.cli`` as a shell runs them."""

import builtins
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")

import directrix
from directrix.cli import main


def shell(*words, **options):
    command = [sys.executable, "-m", "directrix.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_from_a_summary_to_predictions(files, tmp_path):
    model = tmp_path / "m.dx"
    result = shell("fit", files / "monday.moments", "-m", "recall@fpr=0.1", "-o", model, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["classifier"] == "MomentClassifier"
    result = shell("predict", model, files / "tuesday.csv", "-o", "-")
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 601
    assert "\x1b" not in result.stdout + result.stderr


def test_a_pipe_that_closes_early_is_no_error(files):
    command = [sys.executable, "-m", "directrix.cli", "predict", str(files / "model.dx")]
    command += [str(files / "tuesday.parquet"), "-o", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        stderr = process.stderr.read().decode()
    assert "Traceback" not in stderr
    assert "Error" not in stderr


def test_missing_libraries_of_the_command_line_are_named(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.partition(".")[0] == "typer"]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("directrix.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    real_import = builtins.__import__

    def import_without_typer(name, *rest):
        if name.partition(".")[0] == "typer":
            msg = f"No module named {name!r}"
            raise ModuleNotFoundError(msg, name=name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", import_without_typer)
    with pytest.raises(SystemExit) as exit_info:
        main()
    assert exit_info.value.code == 2
    message = "the command line needs typer and rich: pip install 'directrix[cli]'\n"
    assert capsys.readouterr().err == message


#: Libraries that take long to import. The second catches every exception.
SLOW = {
    "waits": "import time\nprint('importing', flush=True)\ntime.sleep(60)\n",
    "catches": (
        "import time\nprint('importing', flush=True)\n"
        "try:\n    time.sleep(60)\nexcept BaseException:\n    time.sleep(60)\n"
    ),
}


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send Ctrl-C to a process")
@pytest.mark.parametrize("library", ["numpy", "sklearn", "typer"])
@pytest.mark.parametrize("behaviour", sorted(SLOW))
def test_an_interrupt_while_libraries_are_imported_is_one_line(tmp_path, library, behaviour):
    (tmp_path / f"{library}.py").write_text(SLOW[behaviour], encoding="utf-8")
    search_path = [str(tmp_path), str(Path(directrix.__file__).parents[1])]
    with subprocess.Popen(
        [sys.executable, "-c", "from directrix.cli import main; main()", "show", "a.moments"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(search_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        try:
            output = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, *output) == (130, "", "Interrupted.\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send Ctrl-C to a process")
def test_a_process_that_ignores_interrupts_is_not_interrupted(tmp_path):
    slow = "import sys\nprint('importing', flush=True)\nsys.stdin.readline()\nsys.exit(7)\n"
    (tmp_path / "typer.py").write_text(slow, encoding="utf-8")
    ignore = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    search_path = [str(tmp_path), str(Path(directrix.__file__).parents[1])]
    with subprocess.Popen(
        [sys.executable, "-c", f"{ignore}; from directrix.cli import main; main()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(search_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        process.communicate("go on\n", timeout=30)
    assert process.returncode == 7
