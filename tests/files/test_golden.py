"""Files written by earlier versions are read for ever; `golden/make.py` tells how they came."""

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
from summary_files import take_apart, without_writers

from directrix.classifiers.scorecard.edit_log import EditLog
from directrix.classifiers.scorecard.editor_base import read_state

pytest.importorskip("pandas", reason="rows are of every kind")
pytestmark = pytest.mark.every_case  # each case reads its own file

GOLDEN = Path(__file__).parent / "golden"
ANSWERS = json.loads((GOLDEN / "answers.json").read_text(encoding="utf-8"))
MADE = runpy.run_path(str(GOLDEN / "make.py"))


def read(name):
    """Return what a file holds."""
    holds, path = MADE["CASES"][name][0], GOLDEN / name
    readers = {"EditLog": "read", "ScorecardClassifier": "load_editor"}
    return getattr(holds, readers.get(holds.__name__, "load"))(path)


def test_every_case_has_its_file_and_its_answer():
    files = {path.name for path in GOLDEN.iterdir()} - {"make.py", "answers.json", "__pycache__"}
    assert files == set(ANSWERS) == set(MADE["CASES"])


@pytest.mark.parametrize("name", ANSWERS)
def test_the_file_is_untouched(name):
    assert MADE["digest"](GOLDEN / name) == ANSWERS[name]["sha256"]


@pytest.mark.parametrize("name", ANSWERS)
def test_it_answers_as_what_was_saved(name):
    answers = json.loads(json.dumps(MADE["answers_of"](read(name))))
    assert answers == {key: value for key, value in ANSWERS[name].items() if key != "sha256"}


def content(path):
    """Return what a file says, without the versions of what wrote it."""
    if path.suffix == ".release":
        header, arrays = take_apart(path.read_bytes())
        arrays.pop("binner", None)  # which names the version too
        return without_writers(header), {name: each.tolist() for name, each in arrays.items()}
    if path.stem.endswith("editor"):  # whose arrays may have another type of whole numbers
        return json.loads(json.dumps(read_state(path), default=np.ndarray.tolist))
    entries = json.loads(path.read_text(encoding="utf-8"))
    return {name: each for name, each in entries.items() if name not in ("checksum", "writer")}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_file_that_is_saved_again_is_the_same(name, tmp_path):
    again = tmp_path / name
    read(name).save(again)
    assert content(again) == content(GOLDEN / name)


def test_edits_of_a_file_are_applied_to_a_saved_editor():
    editor = read("v1-0.3.0-editor.json")
    log = EditLog.read(GOLDEN / "v1-0.3.0-edits.json")
    assert editor.log() == log
    assert editor.n_edits == len(log) == 5


def test_golden_files_are_never_written_again(tmp_path):
    folder = shutil.copytree(GOLDEN, tmp_path / "golden")
    runpy.run_path(str(folder / "make.py"), run_name="__main__")
    for path in GOLDEN.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert (folder / path.relative_to(GOLDEN)).read_bytes() == path.read_bytes()
