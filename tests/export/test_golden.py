"""Models written by earlier versions are read for ever; `golden/make.py` tells how they came."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export.golden.make import points_text
from summary_files import take_apart, without_writers

from directrix import DirectClassifier, MomentClassifier, ScorecardClassifier
from directrix.export import load, save
from directrix.export.model_file import LAYOUT

pytestmark = pytest.mark.every_case  # each case reads its own file

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.model"))

#: Parameters that the first files do not have.
LATER = {"kernel", "kernel_params", "limits", "positive", "signs", "max_lines"}
#: What the first files call `learn_from`.
LEARN_FROM = {ScorecardClassifier: "train_on", MomentClassifier: "choose"}
#: Products of matrices are summed in another order on other machines.
CLOSE = 1e-11


def floats(values):
    return np.array([[float.fromhex(value) for value in row] for row in values])


def golden(name):
    answers = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return load(GOLDEN / f"{name}.model"), answers


def rows_of(answers):
    """Return the rows that a classifier answered about: numbers, or a raw table."""
    names = answers["feature_names"]
    if "table" in answers:
        return pd.DataFrame(answers["table"], columns=names, dtype=object)
    rows = floats(answers["rows"])
    return rows if names is None else pd.DataFrame(rows, columns=names)


def test_there_are_golden_files_of_every_version_and_each_has_its_answer():
    assert {name.partition("-")[0] for name in NAMES} == {
        f"v{k + 1}" for k in range(LAYOUT.version)
    }
    assert sorted(path.stem for path in GOLDEN.glob("*.json")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_untouched(name):
    content = (GOLDEN / f"{name}.model").read_bytes()
    assert hashlib.sha256(content).hexdigest() == golden(name)[1]["sha256"]


@pytest.mark.parametrize("name", NAMES)
def test_scores_probabilities_and_labels_are_those_recorded(name):
    classifier, answers = golden(name)
    given = rows_of(answers)
    scores = np.asarray(classifier.decision_function(given)).reshape(len(given), -1)
    np.testing.assert_allclose(scores, floats(answers["scores"]), rtol=CLOSE, atol=CLOSE)
    probabilities = floats(answers["probabilities"])
    np.testing.assert_allclose(classifier.predict_proba(given), probabilities, atol=CLOSE)
    labels = classifier.predict(given).tolist()
    assert labels == answers["labels"]
    assert [type(label) for label in labels] == [type(label) for label in answers["labels"]]


def as_in_the_file(classifier, recorded):
    """Return the parameters under the names that were recorded; signs were numbers at first."""
    params = classifier.get_params()
    if isinstance(classifier, DirectClassifier) and "'monotone'" not in recorded:
        words, given = {"increasing": 1, "decreasing": -1}, params.pop("monotone")
        params["signs"] = given and {key: words[word] for key, word in given.items()}
    if type(classifier) in LEARN_FROM and "'learn_from'" not in recorded:
        params[LEARN_FROM[type(classifier)]] = params.pop("learn_from")
    return params


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_operating_points_are_those_recorded(name):
    classifier, answers = golden(name)
    params = as_in_the_file(classifier, answers["params"])
    for later in LATER:
        if f"'{later}'" not in answers["params"]:
            assert params.pop(later, None) is None
    assert params.pop("verbose", 0) == 0  # no file has it, nor the number of threads
    assert params.pop("n_jobs", None) is None
    assert params.pop("warn_baseline", True) is True
    assert repr(sorted(params.items())) == answers["params"]
    assert points_text(classifier) == answers["operating_point"]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_that_is_saved_again_is_the_same(name, path):
    classifier, _ = golden(name)
    save(classifier, path)
    assert load(path).get_params() == classifier.get_params()
    (before, arrays), (after, arrays_after) = (
        take_apart(file.read_bytes()) for file in (GOLDEN / f"{name}.model", path)
    )
    before, after = without_writers(before), without_writers(after)
    written = after["params"]
    if isinstance(classifier, DirectClassifier) and "monotone" not in before["params"]:
        signs = written["signs"] = written.pop("monotone")
        for pair in (signs or {"dict": []})["dict"]:
            pair[1] = {"increasing": 1, "decreasing": -1}[pair[1]]
    if type(classifier) in LEARN_FROM and "learn_from" not in before["params"]:
        written[LEARN_FROM[type(classifier)]] = written.pop("learn_from")
    for later in LATER - set(before["params"]):
        written.pop(later, None)
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
