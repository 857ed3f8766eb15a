"""The Python source of a classifier: run here, and in a process without libraries."""

import subprocess
import sys

from directrix.export import to_python


def module(classifier):
    """Return the names that the source of a classifier defines."""
    scope = {}
    exec(compile(to_python(classifier), "scoring", "exec"), scope)  # noqa: S102 - it is our own
    return scope


def assert_needs_no_library(classifier, row, folder):
    """Check that the source of a classifier predicts a row, as code, and imports no library."""
    (folder / "scoring.py").write_text(to_python(classifier), encoding="utf-8")
    code = f"import sys, scoring; print(scoring.predict({row}) in scoring.CLASSES, *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=folder, capture_output=True, check=True, text=True
    )
    assert done.stdout.startswith("True ")
    assert not {"numpy", "pandas", "directrix", "sklearn"} & set(done.stdout.split())
