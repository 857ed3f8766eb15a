"""A binner survives its file, and whatever else is in a file is refused in words.

``DIRECTRIX_FUZZ`` sets how many files are tried. Case k is the same in every run.
"""

import json
import os
import random
from datetime import date
from decimal import Decimal
from hashlib import sha256

import numpy as np
import pytest

from directrix import Binner
from directrix.exceptions.files import BinnerFileError
from directrix.moments import BinCounts
from directrix.tables import Table

CASES = int(os.environ.get("DIRECTRIX_FUZZ", "600"))


def rows(seed=0):
    rng = np.random.default_rng(seed)
    hostile = np.array(["", "é", 'a"b', "a\\b", "\n", "missing", "日本", "\ud800"], dtype=object)
    X = np.empty((300, 5), dtype=object)
    X[:, 0] = rng.normal(size=300) * 1e6
    X[:, 1] = rng.choice(hostile, size=300)
    X[:, 2] = rng.random(300) < 0.5
    X[:, 3] = [date.fromordinal(int(k)) for k in rng.integers(700_000, 740_000, size=300)]
    X[:, 4] = rng.choice([0.1, 5e-324, 1e308, -999.0], size=300)
    X[rng.random(X.shape) < 0.05] = None
    return X


def binners():
    X = rows()
    named = Table.of(X)
    named = Table(named.columns, named.values, named=True)
    return [
        Binner().fit(X),
        Binner(max_bins=2, min_rows=0.5, encoding="ordinal", sparse_output=False).fit_table(named),
        Binner(
            max_bins=np.int64(5),
            special_values={"x4": [-999], "x3": date(9999, 12, 31)},
            crosses=[("x1", "x2"), (0, 4)],
            encoding="onehot",
        ).fit(X, sample_weight=np.arange(300) / 7),
        Binner(special_values=-999).fit(X[:1]),
        Binner(
            cuts={
                "x0": [Decimal(-100_000), np.float32(0.5)],
                "x3": [date(1950, 1, 1), np.datetime64("1990-06-01")],
            },
            groups={"x1": [("", "é"), ["missing"]]},
            missing_with={"x0": np.float64(3), "x1": "é", "x2": np.True_, "x3": date(2000, 1, 1)},
        ).fit(X),
    ]


def grouped():
    """Return a binner with levels that share cells."""
    binner = Binner(min_level_rows=1).fit(rows())
    counts = BinCounts.of(binner, rows(), np.arange(300) % 2)
    return counts.rebin(merge={"x1": [("", "é"), ("\n", 'a"b')]}).binner


def test_groups_of_levels_are_kept():
    binner = grouped()
    again = Binner.from_json(binner.to_json())
    assert again.bins_ == binner.bins_
    assert again.bins_[1].groups
    np.testing.assert_array_equal(again.cells(rows(1)), binner.cells(rows(1)))
    assert again.table() == binner.table()


@pytest.mark.parametrize("k", range(5))
def test_what_is_read_is_what_was_written(k, tmp_path):
    binner = binners()[k]
    text = binner.to_json()
    again = Binner.from_json(text)
    assert again.bins_ == binner.bins_
    assert again.crosses_ == binner.crosses_
    assert again.to_json() == text
    assert hasattr(again, "feature_names_in_") == hasattr(binner, "feature_names_in_")
    np.testing.assert_array_equal(again.cells(rows(1)), binner.cells(rows(1)))
    assert again.get_feature_names_out().tolist() == binner.get_feature_names_out().tolist()
    # It can be fitted again, with the same result.
    refitted = Binner.from_json(text).fit(rows(2))
    assert refitted.bins_ == Binner(**binner.get_params()).fit(rows(2)).bins_
    binner.save(tmp_path / "bins.json")
    assert Binner.load(tmp_path / "bins.json").to_json() == text
    assert (tmp_path / "bins.json").read_text(encoding="utf-8") == text


def signed(content):
    """Return a text with the checksum of its content."""
    content.pop("checksum", None)
    plain = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["checksum"] = f"sha256:{sha256(plain.encode()).hexdigest()}"
    return json.dumps(content)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "directrix.model", "something else than a binner"),
        (["version"], 2, "file of another version: 2, and this program reads 1"),
        (["extra"], 1, "lacks an entry or has one too many"),
    ],
)
def test_a_forged_field_is_named(path, value, message):
    content = json.loads(binners()[0].to_json())
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(BinnerFileError, match=message):
        Binner.from_json(signed(content))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("null", "something else than a binner"),
        ('{"format": NaN}', "something else than a binner"),
        ("9" * 10_000, "not JSON"),
        (json.dumps({"format": "directrix.binner", "version": 1}), "lacks an entry"),
    ],
)
def test_other_texts_are_refused(text, message):
    with pytest.raises(BinnerFileError, match=message):
        Binner.from_json(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    path = tmp_path / "bins.json"
    for content, message in [(b"\xff", "not UTF-8"), (b"{}", "something else")]:
        path.write_bytes(content)
        with pytest.raises(BinnerFileError, match=message) as caught:
            Binner.load(path)
        assert caught.value.path == str(path)
        assert str(caught.value).startswith("bins.json cannot be read as a binner: ")
    with pytest.raises(FileNotFoundError):
        Binner.load(tmp_path / "nothing")


# ── damage ────────────────────────────────────────────────────────────────────────────────────────


def damage(rng, text):
    """Return a text with some characters changed, removed, repeated or moved."""
    characters = list(text)
    start = rng.randrange(len(text))
    stop = min(start + rng.choice([1, 2, 8, 50, 300]), len(text))
    choice = rng.randrange(6)
    if choice == 0:
        characters[start] = rng.choice('0123456789.-+eE"\\{}[],: \0é')
    elif choice == 1:
        del characters[start:stop]
    elif choice == 2:
        characters[start:start] = characters[start:stop]
    elif choice == 3:
        del characters[start:]
    elif choice == 4:
        characters[start] = chr(ord(characters[start]) ^ 1 << rng.randrange(7))
    else:
        characters[start:start] = rng.choice([" ", "\n", "\t", "null", "1"])
    return "".join(characters)


def test_a_damaged_text_gives_the_binner_back_or_is_refused(figure):
    texts = [binner.to_json() for binner in binners()]
    equal = refused = 0
    for case in range(CASES):
        rng = random.Random(case)  # noqa: S311 - the same cases on every run
        text = rng.choice(texts)
        try:
            binner = Binner.from_json(damage(rng, text))
        except BinnerFileError as error:
            assert str(error)  # noqa: PT017 - most texts raise it
            refused += 1
        else:
            assert binner.to_json() == text, case
            equal += 1
    # Each kind of outcome must occur, or nothing was tested.
    assert min(equal, refused) > 0
    figure(f"fuzz: {CASES} binners, {equal} equal, {refused} refused")
