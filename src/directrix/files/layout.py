"""Checked files: a layout declares what a file holds, and one reader and writer enforce it.

A file is safetensors with a JSON header and a checksum (``docs/moments.md``), or JSON alone. It
holds data, nothing executable. The checksum tells damage; format, version, entries and shapes tell
a file of another kind. A checksum is no signature: whoever forges a file can compute it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from safetensors import SafetensorError, safe_open

from directrix._typing import AnyArray
from directrix.exceptions import StateError
from directrix.exceptions.files import FileContentError, MomentsFileError
from directrix.files.atomic import atomic_file

Arrays: TypeAlias = dict[str, AnyArray]

#: Integers beyond this are not all floats.
LARGEST_INT = 1 << 53

_DTYPE_CODES = {"uint8": "U8", "uint64": "U64", "int32": "I32", "int64": "I64"}
_DTYPE_CODES |= {"float32": "F32", "float64": "F64"}

#: The safetensors library refuses to read files with a longer preamble.
LONGEST_PREAMBLE = 100_000_000

#: Names of the types of the labels of a summary; "none" is that of rows without labels.
SUMMARY_LABELS = ("bool", "int64", "float64", "str", "none")

# ── Laws: a predicate, and the sentence that says what is wrong otherwise ─────────────────────────


def require(condition: object, reason: str) -> None:
    """Raise `FileContentError` with this reason unless the condition holds."""
    if not condition:
        raise FileContentError(reason)


@contextmanager
def refusing(
    error: type[FileContentError], path: str | PathLike[str] | None = None
) -> Iterator[None]:
    """Turn what a check refuses into the error of a kind of file, with its path."""
    name = None if path is None else str(path)
    try:
        yield
    except RecursionError:
        msg = "its header is nested too deeply"
        raise error(msg, name) from None
    except (FileContentError, StateError) as refused:
        raise error(refused.reason, name) from None


def is_text(value: Any) -> bool:
    """Return whether a value is text."""
    return type(value) is str


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number: a float, or an int that is exactly a float."""
    whole = type(value) is int and abs(value) < LARGEST_INT
    return whole or (type(value) is float and isfinite(value))


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number from zero up."""
    return type(value) is int and 0 <= value < LARGEST_INT


# ── Layouts: what a file holds, declared as data ──────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Header:
    """The JSON object of a kind of file: its format, its version and its entries.

    ``noun`` is what a file holds, for errors. ``format``, ``version`` and ``writer`` are not among
    the entries: all files have them.
    """

    format: str
    noun: str
    entries: Collection[str]
    version: int = 1

    common: ClassVar[Collection[str]] = ("format", "version", "writer")

    def stamp(self) -> dict[str, Any]:
        """Return the entries of every header: format, version and writer."""
        writer = f"directrix {version('directrix')}"
        return {"format": self.format, "version": self.version, "writer": writer}

    def check_header(self, header: Any) -> None:
        """Check the format, the version and the names of the entries."""
        is_format = isinstance(header, dict) and header.get("format") == self.format
        require(is_format, f"it is something else than a {self.noun}")
        written = header.get("version")
        other = f"it is a file of another version: {written}, and this program reads {self.version}"
        require(written == self.version, other)
        complete = {*header} == {*self.common, *self.entries}
        require(complete, "its header lacks an entry or has one too many")


class Array(NamedTuple):
    """An array of a file: its type, and its shape in terms of named sizes.

    A type or length that `Layout.sizes` names is looked up there; a length that it does not name is
    that of the first array with this name in its shape.
    """

    dtype: str
    shape: tuple[str, ...]


def _nothing(header: dict[str, Any], arrays: Arrays) -> Any:
    del header, arrays
    return {}


@dataclass(frozen=True, kw_only=True)
class Layout(Header):
    """All that a safetensors file of one kind holds.

    All have the entry ``classes``. ``sizes`` returns named lengths and types from the header and
    the unchecked arrays. ``laws`` checks what no entry or array shows alone, and returns what it
    builds on the way. Without ``arrays``, ``laws`` checks them too.
    """

    error: type[FileContentError] = MomentsFileError
    label_types: Collection[str] = SUMMARY_LABELS
    arrays: Mapping[str, Array] | None = None
    sizes: Callable[[dict[str, Any], Arrays], dict[str, Any]] = _nothing
    laws: Callable[[dict[str, Any], Arrays], Any] = _nothing

    common: ClassVar[Collection[str]] = (*Header.common, "classes")

    def write(
        self, path: str | PathLike[str], classes: AnyArray, entries: dict[str, Any], arrays: Arrays
    ) -> None:
        """Write a file, completely or not at all, if a reader would accept it.

        Equal content gives identical bytes.
        """
        header = {**self.stamp(), "classes": _plain_classes(classes), **entries}
        text = json.dumps(header, sort_keys=True)
        preamble = _signed_preamble(text, arrays)
        try:
            self.check(json.loads(text), arrays)
            require(len(preamble) <= LONGEST_PREAMBLE, "its names and texts take over 100 MB")
        except (FileContentError, StateError) as error:
            msg = f"this {self.noun} cannot be saved: {error}"
            raise ValueError(msg) from None
        with atomic_file(path) as file:
            file.write(preamble)
            for array in arrays.values():
                file.write(array.data)

    def read(self, path: str | PathLike[str]) -> tuple[dict[str, Any], Arrays, Any]:
        """Return the header and the arrays of an undamaged file, and what ``laws`` built."""
        with refusing(self.error, path):
            header, arrays = read_parts(Path(path), self.noun)
            built = self.check(header, arrays)
        return header, arrays, built

    def check(self, header: Any, arrays: Arrays) -> Any:
        """Check entries and shapes, and return what ``laws`` built of them."""
        self.check_header(header)
        known = header["classes"]["dtype"] in self.label_types
        require(known, "its classes are of the wrong type")
        if self.arrays is not None:
            theirs = f"its arrays are not those of a {self.noun}"
            require(sorted(arrays) == sorted(self.arrays), theirs)
        sizes = {"classes": len(header["classes"]["values"]), **self.sizes(header, arrays)}
        for name, declared in (self.arrays or {}).items():
            _check_array(name, arrays[name], declared, sizes)
        return self.laws(header, arrays)


def _check_array(name: str, array: AnyArray, declared: Array, sizes: dict[str, Any]) -> None:
    """Check an array, and note the lengths that its shape names first."""
    if array.ndim == len(declared.shape):
        for size, length in zip(declared.shape, array.shape, strict=True):
            sizes.setdefault(size, length)
    shape = tuple(sizes.get(size) for size in declared.shape)
    fits = array.dtype == sizes.get(declared.dtype, declared.dtype) and array.shape == shape
    require(fits, f"{name} has type {array.dtype} and shape {array.shape}")
    require(np.isfinite(array).all(), f"{name} is not finite")


def fold_sizes(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Return the number of folds of a summary by class and fold, which its header must admit."""
    count, values = arrays["count"], header["classes"]["values"]
    folds = count.shape[0] if count.ndim else 0
    # Without classes the arrays are empty, whatever number of folds their shapes claim.
    agree = folds == 1 or (folds > 1 and header["folded"] and values)
    require(agree, "its folds do not match its header")
    return {"folds": folds}


# ── Class labels of a header ──────────────────────────────────────────────────────────────────────


def _plain_classes(classes: AnyArray) -> dict[str, Any]:
    is_date = classes.dtype.kind == "M"
    values = (np.datetime_as_string(classes) if is_date else classes).tolist()
    name = "str" if classes.dtype.kind == "U" else classes.dtype.name
    return {"dtype": "none" if values == [None] else name, "values": values}


def classes_of(header: dict[str, Any]) -> AnyArray:
    """Return the labels of a header."""
    dtype, values = header["classes"]["dtype"], header["classes"]["values"]
    classes: AnyArray = np.array(values, dtype=object if dtype == "none" else dtype)
    classes.flags.writeable = False
    return classes


# ── Bytes: safetensors with a checksum, and JSON ──────────────────────────────────────────────────


def read_parts(path: Path, noun: str) -> tuple[Any, Arrays]:
    """Return the header and arrays of a file whose checksum matches.

    Raise `MomentsFileError` for a file that is damaged, or not safetensors with a header; ``noun``
    is what the file should hold.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    with refusing(MomentsFileError):
        require(size >= 8 + length, f"it is cut short or was never a {noun}")
        try:
            with safe_open(path, framework="numpy") as file:
                metadata = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
            msg = f"it is not a safetensors file ({error})"
            raise FileContentError(msg) from None
        require(set(metadata) == {"header", "sha256"}, "it is a safetensors file of something else")
        intact = metadata["sha256"] == _checksum(metadata["header"], arrays)
        require(intact, "its checksum does not match: it is damaged, so copy it once more")
        return parse_json(metadata["header"], "its header"), arrays


def parse_json(text: str, noun: str) -> Any:
    """Return parsed JSON; ``noun`` is the text, for the error."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"{noun} is not JSON ({error})"
        raise FileContentError(msg) from None


def _signed_preamble(header: str, arrays: Arrays) -> bytes:
    """Return the bytes of a safetensors file before the arrays, with the checksum of both.

    Written here, because the library writes the metadata entries in random order.
    """
    metadata = {"header": header, "sha256": _checksum(header, arrays)}
    entries: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        entries[name] = {
            "dtype": _DTYPE_CODES[array.dtype.name],
            "shape": array.shape,
            "data_offsets": (start, end),
        }
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)  # aligns the arrays that follow
    return len(text).to_bytes(8, "little") + text


def _checksum(header: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(header.encode())
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()
