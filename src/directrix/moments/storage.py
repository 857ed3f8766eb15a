"""Summary files: safetensors with a JSON header, described in ``docs/file-format.md``.

A file holds only data, nothing executable, and its content is not trusted: the reader checks every
length, type, shape and value before using any, and raises `MomentsFileError` for any file that
`write` could not have written.
"""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open

from directrix.exceptions.files import MomentsFileError
from directrix.files.atomic import atomic_file
from directrix.files.checks import (
    FORMAT,
    MOST_ROWS,
    VERSION,
    check_header,
    check_tensors,
    require,
    row_starts,
)
from directrix.moments.class_moments import ClassMoments
from directrix.moments.row_scatter import DENSE_FEATURES
from directrix.rows.labels import UNLABELLED

if TYPE_CHECKING:
    from os import PathLike

    from directrix._typing import AnyArray, FloatArray
    from directrix.moments.moments import Moments

#: Header length allowed beyond an eighth of the size of the numbers. Parsed JSON takes up to twenty
#: times the memory of its text, so this bounds the memory of a reader by the file size.
_HEADER_BYTES = 1 << 20

_DTYPE_CODES = {
    "uint8": "U8",
    "int32": "I32",
    "int64": "I64",
    "float32": "F32",
    "float64": "F64",
}


def write(moments: Moments, path: str | PathLike[str]) -> None:
    """Write a summary to a file, atomically; equal summaries give identical bytes."""
    if moments.n_features > DENSE_FEATURES:
        msg = (
            f"a summary of {moments.n_features} features keeps its rows and cannot be saved; "
            "`select` fewer columns first"
        )
        raise TypeError(msg)
    groups = [group.with_matrix() for part in moments.parts for group in part]
    shape = (len(moments.parts), len(moments.classes))
    d = moments.n_features
    # A count too large for the format is refused below, by the same checks as in the reader.
    counts = [min(group.count, MOST_ROWS + 1) for group in groups]
    tensors = {
        "count": np.array(counts, dtype=np.int64).reshape(shape),
        "weight": np.array([group.weight for group in groups]).reshape(shape),
        "weight_sq": np.array([group.weight_sq for group in groups]).reshape(shape),
        "mean": _stacked([group.mean for group in groups], (*shape, d)),
        "mean_tail": _stacked([group.mean_tail for group in groups], (*shape, d)),
        "scatter": _stacked(
            [_packed(group.scatter) for group in groups], (*shape, d * (d + 1) // 2)
        ),
    }
    header = {
        **header_of(FORMAT, VERSION, moments.classes),
        "n_features": d,
        "feature_names": moments.feature_names,
        "folded": moments.folded,
        "prior": moments.stated_prior,
    }
    text = json.dumps(header, sort_keys=True)
    try:
        preamble = signed_preamble(text, tensors)
        check_header(json.loads(text))
        check_tensors(header, tensors)
    except MomentsFileError as error:
        msg = f"this summary cannot be saved: {error}"
        raise ValueError(msg) from None
    write_whole(Path(path), preamble, tensors)


def write_whole(path: Path, preamble: bytes, tensors: dict[str, AnyArray]) -> None:
    """Write the preamble and the arrays of a file, atomically."""
    with atomic_file(path) as file:
        file.write(preamble)
        for tensor in tensors.values():
            file.write(tensor.data)


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the constructor arguments of the `Moments` stored in a file."""
    path = Path(path)
    try:
        header, tensors = _read_checked(path)
    except MomentsFileError as error:
        raise MomentsFileError(error.reason, str(path)) from None
    names = header["feature_names"]
    return {
        "n_features": header["n_features"],
        "classes": classes_of(header),
        "parts": _parts(tensors, header["n_features"]),
        "feature_names": None if names is None else tuple(names),
        "stated_prior": header["prior"],
        "folded": header["folded"],
    }


def _read_checked(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the arrays of a file after checking both."""
    header, tensors, intact = read_parts(path, "summary")
    check_header(header)
    check_tensors(header, tensors)
    require(intact, "its checksum does not match: it is damaged")
    return header, tensors


def read_parts(path: Path, noun: str) -> tuple[Any, dict[str, AnyArray], bool]:
    """Return the unchecked header and arrays of a file, and whether its checksum matches.

    Parameters
    ----------
    path : Path
    noun : str
        What the file should hold, for the error message.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    require(size >= 8 + length, f"it is cut short or was never a {noun}")
    _check_lengths(8 + length, size - 8 - length)
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
        msg = f"it is not a safetensors file ({error})"
        raise MomentsFileError(msg) from None
    require(set(metadata) == {"header", "sha256"}, "it is a safetensors file of something else")
    try:
        header = json.loads(metadata["header"], object_pairs_hook=_entries)
    except (ValueError, RecursionError) as error:
        msg = f"its header is not JSON ({error})"
        raise MomentsFileError(msg) from None
    intact = metadata["sha256"] == _checksum(metadata["header"], tensors)
    return header, tensors, intact


def _check_lengths(preamble_bytes: int, number_bytes: int) -> None:
    fits = preamble_bytes <= _HEADER_BYTES + number_bytes // 8
    require(fits, "its header (classes and feature names) is too long for its numbers")


def _entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        msg = "an entry occurs twice"
        raise ValueError(msg)
    return entries


def signed_preamble(header: str, tensors: dict[str, AnyArray]) -> bytes:
    """Return the bytes of a safetensors file before the arrays, with the checksum of both.

    Written here, because the library writes the metadata entries in random order.
    """
    metadata = {"header": header, "sha256": _checksum(header, tensors)}
    entries: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, tensor in tensors.items():
        start, end = end, end + tensor.nbytes
        entries[name] = {
            "dtype": _DTYPE_CODES[tensor.dtype.name],
            "shape": tensor.shape,
            "data_offsets": (start, end),
        }
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)  # aligns the arrays that follow
    _check_lengths(8 + len(text), end)
    return len(text).to_bytes(8, "little") + text


def _checksum(header: str, tensors: dict[str, AnyArray]) -> str:
    digest = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        digest.update(np.ascontiguousarray(tensors[name]).data)
    return digest.hexdigest()


def _packed(scatter: FloatArray) -> FloatArray:
    return np.concatenate([scatter[i, i:] for i in range(len(scatter))] or [np.empty(0)])


def _unpacked(packed: FloatArray, d: int) -> FloatArray:
    scatter = np.empty((d, d))
    for i, start in enumerate(row_starts(d)):
        scatter[i, i:] = scatter[i:, i] = packed[start : start + d - i]
    return scatter


def _stacked(arrays: list[FloatArray], shape: tuple[int, ...]) -> FloatArray:
    return np.concatenate(arrays or [np.empty(0)]).reshape(shape)


def header_of(file_format: str, format_version: int, classes: AnyArray) -> dict[str, Any]:
    """Return the entries that the headers of all summary files have.

    Parameters
    ----------
    file_format : str
    format_version : int
    classes : array
        Labels.
    """
    return {
        "format": file_format,
        "version": format_version,
        "writer": f"directrix {version('directrix')}",
        "classes": {
            "dtype": {"U": "str", "O": "none"}.get(classes.dtype.kind, classes.dtype.name),
            "values": classes.tolist(),
        },
    }


def classes_of(header: dict[str, Any]) -> AnyArray:
    """Return the labels of a header that was checked."""
    if header["classes"]["dtype"] == "none":
        return UNLABELLED
    classes: AnyArray = np.array(header["classes"]["values"], dtype=header["classes"]["dtype"])
    classes.flags.writeable = False
    return classes


def _parts(tensors: dict[str, AnyArray], d: int) -> tuple[tuple[ClassMoments, ...], ...]:
    n_parts, n_classes = tensors["count"].shape
    return tuple(
        tuple(
            ClassMoments(
                int(tensors["count"][part, class_index]),
                float(tensors["weight"][part, class_index]),
                float(tensors["weight_sq"][part, class_index]),
                tensors["mean"][part, class_index].copy(),
                _unpacked(tensors["scatter"][part, class_index], d),
                tensors["mean_tail"][part, class_index].copy(),
            )
            for class_index in range(n_classes)
        )
        for part in range(n_parts)
    )
