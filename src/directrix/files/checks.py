"""Validation of summary files: everything is checked before anything is used.

No check allocates memory by a number read from the file: sizes are compared with the arrays that
were loaded, which safetensors has compared with the length of the file.
"""

from __future__ import annotations

from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.exceptions.files import MomentsFileError
from directrix.rows.sums import exact_sum

if TYPE_CHECKING:
    from directrix._typing import AnyArray

FORMAT = "directrix.moments"
VERSION = 1

_KEYS = ["classes", "feature_names", "folded", "format", "n_features", "prior", "version", "writer"]
_DTYPES = {
    "count": np.int64,
    "weight": np.float64,
    "weight_sq": np.float64,
    "mean": np.float64,
    "mean_tail": np.float64,
    "scatter": np.float64,
}
#: Types of labels by their name in a header; "none" is that of rows without labels.
CLASS_TYPES: dict[str, type] = {
    "bool": bool,
    "int64": int,
    "float64": float,
    "str": str,
    "none": type(None),
}

#: Largest count: above it, not every whole number is a float.
MOST_ROWS = 1 << 53

#: Relative amount by which rounding may break the inequalities of weights and scatters: one
#: subtraction may leave only seven digits, and repeated ones fewer.
_ROUNDING_TOLERANCE = 1e-4

#: Largest error of a square that underflows.
_UNDERFLOW = 2.0**-1074

#: Memory allowed for text labels beyond four times that of the numbers. NumPy allocates the length
#: of the longest label for every label, so this bounds the memory of a reader by the file size.
_LABEL_BYTES = 1 << 20


def require(condition: object, message: str) -> None:
    """Raise `MomentsFileError` with this message unless the condition holds."""
    if not condition:
        raise MomentsFileError(message)


def check_format(header: Any, file_format: str, version: int, keys: list[str]) -> None:
    """Check that a JSON header is of a format and version, and has the entries of that format.

    Parameters
    ----------
    header : object
        As it was read.
    file_format : str
    version : int
    keys : list of str
        Names of all entries, sorted.
    """
    require(
        isinstance(header, dict) and header.get("format") == file_format, "it is something else"
    )
    written = header.get("version")
    require(type(written) is int, "its version is not a whole number")
    require(written == version, f"its version is {written}, and this program reads {version}")
    require(sorted(header) == keys, "its header lacks an entry or has one too many")
    require(type(header["writer"]) is str, "its writer is not text")


def check_header(header: Any) -> None:
    """Check the type and content of every entry of the JSON header."""
    check_format(header, FORMAT, VERSION, _KEYS)
    d, names, prior = header["n_features"], header["feature_names"], header["prior"]
    require(type(d) is int and 0 <= d < 1 << 31, "its number of features is not a valid number")
    require(type(header["folded"]) is bool, "an entry of its header is of the wrong type")
    require(prior is None or (type(prior) is float and 0 < prior < 1), "its prior is not in (0, 1)")
    require(
        names is None or (_is_list_of(names, str) and len(names) == len(set(names)) == d),
        f"its feature names are not {d} different names",
    )
    check_classes(header["classes"], CLASS_TYPES)


def check_classes(classes: Any, label_types: dict[str, type]) -> None:
    """Check the class labels of a header.

    Parameters
    ----------
    classes : dict
        Entries ``dtype`` and ``values``.
    label_types : dict
        Python type of a label by the allowed names of ``dtype``.
    """
    require(
        isinstance(classes, dict) and sorted(classes) == ["dtype", "values"],
        "its classes are not a type and a list",
    )
    dtype, values = classes["dtype"], classes["values"]
    label_type = label_types.get(dtype) if isinstance(dtype, str) else None
    require(
        label_type is not None and _is_list_of(values, label_type),
        "its classes are of the wrong type",
    )
    if label_type is int:
        require(all(-(1 << 63) <= v < 1 << 63 for v in values), "a class label is beyond 64 bits")
    if label_type is float:
        require(all(isfinite(value) for value in values), "a class label is not finite")
    if label_type is str:
        # NumPy drops trailing NULs from text, so such a label would not be read as written.
        require(not any(v.endswith("\0") for v in values), "a class label ends in a NUL")
    if label_type is type(None):
        require(len(values) == 1, "rows without labels are not of one class")
        return
    require(all(a < b for a, b in pairwise(values)), "its classes are not sorted and different")


def _is_list_of(values: Any, item_type: type) -> bool:
    return isinstance(values, list) and all(type(value) is item_type for value in values)


def check_tensors(header: dict[str, Any], tensors: dict[str, AnyArray]) -> None:
    """Check the type, shape and values of every array."""
    require(sorted(tensors) == sorted(_DTYPES), "its arrays are not those of a summary")
    n_parts = tensors["count"].shape[0] if tensors["count"].ndim else 0
    values = header["classes"]["values"]
    # Without classes the arrays are empty, whatever number of folds their shapes claim.
    folds_agree = n_parts == 1 or (n_parts > 1 and header["folded"] and values)
    require(folds_agree, "its folds do not match its header")
    check_label_room(header["classes"], tensors)
    d = header["n_features"]
    shape = (n_parts, len(values))
    trailing_shape = {"mean": (d,), "mean_tail": (d,), "scatter": (d * (d + 1) // 2,)}
    for name, dtype in _DTYPES.items():
        tensor = tensors[name]
        fits = tensor.dtype == dtype and tensor.shape == shape + trailing_shape.get(name, ())
        require(fits, f"{name} has type {tensor.dtype} and shape {tensor.shape}")
        require(np.isfinite(tensor).all(), f"{name} is not finite")
    for index in np.ndindex(shape):
        _check_group({name: tensor[index] for name, tensor in tensors.items()})


def check_label_room(classes: dict[str, Any], tensors: dict[str, AnyArray]) -> None:
    """Check that text labels need no more memory than is allowed for the size of the arrays."""
    if classes["dtype"] == "str":
        label_bytes = 4 * len(classes["values"]) * max(map(len, classes["values"]), default=0)
        number_bytes = sum(tensor.nbytes for tensor in tensors.values())
        require(
            label_bytes <= _LABEL_BYTES + 4 * number_bytes,
            "a class label is too long for its numbers",
        )


def _check_group(group: dict[str, Any]) -> None:
    """Check the conditions that the moments of any rows satisfy."""
    count, weight, weight_sq = (group[name].item() for name in ("count", "weight", "weight_sq"))
    mean, tail, packed = group["mean"], group["mean_tail"], group["scatter"]
    if count == 0:
        moments = weight or weight_sq or mean.any() or tail.any() or packed.any()
        require(not moments, "a class without rows has moments")
        return
    fits = 0 < count <= MOST_ROWS and weight > 0
    require(fits, "its counts and weights are not those of rows")
    # (Σω)² / n ≤ Σω² ≤ (Σω)², divided by Σω so that nothing overflows
    share = weight_sq / weight
    consistent = (
        weight / count * (1 - _ROUNDING_TOLERANCE) <= share <= weight * (1 + _ROUNDING_TOLERANCE)
    )
    require(consistent, "its counts and weights contradict each other")
    with np.errstate(over="ignore", invalid="ignore"):
        high, low = exact_sum(mean, tail)
    canonical = np.array_equal(high, mean) and np.array_equal(low, tail)
    require(canonical, "a mean overlaps with its tail")
    starts = row_starts(len(mean))
    require((packed[starts] >= 0).all(), "a scatter has a negative diagonal")
    require(count > 1 or not packed.any(), "a single row has a scatter")
    deviation = np.sqrt(packed[starts] + count * _UNDERFLOW)
    for i, start in enumerate(starts):
        bound = deviation[i] * deviation[i:] * (1 + _ROUNDING_TOLERANCE)
        fits = np.abs(packed[start : start + len(bound)]) <= bound
        require(fits.all(), "a scatter breaks the Cauchy-Schwarz inequality")


def row_starts(d: int) -> AnyArray:
    """Return the offset of each row in a packed upper triangle of a d × d matrix."""
    i = np.arange(d)
    return i * d - i * (i - 1) // 2
