"""Parts of sites: joined once each, with ids of their content, and noted in a ledger."""

import json

import numpy as np
import pytest

from directrix.exceptions import ConflictingReleaseError, ReleasedBeforeError
from directrix.moments.release import (
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


def test_a_ledger_refuses_nearly_the_same_rows(tmp_path):
    ledger = tmp_path / "ledger"
    note_release(part(), ledger, {"0": [30, 10, 20], "1": [20, 20, 0]}, 20)
    note_release(part(), ledger, {"0": [30, 10, 20], "1": [20, 20, 0]}, 20)
    assert len(json.loads(ledger.read_text())) == 1
    one_less, other_bins = {"0": [29, 10, 19], "1": [20, 20, 0]}, {"0": [30, 30], "1": [20, 20]}
    for other in (part("other name"), part(period="2"), part(rows=(1.0, 2.0))):
        for numbers in (one_less, other_bins):
            with pytest.raises(ReleasedBeforeError) as error:
                note_release(other, ledger, numbers, 20)
            assert (error.value.site, error.value.period) == ("a", "1")
    note_release(part(period="2"), ledger, {"0": [85, 40, 45], "1": [40, 10, 30]}, 20)
    note_release(part(period="3"), ledger, {"0": [15, 15], "1": [70, 70]}, 20)
    assert len(json.loads(ledger.read_text())) == 3


def test_controls_are_described_and_checked():
    assert describe_control({"kind": "none"}) == "no disclosure control"
    assert describe_control(CONTROL) == "no group below 10 rows"
    private = {"kind": "private", "content": "cells", "epsilon": 1.0, "delta": 1e-6}
    private |= {"neighbours": "add or remove one row", "scale_cells": 22.9}
    assert "ε = 1, δ = 1e-06" in describe_control(private)
    assert is_control(CONTROL)
    assert not is_control({"kind": "else"})
    assert not is_control({"kind": "none", "more": [1]})
    named = {"site": "a", "period": "", "classes": [0], "control": CONTROL}
    assert is_part(named)
    assert not is_part(named | {"site": 1})
    for wrong in (0, -1, 2.5, True, "10"):
        with pytest.raises(ValueError, match="min_cell"):
            checked_min_cell(wrong)
