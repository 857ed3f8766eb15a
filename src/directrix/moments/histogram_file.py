"""Files of score histograms: safetensors with a JSON header (``docs/file-format.md``).

As with summaries, nothing in a file is trusted: `read` checks everything before it is used, and
raises `MomentsFileError` for any file that `write` could not have written.
"""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.exceptions.files import MomentsFileError
from directrix.moments._storage_checks import (
    CLASS_TYPES,
    check_classes,
    check_format,
    check_label_room,
    require,
)
from directrix.moments.score_bins import BINS
from directrix.moments.storage import (
    classes_of,
    header_of,
    read_parts,
    signed_preamble,
    write_whole,
)

if TYPE_CHECKING:
    from os import PathLike

    from directrix._typing import AnyArray
    from directrix.moments.score_histogram import ScoreHistogram

FORMAT = "directrix.score_histogram"
VERSION = 1

_KEYS = ["center", "classes", "format", "model", "scale", "version", "writer"]
_ARRAYS = ["counts", "weight_sq"]
#: Relative amount by which rounding may break an inequality of weights.
_ROUNDING_TOLERANCE = 1e-4


def write(histogram: ScoreHistogram, path: str | PathLike[str]) -> None:
    """Write a histogram to a file, atomically."""
    header = {
        **header_of(FORMAT, VERSION, histogram.classes),
        "center": histogram.center,
        "scale": histogram.scale,
        "model": histogram.model,
    }
    tensors = {
        "counts": np.ascontiguousarray(histogram.counts),
        "weight_sq": np.ascontiguousarray(histogram.weight_sq),
    }
    text = json.dumps(header, sort_keys=True)
    try:
        preamble = signed_preamble(text, tensors)
        _check(json.loads(text), tensors)
    except MomentsFileError as error:
        msg = f"this histogram cannot be saved: {error}"
        raise ValueError(msg) from None
    write_whole(Path(path), preamble, tensors)


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the constructor arguments of the `ScoreHistogram` stored in a file."""
    path = Path(path)
    try:
        header, tensors, intact = read_parts(path, "score histogram")
        _check(header, tensors)
        require(intact, "its checksum does not match: it is damaged")
    except MomentsFileError as error:
        raise MomentsFileError(error.reason, str(path)) from None
    return {
        "classes": classes_of(header),
        **{name: tensors[name].copy() for name in _ARRAYS},
        **{name: header[name] for name in ("center", "scale", "model")},
    }


def _check(header: Any, tensors: dict[str, AnyArray]) -> None:
    """Check every entry of the header, and the type, shape and values of every array."""
    check_format(header, FORMAT, VERSION, _KEYS)
    model, center, scale = header["model"], header["center"], header["scale"]
    require(model is None or type(model) is str, "its model is not text")
    numbers = all(type(value) is float and isfinite(value) for value in (center, scale))
    require(numbers and scale > 0, "its center and scale are not numbers")
    check_classes(header["classes"], CLASS_TYPES)
    n_classes = len(header["classes"]["values"])
    unlabelled = header["classes"]["dtype"] == "none"
    require(unlabelled or n_classes == 2, "it does not have two classes")
    require(sorted(tensors) == _ARRAYS, "its arrays are not those of a score histogram")
    check_label_room(header["classes"], tensors)
    for name, shape in (("counts", (n_classes, BINS)), ("weight_sq", (n_classes,))):
        tensor = tensors[name]
        fits = tensor.dtype == np.float64 and tensor.shape == shape
        require(fits, f"{name} has type {tensor.dtype} and shape {tensor.shape}")
        require(
            np.isfinite(tensor).all() and (tensor >= 0).all(), f"{name} is not a sum of weights"
        )
    with np.errstate(over="ignore"):
        weights = tensors["counts"].sum(axis=1).tolist()
    for weight, square in zip(weights, tensors["weight_sq"].tolist(), strict=True):
        # No row, or 0 < Σω² ≤ (Σω)², divided by Σω so that nothing overflows
        possible = isfinite(weight) and (
            square == 0.0
            if weight == 0.0
            else 0.0 < square / weight <= weight * (1 + _ROUNDING_TOLERANCE)
        )
        require(possible, "its counts and weights contradict each other")
