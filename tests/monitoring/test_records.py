"""Records: their names, and what is refused."""

import json
import re
from contextlib import suppress
from dataclasses import replace
from datetime import date

import pytest

from directrix.exceptions.files import StoreFileError
from directrix.monitoring.records import (
    Change,
    Record,
    checked_stream,
    day_of,
    is_record,
    is_summary,
    parse,
    short_hash,
)

CHANGES = (Change("moments", 1, "0" * 16), Change("unlabelled-moments", -1, "f" * 16))
OLD = f"2026-03-01.{'a' * 16}.{'b' * 16}.json"
RECORD = Record("2026-03-01", "morning", CHANGES, (OLD,), {"night": "c" * 16}, "late labels")


def signed(content):
    """Return JSON with the right checksum, as a forger would write it."""
    import hashlib

    content = {name: value for name, value in content.items() if name != "checksum"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["checksum"] = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    return json.dumps(content).encode()


def test_a_record_is_read_as_it_was_written():
    assert parse(RECORD.name, RECORD.text()) == RECORD
    assert parse(RECORD.name, signed(json.loads(RECORD.text()))) == RECORD


def test_a_record_that_only_removes_is_read_as_it_was_written():
    removal = Record("2026-03-01", "removed", (), (OLD,))
    assert parse(removal.name, removal.text()) == removal
    assert removal.files == ()


def test_names_are_those_of_records_and_summaries():
    assert is_record(RECORD.name)
    assert not is_summary(RECORD.name)
    assert len(set(RECORD.files)) == 2
    assert all(is_summary(file) and not is_record(file) for file in RECORD.files)
    assert day_of(RECORD.name) == day_of(RECORD.files[1]) == date(2026, 3, 1)
    for name in ("manifest.json", ".lock", "2026-03-01.json", RECORD.name + "x", "x" + RECORD.name):
        assert not is_record(name)
        assert not is_summary(name)
    arabic = RECORD.name.replace("2026", "٢٠٢٦")
    assert not is_record(arabic)
    assert not is_record(RECORD.name + "\n")


@pytest.mark.parametrize("key", ["", "\n", "../..", "😀", "x" * 10_000, "\0", "a.b.json", '"'])
def test_any_key_gives_a_name_of_one_length(key):
    record = replace(RECORD, key=key, note=key, keys={key: "0" * 16})
    assert is_record(record.name)
    assert len(record.name) == len(RECORD.name)
    assert parse(record.name, record.text()) == record


def test_the_name_tells_day_key_and_changes():
    others = [
        replace(RECORD, day="2026-03-02"),
        replace(RECORD, key="evening"),
        replace(RECORD, changes=CHANGES[:1]),
        replace(RECORD, changes=CHANGES[::-1]),
        replace(RECORD, changes=(replace(CHANGES[0], sign=-1), CHANGES[1])),
        replace(RECORD, changes=(replace(CHANGES[0], stream="counts"), CHANGES[1])),
        replace(RECORD, changes=(replace(CHANGES[0], digest="1" * 16), CHANGES[1])),
    ]
    assert len({record.name for record in (RECORD, *others)}) == 8
    assert replace(RECORD, note="other", keys={}).name == RECORD.name


def test_every_changed_byte_is_refused():
    content = RECORD.text()
    for position in range(len(content)):
        for bit in (1, 32):
            damaged = bytearray(content)
            damaged[position] ^= bit
            # White space between the entries may be another one.
            with suppress(StoreFileError):
                assert parse(RECORD.name, bytes(damaged)) == RECORD


def test_every_cut_record_is_refused():
    content = RECORD.text()
    for length in range(len(content)):
        with pytest.raises(StoreFileError):
            parse(RECORD.name, content[:length])


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"[]", b"3", b'"text"', b"\xff", b"[" * 100_000, b"{}", b'{"format": 1}'],
)
def test_what_is_no_record_is_refused(content):
    with pytest.raises(StoreFileError, match=re.escape(RECORD.name)):
        parse(RECORD.name, content)


@pytest.mark.parametrize(
    "edit",
    [
        {"day": "2026-02-30"},
        {"day": 5},
        {"day": "2026-03-01/../.."},
        {"key": 5},
        {"key": "evening"},
        {"note": None},
        {"changes": {}},
        {"changes": [{"stream": "moments", "sign": 1}]},
        {"changes": [{"stream": "../up", "sign": 1, "digest": "0" * 16}]},
        {"changes": [{"stream": "moments", "sign": 2, "digest": "0" * 16}]},
        {"changes": [{"stream": "moments", "sign": 1, "digest": "0" * 16, "file": "/etc/x"}]},
        {"changes": [{"stream": "moments", "sign": 1, "digest": "no hash"}]},
        {"changes": [{"stream": "moments", "sign": 1, "digest": "0" * 16}]},
        {"replaces": "all"},
        {"replaces": [5]},
        {"replaces": ["manifest.json"]},
        {"replaces": [OLD.replace("2026", "2025")]},
        {"keys": []},
        {"keys": {"night": 5}},
        {"keys": {"night": "no hash"}},
        {"format": "directrix.moments"},
        {"version": 2},
        {"extra": 1},
    ],
    ids=str,
)
def test_a_forged_record_is_refused(edit):
    with pytest.raises(StoreFileError) as caught:
        parse(RECORD.name, signed(json.loads(RECORD.text()) | edit))
    assert caught.value.path == RECORD.name


def test_a_renamed_record_is_refused():
    for name in (OLD, RECORD.name.replace("03-01", "03-02"), "manifest.json"):
        with pytest.raises(StoreFileError, match="renamed or changed"):
            parse(name, RECORD.text())


def test_hashes_do_not_depend_on_where_bytes_are_joined():
    assert short_hash(b"ab", b"c") != short_hash(b"a", b"bc") != short_hash(b"abc")
    assert re.fullmatch("[0-9a-f]{16}", short_hash())


@pytest.mark.parametrize("stream", ["moments", "unlabelled-moments", "0", "a_b.c-d", "x" * 63])
def test_streams_have_plain_names(stream):
    assert checked_stream(stream) == stream


@pytest.mark.parametrize("stream", ["", "..", "a/b", "A", "ä", "a\n", "x" * 64, "_a", " a"])
def test_other_names_are_refused(stream):
    with pytest.raises(ValueError, match=re.escape(repr(stream))):
        checked_stream(stream)
