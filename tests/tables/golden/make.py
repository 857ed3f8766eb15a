"""How the golden files were made: a binner fitted and saved once, some rows, and their cells.

A golden file is never written again: every later version must read it. The cells follow from the
definition, not from the code that the test runs. The script refuses to overwrite.
"""

import json
from pathlib import Path

import numpy as np

from directrix import Binner

FOLDER = Path(__file__).parent


def training_rows():
    """Return rows with missing values, texts, booleans and special values."""
    rng = np.random.default_rng(5)
    numbers = rng.normal(size=200).round(2).tolist()
    towns = rng.choice(["Oslo", "Rome", 'a"b'], size=200).tolist()
    flags = (rng.random(200) < 0.5).tolist()
    records = rng.choice([1.0, 2.0, 3.0, -999.0], size=200).tolist()
    rows = [list(row) for row in zip(numbers, towns, flags, records, strict=True)]
    for k in range(0, 200, 17):
        rows[k][0] = None
    return rows


def cell(bins, value):
    """Return the cell of a value by definition."""
    if value is None:
        return 0
    if bins.kind == "text":
        return 2 + bins.levels.index(value) if value in bins.levels else 1
    if value in bins.special_values:
        return 2 + len(bins.cuts) + bins.special_values.index(value)
    return 1 + sum(value > cut for cut in bins.cuts)


def main():
    """Write the files."""
    if (FOLDER / "v1.binner.json").exists():
        msg = "the files of version 1 exist"
        raise FileExistsError(msg)
    binner = Binner(max_bins=6, special_values=[-999], crosses=[("x1", "x2")], min_rows=4)
    binner.fit(training_rows())
    binner.save(FOLDER / "v1.binner.json")
    rows = [
        [None, "Rome", True, 1.0],
        [-10.0, "never seen", False, -999.0],
        [0.0, None, None, 2.0],
        [10.0, "Oslo", True, 3.0],
        [binner.bins_[0].cuts[2], 'a"b', False, None],
    ]
    cells = [[cell(*pair) for pair in zip(binner.bins_, row, strict=True)] for row in rows]
    features = binner.get_feature_names_out().tolist()
    text = json.dumps({"rows": rows, "cells": cells, "features": features}, indent=1)
    (FOLDER / "v1.cells.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
