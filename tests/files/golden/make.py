"""How the golden files of formats other than models, moments and histograms were made.

A golden file is never written again: every later version must read it, which `test_golden.py`
checks. A release whose files hold something new adds cases, named after the format and the release,
and this script is run once, with that version installed; it writes the cases that have no file, and
never another. The answers (`answers.json`) are those of the objects before they were saved.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd

from directrix import Binner, Moments, ScorecardClassifier
from directrix.classifiers.scorecard.edit_log import EditLog
from directrix.moments import ReleasedMoments
from directrix.tables import BinCounts, ReleasedCounts, TableSketch

HERE = Path(__file__).parent
ANSWERS = HERE / "answers.json"


def rows(n, first=0):
    """Return rows that depend on no generator of random numbers, with every kind of column."""
    k = np.arange(first, first + n)
    since = pd.Timestamp("2020-02-27") + pd.to_timedelta(k * k % 97, unit="D")
    X = pd.DataFrame(
        {
            "age": np.where(k % 13 == 0, np.nan, 18 + 7 * k % 61),
            "income": np.where(k % 11 == 0, -999.0, k * 37 % 101 * 50.0),
            "town": np.array(["Graz", "Linz", "Wels", "Wien"])[k * k % 7 % 4],
            "since": since,
            "member": k * 3 % 5 < 2,
        }
    )
    return X, (7 * k % 61) + (k * 5 % 23) > 45


AGREED = TableSketch.of(rows(1000)[0], site="agreed").binner(max_bins=6)


def own_bins():
    """Return a binner with cuts, groups and joined missing values of the user's own."""
    binner = Binner(
        max_bins=5,
        cuts={"age": [25, 40, 65], "since": ["2020-03-15"]},
        groups={"town": [["Graz", "Wels"], ["Linz"]]},
        missing_with={"age": 30},
        special_values={"income": [-999]},
        crosses=[("age", "town")],
    )
    return binner.fit(rows(500)[0])


def sketch():
    """Return a sketch of two sites, one of them under disclosure control."""
    north = TableSketch.of(rows(300)[0], min_cell=10, site="north", period="2026")
    return north + TableSketch.of(rows(200, 300)[0], min_cell=1, site="south", period="2026")


def released_counts():
    """Return releases of three sites: exact, with a least cell, and differentially private."""
    north = BinCounts.of(AGREED, *rows(400)).release(min_cell=1, site="north")
    south = BinCounts.of(AGREED, *rows(600, 400)).release(min_cell=10, site="south", period="2026")
    private = BinCounts.of(AGREED, *rows(5000)).release(
        epsilon=4.0, delta=1e-6, classes=[False, True], site="west"
    )
    return north + south + private


def released_moments():
    """Return releases of the moments of two sites."""
    ranges = {"age": (0.0, 100.0), "income": (0.0, 6000.0)}

    def release(n, first, site):
        X, y = rows(n, first)
        X = X[list(ranges)].fillna(40.0).clip(lower=0.0)
        return Moments.of(X, y).release(min_cell=10, ranges=ranges, site=site, period="2026")

    return release(300, 0, "north") + release(200, 300, "south")


def editor():
    """Return an editor with a lockbox, after one edit of each kind."""
    card = ScorecardClassifier(
        "auc", learn_from="counts", max_lines=20, max_crosses=0, cv=3, points="integer"
    )
    edit = card.edit(*rows(600), lockbox=0.2)
    edit = edit.drop("member").cuts("age", [30.0, 50.0, 60.0]).merge("age", 0, 1)
    return edit.monotone("age", "increasing").points("age", {0: 5})


#: By file: what it holds, and how that is made.
CASES = {
    "v1-0.3.0-own-bins.binner.json": (Binner, own_bins),
    "v1-0.3.0-two-sites.sketch.json": (TableSketch, sketch),
    "v1-0.3.0-three-controls.release": (ReleasedCounts, released_counts),
    "v1-0.3.0-two-sites.release": (ReleasedMoments, released_moments),
    "v1-0.3.0-edits.json": (EditLog, lambda: editor().log()),
    "v1-0.3.0-editor.json": (ScorecardClassifier, editor),
}


def answers_of(value):
    """Return what an object says, as plain values; floats are in hexadecimal."""
    if isinstance(value, Binner):
        cells = value.cells(rows(40)[0]).tolist()
        return {"cells": ["".join(map(str, row)) for row in cells], "table": value.table()}
    if isinstance(value, TableSketch):
        return {"repr": repr(value), "binner": answers_of(value.binner(max_bins=4))}
    if isinstance(value, ReleasedCounts | ReleasedMoments):
        return {
            "repr": repr(value),
            "sites": list(value.sites),
            "controls": [part.control for part in value.parts],
            "rows": [[float(n).hex() for n in part.rows] for part in value.parts if len(part.rows)],
        }
    if isinstance(value, EditLog):
        return {"log": str(value)}
    return {"log": str(value.log()), "card": str(value.card), "fitted": str(value.fit().card_)}


def digest(path):
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main():
    """Write every case that has no file, and its answers."""
    answers = json.loads(ANSWERS.read_text(encoding="utf-8")) if ANSWERS.exists() else {}
    for name, (_, made) in CASES.items():
        path = HERE / name
        if path.exists():
            continue
        value = made()
        value.save(path)
        answers[name] = {"sha256": digest(path), **answers_of(value)}
    text = json.dumps(answers, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    ANSWERS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
