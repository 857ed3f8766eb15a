"""The commands as a shell runs them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")

import directrix


def shell(*words, **how):
    command = [sys.executable, "-m", "directrix.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


def test_from_a_summary_to_predictions(files, tmp_path):
    model = tmp_path / "m.dx"
    done = shell("fit", files / "monday.moments", "-m", "recall@fpr=0.1", "-o", model, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["classifier"] == "MomentClassifier"
    done = shell("predict", model, files / "tuesday.csv", "-o", "-")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 601
    assert "\x1b" not in done.stdout + done.stderr


def test_help_loads_no_optional_library():
    # scikit-learn itself looks at pandas where it is installed.
    code = (
        "import sys, sklearn.metrics, sklearn.utils.validation; before = set(sys.modules)\n"
        "from directrix.cli import main\n"
        "try:\n    sys.argv = ['directrix', '--help']; main()\n"
        "finally:\n    print('LOADED', *(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    names = set(done.stdout.partition("LOADED")[2].split())
    assert "summarize" in done.stdout
    assert not names & {"pandas", "pyspark", "matplotlib", "pyarrow", "polars", "dask", "onnx"}


def test_a_pipe_that_closes_early_is_no_error(files):
    command = [sys.executable, "-m", "directrix.cli", "predict", str(files / "model.dx")]
    command += [str(files / "tuesday.parquet"), "-o", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        told = running.stderr.read().decode()
    assert "Traceback" not in told
    assert "Error" not in told


#: Libraries that take long to import. The second catches what is not meant for it.
SLOW = {
    "waits": "import time\nprint('importing', flush=True)\ntime.sleep(60)\n",
    "catches": (
        "import time\nprint('importing', flush=True)\n"
        "try:\n    time.sleep(60)\nexcept BaseException:\n    time.sleep(60)\n"
    ),
}


@pytest.mark.skipif(os.name == "nt", reason="a process cannot be sent Ctrl-C there")
@pytest.mark.parametrize("library", ["numpy", "sklearn", "typer"])
@pytest.mark.parametrize("how", sorted(SLOW))
def test_an_interrupt_while_libraries_are_imported_is_one_line(tmp_path, library, how):
    (tmp_path / f"{library}.py").write_text(SLOW[how], encoding="utf-8")
    found = [str(tmp_path), str(Path(directrix.__file__).parents[1])]
    with subprocess.Popen(
        [sys.executable, "-c", "from directrix.cli import main; main()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(found)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout.readline() == "importing\n"
        running.send_signal(signal.SIGINT)
        try:
            told = running.communicate(timeout=30)
        finally:
            running.kill()
    assert (running.returncode, *told) == (130, "", "Interrupted.\n")


@pytest.mark.skipif(os.name == "nt", reason="a process cannot be sent Ctrl-C there")
def test_whoever_ignores_interrupts_is_not_interrupted(tmp_path):
    slow = "import sys\nprint('importing', flush=True)\nsys.stdin.readline()\nsys.exit(7)\n"
    (tmp_path / "typer.py").write_text(slow, encoding="utf-8")
    ignore = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    found = [str(tmp_path), str(Path(directrix.__file__).parents[1])]
    with subprocess.Popen(
        [sys.executable, "-c", f"{ignore}; from directrix.cli import main; main()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(found)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout.readline() == "importing\n"
        running.send_signal(signal.SIGINT)
        running.communicate("go on\n", timeout=30)
    assert running.returncode == 7


def test_an_interrupt_of_a_command_is_one_line(call, files, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("directrix.cli.commands.show.file_type", interrupted)
    done = call("show", files / "model.dx")
    assert (done.code, done.out, done.err) == (130, "", "Interrupted.\n")
