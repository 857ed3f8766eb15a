"""Files of counts: what is written is read back, and every other file is refused."""

import json
import os
import random

import numpy as np
import pandas as pd
import pytest
from file_damage import DAMAGE
from summary_files import put_together, resign, take_apart

from directrix import Binner, Moments
from directrix.moments import BinCounts, MomentsFileError

CASES = int(os.environ.get("DIRECTRIX_FUZZ", "600"))
RNG = np.random.default_rng(0)
N = 80
X = pd.DataFrame(
    {
        "größe": RNG.normal(size=N),
        "town": RNG.choice(["Graz", "Linz", "Wien", "", None], N),
        "since": np.datetime64("2020-01-01") + RNG.integers(0, 50, N).astype("m8[D]"),
    }
)
Y = RNG.integers(0, 2, N)
BINNER = Binner(max_bins=4, min_level_rows=1, min_rows=1).fit(X)


def of(y=Y, **options):
    return BinCounts.of(BINNER, X, y, **options)


def taken_out():
    weight = RNG.random(N)
    half = slice(0, N // 2)
    return of(sample_weight=weight) - BinCounts.of(BINNER, X[half], Y[half], weight[half])


COUNTS = {
    "counts": of,
    "folds": lambda: of(fold=RNG.integers(0, 3, N)),
    "text labels": lambda: of(np.where(Y, "ja", "nein")),
    "bool labels": lambda: of(Y == 1),
    "float labels": lambda: of(Y + 0.5),
    "an empty class": lambda: of(classes=[0, 1, 2]),
    "no rows": lambda: BinCounts.empty(BINNER),
    "no rows, but folds": lambda: BinCounts.of(BINNER, X[:0], [], fold=[]),
    "whole weights": lambda: of(sample_weight=RNG.integers(0, 9, N)),
    "large weights": lambda: of(sample_weight=RNG.integers(2**40, 2**46, N)),
    "real weights": lambda: of(sample_weight=RNG.random(N)),
    "real weights after a subtraction": taken_out,
    "grouped levels": lambda: of().rebin(merge={"town": [("Graz", "Wien"), ("", "Linz")]}),
    "merged bins": lambda: of().rebin(cuts={"größe": []}, drop=["town"]),
    "an array": lambda: BinCounts.of(
        Binner().fit(X[["größe"]].to_numpy()), X[["größe"]].to_numpy(), Y
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_what_is_written_is_read_back(name, tmp_path):
    counts = COUNTS[name]()
    path, again = tmp_path / "a.counts", tmp_path / "b.counts"
    counts.save(path)
    loaded = BinCounts.load(path)
    assert loaded == counts
    assert loaded.exact == counts.exact
    assert [g.weight_sq for part in loaded.parts for g in part] == [
        g.weight_sq for part in counts.parts for g in part
    ]
    assert loaded.bins == counts.bins
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()
    assert loaded + counts == counts + counts


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.counts"
    of(fold=np.arange(N) % 2).rebin(merge={"town": [("Graz", "Wien")]}).save(path)
    return path


def typed(name, dtype):
    def edit(arrays):
        arrays[name] = arrays[name].astype(dtype)

    return edit


def binner_text(change):
    def edit(arrays):
        text = change(arrays["binner"].tobytes().decode()).encode()
        arrays["binner"] = np.frombuffer(text, np.uint8)

    return edit


FORGED_HEADERS = {
    "another format": (lambda h: h.update(format="directrix.moments"), "something else"),
    "a list": (lambda _: "[]", "something else"),
    "a newer version": (
        lambda h: h.update(version=2),
        "file of another version: 2, and this program reads 1",
    ),
    "another entry": (lambda h: h.update(prior=0.5), "one too many"),
    "no folds": (lambda h: h.update(folded=False), "folds do not match"),
    "another class": (lambda h: h["classes"].update(values=[0, 1, 2]), "has type"),
    "real weights": (lambda h: h.update(exact=False), "has type"),
}
FORGED_ARRAYS = {
    "a missing array": (lambda a: a.pop("data"), "not those of a summary"),
    "another type": (typed("indices", np.int64), "indices has type int64"),
    "counts of another type": (typed("count", np.float64), "count has type float64"),
    "a binner that is no text": (typed("binner", np.int32), "binner has type int32"),
    "another binner": (binner_text(lambda t: t.replace("since", "until")), "checksum"),
}


@pytest.mark.parametrize("name", FORGED_HEADERS)
def test_a_forged_header_is_refused(name, path):
    edit, message = FORGED_HEADERS[name]
    resign(path, header_edit=edit)
    with pytest.raises(MomentsFileError, match=message) as caught:
        BinCounts.load(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("name", FORGED_ARRAYS)
def test_a_forged_array_is_refused(name, path):
    edit, message = FORGED_ARRAYS[name]
    resign(path, arrays_edit=edit)
    with pytest.raises(MomentsFileError, match=message):
        BinCounts.load(path)


@pytest.mark.parametrize("index", [-1, 10**6])
def test_no_index_is_read_beyond_the_cells(index, path):
    resign(path, arrays_edit=lambda arrays: arrays["indices"].__setitem__(5, index))
    with pytest.raises(ValueError, match="ind"):
        BinCounts.load(path)


def test_a_checksum_tells_a_change_that_makes_sense(path):
    text, arrays = take_apart(path.read_bytes())
    header = json.loads(text)
    whole = put_together(text, arrays)
    forged = put_together(json.dumps({**header, "writer": "someone"}, sort_keys=True), arrays)
    path.write_bytes(forged)
    assert BinCounts.load(path).count == N  # signed again, and nothing in it is wrong
    digest = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])["__metadata__"][
        "sha256"
    ]
    wrong = "0" * len(digest)
    path.write_bytes(whole.replace(digest.encode(), wrong.encode()))
    with pytest.raises(MomentsFileError, match="checksum does not match"):
        BinCounts.load(path)


def test_files_of_moments_and_of_counts_are_told_apart(tmp_path):
    moments, counts = tmp_path / "a.moments", tmp_path / "a.counts"
    of().moments().save(moments)
    of().save(counts)
    with pytest.raises(MomentsFileError):
        BinCounts.load(moments)
    with pytest.raises(MomentsFileError):
        Moments.load(counts)


def test_damaged_files_are_refused(tmp_path):
    sources = []
    for name in ("folds", "real weights", "grouped levels", "no rows"):
        path = tmp_path / "source"
        counts = COUNTS[name]()
        counts.save(path)
        sources.append((counts, path.read_bytes()))
    path, refused = tmp_path / "damaged", 0
    for case in range(CASES):
        rng = random.Random(case)  # noqa: S311 - the same in every run
        counts, content = rng.choice(sources)
        damaged = rng.choice(DAMAGE)(rng, content)
        path.write_bytes(damaged)
        try:
            loaded = BinCounts.load(path)
        except MomentsFileError:
            refused += 1
        else:
            assert loaded == counts, case
    assert refused > 0.8 * CASES
