"""The file of a fitted classifier: safetensors with one JSON header; see ``docs/model-file.md``.

A file holds numbers, names and parameters, and nothing that could be executed. Nothing in it is
trusted: `load` checks every length, type, shape and value before it uses one, and raises
`ModelFileError` for any file that `save` could not have written.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from directrix._typing import AnyArray
from directrix.export.model_file_error import ModelFileError, require
from directrix.export.plain_values import from_plain, to_plain
from directrix.export.state_arrays import LAYOUTS, arrays_of, attributes_of, check_as_given
from directrix.export.state_json import (
    CLASSIFIERS,
    calibrations_from_plain,
    calibrations_to_plain,
    facts_from_plain,
    facts_to_plain,
    points_from_plain,
    points_to_plain,
)
from directrix.moments import MomentsFileError
from directrix.moments._storage_checks import check_classes, check_label_room
from directrix.moments.storage import read_parts, signed_preamble, write_whole

FORMAT = "directrix.model"
VERSION = 1

_KEYS = [
    *("calibration", "class", "classes", "facts", "feature_names", "format", "layout"),
    *("n_features", "operating_point", "params", "version", "writer"),
]
#: Parameters that files before 0.2 do not have; theirs are the defaults.
_ADDED = {"limits"}
_LABELS: dict[str, type] = {
    "bool": bool,
    "str": str,
    "object": str,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("float16", "float32", "float64"), float),
}


def save(classifier: Any, path: str | PathLike[str]) -> None:
    """Write a fitted classifier; the file appears whole or not at all.

    Equal models give equal bytes. What a fit tells about itself besides the operating point
    (reports, candidates, the summary of a `MomentClassifier`) is not kept.

    Parameters
    ----------
    classifier : classifier of directrix, fitted
    path : str or path

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
        msg = (
            f"save takes a fitted {' or '.join(CLASSIFIERS)}, not {name}: of a pipeline give the "
            "last step"
        )
        raise TypeError(msg)
    check_is_fitted(classifier)
    tensors, layout = arrays_of(classifier)
    params = classifier.get_params(deep=False)
    names = getattr(classifier, "feature_names_in_", None)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "writer": f"directrix {version('directrix')}",
        "class": name,
        "params": {own: to_plain(params[own]) for own in sorted(params)},
        "n_features": int(classifier.n_features_in_),
        "feature_names": None if names is None else [str(own) for own in names],
        "classes": _classes_to_plain(classifier.classes_),
        "layout": layout,
        "calibration": calibrations_to_plain(classifier),
        "operating_point": points_to_plain(classifier),
        "facts": facts_to_plain(classifier),
    }
    text = json.dumps(header, sort_keys=True)
    try:
        preamble = signed_preamble(text, tensors)
        _classifier(json.loads(text), tensors)
    except (MomentsFileError, ModelFileError) as error:
        msg = f"this model cannot be saved: {error}"
        raise ValueError(msg) from None
    write_whole(Path(path), preamble, tensors)


def load(path: str | PathLike[str]) -> Any:
    """Read a classifier that `save` wrote: its scores, labels and probabilities bit for bit.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    ModelFileError
        Where the file is damaged, of another version, or something else.
    """
    path = Path(path)
    try:
        header, tensors, intact = read_parts(path, "model")
        classifier = _classifier(header, tensors)
        require(intact, "its checksum does not match: it is damaged, so copy it once more")
    except RecursionError:
        msg = "its header is nested too deeply"
        raise ModelFileError(msg, str(path)) from None
    except (MomentsFileError, ModelFileError) as error:
        raise ModelFileError(error.reason, str(path)) from None
    return classifier


def _classifier(header: Any, tensors: dict[str, AnyArray]) -> Any:
    """Return the classifier of a header and arrays, after checking both."""
    _check(header)
    kind, layout = header["class"], header["layout"]
    given = header["params"]
    known = CLASSIFIERS[kind]().get_params(deep=False)
    lacking = set(known) - set(given) if isinstance(given, dict) else set(known)
    fits = isinstance(given, dict) and set(given) <= set(known) and lacking <= _ADDED
    require(fits, f"its parameters are not those of {kind}")
    classifier = CLASSIFIERS[kind](**{name: from_plain(own) for name, own in given.items()})
    check_label_room(header["classes"], tensors)
    classes = _classes_from_plain(header["classes"])
    several = kind == "DirectClassifier" and len(classes) > 2
    require(len(classes) == 2 or several, f"{kind} has another number of classes")
    n_lines = len(classes) if several else 1
    plateaus = kind == "BetaBernoulliClassifier"
    require(plateaus or layout is None, f"{kind} has no kernel")
    require(plateaus == ("support" in tensors), "its support does not match its class")
    attributes = attributes_of(tensors, layout, header["n_features"], n_lines)
    attributes |= facts_from_plain(header["facts"], kind)
    attributes |= {"classes_": classes, "n_features_in_": header["n_features"]}
    if header["feature_names"] is not None:
        attributes["feature_names_in_"] = np.array(header["feature_names"], dtype=object)
    if plateaus:
        kernel = attributes["_kernel"]
        require((kernel is None) == (layout is None), "its kernel does not match its arrays")
        if kernel is not None and kernel.as_given:
            check_as_given(attributes)
        told = header["calibration"], header["operating_point"]
        require(told == (None, None), f"{kind} has its own probabilities")
    else:
        attributes["calibrations_"] = calibrations_from_plain(header["calibration"], n_lines)
        attributes["operating_points_"] = points_from_plain(header["operating_point"], n_lines)
    classifier.__dict__.update(attributes)
    return classifier


def _check(header: Any) -> None:
    """Check what the header says before the arrays."""
    require(isinstance(header, dict) and header.get("format") == FORMAT, "it is something else")
    found = header.get("version")
    require(type(found) is int, "its version is not a whole number")
    newer = f"its version is {found}, and this program reads {VERSION}: install a newer directrix"
    require(found == VERSION, newer)
    require(sorted(header) == _KEYS, "its header lacks an entry or has one too many")
    kind, d, names = header["class"], header["n_features"], header["feature_names"]
    known = isinstance(kind, str) and kind in CLASSIFIERS
    require(known, f"it holds a classifier that this version does not know: {kind!r}")
    require(type(header["writer"]) is str, "an entry of its header is of the wrong type")
    require(type(d) is int and 0 < d < 1 << 31, "its number of features is not one")
    named = names is None or (
        isinstance(names, list) and len(names) == d and all(type(own) is str for own in names)
    )
    require(named, f"its feature names are not {d} names")
    layout = header["layout"]
    known = layout is None or (isinstance(layout, str) and layout in LAYOUTS)
    require(known, "its rows lie in memory in an unknown way")
    check_classes(header["classes"], _LABELS)


def _classes_to_plain(classes: AnyArray) -> dict[str, Any]:
    name = "str" if classes.dtype.kind == "U" else classes.dtype.name
    return {"dtype": name, "values": [to_plain(label) for label in classes]}


def _classes_from_plain(plain: dict[str, Any]) -> AnyArray:
    """Return the labels, after checking that their type holds them."""
    values = plain["values"]
    try:
        classes = np.array(values, dtype=plain["dtype"])
    except (OverflowError, ValueError) as error:
        msg = f"a class label does not fit its type ({error})"
        raise ModelFileError(msg) from None
    require(classes.tolist() == values, "a class label does not fit its type")
    return classes
