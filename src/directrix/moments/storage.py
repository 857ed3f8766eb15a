"""The file of a summary: safetensors with one JSON header. ``docs/file-format.md`` describes it.

A file holds numbers and nothing that could be executed, and nothing in it is trusted: a reader
checks every length, type, shape and value before it uses one, and raises `MomentsFileError` for
any file that `write` could not have written.
"""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open

from directrix._atomic_file import atomic_file
from directrix.exceptions import MomentsFileError
from directrix.moments._storage_checks import (
    FORMAT,
    MOST_ROWS,
    VERSION,
    check_header,
    check_tensors,
    require,
    row_starts,
)
from directrix.moments.class_moments import ClassMoments

if TYPE_CHECKING:
    from os import PathLike

    from directrix._typing import AnyArray, FloatArray
    from directrix.moments.moments import Moments

#: Parsed JSON takes up to twenty times its text; this much text beyond an eighth of the numbers
#: keeps the memory of a reader in proportion to the file.
_HEADER_BYTES = 1 << 20

_CODES = {"int64": "I64", "float32": "F32", "float64": "F64"}


def write(moments: Moments, path: str | PathLike[str]) -> None:
    """Write a summary; the file appears whole or not at all, and equal summaries equal bytes."""
    groups = [group for part in moments.parts for group in part]
    if any(not isinstance(group.scatter, np.ndarray) for group in groups):
        msg = (
            f"a summary of {moments.n_features} features keeps its rows and cannot be saved; "
            "`select` fewer columns first"
        )
        raise TypeError(msg)
    shape = (len(moments.parts), len(moments.classes))
    d = moments.n_features
    # A count too large for the format is refused below, with everything else a reader refuses.
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
    kind = moments.classes.dtype
    header = {
        "format": FORMAT,
        "version": VERSION,
        "writer": f"directrix {version('directrix')}",
        "n_features": d,
        "classes": {
            "dtype": "str" if kind.kind == "U" else kind.name,
            "values": moments.classes.tolist(),
        },
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
    """Write the preamble and the numbers of a file, whole or not at all."""
    with atomic_file(path) as file:
        file.write(preamble)
        for tensor in tensors.values():
            file.write(tensor.data)


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the arguments of the `Moments` that a file holds."""
    path = Path(path)
    try:
        header, tensors = _checked(path)
    except MomentsFileError as error:
        raise MomentsFileError(error.reason, str(path)) from None
    names = header["feature_names"]
    return {
        "n_features": header["n_features"],
        "classes": _classes(header),
        "parts": _parts(tensors, header["n_features"]),
        "feature_names": None if names is None else tuple(names),
        "stated_prior": header["prior"],
        "folded": header["folded"],
    }


def _checked(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the numbers of a file after checking both."""
    header, tensors, intact = read_parts(path, "summary")
    check_header(header)
    check_tensors(header, tensors)
    require(intact, "its checksum does not match: it is damaged")
    return header, tensors


def read_parts(path: Path, noun: str) -> tuple[Any, dict[str, AnyArray], bool]:
    """Return header and numbers of a file, unchecked, and whether its checksum matches."""
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


def _check_lengths(preamble: int, numbers: int) -> None:
    fits = preamble <= _HEADER_BYTES + numbers // 8
    require(fits, "its header (classes and feature names) is too long for its numbers")


def _entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        msg = "an entry occurs twice"
        raise ValueError(msg)
    return entries


def signed_preamble(header: str, tensors: dict[str, AnyArray]) -> bytes:
    """Return the first bytes of a safetensors file, up to the numbers, with their checksum.

    By hand, because the library writes the entries of the metadata in random order.
    """
    metadata = {"header": header, "sha256": _checksum(header, tensors)}
    entries: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, tensor in tensors.items():
        start, end = end, end + tensor.nbytes
        entries[name] = {
            "dtype": _CODES[tensor.dtype.name],
            "shape": tensor.shape,
            "data_offsets": (start, end),
        }
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers are aligned
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


def _classes(header: dict[str, Any]) -> AnyArray:
    classes = np.array(header["classes"]["values"], dtype=header["classes"]["dtype"])
    classes.flags.writeable = False
    return classes


def _parts(tensors: dict[str, AnyArray], d: int) -> tuple[tuple[ClassMoments, ...], ...]:
    n_parts, n_classes = tensors["count"].shape
    return tuple(
        tuple(
            ClassMoments(
                int(tensors["count"][part, place]),
                float(tensors["weight"][part, place]),
                float(tensors["weight_sq"][part, place]),
                tensors["mean"][part, place].copy(),
                _unpacked(tensors["scatter"][part, place], d),
                tensors["mean_tail"][part, place].copy(),
            )
            for place in range(n_classes)
        )
        for part in range(n_parts)
    )
