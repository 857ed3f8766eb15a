"""The model file: a fitted classifier as safetensors with a JSON header (``docs/model-file.md``).

A file holds numbers, names and parameters, and nothing that could be executed. Nothing in it is
trusted: `load` checks every length, type, shape and value before using it, and raises
`ModelFileError` for any file that `save` could not have written.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.classifiers.state import ModelState, model_params
from directrix.exceptions import StateError
from directrix.exceptions.files import ModelFileError, MomentsFileError
from directrix.export._checks import require
from directrix.export.plain_values import from_plain, to_plain
from directrix.export.scoring_formula import CLASSIFIERS, known_names
from directrix.export.state_arrays import LAYOUTS, arrays_from_file, arrays_to_file
from directrix.export.state_json import (
    calibrations_from_json,
    calibrations_to_json,
    facts_from_json,
    facts_to_json,
    points_from_json,
    points_to_json,
)
from directrix.files.checks import check_classes, check_label_room
from directrix.moments.storage import read_parts, signed_preamble, write_whole

FORMAT = "directrix.model"
VERSION = 1

_KEYS = [
    *("calibration", "class", "classes", "facts", "feature_names", "format", "layout"),
    *("n_features", "operating_point", "params", "version", "writer"),
]
#: Parameters that the first files do not have; they are set to their defaults.
_LATER_PARAMS = {"limits", "positive", "signs"}
#: The same, of one class.
_LATER_PARAMS_OF = {"SmoothClassifier": {"kernel", "kernel_params"}}
_LABEL_TYPES: dict[str, type] = {
    "bool": bool,
    "str": str,
    "object": str,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("float16", "float32", "float64"), float),
}


def save(classifier: Any, path: str | PathLike[str]) -> None:
    """Write a fitted classifier to a file, completely or not at all.

    Equal models give equal bytes. Parameters, coefficients, calibration and operating points are
    stored; reports, candidates and the moments of a `MomentClassifier` are not.

    Parameters
    ----------
    classifier : classifier of directrix, fitted
        Of a pipeline, the last step.
    path : str or path

    Raises
    ------
    TypeError
        If it is another estimator, or a parameter is code: a metric or a loss of your own, or a
        kernel that is a function.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_breast_cancer
    >>> from directrix import MomentClassifier
    >>> from directrix.export import load, save
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = MomentClassifier("auc").fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     save(classifier, Path(folder) / "cancer.model")
    ...     again = load(Path(folder) / "cancer.model")
    >>> bool((again.predict_proba(X) == classifier.predict_proba(X)).all())
    True
    """
    name = type(classifier).__name__
    if CLASSIFIERS.get(name) is not type(classifier):
        msg = f"save takes a fitted {known_names()}, not {name}: of a pipeline give the last step"
        raise TypeError(msg)
    state: ModelState = classifier.export_state()
    tensors, layout = arrays_to_file(state.arrays)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "writer": f"directrix {version('directrix')}",
        "class": name,
        "params": {param: to_plain(state.params[param]) for param in sorted(state.params)},
        "n_features": state.n_features,
        "feature_names": state.feature_names,
        "classes": _classes_to_json(state.classes),
        "layout": layout,
        "calibration": calibrations_to_json(state.calibrations),
        "operating_point": points_to_json(state.operating_points),
        "facts": facts_to_json(state.facts),
    }
    text = json.dumps(header, sort_keys=True)
    try:
        preamble = signed_preamble(text, tensors)
        _classifier(json.loads(text), tensors)
    except (MomentsFileError, ModelFileError, StateError) as error:
        msg = f"this model cannot be saved: {error}"
        raise ValueError(msg) from None
    write_whole(Path(path), preamble, tensors)


def load(path: str | PathLike[str]) -> Any:
    """Read a classifier from a file; its scores and probabilities are equal to the last bit.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    classifier of directrix, fitted

    Raises
    ------
    ModelFileError
        If the file is damaged, has another version, or is no model.
    """
    path = Path(path)
    try:
        header, tensors, intact = read_parts(path, "model")
        classifier = _classifier(header, tensors)
        require(intact, "its checksum does not match: it is damaged, so copy it once more")
    except RecursionError:
        msg = "its header is nested too deeply"
        raise ModelFileError(msg, str(path)) from None
    except (MomentsFileError, ModelFileError, StateError) as error:
        raise ModelFileError(error.reason, str(path)) from None
    return classifier


def _classifier(header: Any, tensors: dict[str, AnyArray]) -> Any:
    """Return the classifier of a header and arrays, after checking both."""
    _check_header(header)
    classifier_type = CLASSIFIERS[header["class"]]
    _check_param_names(header["params"], classifier_type)
    params = {name: from_plain(value) for name, value in header["params"].items()}
    check_label_room(header["classes"], tensors)
    classes, names = _classes_from_json(header["classes"]), header["feature_names"]
    n_features = header["n_features"]
    state = ModelState(
        params=params,
        classes=classes,
        n_features=n_features,
        feature_names=None if names is None else tuple(names),
        arrays=arrays_from_file(tensors, header["layout"], n_features),
        facts=facts_from_json(header["facts"]),
        calibrations=calibrations_from_json(header["calibration"]),
        operating_points=points_from_json(header["operating_point"]),
    )
    return classifier_type.from_state(state)


def _check_param_names(params: Any, classifier_type: Any) -> None:
    """Check that a file has the parameters of a classifier, but for those of later versions."""
    known = set(model_params(classifier_type()))
    name = classifier_type.__name__
    later = _LATER_PARAMS | _LATER_PARAMS_OF.get(name, set())
    complete = isinstance(params, dict) and known - later <= set(params) <= known
    require(complete, f"its parameters are not those of {name}")


def _check_header(header: Any) -> None:
    """Check the entries of the header that do not depend on the classifier."""
    is_model = isinstance(header, dict) and header.get("format") == FORMAT
    require(is_model, "it is something else than a model")
    written = header.get("version")
    require(type(written) is int, "its version is not a whole number")
    newer = f"its version is {written}, and this program reads {VERSION}: install a newer directrix"
    require(written == VERSION, newer)
    require(sorted(header) == _KEYS, "its header lacks an entry or has one too many")
    class_name, d, names = header["class"], header["n_features"], header["feature_names"]
    known = isinstance(class_name, str) and class_name in CLASSIFIERS
    require(known, f"it holds a classifier that this version does not know: {class_name!r}")
    require(type(header["writer"]) is str, "an entry of its header is of the wrong type")
    require(
        type(d) is int and 0 < d < 1 << 31, "its number of features is not a positive whole number"
    )
    named = names is None or (
        isinstance(names, list) and len(names) == d and all(type(name) is str for name in names)
    )
    require(named, f"its feature names are not {d} names")
    layout = header["layout"]
    known = layout is None or (isinstance(layout, str) and layout in LAYOUTS)
    require(known, "its rows have an unknown layout")
    check_classes(header["classes"], _LABEL_TYPES)


def _classes_to_json(classes: AnyArray) -> dict[str, Any]:
    name = "str" if classes.dtype.kind == "U" else classes.dtype.name
    return {"dtype": name, "values": [to_plain(label) for label in classes]}


def _classes_from_json(plain: dict[str, Any]) -> AnyArray:
    """Return the labels, after checking that their type holds them."""
    values = plain["values"]
    try:
        classes = np.array(values, dtype=plain["dtype"])
    except (OverflowError, ValueError) as error:
        msg = f"a class label does not fit its type ({error})"
        raise ModelFileError(msg) from None
    require(classes.tolist() == values, "a class label does not fit its type")
    return classes
