"""Files written by earlier versions are read for ever; `golden/make.py` tells how they came."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from nearness import worst_ratio

from directrix import Moments

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.moments"))

#: Where the answer is no float, or a weight has no exact square root: a few roundings.
SCALED = 1e-15


def floats(values):
    return np.array([[float.fromhex(value) for value in row] for row in values])


def golden(name):
    answer = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return Moments.load(GOLDEN / f"{name}.moments"), answer


def test_there_are_golden_files_of_every_version_and_each_has_its_answer():
    assert {name.partition("-")[0] for name in NAMES} == {"v1"}
    assert sorted(path.stem for path in GOLDEN.glob("*.json")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_untouched(name):
    content = (GOLDEN / f"{name}.moments").read_bytes()
    assert hashlib.sha256(content).hexdigest() == golden(name)[1]["sha256"]


@pytest.mark.parametrize("name", NAMES)
def test_labels_names_prior_and_folds_are_read_as_written(name):
    moments, answer = golden(name)
    assert moments.n_features == answer["n_features"]
    labels = moments.classes.tolist()
    assert labels == answer["labels"]
    assert [type(label) for label in labels] == [type(label) for label in answer["labels"]]
    names = answer["feature_names"]
    assert moments.feature_names == (None if names is None else tuple(names))
    assert moments.stated_prior == answer["prior"]
    assert moments.folded == answer["folded"]
    assert [len(part) for part in moments.parts] == [len(part) for part in answer["parts"]]


@pytest.mark.parametrize("name", NAMES)
def test_the_moments_are_those_of_rational_arithmetic(name):
    moments, answer = golden(name)
    for part, expected in zip(moments.parts, answer["parts"], strict=True):
        for group, truth in zip(part, expected, strict=True):
            assert group.count == truth["count"]
            (mean, tail), scatter = floats([truth["mean"], truth["mean_tail"]]), truth["scatter"]
            scatter = floats(scatter)
            if truth["exact"]:
                assert group.weight == float.fromhex(truth["weight"])
                assert group.weight_sq == float.fromhex(truth["weight_sq"])
                np.testing.assert_array_equal(group.mean, mean)
                np.testing.assert_array_equal(group.mean_tail, tail)
                np.testing.assert_array_equal(group.scatter, scatter)
                continue
            assert group.weight == pytest.approx(float.fromhex(truth["weight"]), rel=SCALED)
            assert group.weight_sq == pytest.approx(float.fromhex(truth["weight_sq"]), rel=SCALED)
            spread = np.sqrt(np.diag(scatter))
            gap = (group.mean - mean) + (group.mean_tail - tail)
            assert worst_ratio(gap, spread / np.sqrt(group.weight)) <= SCALED
            assert worst_ratio(group.scatter - scatter, np.outer(spread, spread)) <= SCALED


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_can_be_saved_again(name, path):
    moments, _ = golden(name)
    moments.save(path)
    assert Moments.load(path) == moments


def test_golden_files_are_never_written_again():
    before = {path: path.read_bytes() for path in GOLDEN.iterdir() if path.is_file()}
    done = subprocess.run(
        [sys.executable, GOLDEN / "make.py"], capture_output=True, check=False, text=True
    )
    assert done.returncode != 0
    assert "golden files are never written again" in done.stderr
    assert {path: path.read_bytes() for path in before} == before
