"""The commands as a shell runs them."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("typer")


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
