"""Parts of sites: joined once each, with ids of their content, and noted in a ledger."""

import json

import numpy as np
import pytest

from directrix.exceptions import (
    ConflictingReleaseError,
    LedgerFileError,
    ReleasedBeforeError,
)
from directrix.moments.release import (
    LedgerNumbers,
    Part,
    checked_min_cell,
    describe_control,
    is_control,
    is_part,
    joined_parts,
    note_release,
)

CONTROL = {"kind": "min_cell", "min_cell": 10}


def part(site="a", period="1", rows=(30.0, 20.0), control=CONTROL):
    return Part(site, period, control, np.array([0, 1]), np.array(rows))


def test_an_id_is_that_of_the_content():
    assert part().id == part().id
    for other in (
        part("b"),
        part(period="2"),
        part(rows=(30.0, 25.0)),
        part(control={"kind": "x"}),
    ):
        assert other.id != part().id


def test_parts_are_joined_once():
    first, second = part("a"), part("b")
    assert joined_parts([second, first, part("a")]) == (first, second)
    with pytest.raises(ConflictingReleaseError):
        joined_parts([first, part("a", rows=(35.0, 20.0))])


FIRST = {"0": [130, 10, 120], "1": [20, 20, 0]}
NEARLY = {
    "one row less": LedgerNumbers("bins", {"0": [129, 10, 119], "1": [20, 20, 0]}),
    "other bins": LedgerNumbers("others", {"0": [130, 90, 40], "1": [20, 0, 20]}),
    "labels with other names": LedgerNumbers("bins", {"no": [129, 10, 119], "yes": [20, 20, 0]}),
    "labels exchanged": LedgerNumbers("bins", {"1": [130, 10, 120], "0": [20, 20, 0]}),
    "only one class": LedgerNumbers("bins", {"0": [129, 10, 119]}),
    "one more class": LedgerNumbers("bins", {**FIRST, "2": [500, 250, 250]}),
}


@pytest.mark.parametrize("how", NEARLY)
def test_a_ledger_refuses_nearly_the_same_rows(how, tmp_path):
    ledger = tmp_path / "ledger"
    for _ in range(2):
        note_release(part(), ledger, LedgerNumbers("bins", FIRST), 20)
    assert len(json.loads(ledger.read_text())) == 1
    for other in (part("other name"), part(period="2"), part(rows=(1.0, 2.0))):
        with pytest.raises(ReleasedBeforeError) as error:
            note_release(other, ledger, NEARLY[how], 20)
        assert (error.value.site, error.value.period) == ("a", "1")
    second = LedgerNumbers("bins", {"0": [185, 40, 145], "1": [40, 10, 30]})
    note_release(part(period="2"), ledger, second, 20)
    third = LedgerNumbers("others", {"0": [15, 0, 15], "1": [70, 70, 0]})
    note_release(part(period="3"), ledger, third, 20)
    assert len(json.loads(ledger.read_text())) == 3


def test_a_ledger_without_what_its_sums_are_of_compares_rows(tmp_path):
    ledger = tmp_path / "ledger"
    note_release(part(), ledger, LedgerNumbers("bins", FIRST), 20)
    (entry,) = json.loads(ledger.read_text())
    entry.pop("sums_of")
    ledger.write_text(json.dumps([entry]))
    with pytest.raises(ReleasedBeforeError):
        note_release(part("b"), ledger, NEARLY["one row less"], 20)


@pytest.mark.parametrize("content", [b"", b"garbage", b"\xff", b"{}", b'[{"site": "a"}]', b"[1]"])
def test_a_damaged_ledger_is_refused(content, tmp_path):
    ledger = tmp_path / "ledger"
    ledger.write_bytes(content)
    with pytest.raises(LedgerFileError, match="ledger cannot be read as a ledger of releases"):
        note_release(part(), ledger, LedgerNumbers("bins", FIRST), 20)
    assert ledger.read_bytes() == content


def test_controls_are_described_and_checked():
    assert describe_control({"kind": "none"}) == "no disclosure control"
    assert describe_control(CONTROL) == "no group below 10 rows"
    private = {"kind": "private", "content": "cells", "epsilon": 1.0, "delta": 1e-6}
    private |= {"neighbours": "add or remove one row", "scale_cells": 22.9}
    assert "ε = 1, δ = 1e-06" in describe_control(private)
    assert is_control(CONTROL)
    assert not is_control({"kind": "else"})
    assert not is_control({"kind": "none", "more": [1]})
    for least in ({}, {"min_cell": 1}, {"min_cell": "10"}, {"min_cell": 10, "more": 1}):
        assert not is_control({"kind": "min_cell", **least})
    named = {"site": "a", "period": "", "classes": [0], "control": CONTROL}
    assert is_part(named)
    assert not is_part(named | {"site": 1})
    for wrong in (0, -1, 2.5, True, "10"):
        with pytest.raises(ValueError, match="min_cell"):
            checked_min_cell(wrong)
