"""Summary files taken apart, changed and signed again.

Written from the description of the format, not with the code that is tested: eight bytes of
length, JSON that tells where each array is, and the arrays. The entry ``__metadata__`` holds the
summary's own JSON header as text and the SHA-256 of that text and of all arrays by name.
"""

import hashlib
import json

import numpy as np

CODES = {
    "bool": "BOOL",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "int8": "I8",
    "uint8": "U8",
    "int32": "I32",
    "int64": "I64",
    "uint64": "U64",
}
TYPES = {code: name for name, code in CODES.items()}


def take_apart(content):
    """Return the header as text and the arrays of a summary file."""
    start = 8 + int.from_bytes(content[:8], "little")
    entries = json.loads(content[8:start])
    text = entries.pop("__metadata__")["header"]
    arrays = {}
    for name, entry in entries.items():
        first, last = entry["data_offsets"]
        flat = np.frombuffer(content[start + first : start + last], TYPES[entry["dtype"]])
        arrays[name] = flat.reshape(entry["shape"]).copy()
    return text, arrays


def put_together(text, arrays):
    """Return the content of a file with this header and these arrays, signed."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        digest.update(arrays[name].tobytes())
    entries = {"__metadata__": {"header": text, "sha256": digest.hexdigest()}}
    data = b""
    for name, array in arrays.items():
        offsets = [len(data), len(data) + array.nbytes]
        code = CODES[array.dtype.name]
        entries[name] = {"dtype": code, "shape": array.shape, "data_offsets": offsets}
        data += array.tobytes()
    return preamble(entries) + data


def preamble(entries):
    """Return the first part of a safetensors file."""
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header


def resign(path, header_edit=None, arrays_edit=None):
    """Change a file in place and sign it again.

    ``header_edit`` gets the header as a dict and changes it, or returns what to put in its place:
    a dict, or text. ``arrays_edit`` gets the dict of arrays and changes it.
    """
    text, arrays = take_apart(path.read_bytes())
    if header_edit:
        header = json.loads(text)
        text = header_edit(header) or header
        text = text if isinstance(text, str) else json.dumps(text)
    if arrays_edit:
        arrays_edit(arrays)
    path.write_bytes(put_together(text, arrays))


def without_writers(text):
    """Return a header as a dictionary, without the versions of what wrote its parts."""
    header = json.loads(text)
    del header["writer"]
    binner = (header.get("facts") or {}).get("binner")
    if binner is not None:
        entries = json.loads(binner)
        header["facts"]["binner"] = {
            name: entries[name] for name in entries if name not in ("checksum", "writer")
        }
    return header
