"""Damaged and forged model files: each gives back the model that was saved, or `ModelFileError`.

``DIRECTRIX_FUZZ`` sets how many files are tried. Case k is the same in every run.
"""

import json
import os
import random
import warnings

import card_problems
import numpy as np
import pandas as pd
from few_cases import examples
from file_damage import DAMAGE, load_measured
from summary_files import put_together, take_apart, without_writers

from directrix import DirectClassifier, OperatingPointClassifier
from directrix.export import ModelFileError, load, save

CASES = int(os.environ.get("DIRECTRIX_FUZZ", max(400, examples(600))))

#: Bounds for one file: CPU seconds, and bytes beyond ten times the file.
SECONDS, SPARE = 1.0, 96 << 10

VALUES = (
    *(None, True, False, 0, 1, 2, -1, 2**31, 2**53, 2**63, 10**400, 0.0, 0.5, -0.0),
    *(float("nan"), float("inf"), 1e308, "", "a", "directrix.model", "int64", "str", "object"),
    *([], {}, [0, 1], [[0, 1]], ["a", "b"], {"tuple": []}, {"dict": [[0, 1], [0, 2]]}),
    *({"float": "inf"}, {"array": [1.0], "dtype": "float64"}, {"dtype": "bool", "values": [0, 1]}),
    *({"metric": "AUC", "fields": {}}, {"loss": "Hinge", "fields": {"kappa": 0, "margin": 1}}),
    *({"metric": "FromRates", "fields": {"function": "max"}}, {"name": "rbf", "params": {}}),
    *("DirectClassifier", "MomentClassifier", "dense", "csr_array", "rbf", "\ud800"),
)
VALUE_OF = {"text": "a", "boolean": True, "date": "2024-05-01"}
NUMBERS = (0.0, -0.0, 1.0, -1.0, 1e-9, 5e-324, 1e300, -1e300, 2.0**53, np.nan, np.inf)


def forge_header(rng, content):
    text, arrays = take_apart(content)
    header = json.loads(text)
    where, key = header, rng.choice(sorted(header))
    while isinstance(where[key], dict | list) and where[key] and rng.random() < 0.8:
        where = where[key]
        key = rng.choice(sorted(where)) if isinstance(where, dict) else rng.randrange(len(where))
    choice = rng.randrange(6)
    if choice == 0:
        del where[key]
    elif choice == 1 and isinstance(where, dict):
        where[rng.choice(["x", "Class", "", "fields"])] = rng.choice(VALUES)
    else:
        where[key] = rng.choice(VALUES)
    return json.dumps(header), arrays


def forge_arrays(rng, content):
    text, arrays = take_apart(content)
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    choice = rng.randrange(6)
    with np.errstate(invalid="ignore", over="ignore"):
        if choice <= 2 and array.size:
            number = np.array(rng.choice([*NUMBERS, rng.gauss(0, 1)])).astype(array.dtype)
            array.flat[rng.randrange(array.size)] = number
        elif choice == 3:
            arrays[name] = array.astype(rng.choice(["float32", "int64", "float64", "bool", "int8"]))
        elif choice == 4:
            arrays[name] = rng.choice([array[:-1], array[..., :-1], array[None], array.T])
        else:
            arrays[rng.choice(["x", "Coef", name])] = arrays.pop(name)
    return text, arrays


def other_space(rng, content):  # noqa: ARG001 - all damage is called alike
    """Return the file with another space in the JSON around its header, which changes nothing."""
    return content.replace(b": ", b":\n", 1)


FORGERY = (forge_header, forge_arrays)


def attempt(path):
    """Load a file within bounds; return the model, or None where it was refused."""
    model, seconds, memory = load_measured(load, ModelFileError, path)
    assert seconds <= SECONDS
    assert memory <= 10 * path.stat().st_size + SPARE
    return model


def require_it_scores(model, again):
    """Check that whatever was read scores rows, and can be saved."""
    X = np.abs(np.random.default_rng(0).normal(size=(4, model.n_features_in_)))
    kinds = [bins.kind for bins in model.binner_.bins_] if hasattr(model, "binner_") else []
    if {*kinds} & {*VALUE_OF}:
        X = np.array([[VALUE_OF.get(kind, 0.5) for kind in kinds]] * 4, dtype=object)
    if hasattr(model, "feature_names_in_"):
        X = pd.DataFrame(X, columns=model.feature_names_in_)
    save(model, again)
    try:
        with np.errstate(all="ignore"):
            scores, labels = model.decision_function(X), model.predict(X)
    except ValueError as error:
        # In units of 5e-324 all rows are infinite, which scikit-learn says; or no team is known.
        known = "too large for", "has no budget", "was not given"
        assert any(text in str(error) for text in known)  # noqa: PT017 - most files raise nothing
        return
    assert len(scores) == 4
    assert set(labels.tolist()) <= set(model.classes_.tolist())


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


def test_a_damaged_or_forged_file_gives_the_model_back_or_is_refused(tmp_path, fitted, figure):
    path, again = tmp_path / "damaged", tmp_path / "again"
    bases = []
    names = "odd_names", "text_labels", "direct", "one_feature", "wide", "card"
    models = [*map(fitted, names), card_problems.fitted_card(), *limited()]
    for model in models:
        save(model, path)
        bases.append(path.read_bytes())
        attempt(path)
    equal = legal = refused = 0
    for case in range(CASES):
        rng = random.Random(case)  # noqa: S311 - the same cases on every run
        content = rng.choice(bases)
        change = rng.choice((*DAMAGE, other_space, *4 * FORGERY))
        changed = change(rng, content)
        forged = change in FORGERY
        path.write_bytes(put_together(*changed) if forged else changed)
        try:
            model = attempt(path)
            if model is None:
                refused += 1
            elif forged:
                legal += 1
                require_it_scores(model, again)
            else:
                equal += 1
                save(model, again)
                saved = take_apart(again.read_bytes())[0]
                assert without_writers(saved) == without_writers(take_apart(content)[0])
        except BaseException as error:
            error.add_note(f"case {case}: {change.__name__}")
            raise
    # Each kind of outcome must occur, or nothing was tested.
    assert min(equal, legal, refused) > 0
    figure(f"fuzz: {CASES} model files, {equal} equal, {legal} forged but legal, {refused} refused")
