"""Blind damage to a safetensors file: each function takes a random source and the content."""

import json
import time
import tracemalloc

from summary_files import preamble


def random_position(rng, content):
    """Draw a place: anywhere, in the length, or in the JSON, where most checks look."""
    length = 8 + min(int.from_bytes(content[:8], "little"), len(content))
    end = rng.choice([8, length, length, len(content)])
    return rng.randrange(max(min(end, len(content)), 1))


def piece(rng, content):
    start = random_position(rng, content)
    return start, min(start + rng.choice([1, 2, 8, 50, 300]), len(content))


def flip_bits(rng, content):
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 8, 64])):
        damaged[random_position(rng, content)] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def replace_bytes(rng, content):
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 3, 20])):
        damaged[random_position(rng, content)] = rng.choice(
            [0, 255, 32, 34, 44, 48, 57, rng.randrange(256)]
        )
    return bytes(damaged)


def cut_off(rng, content):
    return content[: rng.choice([random_position(rng, content), rng.randrange(len(content))])]


def insert(rng, content):
    start = random_position(rng, content)
    return content[:start] + rng.randbytes(rng.choice([1, 8, 100])) + content[start:]


def append(rng, content):
    return content + rng.choice([b"\0", b"\0" * 8, b" ", content, rng.randbytes(16)])


def delete(rng, content):
    start, stop = piece(rng, content)
    return content[:start] + content[stop:]


def repeat(rng, content):
    start, stop = piece(rng, content)
    return content[:stop] + content[start:stop] * rng.choice([1, 2, 30]) + content[stop:]


def wipe(rng, content):
    start, stop = piece(rng, content)
    return content[:start] + rng.choice([b"\0", b"\xff", b" "]) * (stop - start) + content[stop:]


def swap(rng, content):
    cuts = sorted(rng.randrange(len(content) + 1) for _ in range(4))
    a, b, c, d = cuts
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def other_length(rng, content):
    length = int.from_bytes(content[:8], "little")
    forged = rng.choice(
        [0, 1, length - 1, length + 1, length + 8, len(content), 2**31, 2**63, 2**64 - 1]
    )
    return forged.to_bytes(8, "little") + content[8:]


def other_container(rng, content):
    """Change an entry of the outer JSON, which no checksum covers."""
    start = 8 + int.from_bytes(content[:8], "little")
    entries = json.loads(content[8:start])
    names = sorted(set(entries) - {"__metadata__"})
    name, other = rng.choice(names), rng.choice(names)
    damage = rng.randrange(6)
    if damage == 0:
        entries[name]["dtype"] = rng.choice(
            ["F64", "I64", "U64", "F32", "BF16", "BOOL", "F8_E4M3", 3]
        )
    elif damage == 1:
        value = rng.choice([0, 1, 2, -1, 10**12, 2**63, 2**64, 1.0, None, "1", []])
        entries[name]["shape"] = rng.choice([value, [value], [value, 0], [1, value], [0] * 65])
    elif damage == 2:
        offsets = entries[name]["data_offsets"]
        offsets[rng.randrange(2)] += rng.choice([-8, -1, 1, 8, 2**62])
    elif damage == 3:
        entries[name], entries[other] = entries[other], entries[name]
    elif damage == 4:
        entries[rng.choice(["x", "__metadata__", ""])] = entries.pop(name)
    else:
        entries["__metadata__"] = rng.choice(
            [{}, None, [], {"header": "{}"}, entries["__metadata__"] | {"x": "y"}]
        )
    return preamble(entries) + content[start:]


DAMAGE = (
    flip_bits,
    replace_bytes,
    cut_off,
    insert,
    append,
    delete,
    repeat,
    wipe,
    swap,
    other_length,
    other_container,
)


def load_measured(load, refusal, path):
    """Return what a file holds, or None where it was refused, CPU seconds, and the most bytes."""
    tracemalloc.start()
    began = time.process_time()
    try:
        loaded = load(path)
    except refusal:
        loaded = None
    finally:
        seconds = time.process_time() - began
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return loaded, seconds, memory
