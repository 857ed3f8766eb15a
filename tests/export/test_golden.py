"""Models written by earlier versions are read for ever; `golden/make.py` tells how they came."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from summary_files import take_apart

from directrix.export import load, save

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.model"))

#: Products of matrices are summed in another order on other machines.
CLOSE = 1e-11


def floats(values):
    return np.array([[float.fromhex(value) for value in row] for row in values])


def golden(name):
    answers = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return load(GOLDEN / f"{name}.model"), answers


def test_there_are_golden_files_of_every_version_and_each_has_its_answer():
    assert {name.partition("-")[0] for name in NAMES} == {"v1"}
    assert sorted(path.stem for path in GOLDEN.glob("*.json")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_untouched(name):
    content = (GOLDEN / f"{name}.model").read_bytes()
    assert hashlib.sha256(content).hexdigest() == golden(name)[1]["sha256"]


@pytest.mark.parametrize("name", NAMES)
def test_scores_probabilities_and_labels_are_those_recorded(name):
    classifier, answers = golden(name)
    rows, names = floats(answers["rows"]), answers["feature_names"]
    given = rows if names is None else pd.DataFrame(rows, columns=names)
    scores = np.asarray(classifier.decision_function(given)).reshape(len(rows), -1)
    np.testing.assert_allclose(scores, floats(answers["scores"]), rtol=CLOSE, atol=CLOSE)
    probabilities = floats(answers["probabilities"])
    np.testing.assert_allclose(classifier.predict_proba(given), probabilities, atol=CLOSE)
    labels = classifier.predict(given).tolist()
    assert labels == answers["labels"]
    assert [type(label) for label in labels] == [type(label) for label in answers["labels"]]


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_operating_points_are_those_recorded(name):
    classifier, answers = golden(name)
    params = classifier.get_params()
    assert params.pop("limits", None) is None  # the first files do not have these
    assert params.pop("signs", None) is None
    assert params.pop("verbose") == 0  # no file has it, nor the number of threads
    assert params.pop("n_jobs", None) is None
    assert params.pop("warn_baseline", True) is True
    assert params.pop("positive", None) is None
    assert repr(sorted(params.items())) == answers["params"]
    points = getattr(classifier, "operating_points_", (None,))
    assert repr(list(points) if len(points) > 1 else points[0]) == answers["operating_point"]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_that_is_saved_again_is_the_same(name, path):
    classifier, _ = golden(name)
    save(classifier, path)
    assert load(path).get_params() == classifier.get_params()
    (before, arrays), (after, arrays_after) = (
        take_apart(file.read_bytes()) for file in (GOLDEN / f"{name}.model", path)
    )
    before, after = json.loads(before), json.loads(after)
    for header in (before, after):
        del header["writer"]
        for later in ("limits", "positive", "signs"):  # the first files do not have them
            header["params"].pop(later, None)
    assert after == before
    assert list(arrays_after) == list(arrays)
    for array in arrays:
        assert arrays_after[array].tobytes() == arrays[array].tobytes()


def test_golden_files_are_never_written_again():
    before = {path: path.read_bytes() for path in GOLDEN.iterdir() if path.is_file()}
    done = subprocess.run(
        [sys.executable, GOLDEN / "make.py"], capture_output=True, check=False, text=True
    )
    assert done.returncode != 0
    assert "golden files are never written again" in done.stderr
    assert {path: path.read_bytes() for path in before} == before
