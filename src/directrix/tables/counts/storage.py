"""Files of counts: safetensors with a JSON header, described in ``docs/bin-counts.md``.

A file holds only data, nothing executable, and its content is not trusted: the reader checks every
length, type, shape and value before using any, and raises `MomentsFileError` for any file that
`write` could not have written.
"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.exceptions.files import BinnerFileError, MomentsFileError
from directrix.moments._storage_checks import (
    CLASS_TYPES,
    check_classes,
    check_format,
    check_label_room,
)
from directrix.moments.storage import (
    classes_of,
    header_of,
    read_parts,
    signed_preamble,
    write_whole,
)
from directrix.tables.binner import Binner
from directrix.tables.bins import Bins
from directrix.tables.counts.consistency import contradiction
from directrix.tables.counts.pair_counts import MOST_WEIGHT, PairCounts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from directrix._typing import AnyArray
    from directrix.tables.counts.bin_counts import BinCounts

FORMAT = "directrix.bin_counts"
VERSION = 1

_KEYS = ["classes", "exact", "folded", "format", "version", "writer"]
_ARRAYS = ["binner", "count", "data", "indices", "pointers", "weight", "weight_sq"]
#: Sums of squared whole numbers are stored as multiples of 2⁵³ and the rest.
_LIMB = 53


def write(counts: BinCounts, path: str | PathLike[str]) -> None:
    """Write counts to a file, atomically, if a reader would accept them; equal ones equally."""
    groups = list(chain(*counts.parts))
    shape = len(counts.parts), len(counts.classes)
    number = np.int64 if counts.exact else np.float64
    squares = [
        divmod(g.weight_sq, 1 << _LIMB) if counts.exact else (g.weight_sq, 0) for g in groups
    ]
    text = counts.binner.to_json().encode()
    n_pointers = counts.n_cells + 1 if groups else 0
    tensors: dict[str, AnyArray] = {
        "binner": np.frombuffer(text, dtype=np.uint8),
        "count": np.array([g.count for g in groups], dtype=np.int64).reshape(shape),
        "weight": np.array([g.weight for g in groups], dtype=number).reshape(shape),
        "weight_sq": np.array(squares, dtype=number).reshape(*shape, 2),
        "pointers": _joined([g.pairs.indptr for g in groups], np.int64).reshape(*shape, n_pointers),
        "indices": _joined([g.pairs.indices for g in groups], np.int32),
        "data": _joined([g.pairs.data for g in groups], number),
    }
    header = {
        **header_of(FORMAT, VERSION, counts.classes),
        "folded": counts.folded,
        "exact": counts.exact,
    }
    header_text = json.dumps(header, sort_keys=True)
    try:
        preamble = signed_preamble(header_text, tensors)
        _checked_fields(json.loads(header_text), tensors)
    except MomentsFileError as error:
        msg = f"these counts cannot be saved: {error}"
        raise ValueError(msg) from None
    write_whole(Path(path), preamble, tensors)


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the constructor arguments of the `BinCounts` stored in a file."""
    path = Path(path)
    try:
        header, tensors, intact = read_parts(path, "summary")
        fields = _checked_fields(header, tensors)
        _require(intact, "its checksum does not match: it is damaged")
    except MomentsFileError as error:
        raise MomentsFileError(error.reason, str(path)) from None
    return fields


def _checked_fields(header: Any, tensors: dict[str, AnyArray]) -> dict[str, Any]:
    """Return the constructor arguments of `BinCounts`, after checking all of them."""
    _check_header(header)
    binner = _binner(tensors)
    parts = _parts(header, tensors, binner.bins_)
    return {
        "bins": binner.bins_,
        "classes": classes_of(header),
        "parts": parts,
        "folded": header["folded"],
        "named": hasattr(binner, "feature_names_in_"),
    }


def _check_header(header: Any) -> None:
    check_format(header, FORMAT, VERSION, _KEYS)
    types = type(header["folded"]), type(header["exact"])
    _require(types == (bool, bool), "an entry of its header is of the wrong type")
    check_classes(header["classes"], CLASS_TYPES)


def _binner(tensors: dict[str, AnyArray]) -> Binner:
    _require(sorted(tensors) == _ARRAYS, "its arrays are not those of counts")
    text = tensors["binner"]
    _require(text.dtype == np.uint8 and text.ndim == 1, "its binner is not text")
    try:
        binner = Binner.from_json(text.tobytes().decode())
    except (UnicodeDecodeError, BinnerFileError) as error:
        msg = f"its binner cannot be read: {error}"
        raise MomentsFileError(msg) from None
    _require(not binner.crosses_, "its binner has crosses")
    return binner


def _parts(
    header: dict[str, Any], tensors: dict[str, AnyArray], bins: Sequence[Bins]
) -> tuple[tuple[PairCounts, ...], ...]:
    """Return the counts of each fold and class, after checking all arrays."""
    starts = np.cumsum([0, *(column.n_cells for column in bins)])
    n_cells, values = int(starts[-1]), header["classes"]["values"]
    count, pointers = tensors["count"], tensors["pointers"]
    n_parts = count.shape[0] if count.ndim else 0
    # Without classes the arrays are empty, whatever number of folds their shapes claim.
    folds_agree = n_parts == 1 or (n_parts > 1 and header["folded"] and values)
    _require(folds_agree, "its folds do not match its header")
    check_label_room(header["classes"], tensors)
    shape = n_parts, len(values)
    number = np.int64 if header["exact"] else np.float64
    n_entries = len(tensors["data"]) if tensors["data"].ndim else -1
    expected: dict[str, tuple[tuple[int, ...], Any]] = {
        "count": (shape, np.int64),
        "weight": (shape, number),
        "weight_sq": ((*shape, 2), number),
        "pointers": ((*shape, n_cells + 1 if values else 0), np.int64),
        "indices": ((n_entries,), np.int32),
        "data": ((n_entries,), number),
    }
    for name, (size, dtype) in expected.items():
        tensor = tensors[name]
        fits = tensor.shape == size and tensor.dtype == dtype
        _require(fits, f"{name} has type {tensor.dtype} and shape {tensor.shape}")
        _require(np.isfinite(tensor).all(), f"{name} is not finite")
    _require(n_cells < 1 << 31, "its binner has too many cells")
    first = pointers[..., :1] if values else pointers
    increasing = not first.any() and (np.diff(pointers, axis=-1) >= 0).all()
    ends = np.concatenate([[0], np.cumsum(pointers[..., -1:].ravel(), dtype=object)])
    _require(increasing and ends[-1] == n_entries, "its pointers are not those of a sparse matrix")
    groups = []
    for k, index in enumerate(np.ndindex(shape)):
        entries = slice(int(ends[k]), int(ends[k + 1]))
        groups.append(_group(index, entries, tensors, n_cells))
        problem = contradiction(groups[-1], starts)
        _require(problem is None, str(problem))
    width = len(values)
    return tuple(tuple(groups[k * width : (k + 1) * width]) for k in range(n_parts))


def _group(
    index: tuple[int, ...], entries: slice, tensors: dict[str, AnyArray], n_cells: int
) -> PairCounts:
    data, indices = tensors["data"][entries].copy(), tensors["indices"][entries].copy()
    pointers = tensors["pointers"][index]
    row = np.repeat(np.arange(n_cells), np.diff(pointers))
    upper = (indices >= row).all() and indices.max(initial=0) < n_cells
    sorted_rows = ((np.diff(indices) > 0) | (np.diff(row) > 0)).all()
    _require(upper and sorted_rows, "its pairs are not an upper triangle in order")
    high, low = tensors["weight_sq"][index].tolist()
    if isinstance(high, int):
        _require(0 <= low < 1 << _LIMB and 0 <= high <= MOST_WEIGHT, "a sum of squares is not one")
        high = (high << _LIMB) + low
    else:
        _require(low == 0, "a sum of squares is not one")
    pairs = sparse.csr_array((data, indices, pointers), shape=(n_cells, n_cells))
    count, weight = (tensors[name][index].item() for name in ("count", "weight"))
    return PairCounts(count, weight, high, pairs)


def _joined(arrays: Sequence[AnyArray], dtype: Any) -> AnyArray:
    return np.concatenate([np.empty(0, dtype=dtype), *arrays]).astype(dtype)


def _require(condition: object, reason: str) -> None:
    if not condition:
        raise MomentsFileError(reason)
