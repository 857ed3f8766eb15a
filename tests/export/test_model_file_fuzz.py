"""Damaged model files: each gives back the model that was saved, or `ModelFileError`.

``DIRECTRIX_FUZZ`` sets how many files are tried. Case k is the same in every run.
"""

import os
import random
import warnings

import card_problems
import numpy as np
import pandas as pd
from few_cases import examples
from file_damage import DAMAGE, load_measured
from summary_files import take_apart, without_writers

from directrix import DirectClassifier, OperatingPointClassifier
from directrix.export import ModelFileError, load, save

CASES = int(os.environ.get("DIRECTRIX_FUZZ", max(400, examples(600))))

#: Bounds for one file: CPU seconds, and bytes beyond ten times the file.
SECONDS, SPARE = 1.0, 96 << 10


def other_space(rng, content):  # noqa: ARG001 - all damage is called alike
    """Return the file with another space in the JSON around its header, which changes nothing."""
    return content.replace(b": ", b":\n", 1)


def attempt(path):
    """Load a file within bounds; return the model, or None where it was refused."""
    model, seconds, memory = load_measured(load, ModelFileError, path)
    assert seconds <= SECONDS
    assert memory <= 10 * path.stat().st_size + SPARE
    return model


def limited():
    """Return classifiers of few rows with limits, directions and scores alone."""
    rng = np.random.default_rng(20)
    X = pd.DataFrame(rng.normal(size=(400, 3)).round(2), columns=["Länge", 'b "&" <c>', "年"])
    y = X.to_numpy() @ [1.0, -0.5, 0.1] + rng.normal(size=400) > 0.3
    limits = {"limits": {"fpr": 0.3}, "guarantee": 0.9}
    direct = DirectClassifier("recall@fpr=0.2", cv=3, monotone={"Länge": "increasing"}, **limits)
    point = OperatingPointClassifier(metric="recall@fpr=0.2", **limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows
        return direct.fit(X, y), point.fit(X[["Länge"]], y)


def test_a_damaged_file_gives_the_model_back_or_is_refused(tmp_path, fitted, figure):
    path, again = tmp_path / "damaged", tmp_path / "again"
    bases = []
    names = "odd_names", "text_labels", "direct", "one_feature", "wide", "card"
    models = [*map(fitted, names), card_problems.fitted_card(), *limited()]
    for model in models:
        save(model, path)
        bases.append(path.read_bytes())
        attempt(path)
    equal = refused = 0
    for case in range(CASES):
        rng = random.Random(case)  # noqa: S311 - the same cases on every run
        content = rng.choice(bases)
        change = rng.choice((*DAMAGE, other_space))
        path.write_bytes(change(rng, content))
        try:
            model = attempt(path)
            if model is None:
                refused += 1
            else:
                equal += 1
                save(model, again)
                saved = take_apart(again.read_bytes())[0]
                assert without_writers(saved) == without_writers(take_apart(content)[0])
        except BaseException as error:
            error.add_note(f"case {case}: {change.__name__}")
            raise
    # Each kind of outcome must occur, or nothing was tested.
    assert min(equal, refused) > 0
    figure(f"fuzz: {CASES} model files, {equal} equal, {refused} refused")
